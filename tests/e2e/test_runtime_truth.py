"""A program whose costs are known beforehand: does the profile say so?"""
import os
import subprocess
import tempfile
import unittest

from runtime import PROGRAMS, SOURCES, comments, source_works, stack_ends, top

PATHS = {'direct_50': 50, 'truth_library_30': 30, 'recurse_15': 15,
         'thread_5': 5}


class Truth(unittest.TestCase):
    def check(self, source, seconds, hz, points):
        if not source_works(source):
            self.skipTest('%s is not allowed here' % source)
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, 'cpu.pb.gz')
            done = subprocess.run(
                [os.path.join(PROGRAMS, 'truth'), str(seconds), str(hz), path],
                env=dict(os.environ, PPROF_CPU_SOURCE=source),
                capture_output=True, text=True, timeout=280)
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = top(path)
            total = sum(flat for flat, _ in rows.values())
            for name, share in PATHS.items():
                got = 100 * rows[name][1] / total
                print('# %s %d Hz %s: %.1f %%' % (source, hz, name, got))
                self.assertAlmostEqual(got, share, delta=points, msg=name)
            used = float(done.stdout)
            print('# %s %d Hz: %.2f %% of the CPU time' %
                  (source, hz, 100 * total / used))
            self.assertAlmostEqual(total / used, 1, delta=0.03)
            ends = stack_ends(path)
            self.assertGreaterEqual(ends[0], 0.99 * sum(ends))
            self.assertIn('cpu source: %s' % {'perf': 'perf task-clock (',
                                              'perf-user': 'perf task-clock for',
                                              'timer': 'thread'}[source],
                          comments(path))

    # Short, so that the whole suite stays quick: the binomial spread of 400
    # samples allows 7 points; bench/truth.py takes its time.
    def test_shares_and_total_by_perf_events(self):
        self.check('perf', 4, 100, 7)

    def test_shares_and_total_by_timers(self):
        self.check('timer', 4, 100, 7)

    def test_shares_and_total_at_1000_hz(self):
        for source in SOURCES:
            with self.subTest(source):
                self.check(source, 3, 1000, 4)


if __name__ == '__main__':
    unittest.main()
