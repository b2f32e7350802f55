"""Compares the profile with a program whose costs are known in advance."""
import json
import os
import re
import subprocess
import tempfile
import unittest
import urllib.request

import support
from runtime import (PROGRAMS, SOURCES, comments, source_works, stack_ends,
                     top, working_sources)

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


class Timeline(unittest.TestCase):
    """The trace of a program whose running and sleeping is known."""

    def trace(self, source):
        process = subprocess.Popen(
            [os.path.join(PROGRAMS, 'pattern')], stderr=subprocess.PIPE,
            text=True, env=dict(os.environ, PPROF_ADDR='127.0.0.1:0',
                                PPROF_CPU_RATE='1000', LC_ALL='C.UTF-8',
                                PPROF_CPU_SOURCE=source))
        self.addCleanup(process.stderr.close)
        self.addCleanup(support.stop, process)
        url = re.search(r'http://\S+', process.stderr.readline()).group()
        with urllib.request.urlopen(url + 'trace?seconds=1.5') as reply:
            return json.loads(reply.read()), process.pid

    def check_rules(self, events, pid):
        """What Chrome's and Perfetto's readers rely on."""
        last = {}
        for e in events:
            self.assertEqual(e['pid'], pid)
            self.assertIsInstance(e['tid'], int)
            self.assertIsInstance(e['name'], str)
            self.assertIn(e['ph'], 'MXi')
            self.assertGreaterEqual(e['ts'], last.get(e['tid'], 0), e)
            last[e['tid']] = e['ts']
            if e['ph'] == 'X':
                self.assertGreaterEqual(e['dur'], 0)
            if e['ph'] == 'i':
                self.assertEqual(e['s'], 't')
                self.assertEqual(e['name'], e['args']['stack'][0])
        named = [e['tid'] for e in events if e['ph'] == 'M']
        self.assertEqual(sorted(named), sorted(last))  # each thread, once

    def runs(self, events, name):
        """[(start, end)] in milliseconds of the thread of that name."""
        tid = [e['tid'] for e in events if e['ph'] == 'M'
               and e['name'] == 'thread_name' and e['args']['name'] == name]
        self.assertEqual(len(tid), 1, name)
        runs = [(e['ts'] / 1000, (e['ts'] + e['dur']) / 1000) for e in events
                if e['ph'] == 'X' and e['tid'] == tid[0]]
        for before, after in zip(runs, runs[1:]):
            self.assertLessEqual(before[1], after[0] + 1e-6)
        for e in events:
            if e['ph'] == 'i' and e['tid'] == tid[0]:
                self.assertTrue(any(a - 1e-6 <= e['ts'] / 1000 <= b + 1e-6
                                    for a, b in runs), e)
        return runs

    def test_running_and_sleeping_are_seen(self):
        for source in working_sources():
            with self.subTest(source):
                document, pid = self.trace(source)
                events = document['traceEvents']
                self.check_rules(events, pid)
                naps = self.runs(events, 'napper')
                gaps = [b[0] - a[1] for a, b in zip(naps, naps[1:])]
                long = [gap for gap in gaps if gap > 35]
                busy = sum(b - a for a, b in naps)
                print('# %s: %d naps of %s ms, %d ms busy'
                      % (source, len(long), [round(g) for g in long[:5]],
                         busy))
                # 1.5 s are 25 rounds; a busy machine makes them longer.
                self.assertGreater(len(long), 1)
                self.assertLess(busy, 1500 * 0.6)
                runner = self.runs(events, 'runner')
                self.assertGreater(sum(b - a for a, b in runner), busy)
                self.assertTrue(any('work' in e['args']['stack']
                                    for e in events if e['ph'] == 'i'))


if __name__ == '__main__':
    unittest.main()
