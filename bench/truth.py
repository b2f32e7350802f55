#!/usr/bin/env python3
"""How accurate the CPU profile becomes with time.

usage: bench/truth.py [SECONDS [SOURCE...]]

Runs tests/e2e/programs/truth (50/30/15/5 % in four known call paths) for
SECONDS of CPU time (20) at 100 and at 1000 Hz with each source of samples.
One JSON line each: the largest error in percentage points, and the share of
the CPU time that the profile accounts for.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'tests',
                                'e2e'))
from runtime import PROGRAMS, SOURCES, source_works, stack_ends, top

PATHS = {'direct_50': 50, 'truth_library_30': 30, 'recurse_15': 15,
         'thread_5': 5}


def main():
    seconds = sys.argv[1] if len(sys.argv) > 1 else '20'
    for source in sys.argv[2:] or SOURCES:
        if not source_works(source):
            print('# %s is not allowed here' % source)
            continue
        for hz in (100, 1000):
            with tempfile.NamedTemporaryFile() as out:
                done = subprocess.run(
                    [os.path.join(PROGRAMS, 'truth'), seconds, str(hz),
                     out.name], capture_output=True, text=True, check=True,
                    env=dict(os.environ, PPROF_CPU_SOURCE=source))
                rows = top(out.name)
                ends = stack_ends(out.name)
            total = sum(flat for flat, _ in rows.values())
            print(json.dumps({
                'bench': 'truth', 'source': source, 'hz': hz,
                'worst_points': round(max(
                    abs(100 * rows[name][1] / total - share)
                    for name, share in PATHS.items()), 2),
                'accounted': round(total / float(done.stdout), 4),
                'complete': round(ends[0] / sum(ends), 5),
            }), flush=True)


main()
