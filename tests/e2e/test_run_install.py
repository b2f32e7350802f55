"""What make install leaves: completions, man pages, CMake's package files, a
tree that can be moved, and a way to remove it again."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from runtime import BUILD, SANITIZED

ROOT = os.path.join(os.path.dirname(__file__), '..', '..')
OPTIONS = os.path.join(ROOT, 'src', 'cmd', 'pprof-run', 'options.c')
ONLY_PPROF_RUN = ['merge', 'version']


def options():
    with open(OPTIONS) as f:
        return re.findall(r'\{"([\w-]+)", "PPROF_\w+", ',
                          f.read()) + ONLY_PPROF_RUN


class Texts(unittest.TestCase):
    def missing(self, path, form):
        with open(os.path.join(ROOT, path)) as f:
            text = f.read()
        return [o for o in options() if not re.search(form % re.escape(o),
                                                      text)]

    def test_each_shell_completes_every_option(self):
        for name, form in (('pprof-run.bash', r'(?m)(\s|\')-%s(\s|\'|$)'),
                           ('_pprof-run', r"'-%s\["),
                           ('pprof-run.fish', r'-o %s\s')):
            with self.subTest(name):
                self.assertEqual(self.missing('completions/' + name, form),
                                 [])

    def test_the_man_page_has_every_option(self):
        self.assertEqual(self.missing('docs/man/pprof-run.1',
                                      r'\\-%s(\s|"|$)'), [])

    def test_man_3_has_every_function(self):
        with open(os.path.join(ROOT, 'include', 'pprof', 'pprof.h')) as f:
            functions = set(re.findall(r'^PPROF_API[^;(]*?\b(pprof_\w+)\(',
                                       f.read(), re.M))
        with open(os.path.join(ROOT, 'docs', 'man', 'libpprof.3')) as f:
            page = f.read()
        self.assertGreater(len(functions), 15)
        self.assertEqual([n for n in functions if n not in page
                          and n != 'pprof_label_leave'], [])

    def complete(self, *words):
        script = ('source %s; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1));'
                  'compopt() { :; }; _pprof_run; printf "%%s\\n" '
                  '"${COMPREPLY[@]}"'
                  % os.path.join(ROOT, 'completions', 'pprof-run.bash'))
        done = subprocess.run(['bash', '-c', script, 'bash', *words],
                              capture_output=True, text=True)
        self.assertEqual(done.stderr, '')
        return done.stdout.split()

    @unittest.skipUnless(shutil.which('bash'), 'no bash')
    def test_bash_completes_options_and_programs(self):
        self.assertEqual(self.complete('pprof-run', '-cpu'), ['-cpuprofile'])
        self.assertEqual(self.complete('pprof-run', '-v'), ['-v', '-version'])
        self.assertEqual(self.complete('pprof-run', '-source', 'perf-'),
                         ['perf-user'])
        self.assertIn('printf', self.complete('pprof-run', '-cpuprofile', 'x',
                                              'print'))


@unittest.skipUnless(SANITIZED == 'none', 'a sanitized build')
class Tree(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp()
        done = subprocess.run(
            ['meson', 'install', '-C', BUILD, '--no-rebuild', '--destdir',
             os.path.join(cls.directory, 'first')],
            capture_output=True, text=True)
        if done.returncode:
            raise AssertionError(done.stdout + done.stderr)
        # Moved, as a package manager's prefix may be.
        cls.tree = os.path.join(cls.directory, 'moved')
        shutil.move(os.path.join(cls.directory, 'first', 'usr', 'local'),
                    cls.tree)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.directory)

    def find(self, name):
        for where, _, names in os.walk(self.tree):
            if name in names:
                return os.path.join(where, name)
        self.fail('%s was not installed' % name)

    def test_everything_is_there(self):
        for name in ('pprof-run', 'libpprof-preload.so', 'libpprof.3',
                     'pprof-run.1', '_pprof-run', 'pprof-run.fish',
                     'libpprof.pc', 'pprof-config.cmake', 'pprof.h'):
            self.find(name)

    def test_pprof_run_finds_its_library(self):
        path = os.path.join(self.directory, 'heap')
        done = subprocess.run([os.path.join(self.tree, 'bin', 'pprof-run'),
                               '-heapprofile', path,
                               '-memrate', '1', 'ls', '-l', '/'],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertTrue(os.path.exists(path))

    @unittest.skipUnless(shutil.which('cmake'), 'no cmake')
    def test_cmake_finds_the_package(self):
        source = os.path.join(self.directory, 'source')
        os.mkdir(source)
        with open(os.path.join(source, 'CMakeLists.txt'), 'w') as f:
            f.write('cmake_minimum_required(VERSION 3.13)\n'
                    'project(user C)\n'
                    'find_package(pprof 0.1 REQUIRED)\n'
                    'foreach(name pprof hooks)\n'
                    '  add_executable(with_${name} main.c)\n'
                    '  target_link_libraries(with_${name} pprof::${name})\n'
                    'endforeach()\n')
        with open(os.path.join(source, 'main.c'), 'w') as f:
            f.write('#include <pprof/pprof.h>\n#include <stdio.h>\n'
                    'int main(void) { return puts(pprof_version()) < 0; }\n')
        for command in (['cmake', '-S', source, '-B', source + '/build',
                         '-DCMAKE_PREFIX_PATH=' + self.tree],
                        ['cmake', '--build', source + '/build']):
            done = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for name in ('with_pprof', 'with_hooks'):
            done = subprocess.run([source + '/build/' + name],
                                  capture_output=True, text=True)
            self.assertRegex(done.stdout, r'\A\d+\.\d+\.\d+\n\Z')


class Files(unittest.TestCase):
    @unittest.skipUnless(shutil.which('systemd-analyze'), 'no systemd')
    def test_the_example_unit_is_valid(self):
        done = subprocess.run(
            ['systemd-analyze', 'verify', '--man=no', os.path.join(
                ROOT, 'deploy', 'systemd', 'profiled-service.service')],
            capture_output=True, text=True)
        wrong = [line for line in done.stderr.splitlines()
                 if 'is not executable' not in line]
        self.assertEqual(wrong, [])

    def test_make_uninstall_removes_what_make_install_made(self):
        """In a project of three lines: this one would have to be built."""
        with tempfile.TemporaryDirectory() as directory:
            shutil.copy(os.path.join(ROOT, 'Makefile'), directory)
            with open(os.path.join(directory, 'meson.build'), 'w') as f:
                f.write("project('x')\ninstall_data('Makefile')\n")
            env = dict(os.environ, PREFIX=directory + '/prefix')
            for target, left in (('install', 1), ('uninstall', 0)):
                done = subprocess.run(['make', '-C', directory, target],
                                      env=env, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0,
                                 done.stdout + done.stderr)
                found = sum(len(names) for _, _, names in
                            os.walk(directory + '/prefix'))
                self.assertEqual(found, left)


if __name__ == '__main__':
    unittest.main()
