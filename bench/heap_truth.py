#!/usr/bin/env python3
"""How accurate the heap profile is, over many runs.

usage: bench/heap_truth.py [BUILD [RUNS [RATE [SAMPLES]]]]

The mean of RUNS is known to 1 / sqrt(RUNS * SAMPLES / 4) for what is in use,
a quarter of all: "50 65536 8000" makes three standard errors 1 % of it.

Prints for each site and size of tests/e2e/programs/heap_truth.c the mean of
all runs in percent of the truth, and how many of the estimates were within
three standard errors (theory: 99.7 % where samples are many).
"""
import os
import sys

BUILD = sys.argv[1] if len(sys.argv) > 1 else 'build'
RUNS = int(sys.argv[2]) if len(sys.argv) > 2 else 50
RATE = int(sys.argv[3]) if len(sys.argv) > 3 else 524288
SAMPLES = int(sys.argv[4]) if len(sys.argv) > 4 else 100

os.environ['PPROF_BUILD'] = BUILD
sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'tests',
                                'e2e'))
import heap  # noqa: E402


def main():
    sums, within, errors, spreads, checked = {}, 0, [], [], 0
    for _ in range(RUNS):
        truth, said = heap.run_truth(RATE, SAMPLES * RATE)
        for (site, size), (total, live) in truth.items():
            for what, n, space in (('alloc', total, heap.ALLOC_SPACE),
                                   ('inuse', live, heap.INUSE_SPACE)):
                blocks = said[site, size][space] / size
                key = (site, size, what)
                sums.setdefault(key, [0, 0])
                sums[key][0] += blocks
                sums[key][1] += n
                off = abs(blocks - n)
                checked += 1
                within += off <= 3 * heap.spread(RATE, size, n) + 0.01
    for (site, size, what), (got, want) in sums.items():
        if want == 0:
            print('%-14s %8d %s  none, and none said: %s' %
                  (site, size, what, got == 0))
            continue
        error = 100 * (got / want - 1)
        spread = 100 * heap.spread(RATE, size, want) / want
        errors.append(error)
        spreads.append(spread)
        print('%-14s %8d %s  %+6.2f %% (one standard error of the mean: '
              '%.2f %%)' % (site, size, what, error, spread))
    print('%d of %d estimates within 3 standard errors (%.2f %%)' %
          (within, checked, 100 * within / checked))
    print('largest error of a mean: %.2f %%, or %.1f standard errors' % (
        max(map(abs, errors)),
        max(abs(e) / s for e, s in zip(errors, spreads) if s > 0)))
    print('mean of all sites: %+.2f %%' % (sum(errors) / len(errors)))


if __name__ == '__main__':
    main()
