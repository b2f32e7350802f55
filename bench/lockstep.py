#!/usr/bin/env python3
"""How right the profile is for loops in step with the sampling interval.

usage: bench/lockstep.py [-before DIR] [-seconds N] [-runs N] [SOURCE...]

Runs tests/e2e/programs/lockstep (50/30/15/5 % of its period in four functions)
with periods of 1/3, 1/2, 1, 2, 3 and 5 sampling intervals, at 100 and 1000 Hz,
with each source of samples.  One JSON line for each: the largest error of a
share in percentage points, the worst of the runs, and the share of the CPU
time that the profile accounts for.  `standard_error` is what chance alone
allows for the 50 % part.

-before DIR also runs it with another libpprof.so.0, in DIR.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'tests',
                                'e2e'))
from lockstep import PERIODS, measure, standard_error
from runtime import SOURCES, source_works


def row(source, hz, ratio, args, library):
    runs = [measure(source, hz, ratio, args.seconds, library)
            for _ in range(args.runs)]
    worst = max(max(abs(100 * (seen - share)) for seen, share in
                    zip(run['seen'], run['true'])) for run in runs)
    return {
        'bench': 'lockstep', 'library': 'before' if library else 'now',
        'source': source, 'hz': hz, 'period_in_intervals': round(ratio, 3),
        'worst_points': round(worst, 1),
        'accounted': round(sum(run['accounted'] for run in runs) / args.runs,
                           4),
        'standard_error': round(100 * standard_error(
            0.5, hz * args.seconds), 1)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('-before')
    parser.add_argument('-seconds', type=float, default=10)
    parser.add_argument('-runs', type=int, default=3)
    parser.add_argument('sources', nargs='*')
    args = parser.parse_args()
    for source in args.sources or SOURCES:
        if not source_works(source):
            print('# %s is not allowed here' % source)
            continue
        for hz in (100, 1000):
            for ratio in PERIODS:
                for library in ([args.before] if args.before else []) + [None]:
                    print(json.dumps(row(source, hz, ratio, args, library)),
                          flush=True)


main()
