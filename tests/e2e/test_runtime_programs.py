"""Unmodified programs of the system under pprof-run."""
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import unittest

import support
from support import free_port, wait_for_port
from runtime import (BUILD, PROGRAMS, comments, run_profiled, source_works,
                     stack_ends, top, working_sources)


class Programs(support.TestCase):
    def setUp(self):
        super().setUp()
        self.profile = os.path.join(self.dir, 'cpu.pb.gz')

    def need(self, *programs):
        for program in programs:
            if not shutil.which(program):
                self.skipTest('%s is not installed' % program)

    def finish(self, process):
        self.assertEqual(process.wait(120), 0)

    def check(self, names, at_least=200):
        """The profile parses with both tools, its stacks reach a thread's
        start, and the names that must be there are."""
        rows = top(self.profile)
        for name in names:
            self.assertTrue(any(name in row for row in rows),
                            '%s not in %s' % (name, sorted(rows)))
        ends = stack_ends(self.profile)
        print('# %s: stacks %s' % (self.id(), ends))
        self.assertGreaterEqual(sum(ends), at_least)
        self.assertGreater(ends[0], 0.99 * sum(ends))
        if shutil.which('go'):
            done = subprocess.run(
                ['go', 'tool', 'pprof', '-top', self.profile],
                capture_output=True, text=True,
                env=dict(os.environ, HOME=self.dir))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn('Type: cpu', done.stdout)

    def test_xz(self):
        self.need('xz')
        data = os.path.join(self.dir, 'data')
        with open(data, 'wb') as f:
            f.write(os.urandom(2000000))
        self.finish(run_profiled(self.profile, ['xz', '-1', '-k', data],
                                 options=['-rate', '1000']))
        self.check(['lzma_code'])

    def test_sqlite3(self):
        self.need('sqlite3')
        self.finish(run_profiled(
            self.profile, ['sqlite3', ':memory:',
                           'with recursive t(x) as (select 1 union all '
                           'select x+1 from t limit 2000000) '
                           'select sum(x*x%7) from t;'],
            options=['-rate', '1000'], stdout=subprocess.DEVNULL))
        self.check(['sqlite3_'])

    def test_python3(self):
        if not os.access('/usr/bin/python3', os.X_OK):
            self.skipTest('no /usr/bin/python3')
        self.finish(run_profiled(
            self.profile,
            ['/usr/bin/python3', '-c',
             'print(sum(i * i % 7 for i in range(6000000)))'],
            options=['-rate', '1000'], stdout=subprocess.DEVNULL))
        self.check(['_PyEval_EvalFrameDefault'])

    def test_redis_server(self):
        self.need('redis-server', 'redis-benchmark')
        port = free_port()
        server = run_profiled(
            self.profile, ['redis-server', '--port', str(port), '--save', '',
                           '--dir', self.dir],
            options=['-rate', '1000'], stdout=subprocess.DEVNULL)
        self.addCleanup(server.kill)
        wait_for_port(port)
        subprocess.run(['redis-benchmark', '-p', str(port), '-n', '40000',
                        '-t', 'set,get,lpush', '-q'],
                       stdout=subprocess.DEVNULL, check=True, timeout=120)
        server.send_signal(signal.SIGTERM)
        self.finish(server)
        self.check(['main'], at_least=60)

    def test_nginx(self):
        self.need('nginx')
        port = free_port()
        config = os.path.join(self.dir, 'nginx.conf')
        with open(config, 'w') as f:
            f.write('daemon off; master_process off; pid %s/pid;\n'
                    'error_log %s/log;\nevents {}\n'
                    'http { access_log off; server {\n'
                    '  listen 127.0.0.1:%d;\n'
                    '  location / { return 200 "%s"; }\n} }\n'
                    % (self.dir, self.dir, port, 'x' * 2000))
        server = run_profiled(self.profile, ['nginx', '-c', config,
                                             '-p', self.dir],
                              options=['-rate', '1000'],
                              stderr=subprocess.DEVNULL)
        self.addCleanup(server.kill)
        wait_for_port(port)
        request = b'GET / HTTP/1.1\r\nHost: x\r\n\r\n' * 50
        for _ in range(100):
            with socket.create_connection(('127.0.0.1', port)) as s:
                for _ in range(10):
                    s.sendall(request)
                    left = 50
                    while left > 0:
                        data = s.recv(1 << 20)
                        self.assertTrue(data)
                        left -= data.count(b'HTTP/1.1 200')
        server.send_signal(signal.SIGTERM)
        self.finish(server)
        self.check(['main'], at_least=20)

    def test_a_c_program(self):
        """Linked with the library that is preloaded, too."""
        process = run_profiled(
            self.profile, [os.path.join(BUILD, 'examples', 'service'), '4'],
            options=['-addr', '127.0.0.1:0', '-rate', '1000'],
            stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.finish(process)
        self.assertEqual(process.stderr.read().count(b'Starting'), 1)
        self.check(['handle_report', 'compare', 'worker'], at_least=60)

    def test_a_cplusplus_program(self):
        for source in working_sources():
            with self.subTest(source):
                self.finish(run_profiled(
                    self.profile, [os.path.join(PROGRAMS, 'cplusplus')],
                    options=['-source', source, '-rate', '400']))
                self.check(['zoo::try_to_escape', 'zoo::Cage', 'zoo::feed',
                            'zoo::Register', 'std::thread',
                            '_Unwind_RaiseException', 'main'], at_least=100)
                rows = top(self.profile)
                self.assertEqual([row for row in rows if row[:2] == '_Z'], [])

    def test_time_in_the_kernel_belongs_to_the_call(self):
        for source in working_sources():
            with self.subTest(source):
                self.finish(run_profiled(
                    self.profile, ['dd', 'if=/dev/urandom', 'of=/dev/null',
                                   'bs=1M', 'count=300'],
                    options=['-source', source], stderr=subprocess.DEVNULL))
                self.check(['read'], at_least=20)
                used = float(re.search(r'cpu time of the process: (\d+)',
                                       comments(self.profile)).group(1))
                read = max(cum for name, (_, cum) in top(self.profile).items()
                           if 'read' in name)
                self.assertGreater(read, 0.9 * used)

    def test_threads_shorter_than_a_period_are_not_forgotten(self):
        for source in working_sources():
            with self.subTest(source):
                process = run_profiled(
                    self.profile, [os.path.join(PROGRAMS, 'short_threads')],
                    options=['-source', source], stdout=subprocess.PIPE,
                    text=True)
                used = float(process.communicate()[0])
                seen = top(self.profile)['short_life'][1]
                print('# %s: %.0f %%' % (source, 100 * seen / used))
                # 120 samples: three standard deviations are 27 %.
                self.assertAlmostEqual(seen / used, 1, delta=0.3)

    def test_who_sleeps_all_the_time_is_sampled_by_timers(self):
        """A perf event costs at every switch: so much is not worth it."""
        process = run_profiled(
            self.profile, [os.path.join(PROGRAMS, 'pingpong')],
            stdout=subprocess.PIPE, text=True)
        used = float(process.communicate()[0])
        said = comments(self.profile)
        self.assertIn('cpu source: thread CPU timers', said)
        if source_works('perf') or source_works('perf-user'):
            self.assertIn('thread switches per CPU second', said)
        seen = sum(flat for flat, _ in top(self.profile).values())
        print('# %.0f %%' % (100 * seen / used))
        self.assertAlmostEqual(seen / used, 1, delta=0.15)

    def test_code_that_was_just_loaded_is_known(self):
        for source in working_sources():
            with self.subTest(source):
                self.finish(run_profiled(
                    self.profile, [os.path.join(PROGRAMS, 'fresh_code'),
                                   os.path.join(PROGRAMS,
                                                'libtruth_library.so'), '10'],
                    options=['-source', source, '-rate', '1000']))
                ends = stack_ends(self.profile)
                print('# %s: stacks %s' % (source, ends))
                # The first sample in it finds it, each of ten times; on a
                # busy machine more may come before somebody has looked.
                self.assertGreater(ends[0], 0.75 * sum(ends))
                self.assertIn('truth_library_30', top(self.profile))

    def test_every_way_to_end_leaves_a_profile(self):
        for way in ('exit', 'quick_exit', '_exit', '_Exit', 'handler'):
            with self.subTest(way):
                if os.path.exists(self.profile):
                    os.remove(self.profile)
                process = run_profiled(
                    self.profile, [os.path.join(PROGRAMS, 'endings'), way])
                self.assertEqual(process.wait(60), 7)
                self.assertIn('main', top(self.profile))

    def test_a_signal_starts_and_stops(self):
        process = run_profiled(
            self.profile, ['/usr/bin/python3', '-u', '-c',
                           'import sys\nprint(1)\nwhile True: pass'],
            options=['-signal', 'USR2'], stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.stdout.readline()
        for _ in range(2):
            process.send_signal(signal.SIGUSR2)
            time.sleep(0.5)
            process.send_signal(signal.SIGUSR2)
            time.sleep(0.5)
        for n in range(2):
            path = '%s.%d' % (self.profile, n)
            for _ in range(100):
                if os.path.exists(path):
                    break
                time.sleep(0.1)
            self.assertIn('_PyEval_EvalFrameDefault', top(path))

    def test_children_are_left_alone_unless_asked(self):
        script = '%s -c "import os; print(os.environ)"' % '/usr/bin/python3'
        for options, count in (([], 1), (['-children'], 2)):
            shutil.rmtree(self.dir)
            os.mkdir(self.dir)
            process = run_profiled(self.profile, ['/bin/bash', '-c',
                                                  script + '; true'],
                                   options=options, stdout=subprocess.PIPE,
                                   text=True)
            said = process.communicate()[0]
            self.assertEqual('libpprof-preload' in said, bool(options), said)
            self.assertEqual(len(os.listdir(self.dir)), count)


if __name__ == '__main__':
    unittest.main()
