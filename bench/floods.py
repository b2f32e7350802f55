#!/usr/bin/env python3
"""How much of its throughput a program keeps while its endpoint is flooded.

usage: bench/floods.py [--build DIR] [--seconds N] [--rounds N] [--only NAME]

The program (one thread of work) and its endpoint share one CPU, attackers
have another, so that their own hunger does not count.  Calm and flooded
stretches alternate.  Printed, one JSON line each, medians of the rounds:

kept_percent      flooded throughput, of calm; on a busy machine it means
                  nothing, but then
endpoint_percent  of a CPU that the endpoint's threads took meanwhile, and
pace_percent      work done in a second of the working thread's own CPU time,
                  of calm, say the same
"""
import argparse
import json
import multiprocessing
import os
import re
import resource
import signal
import socket
import ssl
import statistics
import subprocess
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def connection(port):
    return socket.create_connection(('127.0.0.1', port), 2)


def garbage(port):
    with connection(port) as s:
        s.sendall(b'\0GARBAGE / \r\n\r\n' * 5000)


def requests(port):
    with connection(port) as s:
        for _ in range(100):
            s.sendall(b'GET /debug/pprof/cmdline HTTP/1.1\r\n'
                      b'Host: localhost\r\n\r\n' * 100)


def probes(port):
    with connection(port) as s:
        for _ in range(100):
            s.sendall(b'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'
                      * 100)


def profiles(port):
    with connection(port) as s:
        s.sendall(b'GET /debug/pprof/threads HTTP/1.1\r\nHost: localhost\r\n'
                  b'Connection: close\r\n\r\n')
        while s.recv(65536):
            pass


def large_headers(port):
    with connection(port) as s:
        s.sendall(b'GET / HTTP/1.1\r\nHost: localhost\r\nX: ')
        for _ in range(1600):
            s.sendall(b'x' * 65536)


def slowloris(port):
    sockets = []
    for _ in range(200):
        s = connection(port)
        s.sendall(b'GET / HTTP/1.1\r\nHost: localhost\r\n')
        sockets.append(s)
    for _ in range(20):
        for s in sockets:
            s.sendall(b'X: y\r\n')
        time.sleep(0.01)


def half_open(port):
    sockets = []
    for _ in range(10000):
        s = socket.socket()
        s.setblocking(False)
        s.connect_ex(('127.0.0.1', port))
        sockets.append(s)
    time.sleep(0.5)


def handshakes(port):
    context = ssl._create_unverified_context()
    with connection(port) as s:
        context.wrap_socket(s).close()


ATTACKS = dict(garbage=garbage, requests=requests, probes=probes,
               profiles=profiles, large_headers=large_headers,
               slowloris=slowloris, half_open=half_open,
               handshakes=handshakes)


def settle(cpu):
    """This process on one CPU, before all others if that is allowed."""
    os.sched_setaffinity(0, {cpu})
    try:
        os.nice(-20)
    except PermissionError:
        pass


def attack(name, port):
    settle(max(os.sched_getaffinity(0)))
    while True:
        try:
            ATTACKS[name](port)
        except OSError:
            time.sleep(0.001)


class Load:
    """flood_load on the first CPU."""

    def __init__(self, build, **env):
        cpu = min(os.sched_getaffinity(0))
        self.process = subprocess.Popen(
            [os.path.join(build, 'bench', 'flood_load')],
            env=dict(os.environ, PPROF_ADDR='127.0.0.1:0', **env), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            preexec_fn=lambda: settle(cpu))
        said = self.process.stderr.readline()
        self.port = int(re.search(r':(\d+)/debug', said).group(1))
        self.units = 0
        threading.Thread(target=self.count, daemon=True).start()
        threading.Thread(target=self.process.stderr.read,
                         daemon=True).start()

    def count(self):
        for line in self.process.stdout:
            self.units = int(line)

    def cpu(self):
        """{thread's name: its CPU time in clock ticks}"""
        used = {}
        tasks = '/proc/%d/task' % self.process.pid
        for tid in os.listdir(tasks):
            try:
                with open('%s/%s/stat' % (tasks, tid)) as f:
                    name, rest = f.read().split('(', 1)[1].rsplit(')', 1)
            except OSError:
                continue
            ticks = sum(int(x) for x in rest.split()[11:13])
            used[name] = used.get(name, 0) + ticks
        return used

    def stretch(self, seconds):
        """(units a second, units a CPU second of the work, CPU share of the
        endpoint)"""
        start, units, before = time.monotonic(), self.units, self.cpu()
        time.sleep(seconds)
        units, after = self.units - units, self.cpu()
        took = time.monotonic() - start
        used = {True: 0, False: 0}
        for thread, ticks in after.items():
            used[thread.startswith('pprof-')] += (
                (ticks - before.get(thread, 0)) / os.sysconf('SC_CLK_TCK'))
        return units / took, units / max(used[False], 0.01), used[True] / took


def certificate(directory):
    files = [os.path.join(directory, n) for n in ('crt', 'key')]
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048',
                    '-nodes', '-subj', '/CN=x', '-out', files[0], '-keyout',
                    files[1]], check=True, capture_output=True)
    return dict(PPROF_TLS_CERT=files[0], PPROF_TLS_KEY=files[1])


def measure(name, options, directory):
    env = certificate(directory) if name == 'handshakes' else {}
    load = Load(options.build, **env)
    rows = []
    time.sleep(0.5)
    for _ in range(options.rounds):
        calm = load.stretch(options.seconds)
        attackers = [multiprocessing.Process(target=attack,
                                             args=(name, load.port))
                     for _ in range(2)]
        for a in attackers:
            a.start()
        flooded = load.stretch(options.seconds)
        for a in attackers:
            a.kill()
            a.join()
        rows.append((flooded[0] / calm[0], flooded[2], flooded[1] / calm[1]))
        time.sleep(1)
    load.process.send_signal(signal.SIGKILL)
    load.process.wait()
    medians = [round(100 * statistics.median(column), 1)
               for column in zip(*rows)]
    return dict(zip(('flood', 'kept_percent', 'endpoint_percent',
                     'pace_percent'), [name] + medians))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--build', default=os.path.join(ROOT, 'build'))
    parser.add_argument('--seconds', type=float, default=5)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--only', choices=ATTACKS)
    options = parser.parse_args()
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    with tempfile.TemporaryDirectory() as directory:
        for name in [options.only] if options.only else ATTACKS:
            print(json.dumps(measure(name, options, directory)), flush=True)


if __name__ == '__main__':
    main()
