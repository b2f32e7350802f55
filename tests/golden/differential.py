#!/usr/bin/env python3
"""Compares a pprof binary with Debian's `go tool pprof`, flag by flag.

usage: tests/golden/differential.py BINARY [ROW-SUBSTRING]

The profiles are made here, without ties in their weights, since the peer's
order of equal things is left to chance.  The peer is the google/pprof that
came with the Go of Debian; ours follows a later one.  Where the two are known
to differ, DIFFERENCES says why and the row is skipped.  Prints TAP.
"""
import difflib
import gzip
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
from profilepb import Profile  # noqa: E402

MILLISECOND = 1000000

# (pattern over the row's words, why the two differ)
DIFFERENCES = [
    (r'-tags\b', 'the peer prints tags with one decimal and no share'),
    (r'-raw\b', 'the peer has no columns in its raw lines'),
    (r'-showcolumns', 'the peer has no such option'),
    (r'-(proto|callgrind) .*-noinlines',
     'the peer keeps inlined frames in formats that show the whole profile'),
    (r'-nodecount=x', 'the usage text names options that the peer lacks'),
    (r'-disasm', 'the peer says it in other words'),
    (r'cpu heap$', 'the peer cannot merge profiles of different types'),
    (r'-callgrind -call_tree', 'the peer leaves the order to chance'),
    (r'-cum -flat', 'the peer names the two in an order left to chance'),
]


class Random:
    """The same numbers with every Python."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 6364136223846793005
                      + 1442695040888963407) & (1 << 64) - 1
        return (self.state >> 33) % n


WORDS = ['accept', 'balance', 'commit', 'decode', 'encode', 'flush', 'gather',
         'hash', 'index', 'join', 'lookup', 'merge', 'notify', 'open',
         'parse', 'queue', 'read', 'scan', 'tally', 'update', 'verify',
         'write']
PACKAGES = ['service::', 'example.com/store.', 'ns::Table<int>::', '']


class Service:
    """A made-up program: functions in ranks that call deeper ones."""

    def __init__(self, profile, seed, symbolized=True):
        self.random = Random(seed)
        self.profile = profile
        self.main = profile.mapping(0x400000, 0x900000, 0, '/opt/x/service',
                                    symbolized=symbolized)
        self.library = profile.mapping(0x7f0000000000, 0x7f0000400000, 0x1000,
                                       '/opt/x/libwork.so.1',
                                       symbolized=symbolized)
        self.symbolized = symbolized
        self.functions = {}
        self.locations = {}
        self.stacks = set()

    def function(self, rank, i):
        if (rank, i) not in self.functions:
            word = WORDS[(rank * 5 + i) % len(WORDS)]
            name = PACKAGES[(rank + i) % 4] + word + str(rank)
            self.functions[rank, i] = self.profile.function(
                name, 'src/%s/%s.cc' % (WORDS[rank], word),
                start_line=10 * i + 1)
        return self.functions[rank, i]

    def location(self, rank, i, site):
        """A call site; every third carries an inlined frame."""
        key = rank, i, site
        if key in self.locations:
            return self.locations[key]
        in_library = rank >= 8
        base = 0x7f0000000000 if in_library else 0x400000
        address = base + 0x1000 + rank * 0x4000 + i * 0x200 + site * 0x21
        mapping = self.library if in_library else self.main
        if not self.symbolized:
            self.locations[key] = self.profile.location(
                address=address, mapping=mapping)
            return self.locations[key]
        inlined = []
        if (rank + i + site) % 3 == 0 and rank < 10:
            inlined = [(self.function(rank + 1, 6), 60 + site)]
        self.locations[key] = self.profile.location(
            self.function(rank, i), 10 * i + 2 + site, address, mapping,
            inlined)
        return self.locations[key]

    def stack(self):
        """Frames of a new stack, leaf first."""
        while True:
            rank, frames = 0, []
            depth = 3 + self.random.below(9)
            while len(frames) < depth and rank < 11:
                i = self.random.below(1 + min(rank, 5))
                frames.append((rank, i, self.random.below(3)))
                if self.random.below(12):
                    rank += 1
            if tuple(frames) not in self.stacks:
                self.stacks.add(tuple(frames))
                return [self.location(*frame) for frame in reversed(frames)]


def cpu_profile(seed, stacks, symbolized=True, run=1):
    p = Profile([('samples', 'count'), ('cpu', 'nanoseconds')],
                ('cpu', 'nanoseconds'), 10 * MILLISECOND)
    p.duration_nanos = 30 * 1000 * MILLISECOND
    program = Service(p, seed, symbolized)
    for n in range(stacks):
        labels = {}
        if n % 3 == 0:
            labels['thread'] = 'worker-%d' % (n % 7)
        if n % 5 == 0:
            labels['request'] = (1 << 4 + n % 9, 'bytes')
        # Sums of different primes' multiples hardly ever tie.
        count = 1 + (n * n * 7919 + run * n * 104729) % 4999
        p.sample(program.stack(), [count, count * 10 * MILLISECOND + n],
                 labels)
    return p


def heap_profile(seed, stacks):
    p = Profile([('alloc_objects', 'count'), ('alloc_space', 'bytes'),
                 ('inuse_objects', 'count'), ('inuse_space', 'bytes')],
                ('space', 'bytes'), 524288)
    p.default_type = 'inuse_space'
    p.comments = ['made for a test', 'second comment']
    program = Service(p, seed)
    for n in range(stacks):
        size = 16 << n % 12
        objects = 3 + n * n * 31 % 997
        live = objects * (n % 4) // 3
        p.sample(program.stack(),
                 [objects, objects * size + n, live, live * size + n % 4],
                 {'bytes': (size, 'bytes')})
    return p


def write_profiles(directory):
    made = {
        'cpu': cpu_profile(1, 300),
        'later': cpu_profile(1, 280, run=2),
        'heap': heap_profile(2, 200),
        'bare': cpu_profile(3, 120, symbolized=False),
        'small': cpu_profile(4, 4),
    }
    for name, profile in made.items():
        profile.write(os.path.join(directory, name + '.pb.gz'))


COMMANDS = ['-top', '-tree', '-traces', '-dot', '-callgrind',
            '-peek=merge|scan', '-topproto', '-proto', '-raw', '-tags']

OPTIONS = [
    [], ['-cum'], ['-files'], ['-filefunctions'], ['-lines'], ['-addresses'],
    ['-noinlines'], ['-lines', '-noinlines'], ['-nodecount=7'],
    ['-nodecount=0'], ['-nodefraction=0.05'], ['-edgefraction=0.05'],
    ['-trim=false'], ['-trim=false', '-cum'], ['-unit=ms'], ['-unit=us'],
    ['-unit=hours'], ['-divide_by=3'], ['-mean'], ['-sample_index=0'],
    ['-sample_index=samples'], ['-compact_labels'], ['-focus=merge'],
    ['-focus=nothing_like_it'], ['-ignore=decode|flush'], ['-hide=^service'],
    ['-show=store'], ['-show_from=hash'], ['-prune_from=Table'],
    ['-focus=merge', '-relative_percentages'], ['-tagfocus=thread=worker-3'],
    ['-tagfocus=64b:1kb'], ['-tagignore=worker'], ['-tagshow=thread'],
    ['-taghide=thread'], ['-tagroot=thread'], ['-tagleaf=thread,request'],
    ['-call_tree', '-nodecount=12'], ['-focus=src/commit', '-lines'],
]

MORE = [
    ('cpu', ['-comments']), ('heap', ['-comments']),
    ('heap', ['-top', '-alloc_space']), ('heap', ['-top', '-inuse_objects']),
    ('heap', ['-top', '-unit=kb']), ('heap', ['-tree', '-mean']),
    ('heap', ['-dot', '-sample_index=alloc_space', '-nodecount=20']),
    ('heap', ['-traces', '-sample_index=1']),
    ('heap', ['-top', '-sample_index=nonsense']),
    ('heap', ['-top', '-tagfocus=bytes=1kb:']), ('heap', ['-callgrind']),
    ('heap', ['-dot']), ('heap', ['-tree', '-nodecount=10']),
    ('heap', ['-proto']), ('heap', ['-topproto', '-lines']),
    ('bare', ['-top']), ('bare', ['-tree']), ('bare', ['-dot']),
    ('bare', ['-traces']), ('bare', ['-top', '-addresses']),
    ('bare', ['-dot', '-addresses']), ('bare', ['-callgrind']),
    ('bare', ['-callgrind', '-addresses']), ('bare', ['-proto']),
    ('bare', ['-peek=.']), ('bare', ['-top', '-show=x']),
    ('small', ['-top']), ('small', ['-tree']), ('small', ['-dot']),
    ('small', ['-traces']), ('small', ['-list=merge']),
    ('small', ['-peek=nothing_like_it']), ('small', ['-weblist=merge']),
    ('small', ['-disasm=merge']), ('small', ['-top', '-showcolumns']),
    ('small', ['-top', '-focus=(']), ('small', ['-top', '-unit=furlongs']),
    ('small', ['-top', '-nodecount=x']), ('small', ['-top', '-tree']),
    ('small', ['-top', '-divide_by=0']), ('small', ['-top', '-cum', '-flat']),
]

PAIRS = [
    ('cpu later', ['-top']), ('cpu later', ['-proto']),
    ('cpu later', ['-tree', '-nodecount=10']),
    ('cpu cpu', ['-top']), ('cpu cpu', ['-traces']), ('cpu heap', ['-top']),
]


def rows():
    """(profiles, flags) of every comparison."""
    for command, options in itertools.product(COMMANDS, OPTIONS):
        yield 'cpu', [command, *options]
    yield from MORE
    yield from PAIRS
    for base, command, options in itertools.product(
            ['-base=', '-diff_base='], ['-top', '-tree', '-dot', '-traces'],
            [[], ['-normalize'], ['-drop_negative'], ['-cum'],
             ['-focus=merge'], ['-lines']]):
        yield 'later', [base + 'cpu.pb.gz', command, *options]


def run(program, directory, profiles, flags):
    """(exit code, stdout, stderr) in a common form."""
    ran = subprocess.run(
        [program, '-symbolize=none', *flags,
         *(name + '.pb.gz' for name in profiles.split())],
        cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={'PATH': '/nonexistent', 'HOME': '/nonexistent', 'TZ': 'UTC'})
    out = ran.stdout
    if out[:2] == b'\x1f\x8b':
        out = gzip.decompress(out)
    said = re.sub(rb'^(\S*/)?pprof: ', b'', ran.stderr, flags=re.M)
    return ran.returncode, out, said


def difference(peer, ours):
    """What differs, as lines; empty when nothing does."""
    said = []
    if peer[0] != ours[0]:
        said.append('exit code %d, the peer has %d' % (ours[0], peer[0]))
    for name, a, b in (('stdout', peer[1], ours[1]),
                       ('stderr', peer[2], ours[2])):
        if a != b:
            said.append(name + ' differs:')
            said += list(difflib.unified_diff(
                a.decode('utf-8', 'backslashreplace').splitlines(),
                b.decode('utf-8', 'backslashreplace').splitlines(),
                'peer', 'ours', lineterm='', n=1))[:20]
    return said


def compare(ours, peer, directory, row):
    """(words of the row, why it is skipped or None, what differs)."""
    profiles, flags = row
    words = ' '.join([*flags, profiles])
    for pattern, reason in DIFFERENCES:
        if re.search(pattern, words):
            return words, reason, []
    return words, None, difference(run(peer, directory, *row),
                                   run(ours, directory, *row))


def peer_program():
    if not shutil.which('go'):
        return None
    named = subprocess.run(['go', 'tool', '-n', 'pprof'], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return named.stdout.strip() or None


def main():
    ours = os.path.abspath(sys.argv[1])
    wanted = sys.argv[2] if len(sys.argv) > 2 else ''
    peer = peer_program()
    if not peer:
        print('1..0 # SKIP no go tool pprof')
        return 0
    failed = False
    chosen = [row for row in rows()
              if wanted in ' '.join([*row[1], row[0]])]
    with tempfile.TemporaryDirectory() as directory, \
            ThreadPoolExecutor(os.cpu_count()) as pool:
        write_profiles(directory)
        results = pool.map(lambda row: compare(ours, peer, directory, row),
                           chosen)
        for i, (words, skipped, said) in enumerate(results):
            for line in said:
                print('# ' + line)
            failed |= bool(said)
            print('%sok %d - %s%s' % ('not ' if said else '', i + 1, words,
                                      ' # SKIP ' + skipped if skipped else ''))
    print('1..%d' % len(chosen))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
