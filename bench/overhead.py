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
import glob
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

BUILD = os.environ.get('PPROF_BUILD', 'build')
RUN = os.path.join(BUILD, 'pprof-run')
PART = 0.5


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def cpu_ns(pid):
    total = 0
    for path in glob.glob('/proc/%d/task/*/schedstat' % pid):
        try:
            with open(path) as f:
                total += int(f.read().split()[0])
        except OSError:
            pass  # the thread has just ended
    return total


def memory_kb(pid):
    with open('/proc/%d/status' % pid) as f:
        for line in f:
            if line.startswith('VmRSS'):
                return int(line.split()[1])
    return 0


def on_core(n):
    """Server and load each on its own: who runs where changes the cost of a
    command by more than what is measured."""
    if shutil.which('taskset') and (os.cpu_count() or 1) > n:
        return ['taskset', '-c', str(n)]
    return []


class Redis:
    """A server, perhaps under pprof-run with an endpoint."""

    def __init__(self, options=()):
        self.port = free_port()
        self.endpoint = free_port()
        self.directory = tempfile.mkdtemp()
        prefix = []
        if options:
            prefix = [RUN, '-addr', '127.0.0.1:%d' % self.endpoint,
                      *(o for o in options if o)]
        self.process = subprocess.Popen(
            on_core(0) + prefix + [
                'redis-server', '--port', str(self.port), '--save', '',
                '--dir', self.directory],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(400):
            try:
                self.control = socket.create_connection(
                    ('127.0.0.1', self.port), 5)
                break
            except OSError:
                time.sleep(0.05)
        self.load = None

    def commands(self):
        self.control.sendall(b'INFO stats\r\n')
        text = b''
        while b'\r\n\r\n' not in text and not text.endswith(b'\r\n\r\n'):
            text += self.control.recv(65536)
            if b'total_commands_processed' in text and \
                    text.rstrip().count(b'\n') > 20:
                break
        return int(text.split(b'total_commands_processed:')[1].split()[0])

    def start_load(self):
        self.load = subprocess.Popen(
            on_core(1) + ['redis-benchmark', '-p', str(self.port), '-n', '1000000000',
             '-t', 'set', '-q', '-P', '4'],
            stdout=subprocess.DEVNULL)
        time.sleep(0.3)

    def stop_load(self):
        self.load.kill()
        self.load.wait()

    def part(self):
        """CPU nanoseconds a command, over a part."""
        commands, cpu = self.commands(), cpu_ns(self.process.pid)
        time.sleep(PART)
        cpu = cpu_ns(self.process.pid) - cpu
        return cpu / (self.commands() - commands)

    def profile(self, seconds):
        return urllib.request.urlopen(
            'http://127.0.0.1:%d/debug/pprof/profile?seconds=%d'
            % (self.endpoint, seconds)).read()

    def close(self):
        self.control.close()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        shutil.rmtree(self.directory)


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
