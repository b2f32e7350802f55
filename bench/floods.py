#!/usr/bin/env python3
"""What a flood of requests does to a program and to its endpoint.

usage: bench/floods.py [--build DIR] [--before DIR] [--only NAME,...]
                       [--sources N,...] [--tls yes|no|both] [--seconds N]

With --before, each flood also meets another build, in turn.

The program (one thread of work) and its endpoint share one CPU; attackers
have another one.  The endpoint asks for a token, which the attackers do not
have.  Each flood comes from 1 and from 100 source addresses (127.0.0.0/8),
and from 0 others: from that of the prober itself.  In plain HTTP and over TLS.
Meanwhile a prober asks for /healthz 100 times, and 20 times for a page with
its token, each time on a new connection.  Printed, one JSON line each:

probes, authorised  answered within a second, of 100 and 20
slowest_ms          of all of these
kept_percent        flooded throughput of the program, of calm; on a busy
                    machine it means nothing, but then
endpoint_percent    of a CPU that the endpoint's threads took meanwhile, and
pace_percent        work done in a second of the working thread's own CPU
                    time, of calm, say the same
"""
import argparse
import itertools
import json
import multiprocessing
import os
import random
import re
import resource
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOKEN = 'a-token-for-the-benchmark'
PATIENCE = 1.0
CALM = 4  # seconds before the flood: enough to become a known address
PROBES, AUTHORISED = 100, 20


class Target:
    """Where a flood goes, and from which addresses it comes."""

    def __init__(self, port, tls, sources):
        self.port, self.tls, self.sources = port, tls, sources
        self.context = ssl._create_unverified_context()

    def source(self):
        if self.sources == 0:
            return '127.0.0.1'
        return '127.0.0.%d' % random.randrange(2, 2 + self.sources)

    def connect(self, wrap=True, timeout=2):
        s = socket.create_connection(('127.0.0.1', self.port), timeout,
                                     (self.source(), 0))
        if not (wrap and self.tls):
            return s
        try:
            return self.context.wrap_socket(s)
        except OSError:
            s.close()
            raise


# --- floods: one attempt each, repeated until the end ------------------------

def garbage(t):
    with t.connect() as s:
        s.sendall(b'\0GARBAGE / \r\n\r\n' * 5000)


def requests(t):
    with t.connect() as s:
        for _ in range(100):
            s.sendall(b'GET /debug/pprof/cmdline HTTP/1.1\r\n'
                      b'Host: localhost\r\n\r\n' * 100)


def profiles(t):
    with t.connect() as s:
        s.sendall(b'GET /debug/pprof/threads HTTP/1.1\r\nHost: localhost\r\n'
                  b'Connection: close\r\n\r\n')
        while s.recv(65536):
            pass


def wrong_tokens(t):
    with t.connect() as s:
        s.sendall(b'GET /debug/pprof/threads HTTP/1.1\r\nHost: localhost\r\n'
                  b'Authorization: Bearer wrong\r\n\r\n' * 100)
        while s.recv(65536):
            pass


def large_headers(t):
    with t.connect() as s:
        s.sendall(b'GET / HTTP/1.1\r\nHost: localhost\r\nX: ')
        for _ in range(1600):
            s.sendall(b'x' * 65536)


def tiny_chunks(t):
    with t.connect() as s:
        s.sendall(b'POST /debug/pprof/symbol HTTP/1.1\r\nHost: localhost\r\n'
                  b'Transfer-Encoding: chunked\r\n\r\n')
        for _ in range(1000):
            s.sendall(b'1\r\nx\r\n' * 10000)


def slowloris(t):
    sockets = []
    for _ in range(200):
        s = t.connect(wrap=False)
        s.sendall(b'GET / HTTP/1.1\r\nHost: localhost\r\n')
        sockets.append(s)
    for _ in range(20):
        for s in sockets:
            s.sendall(b'X: y\r\n')
        time.sleep(0.01)


def half_open(t):
    sockets = []
    for _ in range(10000):
        s = socket.socket()
        s.setblocking(False)
        s.bind((t.source(), 0))
        s.connect_ex(('127.0.0.1', t.port))
        sockets.append(s)
    time.sleep(0.5)


def handshakes(t):
    t.connect(timeout=5).close()


def stalled(t):
    """Handshakes that begin and never go on."""
    out = ssl.MemoryBIO()
    hello = t.context.wrap_bio(ssl.MemoryBIO(), out)
    try:
        hello.do_handshake()
    except ssl.SSLWantReadError:
        pass
    sockets, flight = [], out.read()
    for _ in range(100):
        s = t.connect(wrap=False)
        s.sendall(flight)
        sockets.append(s)
    time.sleep(0.2)


def pipelined(t):
    """20,000 probes on one connection; the replies are read and dropped."""
    one = b'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'
    with t.connect() as s:
        s.settimeout(30)
        for _ in range(50):
            s.sendall(one * 400)
            seen = 0
            while seen < 400:
                got = s.recv(65536)
                if not got:
                    return
                seen += got.count(b'HTTP/1.1 ')


# name: (attempt, how many at a time, only with TLS)
FLOODS = {
    'garbage': (garbage, 2, False),
    'requests': (requests, 2, False),
    'profiles': (profiles, 2, False),
    'wrong_tokens': (wrong_tokens, 2, False),
    'large_headers': (large_headers, 2, False),
    'tiny_chunks': (tiny_chunks, 8, False),
    'slowloris': (slowloris, 2, False),
    'half_open': (half_open, 2, False),
    'handshakes': (handshakes, 20, True),
    'stalled': (stalled, 4, True),
    'pipelined_16': (pipelined, 16, False),
    'pipelined_64': (pipelined, 64, False),
}
PROCESSES = 2


def settle(cpu, niceness):
    """This process on one CPU, with a priority if that is allowed."""
    os.sched_setaffinity(0, {cpu})
    try:
        os.setpriority(os.PRIO_PROCESS, 0, niceness)
    except PermissionError:
        pass


def repeat(attempt, target):
    while True:
        try:
            attempt(target)
        except OSError:
            time.sleep(0.001)


def attack(attempt, n, target):
    """In a process of its own: n loops."""
    settle(max(os.sched_getaffinity(0)), 5)
    for _ in range(n - 1):
        threading.Thread(target=repeat, args=(attempt, target),
                         daemon=True).start()
    repeat(attempt, target)


# --- the program ---------------------------------------------------------------

class Load:
    """flood_load on the first CPU."""

    def __init__(self, build, **env):
        cpu = min(os.sched_getaffinity(0))
        self.process = subprocess.Popen(
            [os.path.join(build, 'bench', 'flood_load')],
            env=dict(os.environ, PPROF_ADDR='127.0.0.1:0', PPROF_AUDIT='off',
                     **env),
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            preexec_fn=lambda: settle(cpu, -10))
        for said in self.process.stderr:
            found = re.search(r':(\d+)/debug', said)
            if found:
                break
        self.port = int(found.group(1))
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

    def stretch(self, work):
        """(units a second, units a CPU second of the work, CPU share of the
        endpoint) while work() runs"""
        start, units, before = time.monotonic(), self.units, self.cpu()
        work()
        units, after = self.units - units, self.cpu()
        took = time.monotonic() - start
        used = {True: 0, False: 0}
        for thread, ticks in after.items():
            used[thread.startswith('pprof-')] += (
                (ticks - before.get(thread, 0)) / os.sysconf('SC_CLK_TCK'))
        return units / took, units / max(used[False], 0.01), used[True] / took


# --- the prober ------------------------------------------------------------------

class Prober:
    """Asks at a steady pace, whatever becomes of the answers."""

    def __init__(self, port, tls):
        self.port = port
        self.context = ssl._create_unverified_context() if tls else None
        self.took = {'probes': [], 'authorised': []}

    def ask(self, kind):
        path, token = '/healthz', ''
        if kind == 'authorised':
            path = '/debug/pprof/cmdline'
            token = 'Authorization: Bearer %s\r\n' % TOKEN
        start = time.monotonic()
        try:
            with socket.create_connection(('127.0.0.1', self.port),
                                          PATIENCE) as s:
                s.settimeout(PATIENCE)
                if self.context:
                    s = self.context.wrap_socket(s)
                s.sendall(('GET %s HTTP/1.1\r\nHost: localhost\r\n%s'
                           'Connection: close\r\n\r\n' % (path, token))
                          .encode())
                good = s.recv(4096).startswith(b'HTTP/1.1 200')
        except OSError:
            good = False
        took = time.monotonic() - start
        self.took[kind].append(took if good else 9.999)

    def run(self, seconds, probes=PROBES, every=PROBES // AUTHORISED):
        threads = []
        for i in range(probes):
            kinds = ['probes']
            if every and i % every == 0:
                kinds.append('authorised')
            for kind in kinds:
                t = threading.Thread(target=self.ask, args=(kind,))
                t.start()
                threads.append(t)
            time.sleep(seconds / probes)
        for t in threads:
            t.join()

    def answered(self, kind):
        return sum(took <= PATIENCE for took in self.took[kind])

    def slowest_ms(self):
        return round(1000 * max(itertools.chain(*self.took.values())))


def certificate(directory):
    files = [os.path.join(directory, n) for n in ('crt', 'key')]
    if not os.path.exists(files[0]):
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048',
                        '-nodes', '-subj', '/CN=x', '-out', files[0],
                        '-keyout', files[1]], check=True, capture_output=True)
    return dict(PPROF_TLS_CERT=files[0], PPROF_TLS_KEY=files[1])


def token_file(directory):
    path = os.path.join(directory, 'tokens')
    with open(path, 'w') as f:
        f.write(TOKEN + '\n')
    os.chmod(path, 0o600)
    return path


def measure(build, name, tls, sources, options, directory):
    env = dict(certificate(directory)) if tls else {}
    load = Load(build, PPROF_TOKEN_FILE=token_file(directory), **env)
    attempt, n, _ = FLOODS[name]
    early = Prober(load.port, tls)  # probes come before floods do
    calm = load.stretch(lambda: early.run(CALM, 8, 0))
    target = Target(load.port, tls, sources)
    attackers = [multiprocessing.Process(
        target=attack, args=(attempt, n // PROCESSES, target))
        for _ in range(PROCESSES)]
    for a in attackers:
        a.start()
    time.sleep(1)
    prober = Prober(load.port, tls)
    # Full handshakes are dear: the prober itself must not be a flood.
    seconds = options.seconds * (4 if tls else 1)
    flooded = load.stretch(lambda: prober.run(seconds))
    for a in attackers:
        a.kill()
        a.join()
    load.process.send_signal(signal.SIGKILL)
    load.process.wait()
    return dict(flood=name, tls=tls, sources=sources,
                probes=prober.answered('probes'),
                authorised=prober.answered('authorised'),
                slowest_ms=prober.slowest_ms(),
                kept_percent=round(100 * flooded[0] / calm[0], 1),
                endpoint_percent=round(100 * flooded[2], 1),
                pace_percent=round(100 * flooded[1] / calm[1], 1))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument('--build', default=os.path.join(ROOT, 'build'))
    parser.add_argument('--before', help='another build, for comparison')
    parser.add_argument('--seconds', type=float, default=10)
    parser.add_argument('--only', default=','.join(FLOODS))
    parser.add_argument('--sources', default='0,1,100')
    parser.add_argument('--tls', choices=('yes', 'no', 'both'),
                        default='both')
    options = parser.parse_args()
    builds = {'after': options.build}
    if options.before:
        builds = {'before': options.before, 'after': options.build}
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -20)  # the prober must not wait
    except PermissionError:
        pass
    with tempfile.TemporaryDirectory() as directory:
        for name in options.only.split(','):
            for tls in (False, True):
                if options.tls == ('no' if tls else 'yes'):
                    continue
                if FLOODS[name][2] and not tls:
                    continue
                for sources in map(int, options.sources.split(',')):
                    for which, build in builds.items():
                        row = measure(build, name, tls, sources, options,
                                      directory)
                        print(json.dumps(dict(row, build=which)), flush=True)


if __name__ == '__main__':
    main()
