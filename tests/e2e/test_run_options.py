"""pprof-run is never silent: invalid options are rejected before the program
starts, and a run that measures nothing prints the reason."""
import os
import re
import shutil
import signal
import stat
import subprocess
import time
import unittest

import support
from runtime import BUILD, PROGRAMS, top

RUN = os.path.abspath(os.path.join(BUILD, 'pprof-run'))
ENDINGS = os.path.abspath(os.path.join(PROGRAMS, 'endings'))


class TestCase(support.TestCase):
    def run_it(self, *words, run=RUN, env=None, prefix=()):
        return subprocess.run(
            [*prefix, run, *words], capture_output=True, text=True,
            timeout=60, cwd=self.dir, env=dict(os.environ, **(env or {})))

    def compile(self, *options, source='int main(void) { return 0; }'):
        program = self.path('program')
        with open(program + '.c', 'w') as f:
            f.write(source)
        done = subprocess.run(['cc', *options, program + '.c', '-o', program],
                              capture_output=True, text=True)
        if done.returncode:
            self.skipTest('cannot compile: ' + done.stderr)
        return program


class Refused(TestCase):
    def check(self, options, *words):
        marker = self.path('marker')
        done = self.run_it(*options, 'touch', marker)
        self.assertEqual(done.returncode, 2)
        self.assertFalse(os.path.exists(marker), 'the program was started')
        self.assertEqual(done.stderr.count('\n'), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_numbers_out_of_range(self):
        self.check(['-rate', '99999'], '-rate 99999', '1 to 4000')
        self.check(['-rate=0'], '-rate 0')
        self.check(['-memrate', '1k'], '-memrate 1k')
        self.check(['-blockrate', '-1'], '-blockrate -1')
        self.check(['-mutexfraction', 'x'], '-mutexfraction x')
        self.check(['-heapinterval', '0'], '-heapinterval 0')
        self.check(['-addr', '127.0.0.1:0', '-max-cpu', '101'], '101')

    def test_signals(self):
        self.check(['-cpuprofile', 'x', '-signal', 'FOO'], '-signal FOO')
        self.check(['-cpuprofile', 'x', '-signal', 'KILL'], '-signal KILL')
        self.check(['-cpuprofile', 'x', '-signal', '9'], '-signal 9')
        self.check(['-signal', 'USR2'], '-cpuprofile')

    def test_sources(self):
        self.check(['-source', 'magic'], '-source magic', 'timer')

    def test_files_that_cannot_be_written(self):
        missing = os.path.join(self.dir, 'nonexistent', 'x')
        for kind in ('cpu', 'heap', 'wall', 'block', 'mutex'):
            self.check(['-%sprofile' % kind, missing],
                       'open %s: no such file or directory' % missing)
        self.check(['-cpuprofile', self.dir], 'is a directory')

    def test_addresses_that_must_not_be_served(self):
        self.check(['-addr', ':0'], ':0 can be reached from other machines')

    def test_merging_one_process(self):
        self.check(['-merge', '-cpuprofile', 'x'], '-children')
        self.check(['-merge', '-children', '-cpuprofile', 'x.%p'], '%p')

    def test_unknown_options_and_missing_values(self):
        self.check(['-nope'], 'unknown option -nope')
        done = self.run_it('-rate')
        self.assertEqual(done.returncode, 2)
        self.assertIn('-rate needs a value', done.stderr)

    def test_the_environment_is_checked_as_well(self):
        done = self.run_it('true', env={'PPROF_CPU_RATE': '99999'})
        self.assertEqual(done.returncode, 2)


class Explained(TestCase):
    """The program runs, and one line says why there is nothing to see."""

    def check(self, done, *words):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count('\n'), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_no_option(self):
        self.check(self.run_it('true'), 'nothing is measured', '-cpuprofile')

    def test_a_static_program(self):
        for how in (['-static'], ['-static-pie', '-fPIE']):
            with self.subTest(how):
                program = self.compile(*how)
                self.check(self.run_it('-cpuprofile', 'x', program),
                           'cannot be profiled: it is statically linked')

    def test_a_set_uid_program(self):
        program = self.compile()
        if os.getuid() != 0:
            self.skipTest('needs root')
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o755 | stat.S_ISUID)
        self.check(self.run_it('-cpuprofile', 'x', program),
                   'cannot be profiled: it is a set-uid program')

    def test_a_script_of_a_static_interpreter(self):
        interpreter = self.compile('-static')
        script = self.path('script')
        with open(script, 'w') as f:
            f.write('#! %s -x\n' % interpreter)
        os.chmod(script, 0o755)
        self.check(self.run_it('-cpuprofile', 'x', script),
                   'statically linked')

    def test_exec_of_a_static_program(self):
        program = self.compile('-static')
        done = self.run_it('-cpuprofile', 'x', '/bin/sh', '-c',
                           'exec ' + program)
        self.check(done, 'becomes ' + program, 'statically linked')

    def test_a_program_that_is_too_short(self):
        self.check(self.run_it('-cpuprofile', 'x', self.compile()),
                   'program (pid ', 'CPU profile is empty', 'every 10.0 ms')

    def test_a_program_that_closes_stderr(self):
        """GNU's tools do so at exit; a log still gets the line."""
        with open(self.path('log'), 'w') as log:
            subprocess.run([RUN, '-cpuprofile', self.path('x'), 'ls',
                            self.dir], stdout=subprocess.DEVNULL,
                           stderr=log, timeout=60)
        with open(self.path('log')) as log:
            self.assertIn('CPU profile is empty', log.read())

    def test_work_that_is_done_by_children(self):
        done = self.run_it('-cpuprofile', 'x', '/bin/sh', '-c',
                           '%s exit; true' % ENDINGS)
        self.check(done, 'CPU profile is empty', 'child processes used',
                   '-children')

    def test_an_allocation_that_was_not_sampled(self):
        self.check(self.run_it('-heapprofile', 'x', self.compile()),
                   'heap profile is empty', '-memrate 1')

    def test_no_proc(self):
        if subprocess.run(['unshare', '-m', 'true'],
                          capture_output=True).returncode:
            self.skipTest('unshare is not allowed')
        done = self.run_it('-cpuprofile', 'x', self.compile(),
                           prefix=['unshare', '-m', 'sh', '-c',
                                   'umount -l /proc && "$@"', 'sh'])
        self.check(done, '/proc is not mounted')

    def test_no_memory(self):
        done = self.run_it('-wallprofile', 'x', self.compile(),
                           prefix=['sh', '-c', 'ulimit -v 30000; "$@"', 'sh'])
        self.check(done, 'no wall profile: out of memory')

    def test_a_disk_that_is_full(self):
        self.check(self.run_it('-heapprofile', '/dev/full', '-memrate', '1',
                               self.compile()),
                   'cannot write the heap profile', 'no space left')


class Places(TestCase):
    def test_relative_names_belong_to_the_start_directory(self):
        os.mkdir(self.path('elsewhere'))
        program = self.compile(source='''
            #include <unistd.h>
            int main(void) { return chdir("elsewhere"); }''')
        for env, words in (({}, ['-cpuprofile', 'a.%p']),
                           ({'PPROF_CPUPROFILE': 'b',
                             'LD_PRELOAD': os.path.abspath(
                                 os.path.join(BUILD,
                                              'libpprof-preload.so'))}, None)):
            if words:
                self.run_it(*words, program)
            else:
                subprocess.run([program], cwd=self.dir,
                               env=dict(os.environ, **env),
                               stderr=subprocess.DEVNULL)
        names = os.listdir(self.dir)
        self.assertIn('b', names)
        self.assertTrue([n for n in names if n.startswith('a.')])
        self.assertEqual(os.listdir(self.path('elsewhere')), [])

    def test_a_socket_is_removed_at_the_end(self):
        for way, code in (('exit', 7), ('_exit', 7), ('signal', -15)):
            with self.subTest(way):
                process = subprocess.Popen(
                    [RUN, '-addr', 'unix:s.%p', ENDINGS, way, '15'],
                    cwd=self.dir, stderr=subprocess.PIPE, text=True)
                said = process.communicate(timeout=60)[0:2][1]
                socket = self.path('s.%d' % process.pid)
                self.assertEqual(process.returncode, code)
                self.assertEqual(
                    said, 'Starting profiling endpoint at unix://%s'
                    '/debug/pprof/ for endings (pid %d)\n'
                    % (socket, process.pid))
                self.assertEqual(os.listdir(self.dir), [])

    def test_a_socket_of_a_linked_program_is_removed_at_the_end(self):
        done = subprocess.run(
            [os.path.join(BUILD, 'examples', 'service'), '0.2'],
            env=dict(os.environ, PPROF_ADDR='unix:' + self.path('socket')),
            capture_output=True, text=True, timeout=60)
        self.assertIn('unix://' + self.path('socket'), done.stderr)
        self.assertEqual(os.listdir(self.dir), [])

    def install(self, directory):
        for d in ('bin', directory):
            os.makedirs(self.path(d))
        shutil.copy(RUN, self.path('bin'))
        return self.path('bin', 'pprof-run')

    def libdir(self):
        text = subprocess.run(['strings', RUN], capture_output=True,
                              text=True).stdout
        return re.search(r'^\.\./(lib\S*)/$', text, re.M).group(1)

    @unittest.skipUnless(shutil.which('strings'), 'no strings')
    def test_an_install_tree_that_was_moved_works(self):
        libdir = self.libdir()
        run = self.install(libdir)
        shutil.copy(os.path.join(BUILD, 'libpprof-preload.so'),
                    self.path(libdir))
        done = self.run_it('-cpuprofile', 'x', ENDINGS, 'exit', run=run)
        self.assertEqual((done.returncode, done.stderr), (7, ''))
        self.assertIn('compute', top(self.path('x')))

    def test_the_places_that_were_searched_are_listed(self):
        run = self.install('lib')
        done = self.run_it('-cpuprofile', 'x', 'true', run=run)
        if done.returncode == 0:
            self.skipTest('libpprof is installed on this machine')
        self.assertEqual(done.returncode, 2)
        for place in ('bin/libpprof-preload.so', 'bin/../lib/libpprof-preload',
                      'looked for'):
            self.assertIn(place, done.stderr)

    def test_a_library_that_cannot_be_preloaded(self):
        os.mkdir(self.path('a b'))
        shutil.copy(RUN, self.path('a b'))
        shutil.copy(os.path.join(BUILD, 'libpprof-preload.so'),
                    self.path('a b'))
        done = self.run_it('-cpuprofile', 'x', 'true',
                           run=self.path('a b', 'pprof-run'))
        self.assertEqual(done.returncode, 2)
        self.assertIn('space or colon', done.stderr)


class Information(TestCase):
    def test_version(self):
        for flag in ('-version', '--version'):
            self.assertRegex(self.run_it(flag).stdout,
                             r'\Approf-run \d+\.\d+\.\d+\n\Z')

    def test_help_names_every_option_and_its_variable(self):
        text = self.run_it('-h').stdout
        with open(os.path.join(os.path.dirname(__file__), '..', '..', 'src',
                               'cmd', 'pprof-run', 'options.c')) as f:
            table = re.findall(r'\{"([\w-]+)", "(PPROF_\w+)", ', f.read())
        self.assertGreater(len(table), 20)
        for flag, variable in table:
            self.assertRegex(text, r'(?m)^  (-\S+ FILE )?-%s\b' % flag)
            self.assertIn(variable, text)


if __name__ == '__main__':
    unittest.main()
