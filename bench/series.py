#!/usr/bin/env python3
"""Makes a long series of consecutive CPU profiles out of a few real ones.

usage: bench/series.py --count N --samples N --out DIR [--seed N] [--order N]
                       [--leaves N] FILE...

FILEs are profiles of one binary.  A chain is learned from their stacks: which
location follows which --order others, from the root to the leaf.
A walk over it ends at one of --leaves instructions, as a sample does.  So the
stacks have real names, depths and shared parts, and like real ones they keep
being new: of 20 profiles of an API server, and of the kubelet's, 88 % of the
samples were on stacks of their own.  Writes DIR/NNNNNN.pb.gz, without a time,
gzip level 1 as Go's runtime does, and prints one line of JSON with what came out.

Storing the same few files again and again would be no measurement: a store
that keeps each stack once would need next to nothing for them.
"""
import argparse
import gzip
import json
import os
import random
import struct
import sys

SAMPLE, MAPPING, LOCATION, FUNCTION, STRING = 2, 3, 4, 5, 6
PERIOD_NS = 10000000


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def fields(data):
    """Field number and value (number or bytes) of a message, in order."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 2:
            n, at = varint(data, at)
            yield key >> 3, data[at:at + n]
            at += n
        elif key & 7 == 1:
            yield key >> 3, struct.unpack_from('<Q', data, at)[0]
            at += 8
        else:
            value, at = varint(data, at)
            yield key >> 3, value


def packed(value):
    at = 0
    while at < len(value):
        number, at = varint(value, at)
        yield number


def number(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def field(key, value):
    if isinstance(value, int):
        return number(key << 3) + number(value)
    return number(key << 3 | 2) + number(len(value)) + value


class Program:
    """What the input says about the program: locations and who calls whom."""

    def __init__(self, options):
        self.strings = {b'': 0}
        self.tables = {MAPPING: {}, LOCATION: {}, FUNCTION: {}}
        self.order, self.leaves = options.order, options.leaves
        self.follow = {}
        for path in options.files:
            with gzip.open(path) as f:
                self.learn(f.read())
        self.texts = list(self.strings)

    def learn(self, data):
        """Adds a profile; records that are known by content keep their id."""
        raw = {key: [] for key in (SAMPLE, MAPPING, LOCATION, FUNCTION, STRING)}
        for key, value in fields(data):
            if key in raw:
                raw[key].append(value)
        text = [self.strings.setdefault(s, len(self.strings))
                for s in raw[STRING]]
        ids = {kind: {0: 0} for kind in self.tables}

        def line(value):
            return tuple((k, ids[FUNCTION][v] if k == 1 else v)
                         for k, v in fields(value))

        for kind, strings, refer in (
                (MAPPING, (5, 6), {}), (FUNCTION, (2, 3, 4), {}),
                (LOCATION, (), {2: ids[MAPPING].get, 4: line})):
            for value in raw[kind]:
                record = [(k, text[v] if k in strings else
                           refer[k](v) if k in refer else v)
                          for k, v in fields(value)]
                old = dict(record)[1]
                content = tuple(f for f in record if f[0] != 1)
                table = self.tables[kind]
                ids[kind][old] = table.setdefault(content, len(table) + 1)
        for sample in raw[SAMPLE]:
            self.learn_stack(sample, ids[LOCATION])

    def learn_stack(self, sample, ids):
        stack = []
        for key, value in fields(sample):
            if key == 1:
                stack += packed(value) if isinstance(value, bytes) else [value]
        chain = [0] * self.order + [ids[i] for i in stack[::-1]] + [0]
        for i in range(len(chain) - self.order):
            self.follow.setdefault(tuple(chain[i:i + self.order]), []).append(
                chain[i + self.order])

    def records(self):
        return {kind: [None, *table] for kind, table in self.tables.items()}

    def walk(self, rng):
        """A stack from the root to the leaf."""
        state, stack = (0,) * self.order, []
        while len(stack) < 200:
            after = rng.choice(self.follow[state])
            if after == 0:
                break
            state = state[1:] + (after,)
            stack.append(after)
        leaf = rng.randrange(self.leaves)
        return tuple(stack[:-1]) + ((stack[-1], leaf),)


class Writer:
    """One profile, with the tables that it needs and no more."""

    def __init__(self, program, records):
        self.texts, self.records = program.texts, records
        self.text = {b'': 0}
        self.seen = {MAPPING: {}, LOCATION: {}, FUNCTION: {}}
        self.body = bytearray()

    def string(self, index):
        return self.text.setdefault(self.texts[index], len(self.text))

    def name(self, text):
        return self.text.setdefault(text.encode(), len(self.text))

    def record(self, kind, old, strings=(), refer=None):
        """Copies a record with its strings renumbered; its new id."""
        seen = self.seen[kind]
        if old and old not in seen:
            seen[old] = len(seen) + 1
            out = bytearray(field(1, seen[old]))
            for key, value in self.records[kind][old]:
                if key in strings:
                    value = self.string(value)
                elif refer and key in refer:
                    value = refer[key](value)
                out += field(key, value)
            self.body += field(kind, bytes(out))
        return seen.get(old, 0)

    def mapping(self, old):
        return self.record(MAPPING, old, (5, 6))

    def function(self, old):
        return self.record(FUNCTION, old, (2, 3, 4))

    def line(self, value):
        return b''.join(field(k, self.function(v) if k == 1 else v)
                        for k, v in value)

    def location(self, old):
        return self.record(LOCATION, old, (), {2: self.mapping, 4: self.line})

    def leaf(self, old, variant):
        """A location some instructions further, on a later line."""
        seen = self.seen[LOCATION]
        if (old, variant) not in seen:
            seen[old, variant] = len(seen) + 1
            out = bytearray(field(1, seen[old, variant]))
            moved = False
            for key, value in self.records[LOCATION][old]:
                if key == 3:
                    value += 4 * variant
                elif key == 2:
                    value = self.mapping(value)
                elif key == 4:
                    if not moved:
                        value = tuple((k, v + variant // 4 if k == 2 else v)
                                      for k, v in value)
                    moved = True
                    value = self.line(value)
                out += field(key, value)
            self.body += field(LOCATION, bytes(out))
        return seen[old, variant]

    def stack(self, stack):
        """Location ids from the leaf to the root, as a sample has them."""
        return b''.join(map(number, (self.leaf(*stack[-1]),
                                     *map(self.location, stack[-2::-1]))))

    def write(self, stacks):
        types = [field(1, field(1, self.name(a)) + field(2, self.name(b)))
                 for a, b in (('samples', 'count'), ('cpu', 'nanoseconds'))]
        samples = b''.join(
            field(SAMPLE,
                  field(1, self.stack(stack)) +
                  field(2, number(n) + number(n * PERIOD_NS)))
            for stack, n in stacks.items())
        strings = b''.join(field(STRING, text) for text in self.text)
        return b''.join((*types, samples, self.body, strings,
                         field(10, 10 * 10**9),
                         field(11, types[1][2:]), field(12, PERIOD_NS)))


def make(program, options):
    rng = random.Random(options.seed)
    records = program.records()
    known, samples, size, last = set(), 0, 0, 0
    for i in range(options.count):
        stacks = {}
        for _ in range(options.samples):
            stack = program.walk(rng)
            stacks[stack] = stacks.get(stack, 0) + 1
        data = gzip.compress(Writer(program, records).write(stacks), 1)
        with open(os.path.join(options.out, '%06d.pb.gz' % i), 'wb') as f:
            f.write(data)
        before = len(known)
        known.update(stacks)
        last = (len(known) - before) / len(stacks)
        samples += len(stacks)
        size += len(data)
    return {'profiles': options.count, 'bytes': size // options.count,
            'samples': round(samples / options.count, 1),
            'distinct': round(len(known) / samples, 3),
            'new_in_last': round(last, 3)}


def main():
    parser = argparse.ArgumentParser(
        usage=__doc__.split('usage: ')[1].split('\n\n')[0])
    parser.add_argument('--count', type=int, default=300)
    parser.add_argument('--samples', type=int, default=88)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--out', required=True)
    parser.add_argument('--order', type=int, default=1)
    parser.add_argument('--leaves', type=int, default=32)
    parser.add_argument('files', nargs='+')
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    print(json.dumps(make(Program(options), options)))


if __name__ == '__main__':
    sys.exit(main())
