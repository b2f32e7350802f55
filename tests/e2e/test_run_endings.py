"""However a program under pprof-run ends, its profiles are written, and its
exit status is the same as without pprof-run."""
import os
import pty
import signal
import subprocess
import time
import unittest

import support
from runtime import BUILD, PROGRAMS, pprof, top

RUN = os.path.join(BUILD, 'pprof-run')
ENDINGS = os.path.abspath(os.path.join(PROGRAMS, 'endings'))


class Endings(support.TestCase):
    def setUp(self):
        super().setUp()
        self.profile = os.path.join(self.dir, 'cpu.pb.gz')

    def run_it(self, *way, options=(), **kwargs):
        """Ends by itself within a minute; the process as it ended."""
        return subprocess.run(
            [RUN, '-cpuprofile', self.profile, *options, ENDINGS, *way],
            capture_output=True, text=True, timeout=60,
            cwd=self.dir, **kwargs)

    def files(self):
        return sorted(os.listdir(self.dir))

    def test_a_signal_that_ends_the_program(self):
        for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP,
                    signal.SIGQUIT, signal.SIGUSR1, signal.SIGALRM):
            with self.subTest(sig):
                done = self.run_it('signal', str(int(sig)))
                self.assertEqual(done.returncode, -sig)
                self.assertEqual(done.stderr, '')
                self.assertIn('compute', top(self.profile))
                os.remove(self.profile)

    def test_a_crash(self):
        for way, sig in (('segv', signal.SIGSEGV), ('abort', signal.SIGABRT)):
            with self.subTest(way):
                done = self.run_it(way)
                self.assertEqual(done.returncode, -sig)
                self.assertIn('compute', top(self.profile))
                os.remove(self.profile)

    def test_a_crash_without_a_stack_for_a_handler_keeps_its_status(self):
        self.assertEqual(self.run_it('overflow').returncode, -signal.SIGSEGV)

    def test_all_profiles_survive_a_signal(self):
        options = []
        for kind in ('heap', 'wall', 'block', 'mutex'):
            options += ['-%sprofile' % kind,
                        os.path.join(self.dir, kind)]
        done = self.run_it('signal', '15', options=['-memrate', '1', *options])
        self.assertEqual(done.returncode, -signal.SIGTERM, done.stderr)
        self.assertEqual(self.files(), ['block', 'cpu.pb.gz', 'heap', 'mutex',
                                        'wall'])

    def test_files_of_the_run_leave_the_endpoint_free(self):
        socket, wall = (os.path.join(self.dir, name)
                        for name in ('socket', 'wall'))
        process = subprocess.Popen(
            [RUN, '-addr', 'unix:' + socket, '-cpuprofile', self.profile,
             '-wallprofile', wall, '/bin/sh', '-c', 'while :; do :; done'],
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertIn('Starting profiling endpoint', process.stderr.readline())
        asked = [os.path.join(self.dir, name) for name in ('one', 'two')]
        for path, kind in zip(asked, ('profile', 'wall')):
            pprof('-proto', '-no_save', '-output', path,
                  'unix://%s/debug/pprof/%s?seconds=1' % (socket, kind))
        process.terminate()
        process.wait(timeout=60)
        for path, whole in zip(asked, (self.profile, wall)):
            part, total = (sum(flat for flat, _ in top(name).values())
                           for name in (path, whole))
            self.assertGreater(part, 0)
            self.assertGreater(total, part)

    def test_ctrl_c_at_a_terminal(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(RUN, [RUN, '-cpuprofile', self.profile, '/bin/sh', '-c',
                           'while :; do :; done'])
        time.sleep(0.7)
        os.write(terminal, b'\x03')
        _, status = os.waitpid(pid, 0)
        os.close(terminal)
        self.assertEqual(os.WTERMSIG(status), signal.SIGINT)
        self.assertTrue(top(self.profile))

    def test_the_program_never_sees_our_handler(self):
        for prefix in ([RUN, '-cpuprofile', self.profile], []):
            done = subprocess.run([*prefix, ENDINGS, 'actions'],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, -signal.SIGTERM)
            self.assertEqual(done.stdout.splitlines(), [
                'at first: default', 'SIGHUP: default',
                'with its own: handler', 'with the old one again: default',
                'signal() says default', 'signal() says handler'])
        self.assertIn('compute', top(self.profile))

    def test_an_ignored_signal_stays_ignored(self):
        done = subprocess.run(
            ['/bin/sh', '-c', 'trap "" HUP; exec "$@"', 'sh', RUN,
             '-cpuprofile', self.profile, ENDINGS, 'actions'],
            capture_output=True, text=True, timeout=60)
        self.assertIn('SIGHUP: ignored', done.stdout)

    def test_exec_is_still_the_same_run(self):
        for way in ('exec', 'execl'):
            with self.subTest(way):
                done = self.run_it(way)
                self.assertEqual(done.returncode, 7, done.stderr)
                self.assertEqual(self.files(), ['cpu.pb.gz',
                                                'cpu.pb.gz.exec1'])
                self.assertIn('after_exec', top(self.profile))
                before = top(self.profile + '.exec1')
                self.assertIn('compute', before)
                self.assertNotIn('after_exec', before)
                os.remove(self.profile)
                os.remove(self.profile + '.exec1')

    def test_exec_that_fails_changes_nothing(self):
        bad = os.path.join(self.dir, 'bad')
        with open(bad, 'wb') as f:
            f.write(b'\x7fELF' + bytes(100))
        os.chmod(bad, 0o755)
        done = self.run_it('badexec', bad)
        self.assertEqual(done.returncode, 7)
        self.assertIn('after_exec', top(self.profile))

    def test_a_wrapper_script_that_execs(self):
        script = os.path.join(self.dir, 'wrapper')
        with open(script, 'w') as f:
            f.write('#!/bin/sh\nFOO=1\nexport FOO\nexec %s after\n' % ENDINGS)
        os.chmod(script, 0o755)
        done = subprocess.run([RUN, '-cpuprofile', self.profile, script],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (7, ''))
        self.assertIn('after_exec', top(self.profile))

    def test_children_of_a_program_that_execs_are_left_alone(self):
        done = subprocess.run(
            [RUN, '-cpuprofile', self.profile, '/bin/sh', '-c',
             'exec /bin/sh -c "env; true"'],
            capture_output=True, text=True, timeout=60)
        self.assertNotIn('PPROF_', done.stdout)
        self.assertNotIn('libpprof', done.stdout)

    def test_daemon_goes_on_in_the_child(self):
        done = self.run_it('daemon')
        self.assertEqual(done.returncode, 0)
        for _ in range(100):
            if os.path.exists(self.profile) and 'in_child' in top(
                    self.profile):
                return
            time.sleep(0.1)
        self.fail('no profile of the daemon')

    def test_a_profile_between_two_signals_survives_the_end(self):
        process = subprocess.Popen(
            [RUN, '-cpuprofile', self.profile, '-signal', 'USR2', '/bin/sh',
             '-c', 'echo 1; while :; do :; done'], stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        process.stdout.readline()
        process.send_signal(signal.SIGUSR2)
        time.sleep(0.5)
        process.terminate()
        self.assertEqual(process.wait(30), -signal.SIGTERM)
        self.assertTrue(top(self.profile + '.0'))


if __name__ == '__main__':
    unittest.main()
