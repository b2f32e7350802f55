#!/usr/bin/env python3
"""What push with its default settings costs a program, whatever state the
collector is in.

usage: bench/push_cost.py BUILD PROGRAM COLLECTOR [SECONDS [ROUNDS]]

PROGRAM is `cpu`, a loop, or `server`, a redis-server that answers a fixed
number of requests.  COLLECTOR is healthy, killed (after a quarter of the
time), slow (a byte a second), full (503), garbage or none (both runs without
push: the noise of the machine).

Each of ROUNDS (4) rounds runs the program twice at the same time on the same
CPU, with and without push, doing the same work of about SECONDS (60) of CPU
time; the next round takes the other CPU.  The kernel gives both turns of a few
milliseconds, so whatever else happens on the machine slows both down alike.
One line says, as medians over the rounds, how the CPU time (user and system,
all threads) with push compares to that without, what the difference is in
percent of one CPU, and how much of it the library's own threads used.  With
half a CPU for each program, the ratio is higher than for one that has a CPU
alone, and more so on a busy machine, where it has less than half.  With
PUSH_COST_PREFIX='chrt -r 1' in the environment, both take turns of 100 ms and
nothing else runs on that CPU.
"""
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'tests', 'e2e'))
os.environ['PPROF_BUILD'] = os.path.abspath(sys.argv[1])

import push  # noqa: E402
import support  # noqa: E402
from collector import Pprofd  # noqa: E402

PREFIX = os.environ.get('PUSH_COST_PREFIX', '').split()
COLLECTORS = {
    'slow': push.one_byte_a_second,
    'full': push.reply('HTTP/1.1 503 Busy\r\nRetry-After: 5\r\n'
                       'Content-Length: 4\r\n\r\nfull'),
    'garbage': push.reply(bytes(range(256)) * 40),
}


class Run:
    """One run of a command on one CPU."""

    def __init__(self, command, cpu):
        self.cpu = cpu
        self.own = {}  # CPU seconds of the library's threads, by their id
        self.is_over = threading.Event()
        self.process = subprocess.Popen(
            [*PREFIX, 'taskset', '-c', str(cpu), *command],
            env=push.environment(),
            stdout=subprocess.DEVNULL)
        self.watcher = threading.Thread(target=self.watch)
        self.watcher.start()

    def watch(self):
        while not self.is_over.wait(1):
            tasks = '/proc/%d/task' % self.process.pid
            try:
                for tid in os.listdir(tasks):
                    with open('%s/%s/comm' % (tasks, tid)) as f:
                        name = f.read()
                    with open('%s/%s/schedstat' % (tasks, tid)) as f:
                        ns = int(f.read().split()[0])
                    if name.startswith('pprof-'):
                        self.own[tid] = ns / 1e9
            except OSError:  # it has just ended
                continue

    def wait(self):
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = status
        self.is_over.set()
        self.watcher.join()
        assert status == 0, status
        return usage.ru_utime + usage.ru_stime


def spin(count):
    return [push.PUSHED, 'count', str(count)]


def calibrate_cpu(seconds):
    return int(20000 * seconds / Run(spin(20000), 0).wait())


def redis_command(directory):
    os.makedirs(directory)
    return ['redis-server', '--port', '0', '--save', '', '--dir', directory,
            '--unixsocket', os.path.join(directory, 's')]


def redis_load(directory, cpu, count):
    """Requests, then the end of the server."""
    path = os.path.join(directory, 's')
    while not os.path.exists(path):
        time.sleep(0.01)
    subprocess.run(['taskset', '-c', str(cpu), 'redis-benchmark', '-s', path,
                    '-q', '-c', '20', '-n', str(count), '-t', 'set', '-r',
                    '100000'], stdout=subprocess.DEVNULL, check=True)
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        s.sendall(b'SHUTDOWN NOSAVE\r\n')
        s.recv(100)


def server_pair(prefix, cpu, directory, count):
    paths = [os.path.join(directory, name) for name in ('plain', 'pushed')]
    commands = [redis_command(paths[0]), [*prefix, *redis_command(paths[1])]]
    runs = [Run(command, cpu) for command in commands]
    loads = [threading.Thread(target=redis_load, args=(path, 1 - cpu, count))
             for path in paths]
    for load in loads:
        load.start()
    for load in loads:
        load.join()
    for path in paths:
        shutil.rmtree(path)
    return runs


def calibrate_server(directory, seconds):
    used = [run.wait() for run in server_pair([], 0, directory, 50000)]
    return int(50000 * seconds / max(used))


def cpu_pair(prefix, cpu, _, count):
    return [Run(command, cpu)
            for command in (spin(count), [*prefix, *spin(count)])]


class Trouble:
    """A collector in the state that the name says, for one round."""

    def __init__(self, name, directory, seconds):
        self.fake = self.real = self.timer = None
        if name == 'none':
            self.prefix = []
            return
        if name in COLLECTORS:
            self.fake = push.Collector(COLLECTORS[name])
            url = self.fake.url
        else:
            self.real = Pprofd(os.path.join(directory, 'data'))
            url = self.real.url('')
        if name == 'killed':
            self.timer = threading.Timer(seconds / 4, self.real.kill)
            self.timer.start()
        self.prefix = [push.PPROF_RUN, '-collector', url]

    def close(self):
        if self.timer:
            self.timer.cancel()
            self.timer.join()
        if self.fake:
            self.fake.close()
        if self.real:
            support.stop(self.real.process)


def measure(name, pair, count, seconds, rounds):
    ratios, percents, own = [], [], []
    for i in range(rounds):
        with tempfile.TemporaryDirectory() as directory:
            trouble = Trouble(name, directory, seconds)
            begin = time.monotonic()
            runs = pair(trouble.prefix, i % 2, directory, count)
            plain, pushed = [run.wait() for run in runs]
            wall = time.monotonic() - begin
            trouble.close()
            ratios.append(pushed / plain)
            percents.append(100 * (pushed - plain) / wall)
            own.append(100 * sum(runs[1].own.values()) / wall)
    return {'ratio': round(statistics.median(ratios), 4),
            'percent_of_a_cpu': round(statistics.median(percents), 3),
            'own_threads_percent': round(statistics.median(own), 3),
            'ratios': [round(r, 4) for r in ratios],
            'cpu_seconds': round(plain, 1), 'wall_seconds': round(wall, 1)}


def main():
    program, name = sys.argv[2:4]
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 60
    rounds = int(sys.argv[5]) if len(sys.argv) > 5 else 4
    if program == 'cpu':
        pair, count = cpu_pair, calibrate_cpu(seconds)
    else:
        pair = server_pair
        with tempfile.TemporaryDirectory() as directory:
            count = calibrate_server(directory, seconds)
    result = measure(name, pair, count, seconds, rounds)
    print(json.dumps({'program': program, 'collector': name, **result}))


if __name__ == '__main__':
    main()
