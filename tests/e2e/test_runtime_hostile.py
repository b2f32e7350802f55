"""Programs that make life hard for a profiler inside them."""
import os
import subprocess
import unittest

from runtime import PROGRAMS, SOURCES, source_works

SECONDS = os.environ.get('PPROF_HOSTILE_SECONDS', '2')


class Hostile(unittest.TestCase):
    def run_case(self, case):
        for source in SOURCES:
            if not source_works(source):
                print('# %s is not allowed here' % source)
                continue
            with self.subTest(source):
                done = subprocess.run(
                    [os.path.join(PROGRAMS, 'hostile'), case, SECONDS],
                    env=dict(os.environ, PPROF_CPU_SOURCE=source,
                             HOSTILE_LIBRARY=os.path.join(
                                 PROGRAMS, 'libtruth_library.so')),
                    capture_output=True, text=True,
                    timeout=60 + 10 * float(SECONDS))
                self.assertEqual((done.returncode, done.stdout), (0, 'ok\n'),
                                 done.stderr)

    def test_threads_that_start_and_die_all_the_time(self):
        self.run_case('threads')

    def test_libraries_that_come_and_go(self):
        self.run_case('dlopen')

    def test_fork_vfork_and_posix_spawn(self):
        self.run_case('fork')

    def test_own_handlers_for_our_signals(self):
        self.run_case('signals')

    def test_threads_with_small_stacks(self):
        self.run_case('stacks')


if __name__ == '__main__':
    unittest.main()
