#!/usr/bin/env python3
"""What the lock and wall profiles cost.

usage: bench/locks.py [ROUNDS] [--instructions]

Uncontended locks, plain and with libpprof-preload.so (off: nothing asked for;
on: the rates that an endpoint switches on; all: everything is recorded), in
turn, ROUNDS times (5); the best nanoseconds of each and the difference to
plain.  With --instructions callgrind counts instructions for a pair instead.
Then what a look at 1,000 idle threads costs the wall profile's thread, from
two rates, so that what it pays once falls out.  Prints JSON lines.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

BUILD = os.environ.get('PPROF_BUILD', 'build')
LOAD = os.path.join(BUILD, 'bench', 'lock_load')
PRELOAD = {'LD_PRELOAD': os.path.join(BUILD, 'libpprof-preload.so')}
VARIANTS = {
    'plain': {},
    'off': PRELOAD,
    'on': dict(PRELOAD, PPROF_BLOCK_RATE='1000000', PPROF_MUTEX_FRACTION='10'),
    'all': dict(PRELOAD, PPROF_BLOCK_RATE='1', PPROF_MUTEX_FRACTION='1'),
}
CASES = ['mutex', 'recursive mutex', 'mtx', 'rdlock', 'wrlock', 'spinlock',
         'signal', 'semaphore']


def run(command, env):
    done = subprocess.run(command, env=dict(os.environ, **env), check=True,
                          capture_output=True, text=True)
    return done.stdout + done.stderr


def nanoseconds(rounds):
    best = {}
    for _ in range(rounds):
        for variant, env in VARIANTS.items():
            for line in run([LOAD], env).splitlines():
                case, ns = line.rsplit(' ', 1)
                key = case, variant
                best[key] = min(best.get(key, 1e9), float(ns))
    for case in CASES:
        row = {variant: best[case, variant] for variant in VARIANTS}
        row.update({variant + ' adds': round(row[variant] - row['plain'], 2)
                    for variant in VARIANTS if variant != 'plain'})
        print(json.dumps(dict({'ns of an uncontended pair': case}, **row)),
              flush=True)


def count(case, n, env):
    with tempfile.TemporaryDirectory() as directory:
        text = run(['valgrind', '--tool=callgrind', '--toggle-collect=use_*',
                    '--callgrind-out-file=' + os.path.join(directory, 'out'),
                    LOAD, case, str(n)],
                   dict(env, PPROF_CHILDREN='1'))
    return int(re.search(r'Collected : (\d+)', text).group(1))


def instructions():
    """Of one pair: the difference of many and few, divided."""
    if not shutil.which('valgrind'):
        sys.exit('valgrind is not installed')
    for case in CASES:
        row = {}
        for variant, env in VARIANTS.items():
            row[variant] = round((count(case, 110000, env) -
                                  count(case, 10000, env)) / 100000, 1)
        print(json.dumps(dict({'instructions of a pair': case}, **row)),
              flush=True)


def wall(idle=1000, seconds=4):
    states = os.path.join(BUILD, 'tests', 'e2e', 'programs', 'states')
    cost = []
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, 'wall')
        for hz in (20, 200):
            cpu = float(run([states, str(seconds), str(hz), path, str(idle)],
                            {}).split()[1])
            comment = run([os.path.join(BUILD, 'pprof'), '-comments', path],
                          {})
            looks = int(re.search(r'wall: (\d+) looks', comment).group(1))
            cost.append((looks, cpu))
    each = (cost[1][1] - cost[0][1]) / (cost[1][0] - cost[0][0])
    print(json.dumps({'wall profile': '%d idle threads' % idle,
                      'us a look': round(each / 1000, 1),
                      'us a thread': round(each / 1000 / idle, 3)}))


def main():
    args = [a for a in sys.argv[1:] if not a.startswith('-')]
    if '--instructions' in sys.argv:
        instructions()
    else:
        nanoseconds(int(args[0]) if args else 5)
        wall()


if __name__ == '__main__':
    main()
