"""Heap profiles of a run: the peak, which a tidy program has passed when it
ends; profiles at intervals; labels; no empty records."""
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

from heap import (ALLOC_SPACE, INUSE_SPACE, PEAK_OBJECTS, PEAK_SPACE, library,
                  samples)
from runtime import BUILD, PROGRAMS, pprof
from test_heap import get, start

RUN = os.path.join(BUILD, 'pprof-run')
PHASES = os.path.join(PROGRAMS, 'heap_phases')
BLOCK, LOADED, WORKED = 10000, 1000, 300


def by_function(path, value):
    """{function: sum} of load and work."""
    found = {'load': 0, 'work': 0}
    for values, functions, _ in samples(path):
        for name in found:
            if name in functions[:2]:
                found[name] += values[value]
    return found


class Peak(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        self.profile = os.path.join(self.directory, 'heap')

    def run_it(self, rate, env=None):
        done = subprocess.run(
            [RUN, '-heapprofile', self.profile, '-memrate', str(rate), PHASES],
            capture_output=True, text=True, timeout=60,
            env=dict(os.environ, **(env or {})))
        self.assertEqual((done.returncode, done.stderr), (0, ''))

    def test_the_peak_of_a_tidy_program(self):
        self.run_it(1)
        self.assertEqual(by_function(self.profile, INUSE_SPACE),
                         {'load': 0, 'work': 0})
        self.assertEqual(by_function(self.profile, ALLOC_SPACE),
                         {'load': LOADED * BLOCK, 'work': WORKED * BLOCK})
        peak = by_function(self.profile, PEAK_SPACE)
        self.assertAlmostEqual(peak['load'], LOADED * BLOCK,
                               delta=0.01 * LOADED * BLOCK)
        self.assertEqual(peak['work'], 0)

    def test_it_is_what_a_report_shows_first(self):
        self.run_it(1)
        report = pprof('-top', self.profile)
        self.assertIn('Type: peak_space', report)
        self.assertRegex(report, r'9\.\d+MB .* load')
        self.assertIn('Type: inuse_space',
                      pprof('-top', '-sample_index=inuse_space',
                            self.profile))

    def test_a_sampled_peak_is_about_right(self):
        # 10 MB in blocks of 10 kB at 64 KiB: 143 samples, 8 % each way.
        self.run_it(65536)
        peak = by_function(self.profile, PEAK_SPACE)['load']
        self.assertAlmostEqual(peak, LOADED * BLOCK,
                               delta=0.5 * LOADED * BLOCK)

    def test_above_another_allocator(self):
        below = library('libjemalloc.so.2')
        if not below:
            self.skipTest('no jemalloc')
        self.run_it(1, {'LD_PRELOAD': below})
        self.assertGreaterEqual(
            by_function(self.profile, PEAK_OBJECTS)['load'], 0.99 * LOADED)

    def test_allocations_carry_labels(self):
        self.run_it(1)
        tags = pprof('-tags', '-sample_index=alloc_space', '-unit=B',
                     self.profile)
        found = {phase: int(n) for n, phase in re.findall(
            r'(\d+)B \( *[\d.]+%\): (load|work)', tags)}
        self.assertEqual(found, {'load': LOADED * BLOCK,
                                 'work': WORKED * BLOCK})

    def test_profiles_at_intervals(self):
        process = subprocess.Popen(
            [RUN, '-heapprofile', self.profile, '-memrate', '1',
             '-heapinterval', '1', PHASES, 'wait'], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        self.assertEqual(process.stdout.readline(), 'peak\n')
        first = self.profile + '.1'
        for _ in range(100):
            if os.path.exists(first):
                break
            time.sleep(0.1)
        process.stdin.write('\n')
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), 'end\n')
        seen = len(os.listdir(self.directory))
        for _ in range(100):
            if len(os.listdir(self.directory)) > seen:
                break
            time.sleep(0.1)
        process.stdin.write('\n')
        process.stdin.flush()
        self.assertEqual(process.wait(30), 0)
        self.assertEqual(by_function(first, INUSE_SPACE)['load'],
                         LOADED * BLOCK)
        names = sorted(os.listdir(self.directory),
                       key=lambda n: int(n.partition('.')[2] or 0))
        last = os.path.join(self.directory, names[-1])
        self.assertEqual(by_function(last, INUSE_SPACE)['load'], 0)
        self.assertIn('heap', names)

    def test_the_endpoint_has_the_peak(self):
        process, url = start([os.path.join(BUILD, 'examples', 'memory'),
                              '127.0.0.1:0'], {'PPROF_MEM_RATE': '1024'})
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        time.sleep(0.5)
        with open(self.profile, 'wb') as f:
            f.write(get(url + 'peak'))
        raw = pprof('-raw', self.profile)
        self.assertIn('peak_objects/count peak_space/bytes\n', raw)
        self.assertTrue(samples(self.profile))
        self.assertIn(b'peak profile: total ', get(url + 'peak?debug=1'))

    def test_no_record_is_empty(self):
        process, url = start([os.path.join(BUILD, 'examples', 'memory'),
                              '127.0.0.1:0'], {'PPROF_MEM_RATE': '1024'})
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        time.sleep(0.3)
        text = get(url + 'heap?debug=1').decode()
        self.assertNotIn('[no room]', text)
        self.assertNotRegex(text, r'(?m)^0: 0 \[0: 0\] @')


if __name__ == '__main__':
    unittest.main()
