"""scripts/demo, the first command of the README."""

import os
import re
import signal
import subprocess
import unittest

import support

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
DEMO = os.path.join(ROOT, 'scripts', 'demo')


@unittest.skipUnless(
    os.path.realpath(support.BUILD) == os.path.join(ROOT, 'build'),
    'the demo builds and uses ./build')
class Demo(support.TestCase):
    def start(self, *args):
        process = subprocess.Popen([DEMO, *args], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True,
                                   start_new_session=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(self.kill_all, process)
        return process

    def kill_all(self, process):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()

    def nobody_is_left(self, process):
        with self.assertRaises(ProcessLookupError):
            os.killpg(process.pid, 0)

    def test_once(self):
        process = self.start('--once')
        output = process.communicate(timeout=300)[0]
        self.assertEqual(process.returncode, 0, output)
        self.assertRegex(output, r'ms +\d+\.\d+% .* compare\n')
        self.assertIn('program_run', output)
        self.assertNotIn('matched no samples', output)
        self.assertRegex(output, r'Open http://127\.0\.0\.1:\d+/ui/')
        self.assertIn('<title>pprofd', output)
        self.nobody_is_left(process)

    def test_interrupt_ends_all_of_it(self):
        process = self.start()
        for line in process.stdout:
            if re.match(r'Open http://', line):
                break
        os.killpg(process.pid, signal.SIGINT)
        process.stdout.read()
        self.assertEqual(process.wait(60), 130)
        self.nobody_is_left(process)


if __name__ == '__main__':
    unittest.main()
