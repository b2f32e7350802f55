"""Labels reach the samples they were meant for."""
import os
import re
import subprocess
import tempfile
import unittest

import runtime

LABELLED = os.path.join(runtime.PROGRAMS, 'labelled')


def tags(path, *options):
    """{key: {value: number}} of the profile's last sample type."""
    found, key = {}, None
    for line in runtime.pprof('-tags', '-unit=ns', *options, path).splitlines():
        head = re.match(r' *(\S+): Total ', line)
        row = re.match(r' *([\d.]+)(?:ns)? \( *[\d.]+%\): (.*)', line)
        if head:
            key = found.setdefault(head.group(1), {})
        elif row:
            key[row.group(2)] = float(row.group(1))
    return found


class Labels(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.dir.name, 'profile')

    def tearDown(self):
        self.dir.cleanup()

    def run_labelled(self, *args, **env):
        subprocess.run([LABELLED, *args, self.path], check=True, timeout=60,
                       env=dict(os.environ, **env))
        return tags(self.path)

    def test_cpu_time_goes_to_the_labels_that_were_on(self):
        got = self.run_labelled('cpu', '0.6')
        user = got['user']
        labelled = sum(user.values())
        self.assertEqual(set(user), {'ann', 'bob'})
        # Of 0.6 s at 500 Hz: 225 and 75 samples, a few more or less.
        self.assertAlmostEqual(user['ann'] / labelled, 0.75, delta=0.05)
        self.assertAlmostEqual(labelled, 0.6e9, delta=0.06e9)
        self.assertAlmostEqual(got['request']['search'], labelled,
                               delta=0.02e9)
        self.assertNotIn('thread', got)

    def test_threads_have_names_on_demand(self):
        got = self.run_labelled('cpu', '0.3', THREAD_LABELS='1')
        self.assertIn('other', got['thread'])
        self.assertIn('labelled', got['thread'])
        self.assertEqual(len(got['thread_id']), 2)
        self.assertIn('user', got)

    def test_the_threads_profile_has_labels(self):
        got = self.run_labelled('threads')
        self.assertEqual(got['shard'], {'0': 3, '1': 3})
        # What they were started with; their starter has it no more.
        self.assertEqual(got['pool'], {'a': 6})

    def test_stds_locks_are_seen(self):
        self.run_labelled('locks')
        count = runtime.top(self.path, '-sample_index=contentions')
        for name in ('pthread_mutex_lock', 'pthread_rwlock_rdlock',
                     'pthread_mutex_clocklock', 'pthread_cond_clockwait'):
            self.assertGreaterEqual(count[name][0], 5, name)


if __name__ == '__main__':
    unittest.main()
