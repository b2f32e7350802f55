#!/usr/bin/env python3
"""Searches for differences from Debian's `go tool pprof` at random.

usage: tests/golden/explore.py BINARY [--rounds N] [--seed N] [--keep DIR]

Each round makes an odd little profile and asks both programs for reports with
options thrown together.  Prints what differs, as commands to try by hand; the
profiles stay in --keep (default build/explore).  Not part of the test suite:
some findings are ties that the peer breaks by chance, and are for a person to
judge.  What proves to be a bug becomes a row of differential.py.
"""
import argparse
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import differential
from differential import Random, difference, peer_program, run
from profilepb import Profile

NAMES = ['main', 'run', 'a::b::run', 'ns::T<int, std::string>::op()',
         'example.com/pkg/v2.(*T).Method', 'pkg.f.func1', 'runtime.mallocgc',
         'x y z', 'foo(int, char const*)', '<lambda#1>::call', 'Über::straße',
         'java.util.List.add', '', 'operator<<', 'f(g<h>)::i', 'a"b\\c',
         'very_' * 20 + 'long', '[kernel]', 'malloc', 'free']
FILES = ['main.c', 'src/a.cc', '/abs/dir/b.go', '', 'deep/er/../x.h',
         '/usr/include/c++/12/bits/stl_vector.h', 'a b.c']
UNITS = [('cpu', 'nanoseconds'), ('samples', 'count'), ('space', 'bytes'),
         ('delay', 'microseconds'), ('time', 'ms'), ('alloc', 'kb'),
         ('events', 'events'), ('odd', ''), ('wall', 'seconds'),
         ('gcu', 'GCUs'), ('objects', 'objects')]
MAPPINGS = [(0x400000, '/bin/prog'), (0x7f1200000000, '/lib/libx.so.1'),
            (0xffffffff80000000, '[kernel.kallsyms]_text')]
COMMANDS = ['-top', '-tree', '-traces', '-dot', '-callgrind', '-topproto',
            '-proto', '-peek=run', '-peek=.', '-text', '-list=run',
            '-comments']
OPTIONS = [
    '-cum', '-flat', '-files', '-filefunctions', '-lines', '-addresses',
    '-functions', '-noinlines', '-nodecount=3', '-nodecount=0',
    '-nodecount=20', '-nodefraction=0', '-nodefraction=0.1',
    '-edgefraction=0.2', '-trim=false', '-unit=ms', '-unit=s', '-unit=auto',
    '-unit=kb', '-unit=mb', '-unit=min', '-unit=us', '-unit=gcu',
    '-unit=count', '-unit=nope', '-divide_by=7', '-divide_by=-2', '-mean',
    '-sample_index=0', '-sample_index=1', '-compact_labels', '-focus=run',
    '-focus=pkg|main', '-focus=src/a.cc', '-focus=b.go', '-ignore=malloc',
    '-ignore=T', '-hide=run', '-hide=x', '-hide=lib', '-show=a', '-show=main',
    '-show=lib', '-show_from=run', '-show_from=T', '-prune_from=run',
    '-prune_from=a', '-relative_percentages', '-tagfocus=key=v1',
    '-tagfocus=v1,v2', '-tagfocus=1kb:', '-tagfocus=:64', '-tagfocus=size=64',
    '-tagfocus=10b:2kb', '-tagignore=v', '-tagignore=size=16:',
    '-tagshow=key', '-taghide=size', '-taghide=.', '-tagroot=key',
    '-tagroot=size,key', '-tagleaf=key', '-tagleaf=size', '-call_tree',
    '-drop_negative', '-normalize', '-focus=Ü', '-show=stl', '-hide=^$',
    '-trim_path=/abs', '-tagfocus=5ms', '-tagignore=key=v2,size=16',
]


class Odd:
    """A small profile in which most things that are allowed happen.

    It is as the peer's merge would leave it (nothing unused or double, no
    sample of zeros, everything numbered by first use), since the peer merges
    even a single profile and ours does not; and no stack is empty, since the
    peer drops such samples when no filter is set.
    """

    def __init__(self, seed, types=None):
        self.random = Random(seed * 7919 + 1)
        for _ in range(4):
            self.random.below(2)
        r = self.random
        if not types:
            types = [UNITS[r.below(len(UNITS))]]
            for _ in range(r.below(3)):
                kind = UNITS[r.below(len(UNITS))]
                if kind not in types:
                    types.append(kind)
        self.profile = p = Profile(types, types[-1], r.below(3) * 1000)
        p.duration_nanos = [0, 10 ** 9, 90 * 10 ** 9, 123456789][r.below(4)]
        if r.below(3) == 0:
            p.default_type = types[0][0]
        if r.below(3) == 0:
            p.drop_frames = ['malloc', 'run|free', '.*lambda.*'][r.below(3)]
        if r.below(4) == 0:
            p.keep_frames = ['malloc', 'a::b::run'][r.below(2)]
        if r.below(3) == 0:
            p.comments = ['first', 'second one'][:1 + r.below(2)]
        self.negative = r.below(4) == 0
        self.scale = [1, 1000, 10 ** 6, 10 ** 9][r.below(4)]
        self.fill()

    def fill(self):
        p, r = self.profile, self.random
        n_mappings = 1 + r.below(3)
        symbolized = [r.below(3) > 0 for _ in range(n_mappings)]
        offsets = [r.below(2) * 0x1000 for _ in range(n_mappings)]
        homeless = r.below(4) == 0
        functions = [(NAMES[r.below(len(NAMES))], FILES[r.below(len(FILES))],
                      r.below(3) * 7) for _ in range(3 + r.below(14))]
        places = []
        for i in range(4 + r.below(24)):
            m = r.below(n_mappings + homeless)
            lines = [(r.below(len(functions)), r.below(40))
                     for _ in range(1 + max(0, r.below(6) - 3))]
            base = MAPPINGS[m][0] if m < n_mappings else 0x1000
            places.append((m, base + 0x40 * i + r.below(3),
                           lines if r.below(8) else []))

        def mapping(m):
            if m == n_mappings:
                return 0
            start, name = MAPPINGS[m]
            return p.mapping(start, start + 0x100000, offsets[m], name,
                             symbolized=symbolized[m])

        self.made = {}
        self.once('mapping', 0, mapping)

        def function(key):
            name, filename, start_line = key
            return p.function(name, filename, start_line=start_line)

        def location(place):
            m, address, lines = places[place]
            home = self.once('mapping', m, mapping)
            named = [(self.once('function', functions[f], function), line)
                     for f, line in lines]
            if not named:
                return p.location(address=address, mapping=home)
            return p.location(named[-1][0], named[-1][1], address, home,
                              named[:-1])

        seen = set()
        for n in range(1 + r.below(40)):
            stack = [r.below(len(places)) for _ in range(1 + r.below(9))]
            labels = self.labels()
            values = [self.value(n) for _ in p.types]
            key = tuple(stack), repr(sorted(labels.items()))
            if key in seen or not any(values):
                continue
            seen.add(key)
            p.sample([self.once('location', place, location)
                      for place in stack], values, labels)

    def once(self, kind, key, make):
        if (kind, key) not in self.made:
            self.made[kind, key] = make(key)
        return self.made[kind, key]

    def labels(self):
        r, labels = self.random, {}
        if r.below(2):
            labels['key'] = ['v1', 'v2', 'v3 x'][r.below(3)]
        if r.below(3) == 0:
            labels['size'] = (16 << r.below(8), 'bytes')
        if r.below(6) == 0:
            labels['wait'] = (1 + r.below(9), 'milliseconds')
        if r.below(8) == 0:
            labels['plain'] = 1 + r.below(5)
        return labels

    def value(self, n):
        r = self.random
        if r.below(12) == 0:
            return 0
        value = 1 + n + r.below(5000) * self.scale
        return -value if self.negative and r.below(3) == 0 else value


def commands(seed, count):
    r = Random(seed * 104729 + 7)
    for _ in range(count):
        flags = [COMMANDS[r.below(len(COMMANDS))]]
        flags += [OPTIONS[r.below(len(OPTIONS))] for _ in range(r.below(4))]
        pick = r.below(10)
        if pick == 0:
            yield 'one two', flags
        elif pick < 3:
            base = ['-base', '-diff_base'][r.below(2)]
            yield 'two', [base + '=one.pb.gz', *flags]
        else:
            yield 'one', flags


def chance(peer_outputs):
    """Returns true if the peer gives different answers to the same command."""
    return any(output != peer_outputs[0] for output in peer_outputs[1:])


def explore(ours, peer, seed, keep, count):
    """Differences found with the profiles of one seed."""
    directory = os.path.join(keep, str(seed))
    os.makedirs(directory, exist_ok=True)
    one = Odd(seed).profile
    two = Odd(seed * 2 + 100000, one.types).profile
    one.write(os.path.join(directory, 'one.pb.gz'))
    two.write(os.path.join(directory, 'two.pb.gz'))
    found = []
    for row in commands(seed, count):
        words = ' '.join([*row[1], row[0]])
        if any(re.search(pattern, words)
               for pattern, _ in differential.DIFFERENCES):
            continue
        answer = run(peer, directory, *row)
        said = difference(answer, run(ours, directory, *row))
        if said and not chance([answer] + [run(peer, directory, *row)
                                           for _ in range(4)]):
            found.append((directory, row, said))
    return found


def main():
    parser = argparse.ArgumentParser(
        usage=__doc__.split('usage: ')[1].split('\n\n')[0])
    parser.add_argument('binary')
    parser.add_argument('--rounds', type=int, default=50)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--count', type=int, default=20)
    parser.add_argument('--keep')
    options = parser.parse_args()
    ours = os.path.abspath(options.binary)
    keep = os.path.abspath(options.keep or os.path.join(
        os.path.dirname(ours), 'explore'))
    peer = peer_program()
    if not peer:
        sys.exit('no go tool pprof')

    total = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        seeds = range(options.seed, options.seed + options.rounds)
        for found in pool.map(lambda seed: explore(ours, peer, seed, keep,
                                                   options.count), seeds):
            for directory, (profiles, flags), said in found:
                total += 1
                print('(cd %s; %s -symbolize=none %s %s)' % (
                    directory, ours, ' '.join("'%s'" % f for f in flags),
                    ' '.join(p + '.pb.gz' for p in profiles.split())))
                for line in said:
                    print('    ' + line)
    print('%d differences in %d commands'
          % (total, options.rounds * options.count))


if __name__ == '__main__':
    main()
