"""The wall profile of threads in known states."""
import os
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
        words = done.stdout.split()
        cls.seconds = float(words[0])
        cls.interrupted = int(words[2])

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

    def test_a_thread_that_runs(self):
        self.check('runs', ('running', 'runnable'))

    def test_threads_that_sleep(self):
        self.check('sleeps', ('sleeping',))
        self.check('reads', ('sleeping',))
        self.check('polls', ('sleeping',))

    def test_threads_that_wait_for_others(self):
        self.check('waits_for_mutex', ('lock',))
        self.check('waits_for_cond', ('lock',))

    def test_many_threads_that_do_nothing(self):
        self.check('idles', ('lock',), IDLE)

    def test_a_thread_that_wakes_up_is_seen_in_both_places(self):
        found = self.states('wakes_up')
        self.assertGreater(found.get('sleeping', 0), 0)
        self.assertGreater(found.get('running', 0) + found.get('runnable', 0),
                           0)

    def test_a_sleeping_thread_is_interrupted_when_it_moved_only(self):
        # It wakes up ten times a second by itself; looks are a hundred.
        self.assertLess(self.interrupted, 15 * self.seconds)

    def test_labels_are_there(self):
        job = tags(self.path)['job']
        self.assertEqual(set(job), {'spin', 'lock'})
        self.assertAlmostEqual(job['lock'] / 1e9, self.seconds,
                               delta=0.15 * self.seconds)

    def test_threads_that_had_not_moved_were_left_alone(self):
        comment = runtime.comments(self.path)
        looks, signals, repeats = [
            int(word) for word in comment.split('wall: ')[1].split()
            if word.isdigit()][:3]
        self.assertGreater(repeats, IDLE * looks * 0.8)
        self.assertLess(signals, IDLE + 6 * looks)


if __name__ == '__main__':
    unittest.main()
