"""Reads profile.proto in Python: what a profile says, whatever the order and
the numbers of its tables.  Equal views are equal profiles."""
import collections
import gzip
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                '../bench'))
from series import fields, packed  # noqa: E402


def signed(n):
    return n - (1 << 64) if n >> 63 else n


class Message:
    """Fields of a message; missing numbers are 0."""

    def __init__(self, data):
        self.values = collections.defaultdict(list)
        for number, value in fields(data):
            self.values[number].append(value)

    def one(self, number):
        return self.values[number][-1] if self.values[number] else 0

    def all(self, number):
        return [Message(v) for v in self.values[number]]

    def list(self, number):
        """Of a repeated number, packed or not."""
        return [n for v in self.values[number]
                for n in ([v] if isinstance(v, int) else packed(v))]


class Reader:
    def __init__(self, data):
        self.p = Message(gzip.decompress(data) if data[:2] == b'\x1f\x8b'
                         else data)
        self.texts = self.p.values[6] or [b'']
        self.mappings = {m.one(1): m for m in self.p.all(3)}
        self.functions = {f.one(1): f for f in self.p.all(5)}
        self.frames = {l.one(1): self.frame(l) for l in self.p.all(4)}

    def text(self, message, number):
        return self.texts[message.one(number)]

    def value_type(self, message):
        return self.text(message, 1), self.text(message, 2)

    def frame(self, location):
        """Addresses count from the mapping's start: programs move."""
        m = self.mappings.get(location.one(2))
        where, address = (), location.one(3)
        if m:
            where = (self.text(m, 5), self.text(m, 6))
            address += m.one(4) - m.one(2)
        lines = []
        for line in location.all(4):
            f = self.functions[line.one(1)]
            lines.append((self.text(f, 2), self.text(f, 3), self.text(f, 4),
                          signed(f.one(5)), signed(line.one(2))))
        return where, address, location.one(5), tuple(lines)

    def labels(self, sample):
        return tuple(sorted(
            (self.text(l, 1), self.text(l, 2), signed(l.one(3)),
             self.text(l, 4)) for l in sample.all(3)))

    def samples(self):
        """{(frames, labels): values}"""
        out = {}
        for sample in self.p.all(2):
            key = (tuple(self.frames[i] for i in sample.list(1)),
                   self.labels(sample))
            values = [signed(n) for n in sample.list(2)]
            out[key] = [a + b for a, b in zip(out.get(key, [0] * len(values)),
                                              values)]
        return out

    def head(self):
        p = self.p
        return {
            'types': [self.value_type(t) for t in p.all(1)],
            'period type': [self.value_type(t) for t in p.all(11)],
            'period': signed(p.one(12)), 'time': signed(p.one(9)),
            'duration': signed(p.one(10)), 'drop': self.text(p, 7),
            'keep': self.text(p, 8), 'default': self.text(p, 14),
            'page': self.text(p, 15),
            'comments': sorted(self.texts[n] for n in p.list(13)),
            'mappings': sorted(
                (self.text(m, 5), self.text(m, 6),
                 *(m.one(n) for n in range(7, 11)))
                for m in self.mappings.values()),
        }


def view(data):
    """What the bytes of a profile, gzipped or not, say."""
    reader = Reader(data)
    return {**reader.head(), 'samples': reader.samples()}
