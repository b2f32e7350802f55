#!/usr/bin/env python3
"""Measures whether a collector that hangs delays a program that pushes its
profiles.

usage: bench/push.py BUILD

Prints how many rounds of a loop of about 1 ms took below 2, 5, 10, 50 ms and
longer, and how often the loop had to wait for something, without push and
with a collector that never answers.  What push costs is measured by
push_cost.py.
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'tests', 'e2e'))
os.environ['PPROF_BUILD'] = os.path.abspath(sys.argv[1])

import push  # noqa: E402


def latency(url=None):
    command = [push.PUSHED, 'latency', '4']
    if url:
        done = push.run(url, command, '-push-interval', '1',
                        '-push-seconds', '1')
    else:
        done = subprocess.run(command, env=push.environment(), text=True,
                              capture_output=True)
    waits, *rounds = [int(n) for n in done.stdout.split()]
    return {'waits': waits, 'below 2, 5, 10, 50 ms, more': rounds}


def main():
    hanging = push.Collector(push.never_answers)
    try:
        print(json.dumps({'plain': latency(),
                          'collector hangs': latency(hanging.url)}))
    finally:
        hanging.close()


if __name__ == '__main__':
    main()
