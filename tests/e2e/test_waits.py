"""The block and mutex profiles: known waits, and unmodified programs."""
import os
import re
import subprocess
import tempfile
import unittest

import runtime

WAITS = os.path.join(runtime.PROGRAMS, 'waits')
ROUNDS = 20
HOLD_MS = 5


def counts(path):
    return runtime.top(path, '-sample_index=contentions')


class Waits(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.block = os.path.join(self.dir.name, 'block')
        self.mutex = os.path.join(self.dir.name, 'mutex')

    def tearDown(self):
        self.dir.cleanup()

    def run_waits(self, kind, *more):
        done = subprocess.run(
            [WAITS, kind, str(ROUNDS), str(HOLD_MS), self.block, self.mutex,
             *more], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [int(n) for n in done.stdout.split()]

    def near(self, got, want, share, what):
        self.assertTrue(abs(got - want) <= share * want + 1e5,
                        '%s: %s instead of %s' % (what, got, want))

    def check(self, kind, waiting, waiter, releasing=None, releaser=None):
        """Delay and count at the waiter and at who released."""
        rounds, waited, caused = self.run_waits(kind)
        delay, count = runtime.top(self.block), counts(self.block)
        # A condition variable may wake up for nothing; nothing else may.
        self.near(delay[waiting][0], waited, 0.05, 'block delay')
        self.near(count[waiting][0], rounds, 0.05, 'block count')
        self.near(delay[waiter][1], waited, 0.05, 'the waiter')
        if not releasing:
            self.assertEqual(counts(self.mutex), {})
            return
        delay, count = runtime.top(self.mutex), counts(self.mutex)
        self.near(delay[releasing][0], caused, 0.05, 'mutex delay')
        self.assertEqual(count[releasing][0], rounds)
        self.assertEqual(count[releaser][1], rounds)

    def test_a_mutex_is_charged_to_both_sides(self):
        self.check('mutex', 'pthread_mutex_lock', 'mutex_wait',
                   'pthread_mutex_unlock', 'mutex_release')

    def test_mutexes_of_all_kinds(self):
        for kind in ('recursive', 'errorcheck', 'robust', 'inherit'):
            with self.subTest(kind):
                self.check(kind, 'pthread_mutex_lock', 'mutex_wait',
                           'pthread_mutex_unlock', 'mutex_release')

    def test_a_mutex_with_a_deadline(self):
        self.check('timed', 'pthread_mutex_timedlock', 'timed_wait',
                   'pthread_mutex_unlock', 'mutex_release')

    def test_c11_mutexes_and_conditions(self):
        self.check('mtx', 'mtx_lock', 'mtx_wait', 'mtx_unlock', 'mtx_release')
        self.check('cnd', 'cnd_wait', 'cnd_wait_for_it')

    def test_readers_and_writers(self):
        self.check('read', 'pthread_rwlock_rdlock', 'read_wait',
                   'pthread_rwlock_unlock', 'rwlock_release')
        self.check('write', 'pthread_rwlock_wrlock', 'write_wait',
                   'pthread_rwlock_unlock', 'read_release')

    def test_a_spinlock(self):
        self.check('spin', 'pthread_spin_lock', 'spin_wait',
                   'pthread_spin_unlock', 'spin_release')

    def test_a_condition_variable(self):
        self.check('cond', 'pthread_cond_wait', 'cond_wait')

    def test_a_semaphore(self):
        self.check('sem', 'sem_wait', 'sem_wait_for_it')

    def test_a_futex_is_charged_to_who_held_it(self):
        self.check('futex', 'syscall', 'futex_wait', 'syscall',
                   'futex_release')

    def test_a_futex_that_nobody_holds_is_no_lock(self):
        self.check('event', 'syscall', 'event_wait')

    def test_a_join(self):
        self.check('join', 'pthread_join', 'join_wait')

    def test_a_barrier(self):
        rounds, waited, _ = self.run_waits('barrier')
        self.near(runtime.top(self.block)['barrier_wait_for_it'][1], waited,
                  0.05, 'barrier')
        # Who comes last waits too, for next to nothing.
        self.assertEqual(counts(self.block)['pthread_barrier_wait'][0],
                         2 * rounds)

    def test_the_text_is_gos(self):
        self.run_waits('mutex', 'text')
        with open(self.block) as f:
            block = f.read()
        with open(self.mutex) as f:
            mutex = f.read()
        self.assertTrue(block.startswith(
            '--- contention:\ncycles/second=1000000000\n'), block[:100])
        self.assertTrue(mutex.startswith(
            '--- mutex:\ncycles/second=1000000000\nsampling period=1\n'),
            mutex[:100])
        delay, count = re.search(r'^(\d+) (\d+) @( 0x[0-9a-f]+)+$', mutex,
                                 re.M).group(1, 2)
        self.assertEqual(int(count), ROUNDS)
        self.assertGreater(int(delay), ROUNDS * HOLD_MS * 900000)
        for path in (self.block, self.mutex):
            text = runtime.pprof('-top', '-unit=ns', path)
            self.assertIn('Type: delay', text)
        self.assertIn(delay + 'ns', text)


if __name__ == '__main__':
    unittest.main()
