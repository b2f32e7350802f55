#!/usr/bin/env python3
"""What libpprof costs the program it lives in.

usage: bench/overhead.py [ROUNDS [loop|redis]]

- a compute loop at the end of a 30-frame stack (bench/loop.c): a profile on
  and off in one process, and the endpoint there and not;
- redis-server under redis-benchmark, as it is on Debian: in one process a
  profile on and off; the endpoint there and not, in two processes that take
  turns.

CPU time is the scheduler's, in nanoseconds, of all threads of the process,
ours included (load on the machine matters little then); only the steady
state is measured, in parts of half a second in the order off, on, on, off.
For redis it is divided by the commands that were served.  One JSON line
each: the median of the rounds' ratios, and as noise the median difference
of the two parts without.  A ratio that is nearer to 1 than the noise says
nothing.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time

from redis_server import BUILD, Redis, memory_kb


def say(what, ratios, noise, **more):
    print(json.dumps({
        'bench': 'overhead', 'load': 'redis', 'what': what, **more,
        'rounds': len(ratios),
        'median_ratio': round(statistics.median(ratios), 4),
        'noise': round(statistics.median(noise), 4)}), flush=True)


def redis_profile(rounds, source, hz):
    chosen = ['-source', source] if source else []
    server = Redis([*chosen, '-rate', str(hz)])
    server.start_load()
    ratios, noise = [], []
    server.profile(1)
    for _ in range(rounds):
        a = server.part()
        asking = threading.Thread(target=server.profile, args=(2,))
        asking.start()
        time.sleep(0.3)
        b, c = server.part(), server.part()
        asking.join()
        time.sleep(0.1)
        d = server.part()
        ratios.append((b + c) / (a + d))
        noise.append(abs(a / d - 1))
    server.stop_load()
    say('profile', ratios, noise, source=source or 'its own choice', hz=hz)
    server.close()


def redis_endpoint(rounds):
    """Two processes differ by themselves: new ones every round."""
    ratios, noise, memory = [], [], []
    for _ in range(rounds):
        plain, other = Redis(), Redis(['-v'])
        values = []
        for server in (plain, other, other, plain):
            server.start_load()
            values.append(server.part())
            server.stop_load()
        a, b, c, d = values
        ratios.append((b + c) / (a + d))
        noise.append(abs(a / d - 1))
        memory.append(memory_kb(other.process.pid) -
                      memory_kb(plain.process.pid))
        plain.close()
        other.close()
    say('endpoint, idle', ratios, noise,
        memory_kb=statistics.median(memory))


def loop(*arguments, source=''):
    subprocess.run([os.path.join(BUILD, 'bench', 'loop'), *arguments],
                   env=dict(os.environ, PPROF_CPU_SOURCE=source),
                   stderr=subprocess.DEVNULL)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    only = sys.argv[2] if len(sys.argv) > 2 else ''
    if only != 'redis':
        for source in ('perf', 'timer'):
            for hz in ('100', '1000'):
                loop('profile', str(rounds), hz, source=source)
        loop('endpoint', str(rounds))
    if only == 'loop' or not shutil.which('redis-benchmark'):
        return
    for source in ('', 'perf', 'timer'):
        for hz in (100, 1000):
            redis_profile(rounds, source, hz)
    redis_endpoint(rounds)


main()
