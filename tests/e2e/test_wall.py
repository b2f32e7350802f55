"""The wall profile of threads in known states."""
import os
import re
import subprocess
import tempfile
import unittest

import runtime
from test_labels import tags

STATES = os.path.join(runtime.PROGRAMS, 'states')
IDLE = 300


class Wall(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.dir.name, 'wall')
        done = subprocess.run([STATES, '2', '100', cls.path, str(IDLE)],
                              check=True, capture_output=True, text=True,
                              timeout=60)
        cls.interrupted = int(done.stdout.split()[2])
        cls.ran = int(done.stdout.split()[3]) / 1e9
        # As long as it was for a thread that did nothing at all: on a busy
        # machine the end may come late.
        found = tags(cls.path, '-focus=^reads$')['state']
        cls.seconds = sum(found.values()) / 1e9

    @classmethod
    def tearDownClass(cls):
        cls.dir.cleanup()

    def states(self, function):
        """{state: seconds} of the threads in a function."""
        found = tags(self.path, '-focus=^%s$' % function)['state']
        return {state: ns / 1e9 for state, ns in found.items()}

    def check(self, function, states, n=1):
        """All of the time is in these states.  A thread is first seen at
        the first look."""
        found = self.states(function)
        total = sum(found.values())
        self.assertAlmostEqual(total / n, self.seconds,
                               delta=0.15 * self.seconds)
        meant = sum(found.get(state, 0) for state in states)
        self.assertGreater(meant, 0.9 * total, found)

    def test_it_takes_the_time_that_was_asked_for(self):
        self.assertGreater(self.seconds, 1.8)

    def test_a_thread_that_runs(self):
        self.check('runs', ('running', 'runnable'))
        self.assertAlmostEqual(self.states('runs').get('running', 0), self.ran,
                               delta=0.15 * self.seconds)

    def test_a_thread_that_shares_a_cpu_with_all_others(self):
        def on_one():
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

        path = os.path.join(self.dir.name, 'shared')
        with subprocess.Popen(['sh', '-c', 'while :; do :; done'],
                              preexec_fn=on_one) as other:
            done = subprocess.run([STATES, '2', '100', path], check=True,
                                  capture_output=True, text=True, timeout=60,
                                  preexec_fn=on_one)
            other.kill()
        ran = int(done.stdout.split()[3])
        found = tags(path, '-focus=^runs$')['state']
        total = sum(found.values())
        self.assertLess(ran, 0.8 * total)
        self.assertAlmostEqual(found['running'], ran, delta=0.15 * total)
        self.assertAlmostEqual(found['runnable'], total - ran,
                               delta=0.15 * total)

    def test_threads_that_sleep(self):
        self.check('sleeps', ('sleeping',))
        self.check('reads', ('sleeping',))
        self.check('polls', ('sleeping',))

    def test_threads_that_wait_for_others(self):
        self.check('waits_for_mutex', ('lock',))
        self.check('waits_for_cond', ('lock',))

    def test_a_thread_that_no_signal_wakes(self):
        found = self.states('waits_for_disk')
        self.assertGreater(found.get('disk', 0), 0.5 * self.seconds, found)

    def test_a_thread_that_blocks_signals_has_a_stack_while_it_waits(self):
        self.check('is_deaf', ('sleeping',))

    def test_many_threads_that_do_nothing(self):
        self.check('idles', ('lock',), IDLE)

    def test_a_thread_that_wakes_up_is_seen_in_both_places(self):
        found = self.states('wakes_up')
        self.assertGreater(found.get('sleeping', 0), 0)
        self.assertGreater(found.get('running', 0) + found.get('runnable', 0),
                           0)

    def test_a_thread_that_sleeps_is_never_interrupted(self):
        self.assertEqual(self.interrupted, 0)

    def test_labels_are_there(self):
        job = tags(self.path)['job']
        self.assertEqual(set(job), {'spin', 'lock'})
        self.assertAlmostEqual(job['lock'] / 1e9, self.seconds,
                               delta=0.15 * self.seconds)

    def test_threads_that_had_not_moved_were_left_alone(self):
        looks, copies, repeats, incomplete, asked = [
            int(n) for n in re.findall(r'\d+', runtime.comments(
                self.path).split('wall: ')[1])][:5]
        self.assertGreater(repeats, IDLE * looks * 0.8)
        self.assertLess(copies, IDLE + 8 * looks)
        self.assertLess(asked, 4 * looks)
        self.assertEqual(incomplete, 0)

    def test_samples_are_taken_at_random_intervals(self):
        """100 looks a second, in the mean."""
        looks = int(runtime.comments(self.path).split('wall: ')[1].split()[0])
        self.assertLess(looks, 1.3 * 100 * self.seconds)


class Hidden(unittest.TestCase):
    """A process that is not dumpable, as after setuid(): the kernel does not
    show where its threads wait."""

    def test_states_are_right_and_nothing_is_interrupted(self):
        def become_nobody():
            os.setgid(65534)
            os.setuid(65534)

        if os.getuid() != 0:
            self.skipTest('must be root')
        with tempfile.TemporaryDirectory() as directory:
            os.chmod(directory, 0o777)
            path = os.path.join(directory, 'wall')
            # As another user, so that what belongs to root is not readable.
            try:
                done = subprocess.run(
                    [STATES, '1', '100', path, '0', 'hidden'],
                    capture_output=True, text=True, timeout=60,
                    preexec_fn=become_nobody)
            except PermissionError:
                self.skipTest('the build is not readable for others')
            if 'denied' in done.stderr:
                self.skipTest('the build is not readable for others')
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(int(done.stdout.split()[2]), 0)
            self.assertIn('the kernel does not show', runtime.comments(path))
            found = tags(path)['state']
            self.assertGreater(found['sleeping'], 3e9)
            ran = tags(path, '-focus=^runs$')['state']
            self.assertGreater(sum(ran.values()), 0.5e9)


if __name__ == '__main__':
    unittest.main()
