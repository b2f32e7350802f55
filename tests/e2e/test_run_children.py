"""-children: a profile of each process, however it came to be."""
import os
import re
import signal
import subprocess
import time
import unittest

import support
from runtime import BUILD, PROGRAMS, top

RUN = os.path.join(BUILD, 'pprof-run')
ENDINGS = os.path.abspath(os.path.join(PROGRAMS, 'endings'))
PYTHON = '/usr/bin/python3'

POOL = '''
import multiprocessing, sys
def work(n):
    return sum(i * i for i in range(n))
if __name__ == '__main__':
    multiprocessing.set_start_method(sys.argv[1])
    with multiprocessing.Pool(3) as pool:
        pool.map(work, [800000] * 9)
'''


class Children(support.TestCase):
    def files(self, start=''):
        return sorted(f for f in os.listdir(self.dir)
                      if f.startswith(start))

    def run_it(self, options, *command):
        return subprocess.run([RUN, '-children', *options, *command],
                              capture_output=True, text=True, timeout=120)

    def test_a_forked_child_has_its_own_files(self):
        options = ['-memrate', '1']
        for kind in ('cpu', 'heap', 'wall', 'block'):
            options += ['-%sprofile' % kind, self.path(kind)]
        done = self.run_it(options, ENDINGS, 'fork')
        self.assertEqual(done.returncode, 7, done.stderr)
        for kind in ('cpu', 'heap', 'wall', 'block'):
            # Two more are of children that endings forks and forgets.
            self.assertGreaterEqual(len(self.files(kind + '.')), 2, kind)
        names = [set(top(self.path(f))) for f in self.files('cpu.')]
        self.assertEqual(sum('in_child' in n for n in names), 1)

    def test_the_pid_stands_where_the_name_wants_it(self):
        self.run_it(['-cpuprofile', self.path('a.%p.b.%p')], ENDINGS, 'fork')
        self.assertGreaterEqual(len(self.files()), 2)
        for name in self.files():
            self.assertTrue(re.fullmatch(r'a\.(\d+)\.b\.\1', name), name)

    def test_daemon(self):
        self.run_it(['-cpuprofile', self.path('cpu')], ENDINGS, 'daemon')
        for _ in range(100):
            if any('in_child' in top(self.path(f)) for f in self.files()):
                return
            time.sleep(0.1)
        self.fail('no profile of the daemon')

    def test_python_multiprocessing(self):
        if not os.access(PYTHON, os.X_OK):
            self.skipTest('no ' + PYTHON)
        script = self.path('pool.py')
        with open(script, 'w') as f:
            f.write(POOL)
        for method in ('fork', 'spawn', 'forkserver'):
            with self.subTest(method):
                done = self.run_it(['-cpuprofile', self.path('cpu')],
                                   PYTHON, script, method)
                self.assertEqual(done.returncode, 0, done.stderr)
                working = [f for f in self.files('cpu.')
                           if '_PyEval_EvalFrameDefault'
                           in top(self.path(f))]
                self.assertGreaterEqual(len(working), 3, self.files())
                for f in self.files('cpu.'):
                    os.remove(self.path(f))

    def test_the_signal_starts_and_stops_in_each_process(self):
        process = subprocess.Popen(
            [RUN, '-children', '-cpuprofile', self.path('cpu'), '-signal',
             'USR2', '/bin/bash', '-c',
             '(while :; do :; done) & echo $!; while :; do :; done'],
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        child = int(process.stdout.readline())
        try:
            for _ in range(2):
                for pid in (process.pid, child):
                    os.kill(pid, signal.SIGUSR2)
                time.sleep(0.5)
            wanted = sorted('cpu.%d.0' % p for p in (process.pid, child))
            for _ in range(100):
                if self.files() == wanted:
                    break
                time.sleep(0.1)
            self.assertEqual(self.files(), wanted)
            for name in wanted:
                self.assertTrue(top(self.path(name)))
        finally:
            os.kill(child, signal.SIGKILL)
            process.kill()
            process.wait()


if __name__ == '__main__':
    unittest.main()
