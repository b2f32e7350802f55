#!/usr/bin/env python3
"""What the heap profile costs redis-server under SET and GET of
redis-benchmark.

usage: bench/redis_heap.py [ROUNDS [PAIRS]]

Each of ROUNDS (12) starts two servers, one as it is and one under pprof-run
with an endpoint, heap sampled every 512 KiB (all that is on by itself is on),
and lets the load go to one and the other in turn, PAIRS (10) times 0.25 s
each, in the order a b b a.  Two processes differ by themselves, by where
their memory happens to be; that is why there are many of them.  Prints for
throughput and for CPU time a command the median of the rounds' ratios
(preloaded to plain) and the interval that holds the true median with 95 %,
and the difference in memory.
"""
import json
import random
import statistics
import sys

import redis_server
from redis_server import Redis

SLICE = 0.25
REPEATS = 2000


def interval(values):
    """95 % of the medians of samples drawn from the values."""
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(values, k=len(values)))
                     for _ in range(REPEATS))
    return [round(medians[int(REPEATS * part)], 4) for part in (0.025, 0.975)]


def round_of(test, pairs):
    """(throughput, CPU time a command) of the preloaded one to the plain, and
    how many kB more it has in memory at the end."""
    servers = [Redis(), Redis(['-v'])]
    sums = [[0, 0, 0], [0, 0, 0]]
    for server in servers:
        server.start_load(test)
        server.pause_load()
    for i in range(pairs):
        for which in ((0, 1) if i % 2 == 0 else (1, 0)):
            servers[which].resume_load()
            servers[which].count(0.05)
            for k, value in enumerate(servers[which].count(SLICE)):
                sums[which][k] += value
            servers[which].pause_load()
    memory = [redis_server.memory_kb(server.process.pid)
              for server in servers]
    for server in servers:
        server.stop_load()
        server.close()
    rates = [commands / ns for commands, _, ns in sums]
    costs = [cpu / commands for commands, cpu, _ in sums]
    return rates[1] / rates[0], costs[1] / costs[0], memory[1] - memory[0]


def compare(test, rounds, pairs):
    *ratios, memory = zip(*(round_of(test, pairs) for _ in range(rounds)))
    for what, values in zip(('throughput', 'CPU time a command'), ratios):
        print(json.dumps({
            'bench': 'redis heap', 'load': test, 'what': what,
            'rounds': rounds, 'median_ratio': round(
                statistics.median(values), 4),
            'interval_95': interval(list(values)),
            'spread': [round(min(values), 4), round(max(values), 4)]}),
            flush=True)
    print(json.dumps({'bench': 'redis heap', 'load': test,
                      'what': 'memory, kB more', 'median':
                      statistics.median(memory)}), flush=True)


def main():
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    rounds, pairs = (numbers + [12, 10][len(numbers):])[:2]
    for test in ('set', 'get'):
        compare(test, rounds, pairs)


if __name__ == '__main__':
    main()
