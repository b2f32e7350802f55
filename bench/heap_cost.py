#!/usr/bin/env python3
"""What a malloc/free pair costs with and without profilers, interleaved.

usage: bench/heap_cost.py [BUILD [ROUNDS [SECONDS]]]

Each round runs every variant for SECONDS on every load (alloc_load.c) and
takes its best slice; printed is the median of the rounds, and of the ratios to
the same allocator unprofiled in the same round.  "pass-through" is a preload
library that only goes on to libc: no wrapper can cost less.
"""
import os
import statistics
import subprocess
import sys

BUILD = sys.argv[1] if len(sys.argv) > 1 else 'build'
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 9
SECONDS = sys.argv[3] if len(sys.argv) > 3 else '0.3'
LOADS = ('pair', 'mix', 'deep', 'mt', 'big')

os.environ['PPROF_BUILD'] = BUILD
sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'tests',
                                'e2e'))
from heap import library  # noqa: E402

PRELOAD = os.path.join(BUILD, 'libpprof-preload.so')
OURS = {'LD_PRELOAD': PRELOAD, 'PPROF_MEM_RATE': '524288'}


def above(name):
    return dict(OURS, LD_PRELOAD='%s %s' % (PRELOAD, library(name)))


def variants():
    """(name, base, environment); base is what it is compared with."""
    yield 'glibc', 'glibc', {}
    yield ('glibc + pass-through', 'glibc',
           {'LD_PRELOAD': os.path.join(BUILD, 'bench',
                                       'libpass_through.so')})
    yield 'glibc + libpprof', 'glibc', OURS
    yield ('glibc + libpprof, off', 'glibc',
           dict(OURS, PPROF_MEM_RATE='0'))
    je, tc = library('libjemalloc.so.2'), library('libtcmalloc.so.4')
    if je:
        yield 'jemalloc', 'jemalloc', {'LD_PRELOAD': je}
        yield ('jemalloc prof', 'jemalloc',
               {'LD_PRELOAD': je,
                'MALLOC_CONF': 'prof:true,prof_active:true,'
                               'lg_prof_sample:19'})
        yield ('jemalloc + libpprof', 'jemalloc',
               above('libjemalloc.so.2'))
    if tc:
        yield 'tcmalloc', 'tcmalloc', {'LD_PRELOAD': tc}
        yield ('tcmalloc sampled', 'tcmalloc',
               {'LD_PRELOAD': tc, 'TCMALLOC_SAMPLE_PARAMETER': '524288'})
        yield ('tcmalloc HEAPPROFILE', 'tcmalloc',
               {'LD_PRELOAD': tc, 'HEAPPROFILE': '/tmp/pprof-bench-heap'})
        yield ('tcmalloc + libpprof', 'tcmalloc',
               above('libtcmalloc.so.4'))


def measure(load, environment):
    done = subprocess.run([os.path.join(BUILD, 'bench', 'alloc_load'), load,
                           SECONDS], env=dict(os.environ, **environment),
                          capture_output=True, text=True)
    if done.returncode:
        return None
    return float(done.stdout.split()[0])


def main():
    all_variants = list(variants())
    rounds = [{(load, name): measure(load, environment) for load in LOADS
               for name, _, environment in all_variants}
              for _ in range(ROUNDS)]
    print('%-24s' % 'ns a pair (ratio)' +
          ''.join('%16s' % load for load in LOADS))
    for name, base, _ in all_variants:
        cells = []
        for load in LOADS:
            pairs = [(r[load, name], r[load, base]) for r in rounds
                     if r[load, name] is not None]
            cells.append('%16s' % ('-' if not pairs else '%.1f (x%.2f)' % (
                statistics.median(ns for ns, _ in pairs),
                statistics.median(ns / of for ns, of in pairs))))
        print('%-24s' % name + ''.join(cells))


if __name__ == '__main__':
    main()
