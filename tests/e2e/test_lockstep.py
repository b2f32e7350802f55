"""Loops whose period is a simple multiple or part of the sampling interval:
the profile must show their true shares."""
import concurrent.futures
import os
import subprocess
import sys
import unittest

from lockstep import PARTS, PERIODS, measure, standard_error
from runtime import source_works

# CPU timers fire at the scheduler's ticks only, 4 ms apart at 250 Hz: a loop
# in step with those stays so.
TIMER_POINTS = 20


class Lockstep(unittest.TestCase):
    def measure_all(self, source, hz, seconds, periods, how):
        if not source_works(source):
            self.skipTest('%s is not allowed here' % source)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return list(zip(periods, pool.map(
                lambda ratio: measure(source, hz, ratio, seconds, how=how),
                periods)))

    def check(self, source, hz, seconds, points=None, periods=PERIODS,
              how=''):
        """Checks that each share is within this many points, or within the
        statistical error."""
        for ratio, run in self.measure_all(source, hz, seconds, periods,
                                           how):
            print('# %s %d Hz, %.2f intervals: %s' % (
                source, hz, ratio,
                ' '.join('%.1f' % (100 * share) for share in run['seen'])))
            with self.subTest('%s %d Hz %.2f' % (source, hz, ratio)):
                self.assertAlmostEqual(run['accounted'], 1, delta=0.02)
                for name, seen, true in zip(PARTS, run['seen'], run['true']):
                    delta = points / 100 if points else 4 * standard_error(
                        true, run['samples'])
                    self.assertAlmostEqual(seen, true, delta=delta, msg=name)

    def test_perf_events_at_100_hz(self):
        self.check('perf', 100, 2)

    def test_perf_events_at_1000_hz(self):
        self.check('perf', 1000, 1)

    def test_perf_events_on_a_loaded_machine(self):
        load = [subprocess.Popen([sys.executable, '-c', 'while True: pass'])
                for _ in range(os.cpu_count())]
        try:
            self.check('perf', 1000, 1, periods=(1, 2))
        finally:
            for process in load:
                process.kill()
                process.wait()

    def test_perf_events_of_a_thread_that_starts_later(self):
        # Before it is found its interval is random, but always the same.
        self.check('perf', 1000, 1, 8, periods=(1, 2), how='thread')

    def test_perf_events_of_user_mode(self):
        # The program's system calls are found by timers.
        self.check('perf-user', 100, 2, TIMER_POINTS)

    def test_timers_at_100_hz_as_near_as_ticks_allow(self):
        self.check('timer', 100, 2, TIMER_POINTS)


if __name__ == '__main__':
    unittest.main()
