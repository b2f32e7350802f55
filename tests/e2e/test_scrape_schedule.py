"""When pprofd scrapes: at times that a restart does not change, never more
profiles at a time than allowed, and once after a pause, not once for every
time that was missed."""

import signal
import threading
import time
import unittest

from collector import Pprofd, cpu_profile
from test_scrape import ScrapeTest, job


class Counter:
    """Replies to requests of a CPU profile, and how many were open at a
    time."""

    def __init__(self):
        self.lock = threading.Lock()
        self.now = self.most = 0

    def __call__(self, _):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(0.5)
        with self.lock:
            self.now -= 1
        return 200, cpu_profile({'main;work': 1}, time.time_ns())


def groups(address, first, n):
    """Targets that differ in a label and in their path."""
    return ''.join("  - {targets: ['%s'], labels: {n: '%d', __path_prefix__: "
                   '/p%d}}\n' % (address, i, i)
                   for i in range(first, first + n))


class Schedule(ScrapeTest):
    def start_with(self, limits, *job_lines):
        self.write('pprofd.yaml', 'scrape: {self: false, %s}\n'
                   'scrape_configs:\n%s' % (limits, ''.join(job_lines)))
        self.pprofd = Pprofd(self.path('data'), '--config',
                             self.path('pprofd.yaml'))
        self.addCleanup(self.pprofd.stop)

    def due(self):
        """{label n: second of the minute at which it is scraped}"""
        found = {}
        for target in self.targets():
            heap, = [p for p in target['profiles'] if p['profile'] == 'heap']
            if 'next_in_seconds' in heap:
                found[target['labels']['n']] = (
                    time.time() + heap['next_in_seconds']) % 60
        return found

    def test_times_are_the_same_after_a_restart(self):
        e = self.endpoint()
        for i in range(30):
            e.replies['/p%d/heap' % i] = e.replies['/debug/pprof/heap']
        lines = ('- job_name: a\n  scrape_interval: 60s\n  profiles: [heap]\n'
                 '  static_configs:\n', groups(e.address, 0, 30))
        self.start_with('max_targets: 100', *lines)
        before = self.wait(lambda: len(self.due()) >= 25 and self.due(),
                           'not scheduled')
        self.pprofd.stop()
        self.start_with('max_targets: 100', *lines)
        after = self.wait(lambda: len(self.due()) >= 25 and self.due(),
                          'not scheduled again')
        both = before.keys() & after.keys()
        self.assertGreater(len(both), 15)
        for n in both:
            apart = abs(before[n] - after[n])
            self.assertLess(min(apart, 60 - apart), 5, (n, before, after))
        # They are spread over the minute.
        self.assertGreaterEqual(len({int(s // 10) for s in before.values()}),
                                4, before)

    def scrape_all(self, limits, *endpoints):
        """The most at a time, when every target was scraped twice."""
        counter = Counter()
        for e in endpoints:
            for i in range(6 * len(endpoints)):
                e.replies['/p%d/profile' % i] = counter
        self.start_with(limits, '- job_name: a\n  scrape_interval: 1s\n'
                        '  profiles: [cpu]\n  static_configs:\n',
                        *(groups(e.address, 6 * i, 6)
                          for i, e in enumerate(endpoints)))
        self.wait(lambda: len(self.targets()) == 6 * len(endpoints) and all(
            t['profiles'][0]['good'] >= 2 for t in self.targets()),
            'not all are scraped')
        return counter.most

    def test_profiles_of_one_host(self):
        self.assertLessEqual(self.scrape_all(
            'max_measuring_per_host: 2', self.endpoint()), 2)

    def test_profiles_of_all_hosts(self):
        self.assertLessEqual(self.scrape_all(
            'max_measuring: 3, max_measuring_per_host: 2', self.endpoint(),
            self.endpoint(host='127.0.0.2')), 3)

    def test_without_these_limits_there_are_more(self):
        self.assertGreater(self.scrape_all(
            'max_measuring: 100, max_measuring_per_host: 100',
            self.endpoint(), self.endpoint(host='127.0.0.2')), 3)

    def test_a_pause(self):
        e = self.endpoint()
        self.start(job('a', e.address, 'profiles: [heap]'))
        self.wait_good('heap', service='a')
        self.pprofd.process.send_signal(signal.SIGSTOP)
        time.sleep(10)
        before, began = len(e.seen), time.monotonic()
        self.pprofd.process.send_signal(signal.SIGCONT)
        self.wait(lambda: len(e.seen) >= before + 4, 'not scraped any more')
        made, passed = len(e.seen) - before, time.monotonic() - began
        self.assertLessEqual(made, passed + 2)


if __name__ == '__main__':
    unittest.main()
