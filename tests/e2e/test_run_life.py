"""What programs do with descriptors, signals and threads: profiles stay
complete, and the program is not disturbed."""
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

import support
from runtime import BUILD, PROGRAMS, comments, pprof, top, working_sources

RUN = os.path.join(BUILD, 'pprof-run')
LIFE = os.path.abspath(os.path.join(PROGRAMS, 'life'))
WORK_NS = 3e8


class TestCase(support.TestCase):
    def setUp(self):
        super().setUp()
        self.profile = os.path.join(self.dir, 'cpu.pb.gz')

    def run_it(self, *way, options=(), **kwargs):
        kwargs['env'] = dict(os.environ, **kwargs.get('env', {}))
        return subprocess.run(
            [RUN, '-cpuprofile', self.profile, '-rate', '1000', *options, LIFE,
             *way], capture_output=True, text=True, timeout=60, cwd=self.dir,
            **kwargs)

    def check_work(self, *names):
        rows = top(self.profile)
        for name in names:
            self.assertIn(name, rows, comments(self.profile))
            self.assertGreater(rows[name][1], 0.8 * WORK_NS,
                               comments(self.profile))


class Descriptors(TestCase):
    """Daemons close all descriptors when they start."""
    def test_samples_go_on(self):
        for source in working_sources():
            for how in ('close', 'closefrom', 'close_range', 'dup2'):
                with self.subTest(source=source, how=how):
                    done = self.run_it('fds', how,
                                       options=['-source', source])
                    self.assertEqual((done.returncode, done.stdout),
                                     (0, 'ok\n'), done.stderr)
                    self.assertEqual(done.stderr, '')
                    self.check_work('work', 'work_in_thread')

    def start_serving(self, how):
        process = subprocess.Popen(
            [RUN, '-addr', 'unix:' + os.path.join(self.dir, 'socket'), LIFE,
             'fds', how, '3'], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertIn('Starting profiling', process.stderr.readline())
        return process

    def test_the_endpoint_goes_on(self):
        for how in ('close', 'closefrom', 'close_range', 'dup2'):
            with self.subTest(how):
                process = self.start_serving(how)
                time.sleep(1.5)
                pprof('-top', '-no_save', 'unix://%s/socket/debug/pprof/heap'
                      % self.dir)
                self.assertEqual(process.communicate(timeout=60)[0], 'ok\n')

    def test_an_endpoint_that_is_lost_costs_nothing(self):
        process = self.start_serving('syscall')
        time.sleep(2)
        with open('/proc/%d/stat' % process.pid) as f:
            fields = f.read().rsplit(')', 1)[1].split()
        cpu = (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')
        self.assertLess(cpu, 1.2)  # it works for 0.6 s
        self.assertEqual(process.communicate(timeout=60)[0], 'ok\n')


class Signals(TestCase):
    def test_threads_that_block_all_signals_have_samples(self):
        for source in working_sources():
            with self.subTest(source):
                done = self.run_it('masks', options=['-source', source])
                self.assertEqual((done.returncode, done.stderr), (0, ''))
                self.check_work('work', 'work_in_thread')

    def test_a_signal_that_the_program_waits_for_is_left_to_it(self):
        done = self.run_it('words', options=['-source', 'timer'])
        self.assertEqual((done.returncode, done.stdout), (0, 'ok\n'))

    def test_a_handler_that_is_called_once(self):
        for way in ('once', 'iso'):
            with self.subTest(way):
                done = self.run_it(way)
                self.assertEqual((done.returncode, done.stdout),
                                 (-signal.SIGTERM, 'ok\n'), done.stderr)
                self.check_work('work')
                os.remove(self.profile)

    def test_signals_of_real_time(self):
        done = self.run_it('realtime')
        self.assertEqual(done.returncode, -signal.SIGRTMIN)
        self.check_work('work')

    def test_a_crash_of_process_1(self):
        if not shutil.which('unshare') or os.geteuid() != 0:
            self.skipTest('needs root and unshare')
        done = subprocess.run(
            ['unshare', '--pid', '--fork', '--mount-proc', RUN, '-cpuprofile',
             self.profile, LIFE, 'crash'], capture_output=True, text=True,
            timeout=60)
        if 'unshare failed' in done.stderr:
            self.skipTest(done.stderr)
        self.check_work('work')

    def test_a_signal_that_never_comes(self):
        done = self.run_it('', options=['-signal', 'USR2'])
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count('\n'), 1, done.stderr)
        self.assertIn('the signal that starts it', done.stderr)


class Threads(TestCase):
    def test_the_process_ends_with_its_last_thread(self):
        for options in ((), ('-addr', '127.0.0.1:0')):
            with self.subTest(options):
                done = self.run_it('last', options=options)
                self.assertEqual((done.returncode, done.stdout), (0, 'ok\n'),
                                 done.stderr)
                self.check_work('work_in_thread')

    def test_cancelled_threads_that_return_all_the_same(self):
        for source in working_sources():
            with self.subTest(source):
                done = self.run_it('cancel', options=['-source', source])
                self.assertEqual((done.returncode, done.stdout), (0, 'ok\n'),
                                 done.stderr)
                self.check_work('work', 'work_in_thread')


class Children(TestCase):
    def explained(self, *command):
        done = subprocess.run([RUN, '-cpuprofile', self.profile, *command],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count('\n'), 1, done.stderr)
        self.assertIn('-children (PPROF_CHILDREN=1)', done.stderr)
        return done.stderr

    def test_a_shell_that_has_a_sample_of_its_own(self):
        said = self.explained('/bin/sh', '-c',
                              'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); '
                              'done; %s work; %s work; %s work; %s work; true'
                              % ((LIFE,) * 4))
        self.assertIn('child processes used', said)
        self.assertTrue(top(self.profile))

    def test_a_daemon_that_forks_by_itself(self):
        said = self.explained('/usr/bin/perl', '-e', 'exit 0 if fork; sleep 1')
        self.assertIn('it has forked', said)


class Environment(TestCase):
    def test_exec_without_a_path(self):
        done = self.run_it('nopath')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_work('work')
        self.assertTrue(os.path.exists(self.profile + '.exec1'))

    def preloaded(self, **settings):
        """The library preloaded by other means than pprof-run."""
        library = os.path.abspath(os.path.join(BUILD, 'libpprof-preload.so'))
        done = subprocess.run(
            [LIFE, ''], env=dict(os.environ, LD_PRELOAD=library, **settings),
            capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0)
        return done.stderr

    def test_values_that_cannot_work(self):
        for name, value, word in (
                ('PPROF_CPU_RATE', '99999', '1 to 4000'),
                ('PPROF_HEAP_INTERVAL', 'often', '1 to 86400'),
                ('PPROF_CPU_SOURCE', 'magic', 'timer'),
                ('PPROF_CHILDREN', 'yes', '1 or 0')):
            with self.subTest(name):
                said = self.preloaded(**{name: value})
                self.assertEqual(said.count('\n'), 1, said)
                self.assertIn('%s=%s: must be ' % (name, value), said)
                self.assertIn(word, said)

    def test_names_that_are_misspelt(self):
        said = self.preloaded(PPROF_CPU_PROFILE=self.profile)
        self.assertIn('PPROF_CPU_PROFILE is no setting; PPROF_CPUPROFILE is '
                      'one\n', said)
        done = self.run_it('', env={'PPROF_MEMRATE': '1'})
        self.assertEqual((done.returncode, done.stderr),
                         (2, 'pprof-run: PPROF_MEMRATE is no setting; '
                             'PPROF_MEM_RATE is one\n'))

    def test_names_of_others_are_left_alone(self):
        self.assertEqual(self.preloaded(PPROF_TOOLS='/x', PPROF_TMPDIR='/y',
                                        PPROF_SOMETHING='z'), '')

    def test_every_documented_name_is_known(self):
        root = os.path.join(os.path.dirname(__file__), '..', '..')
        names = set()
        for path in ('docs/native-programs.md', 'docs/security.md',
                     'docs/push.md', 'docs/man/pprof-run.1'):
            with open(os.path.join(root, path)) as f:
                names |= set(re.findall(r'PPROF_(\w*[A-Z])\b', f.read()))
        with open(os.path.join(root, 'src/runtime/hook/settings.c')) as f:
            known = set(re.findall(r'^    "(\w+)",', f.read(), re.M))
        self.assertGreater(len(names), 30)
        self.assertEqual(names - known - {'LABEL'}, set())


if __name__ == '__main__':
    unittest.main()
