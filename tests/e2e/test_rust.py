"""Rust programs: the locks of std, and an example with labels and a profile of
its own."""
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.request

import runtime

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, '..', '..', 'examples')
BUILD = os.path.abspath(runtime.BUILD)
ROUNDS, HOLD_MS = 10, 5


def compile_rust(source, program, *options):
    done = subprocess.run(['rustc', '--edition', '2021', '-O', '-g', source,
                           '-o', program, *options],
                          capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(done.stderr)


def ending(rows, name):
    """The cumulated value of the function with this last name."""
    found = [cum for function, (_, cum) in rows.items()
             if function.split('::')[-1] == name]
    return max(found, default=0)


@unittest.skipUnless(shutil.which('rustc'), 'not installed: rustc')
class Locks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.dir.cleanup)
        cls.program = os.path.join(cls.dir.name, 'rust_waits')
        compile_rust(os.path.join(HERE, 'programs', 'rust_waits.rs'),
                     cls.program)

    def check(self, kind, waiter, releaser=None):
        block = os.path.join(self.dir.name, 'block')
        mutex = os.path.join(self.dir.name, 'mutex')
        done = subprocess.run(
            [os.path.join(BUILD, 'pprof-run'), '-blockprofile', block,
             '-mutexprofile', mutex, self.program, kind, str(ROUNDS),
             str(HOLD_MS)],
            env=dict(os.environ, PPROF_BLOCK_RATE='1',
                     PPROF_MUTEX_FRACTION='1'),
            capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        rounds, waited, caused = (int(n) for n in done.stdout.split())
        rows = runtime.top(block)
        counts = runtime.top(block, '-sample_index=contentions')
        self.assertAlmostEqual(ending(rows, waiter), waited,
                               delta=0.05 * waited + 1e6)
        self.assertAlmostEqual(ending(counts, waiter), rounds,
                               delta=0.2 * rounds)
        rows = runtime.top(mutex)
        if releaser:
            self.assertAlmostEqual(ending(rows, releaser), caused,
                                   delta=0.05 * caused + 1e6)
        else: # but for the barriers of the program itself
            self.assertLess(rows.get('syscall', (0, 0))[0], 0.05 * caused)

    def test_a_mutex_is_charged_to_both_sides(self):
        self.check('mutex', 'wait_for_mutex', 'release_mutex')

    def test_readers_and_writers(self):
        self.check('read', 'wait_to_read', 'release_lock')
        self.check('write', 'wait_to_write', 'release_lock')

    def test_a_condition_variable_is_no_lock(self):
        self.check('condvar', 'wait_for_news')

    def test_a_parked_thread_waits_for_no_lock(self):
        self.check('park', 'wait_parked')

    def test_once(self):
        version = re.search(r'1\.(\d+)', subprocess.run(
            ['rustc', '--version'], capture_output=True, text=True).stdout)
        # Older ones park; which thread is meant cannot be told then.
        charged = 'call_once' if int(version.group(1)) >= 75 else None
        self.check('once', 'wait_for_once', charged)


@unittest.skipUnless(shutil.which('rustc'), 'not installed: rustc')
class Example(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)
        program = os.path.join(self.dir.name, 'service')
        compile_rust(os.path.join(EXAMPLES, 'service.rs'), program,
                     '-L', BUILD, '-l', 'pprof-hooks')
        process = subprocess.Popen(
            [program, '127.0.0.1:0'], stderr=subprocess.PIPE, text=True,
            env=dict(os.environ, LD_LIBRARY_PATH=BUILD,
                     PPROF_MUTEX_FRACTION='1'))
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        line = process.stderr.readline()
        self.url = re.search(r'http://\S+', line).group(0)

    def fetch(self, name):
        path = os.path.join(self.dir.name, 'profile')
        with urllib.request.urlopen(self.url + name, timeout=60) as reply:
            with open(path, 'wb') as f:
                f.write(reply.read())
        return path

    def test_labels_locks_and_sessions(self):
        time.sleep(1)
        cpu = self.fetch('profile?seconds=1')
        self.assertGreater(ending(runtime.top(cpu), 'compute'), 1e8)
        tags = runtime.pprof('-tags', cpu)
        for word in ('request', 'search', 'report'):
            self.assertIn(word, tags)
        mutex = runtime.top(self.fetch('mutex'))
        self.assertGreater(ending(mutex, 'handle_search'), 0)
        sessions = runtime.top(self.fetch('sessions'))
        self.assertEqual(ending(sessions, 'open_session'), 30)


if __name__ == '__main__':
    unittest.main()
