"""Profiles must not change what system calls return."""
import os
import re
import subprocess
import tempfile
import time
import unittest
import urllib.request

import runtime
import support
from runtime import BUILD, PROGRAMS, SANITIZED, working_sources

CALLS = os.path.join(PROGRAMS, 'waiting_calls')
ROUNDS = '20'


class Calls(unittest.TestCase):
    """36 calls, some threads that run, and a profile that looks at all of
    them a thousand times a second."""

    @classmethod
    def setUpClass(cls):
        cls.alone = cls.run_calls('none', 'perf')

    @staticmethod
    def run_calls(how, source, *more):
        done = subprocess.run(
            [CALLS, how, ROUNDS, *more], capture_output=True, text=True,
            timeout=120, check=True,
            env=dict(os.environ, PPROF_CPU_SOURCE=source))
        return done.stdout.splitlines()

    def check(self, how):
        for source in working_sources(('perf', 'timer')):
            with self.subTest(source):
                self.assertEqual(self.run_calls(how, source), self.alone)

    def test_each_call_waits_as_long_as_it_should(self):
        self.assertEqual(len(self.alone), 36)
        for line in self.alone:
            self.assertTrue(line.endswith(', 0 early'), line)

    def test_a_wall_profile_at_1000_hz_changes_nothing(self):
        self.check('wall')

    def test_thread_dumps_change_nothing(self):
        self.check('dump')

    def test_leak_profiles_change_nothing(self):
        self.check('leak')

    def test_no_stack_of_the_wall_profile_is_wrong(self):
        """Each thread is in its own call: below call_X there is nothing that
        belongs to another."""
        with tempfile.NamedTemporaryFile() as out:
            self.run_calls('wall', 'perf', out.name)
            text = runtime.pprof('-traces', out.name)
        stacks = [re.findall(r'^ +(?:[\d.]+[mun]?s +)?([a-z]\w+)', part, re.M)
                  for part in text.split('-----------+')]
        n = 0
        for stack in stacks:
            calls = [name for name in stack if name.startswith('call_')]
            n += len(calls) > 0
            self.assertLessEqual(len(calls), 1, stack)
            if calls:
                after = stack[stack.index(calls[0]) + 1:]
                self.assertEqual(after[0], 'make_calls', stack)
        self.assertGreater(n, 30)


@unittest.skipIf(SANITIZED != 'none', 'a sanitizer must be loaded first')
class Programs(support.TestCase):
    """Under pprof-run, which knows nothing of the program."""

    def build(self, source):
        path = os.path.join(self.dir, 'program')
        with open(path + '.c', 'w') as f:
            f.write(source)
        subprocess.run([os.environ.get('CC', 'cc'), '-O2', '-o', path,
                        path + '.c', '-pthread'], check=True)
        return path

    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.dir = directory.name

    def test_work_and_sleep_make_as_many_rounds(self):
        program = self.build('''
            #include <stdio.h>
            #include <time.h>
            #include <unistd.h>
            int main(void)
            {
                time_t end = time(NULL) + 4;
                int rounds = 0;
                while (time(NULL) < end) {
                    for (volatile int i = 0; i < 1000000; i++)
                        ;
                    sleep(1);
                    rounds++;
                }
                printf("%d\\n", rounds);
            }''')
        wall = os.path.join(self.dir, 'wall')
        alone = subprocess.run([program], capture_output=True, text=True)
        done = subprocess.run(
            [os.path.join(BUILD, 'pprof-run'), '-wallprofile', wall, program],
            capture_output=True, text=True)
        self.assertAlmostEqual(int(done.stdout), int(alone.stdout), delta=1)
        self.assertIn('sleep', runtime.pprof('-top', wall))

    def test_a_program_in_pause_survives_thread_dumps(self):
        program = self.build('''
            #include <unistd.h>
            int main(void)
            {
                pause();
                return 3;
            }''')
        process = subprocess.Popen(
            [os.path.join(BUILD, 'pprof-run'), '-addr', '127.0.0.1:0',
             program], stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(support.stop, process)
        url = re.search(r'http://\S+', process.stderr.readline()).group()
        for name in ('threads?debug=2', 'threads', 'leak', 'wall?seconds=1',
                     'goroutine?debug=2'):
            with urllib.request.urlopen(url + name) as reply:
                body = reply.read()
        self.assertIn(b'pause', body)
        time.sleep(0.1)
        self.assertIsNone(process.poll())


if __name__ == '__main__':
    unittest.main()
