"""Allocation in signal handlers, in destructors of thread-locals, at exit, in
libraries that go away, in forked children of threaded programs, and in very
many threads.  Nothing crashes, nothing hangs, and the counts are right."""
import os
import subprocess
import tempfile
import unittest

from heap import ALLOC_OBJECTS, INUSE_OBJECTS, samples
from runtime import BUILD, PROGRAMS

RATES = (1, 1024, 524288)


class Hostile(unittest.TestCase):
    def run_it(self, rate, *arguments):
        """{site: (allocated, in use)} at the end of heap_hostile."""
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, 'heap')
            done = subprocess.run(
                [os.path.join(PROGRAMS, 'heap_hostile'), *arguments],
                env=dict(os.environ, PPROF_MEM_RATE=str(rate),
                         PPROF_HEAPPROFILE=path, PPROF_DEBUG='1',
                         LD_PRELOAD=os.path.join(BUILD,
                                                 'libpprof-preload.so')),
                capture_output=True, text=True, timeout=100)
            self.assertEqual(done.returncode, 0, done.stderr)
            sites = {}
            for values, functions, _ in samples(path):
                for name in functions[:2]:
                    if name.startswith(('freed_', 'kept_')):
                        old = sites.get(name, (0, 0))
                        sites[name] = (old[0] + values[ALLOC_OBJECTS],
                                       old[1] + values[INUSE_OBJECTS])
            kept = dict(line.split() for line in done.stdout.splitlines())
            return sites, kept

    def check(self, name, n, *arguments):
        for rate in RATES:
            with self.subTest(rate):
                sites, kept = self.run_it(rate, name, str(n), *arguments)
                for site, (allocated, in_use) in sites.items():
                    if site.startswith('freed_'):
                        self.assertEqual(in_use, 0, site)
                    elif rate == 1:
                        self.assertEqual(in_use, int(kept[site]), site)
                    if rate == 1:
                        self.assertGreater(allocated, 0)
                if rate == 1:
                    self.assertTrue(sites)

    def test_signal_handlers(self):
        self.check('signals', 400)

    def test_destructors_of_thread_locals(self):
        self.check('destructors', 400)

    def test_exit(self):
        self.check('exit', 300)

    def test_fork_in_a_threaded_program(self):
        self.check('fork', 40)

    def test_libraries_that_are_gone_keep_their_names(self):
        plugin = os.path.join(PROGRAMS, 'libheap_plugin.so')
        sites, kept = self.run_it(1, 'plugin', '20', plugin)
        self.assertEqual(sites['kept_by_plugin'],
                         (20, int(kept['kept_by_plugin'])))

    def test_ten_thousand_threads(self):
        sites, _ = self.run_it(1, 'threads', '10016')
        self.assertEqual(sites['freed_in_thread'], (10016, 0))


if __name__ == '__main__':
    unittest.main()
