"""Programs and clients that are hostile to the profiler inside them.

PPROF_SOAK_SECONDS=60 gives each case a minute, and the server a lot more
requests.
"""
import http.client
import os
import random
import re
import socket
import subprocess
import threading
import time
import unittest

import support
from runtime import BUILD, PROGRAMS, SANITIZED, working_sources

SOAK = os.environ.get('PPROF_SOAK_SECONDS')
EXAMPLES = os.path.join(BUILD, 'examples')


class Hostile(unittest.TestCase):
    def start(self, case, seconds, source, prefix):
        env = dict(os.environ, PPROF_CPU_SOURCE=source, HOSTILE_LIBRARY=(
            os.path.join(PROGRAMS, 'libtruth_library.so')))
        if not prefix:  # lines take their time: more profiles without them
            env['PPROF_SYMBOL_MEMORY'] = '0'
        return subprocess.Popen(
            [*prefix, os.path.join(PROGRAMS, 'hostile'), case, seconds],
            env=env,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run_case(self, case, seconds=3, preloaded=False):
        """With all sources at once: less time, and more disorder."""
        if preloaded and SANITIZED != 'none':
            self.skipTest('a sanitizer must be loaded before all others')
        prefix = [os.path.join(BUILD, 'pprof-run')] if preloaded else []
        seconds = str(SOAK or seconds)
        running = {}
        for source in working_sources():
            running[source] = self.start(case, seconds, source, prefix)
        for source, process in running.items():
            with self.subTest(source):
                try:
                    said = process.communicate(timeout=60 + float(seconds))
                except subprocess.TimeoutExpired:
                    process.kill()
                    self.fail('hangs: %s' % (process.communicate(),))
                self.assertEqual((process.returncode, said[0]), (0, 'ok\n'),
                                 said[1])
                print('# %s, %s: %s' % (case, source, said[1].strip()))

    def test_64_threads_that_start_and_die_all_the_time(self):
        self.run_case('threads', 8)

    def test_threads_that_start_and_die_under_pprof_run(self):
        self.run_case('threads', preloaded=True)

    def test_libraries_that_come_and_go(self):
        self.run_case('dlopen')

    def test_fork_vfork_and_posix_spawn(self):
        self.run_case('fork')

    def test_fork_vfork_and_posix_spawn_under_pprof_run(self):
        self.run_case('fork', preloaded=True)

    def test_own_handlers_for_our_signals(self):
        self.run_case('signals')

    def test_own_handlers_for_our_signals_under_pprof_run(self):
        self.run_case('signals', preloaded=True)

    def test_threads_with_small_stacks(self):
        self.run_case('stacks')


ROUTES = ('', 'cmdline', 'symbol?0x1+0x2', 'threads', 'threads?debug=1',
          'threads?debug=2', 'goroutine', 'goroutine?debug=2', 'threadcreate',
          'threadcreate?debug=1', 'nope', 'profile?seconds=1',
          'trace?seconds=0.05', 'threads?seconds=1', 'allocs', 'block', 'heap',
          'mutex', 'heap?debug=1')


class Clients(support.TestCase):
    """Half of them hang up at any moment."""

    def setUp(self):
        super().setUp()
        self.server = subprocess.Popen(
            [os.path.join(EXAMPLES, 'service')],
            env=dict(os.environ, PPROF_ADDR='127.0.0.1:0',
                     PPROF_MAX_REQUESTS='0'),
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.server.stderr.close)
        self.addCleanup(support.stop, self.server)
        said = self.server.stderr.readline()
        self.port = int(re.search(r':(\d+)/', said).group(1))
        self.lock = threading.Lock()

    def holdings(self):
        """(fds, threads, kB of memory) of the server."""
        proc = '/proc/%d/' % self.server.pid
        with open(proc + 'status') as f:
            status = f.read()
        return (len(os.listdir(proc + 'fd')),
                int(re.search(r'Threads:\s+(\d+)', status).group(1)),
                int(re.search(r'VmRSS:\s+(\d+)', status).group(1)))

    def abort(self, route, dice):
        with socket.create_connection(('127.0.0.1', self.port)) as s:
            request = ('GET /debug/pprof/%s HTTP/1.1\r\nHost: 127.0.0.1\r\n'
                       '\r\n' % route).encode()
            s.settimeout(30)
            if dice.random() < 0.3:  # in the middle of the request
                s.sendall(request[:dice.randrange(len(request))])
            else:
                s.sendall(request)
                time.sleep(dice.random() * 0.02)
                if dice.random() < 0.5:
                    s.recv(dice.randrange(1, 200))
            if dice.random() < 0.5:  # RST instead of FIN
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                             b'\1\0\0\0\0\0\0\0')

    def complete(self, route):
        c = http.client.HTTPConnection('127.0.0.1', self.port, timeout=60)
        try:
            c.request('GET', '/debug/pprof/' + route)
            reply = c.getresponse()
            body = reply.read()
        finally:
            c.close()
        # 500: another one has the CPU profile, 503: too many at once.
        self.assertIn(reply.status, (200, 404, 500, 503), route)
        self.assertGreater(len(body), 0, route)
        with self.lock:
            self.statuses[reply.status] = self.statuses.get(reply.status,
                                                            0) + 1

    def client(self, n, seed, failures):
        dice = random.Random(seed)
        try:
            for i in range(n):
                # Those that take a second are rare: the time is better spent.
                route = dice.choice(ROUTES)
                if 'seconds=1' in route and dice.random() < 0.8:
                    route = 'threads'
                if i % 2:
                    self.abort(route, dice)
                else:
                    self.complete(route)
        except Exception as e:
            failures.append('%s: %r' % (route, e))
            raise

    def storm(self, n, seed):
        self.statuses = {}
        failures = []
        threads = [threading.Thread(target=self.client,
                                    args=(n // 8, seed + i, failures))
                   for i in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(failures, [])
        self.assertIsNone(self.server.poll())
        # All of them answered or given up, keep-alive connections closed.
        for _ in range(300):
            now = self.holdings()
            if now[0] == self.quiet[0] and now[1] <= self.quiet[1]:
                return now
            time.sleep(0.1)
        return now

    def test_2000_requests_half_of_them_aborted(self):
        seed = random.randrange(1 << 30)
        n = max(1000, 160 * int(SOAK or 0))
        if 'thread' in SANITIZED:
            n = 40  # it holds signals back: each dump waits in vain
        before = self.holdings()  # nobody is connected yet
        self.complete_all_once()
        self.quiet = before[:1] + self.holdings()[1:]
        first = self.storm(n, seed)
        second = self.storm(n, seed + 100)
        print('# seed %d: (fds, threads, kB) %s at first, then %s, then %s; '
              'replies %s' % (seed, self.quiet, first, second, self.statuses))
        for fds, threads, _ in (first, second):
            self.assertEqual(fds, self.quiet[0])
            self.assertLessEqual(threads, self.quiet[1])
        if SANITIZED == 'none':  # they keep what is freed
            self.assertLess(second[2] - first[2], 2048)
        # And it is as well as ever: nothing holds the profiler.
        self.statuses = {}
        self.complete('profile?seconds=1')
        self.complete('trace?seconds=0.1')
        self.assertEqual(self.statuses, {200: 2})

    def complete_all_once(self):
        """All workers are up, everything has been loaded."""
        self.statuses = {}
        threads = [threading.Thread(target=self.complete, args=(route,))
                   for route in ROUTES * 2]
        for t in threads:
            t.start()
        for t in threads:
            t.join()


if __name__ == '__main__':
    unittest.main()
