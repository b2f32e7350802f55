"""Writes profile.proto from Python, for tests that make their own profiles.

    p = Profile([('samples', 'count'), ('cpu', 'nanoseconds')])
    main = p.location(p.function('main', 'main.c'), line=12)
    p.sample([main], [1, 10000000], {'thread': 'worker'})
    p.write('cpu.pb.gz')

Frames are leaf first, lines of a location innermost inlined callee first.
Tables are written in order of first use, as profilers and google/pprof do.
"""
import gzip


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7f | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def number(field, n):
    return varint(field << 3) + varint(n) if n else b''


def bytes_field(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def numbers(field, values):
    """Repeated numbers: packed from three on."""
    if len(values) < 3:
        return b''.join(varint(field << 3) + varint(n) for n in values)
    return bytes_field(field, b''.join(map(varint, values)))


class Profile:
    def __init__(self, types, period_type=None, period=0):
        self.types = types
        self.period_type = period_type
        self.period = period
        self.time_nanos = 0
        self.duration_nanos = 0
        self.default_type = ''
        self.drop_frames = ''
        self.keep_frames = ''
        self.doc_url = ''
        self.comments = []
        self.functions = []
        self.locations = []
        self.mappings = []
        self.samples = []
        self.strings = {'': 0}

    def mapping(self, start, limit, offset, filename, build_id='',
                symbolized=True):
        self.mappings.append((start, limit, offset, filename, build_id,
                              symbolized))
        return len(self.mappings)

    def function(self, name, filename='', system_name=None, start_line=0):
        self.functions.append((name, system_name or name, filename,
                               start_line))
        return len(self.functions)

    def location(self, function=None, line=0, address=0, mapping=0,
                 inlined=()):
        """`inlined`: (function, line) of each inlined frame, innermost
        first."""
        lines = list(inlined)
        if function:
            lines.append((function, line))
        self.locations.append((mapping, address, lines))
        return len(self.locations)

    def sample(self, locations, values, labels=None):
        """A label is a text, a number, or (number, unit)."""
        self.samples.append((locations, values, labels or {}))

    def text(self, s):
        return self.strings.setdefault(s, len(self.strings))

    def value_type(self, pair):
        return number(1, self.text(pair[0])) + number(2, self.text(pair[1]))

    def label(self, key, value):
        out = number(1, self.text(key))
        if isinstance(value, str):
            return out + number(2, self.text(value))
        if isinstance(value, tuple):
            return (out + number(3, value[0])
                    + number(4, self.text(value[1])))
        return out + number(3, value)

    def sorted_labels(self, labels):
        texts = sorted(k for k, v in labels.items() if isinstance(v, str))
        return texts + sorted(k for k in labels if k not in texts)

    def encode(self):
        self.strings = {'': 0}
        out = [bytes_field(1, self.value_type(t)) for t in self.types]
        for locations, values, labels in self.samples:
            body = numbers(1, locations) + numbers(2, values)
            for key in self.sorted_labels(labels):
                body += bytes_field(3, self.label(key, labels[key]))
            out.append(bytes_field(2, body))
        for i, (start, limit, offset, name, build_id, symbolized) in enumerate(
                self.mappings):
            body = (number(1, i + 1) + number(2, start) + number(3, limit)
                    + number(4, offset) + number(5, self.text(name))
                    + number(6, self.text(build_id)))
            for field in range(7, 11):
                body += number(field, int(symbolized))
            out.append(bytes_field(3, body))
        functions = []
        for i, (name, system, filename, start) in enumerate(self.functions):
            functions.append(bytes_field(
                5, number(1, i + 1) + number(2, self.text(name))
                + number(3, self.text(system))
                + number(4, self.text(filename)) + number(5, start)))
        for i, (mapping, address, lines) in enumerate(self.locations):
            body = (number(1, i + 1) + number(2, mapping)
                    + number(3, address))
            for function, line in lines:
                body += bytes_field(4, number(1, function) + number(2, line))
            out.append(bytes_field(4, body))
        out += functions
        tail = [number(7, self.text(self.drop_frames)),
                number(8, self.text(self.keep_frames)),
                number(9, self.time_nanos), number(10, self.duration_nanos)]
        if self.period_type:
            tail.append(bytes_field(11, self.value_type(self.period_type)))
        tail.append(number(12, self.period))
        tail.append(numbers(13, [self.text(c) for c in self.comments]))
        default_type = self.text(self.default_type)
        tail.append(varint(14 << 3) + varint(default_type))
        tail.append(number(15, self.text(self.doc_url)))
        out += [bytes_field(6, s.encode()) for s in self.strings]
        return b''.join(out + tail)

    def write(self, path):
        with open(path, 'wb') as f:
            f.write(gzip.compress(self.encode(), 6, mtime=0))
