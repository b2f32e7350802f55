"""Collectors that are down, slow, full or hostile: the program that pushes to
them must not notice."""
import os
import subprocess
import time
import unittest

import support
from collector import CollectorTest
from push import (PUSHED, TROUBLE, Collector, environment, listed,
                  never_answers, reply, run, start)
from support import wait_for

ROUNDS = ('-push-interval', '1', '-push-seconds', '1')
# What a program may take longer because of its collector: the last push, and
# a busy machine.
PATIENCE = 30


class Trouble(unittest.TestCase):
    def with_collector(self, behave):
        collector = Collector(behave)
        self.addCleanup(collector.close)
        return collector

    def assert_undisturbed(self, done):
        self.assertEqual((done.returncode, done.stdout), (7, 'done\n'))
        # One line that says so, and nothing that a terminal would obey.
        self.assertLessEqual(done.stderr.count('\n'), 1, done.stderr)
        self.assertTrue(all(c.isprintable() or c == '\n'
                            for c in done.stderr), done.stderr)

    def test_short_programs(self):
        for name, behave in TROUBLE.items():
            with self.subTest(name):
                collector = self.with_collector(behave)
                begin = time.monotonic()
                self.assert_undisturbed(run(collector.url,
                                            [PUSHED, 'spin', '0.3']))
                self.assertLess(time.monotonic() - begin, PATIENCE)
                self.assertGreater(collector.connections, 0)
                collector.close()

    def test_longer_ones(self):
        running = {}
        for name, behave in TROUBLE.items():
            collector = self.with_collector(behave)
            running[name] = start(collector.url, [PUSHED, 'spin', '1.5'],
                                  *ROUNDS, '-push', 'cpu,heap,threads')
        for name, process in running.items():
            with self.subTest(name):
                out, err = process.communicate(timeout=120)
                self.assert_undisturbed(subprocess.CompletedProcess(
                    [], process.returncode, out, err))

    def test_nobody_there(self):
        for url in ('http://127.0.0.1:1', 'http://no.such.host.invalid:80',
                    'https://127.0.0.1:1'):
            with self.subTest(url):
                done = run(url, [PUSHED, 'spin', '0.3'])
                self.assert_undisturbed(done)
                self.assertIn(url.split('//')[1], done.stderr)
                done = run(url, [PUSHED, 'spin', '0.3'],
                           env={'PPROF_QUIET': '1'})
                self.assertEqual(done.stderr, '')

    def test_the_end_waits_no_longer_than_it_may(self):
        collector = self.with_collector(never_answers)
        plain = run(collector.url, [PUSHED, 'spin', '0.2'], '-push-exit', '0')
        self.assertEqual(plain.returncode, 7)
        self.assertEqual(collector.connections, 0)
        for limit in (1, 4):
            begin = time.monotonic()
            run(collector.url, [PUSHED, 'spin', '0.2'], '-push-exit',
                str(limit))
            self.assertGreater(time.monotonic() - begin, limit)

    def test_one_connection_for_a_collector_that_asks_for_time(self):
        collector = self.with_collector(TROUBLE['says 503'])
        process = start(collector.url, [PUSHED, 'spin', '4'], *ROUNDS)
        process.communicate(timeout=120)
        # One while it runs, one at its end.
        self.assertLessEqual(collector.connections, 2)

    def test_a_redirect_is_not_followed(self):
        other = self.with_collector(reply('HTTP/1.1 200 OK\r\n\r\n'))
        first = self.with_collector(reply(
            'HTTP/1.1 307 Go\r\nLocation: %s/\r\nContent-Length: 0\r\n\r\n'
            % other.url))
        done = run(first.url, [PUSHED, 'spin', '0.3'])
        self.assert_undisturbed(done)
        self.assertIn('redirect', done.stderr)
        self.assertEqual(other.connections, 0)

    def test_a_reply_is_enough(self):
        """A stored profile is not sent again, whatever follows the status."""
        collector = self.with_collector(reply(
            'HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n'))
        done = run(collector.url, [PUSHED, 'spin', '0.3'])
        self.assertEqual((done.returncode, done.stderr), (7, ''))
        self.assertEqual(collector.connections, 1)


class Timing(unittest.TestCase):
    def rounds(self, url=None):
        """How often the program had to wait, and its rounds by length."""
        command = [PUSHED, 'latency', '4']
        if url:
            done = run(url, command, *ROUNDS, '-push', 'cpu,heap,mutex,block')
        else:
            done = subprocess.run(command, env=environment(), text=True,
                                  capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [int(n) for n in done.stdout.split()]

    def test_the_program_never_waits_for_us(self):
        plain = self.rounds()
        for name in ('accepts and never reads', 'never answers',
                     'one byte a second', 'endless header lines'):
            with self.subTest(name):
                collector = Collector(TROUBLE[name])
                try:
                    pushed = self.rounds(collector.url)
                finally:
                    collector.close()
                self.assertGreater(collector.connections, 0)
                # A page fault or a lock of libc now and then; a wait for each
                # profile or each second would be more.
                self.assertLessEqual(pushed[0], plain[0] + 15)
                self.assertGreater(sum(pushed[1:]), 100)


class Memory(unittest.TestCase):
    def peak(self, url, *options):
        done = run(url, [PUSHED, 'memory', '4'], *ROUNDS, '-push',
                   'cpu,heap,threads', *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return float(done.stdout)

    def test_a_collector_that_hangs_costs_bounded_memory(self):
        good = Collector(reply('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'))
        bad = Collector(never_answers)
        try:
            self.assertLess(self.peak(bad.url), self.peak(good.url) + 12)
        finally:
            good.close()
            bad.close()


class Full(CollectorTest):
    """A real collector that has no room."""

    ARGS = ('--max-body', '1KB')

    def test_profiles_that_are_too_large(self):
        done = run(self.pprofd.url(''), [PUSHED, 'spin', '0.5'],
                   '-push', 'cpu,heap,threads')
        self.assertEqual((done.returncode, done.stdout), (7, 'done\n'))
        self.assertIn('413', done.stderr)
        self.assertEqual(done.stderr.count('\n'), 1, done.stderr)

    def test_a_collector_that_is_killed(self):
        process = start(self.pprofd.url(''), [PUSHED, 'spin', '6'], *ROUNDS,
                        '-push', 'cpu,threads')
        wait_for(lambda: self.pprofd.get('/api/0/services').status == 200
                 or process.poll() is not None)
        self.pprofd.kill()
        out, err = process.communicate(timeout=120)
        self.assertEqual((process.returncode, out), (7, 'done\n'))
        self.assertLessEqual(err.count('\n'), 1, err)


class FullDisk(CollectorTest):
    def test_the_data_directory_is_gone(self):
        """The collector answers 500 or 503, or stores what it can."""
        os.chmod(self.path('data'), 0o500)
        self.addCleanup(os.chmod, self.path('data'), 0o700)
        done = run(self.pprofd.url(''), [PUSHED, 'spin', '0.3'])
        self.assertEqual((done.returncode, done.stdout), (7, 'done\n'))
        self.assertLessEqual(done.stderr.count('\n'), 1)
        self.assertLessEqual(len(listed(self.pprofd, 'pushed', 'cpu')), 1)


if __name__ == '__main__':
    unittest.main()
