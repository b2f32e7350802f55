"""Programs that are linked statically with the archives: they run, their
stacks are complete, and their heap, block and mutex profiles are right."""
import os
import subprocess
import tempfile
import unittest

import heap
import runtime

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'programs')
INCLUDE = os.path.join(SOURCE, '..', '..', '..', 'include')
BUILD = os.path.abspath(runtime.BUILD)
KINDS = (['-static'], ['-static-pie'])

# What `pkg-config --static --libs libpprof-hooks` says.
WRAP = ['-Wl,--wrap=malloc', '-Wl,--wrap=free', '-Wl,--wrap=realloc']

HELLO = '''
#include <pprof/pprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    void *p = malloc(100);
    int status = 1;
    if (fork() == 0)
        _exit(0);
    wait(&status);
    printf("hello %d %d %s", p != NULL, status,
           pprof_set_mem_profile_rate(1) ? pprof_last_error() : "heap");
    free(p);
    return 0;
}
'''

THROW = '''
#include <cstdio>
#include <new>
int handled;
static void forget() { handled = 1; std::set_new_handler(nullptr); }
int main() {
    std::set_new_handler(forget);
    try {
        std::printf("%p", ::operator new(~std::size_t(0) >> 1));
    } catch (const std::bad_alloc &) {
        std::printf("bad_alloc %d %p", handled,
                    ::operator new(~std::size_t(0) >> 1, std::nothrow));
    }
    return 0;
}
'''


@unittest.skipIf(runtime.SANITIZED != 'none', 'sanitizers need shared libraries')
class Static(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)

    def path(self, name):
        return os.path.join(self.dir.name, name)

    def build(self, sources, kind, *options, compiler='cc',
              archive='libpprof-hooks.a'):
        program = self.path('program')
        done = subprocess.run(
            [compiler, '-g', '-O2', '-fomit-frame-pointer', '-I', INCLUDE,
             *kind, *sources, '-o', program, *options,
             os.path.join(BUILD, archive), '-lz', '-pthread', '-ldl'],
            capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return program

    def run_program(self, *command, **env):
        done = subprocess.run(command, env=dict(os.environ, **env),
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def write(self, name, text):
        with open(self.path(name), 'w') as f:
            f.write(text)
        return self.path(name)

    def test_a_program_reaches_main_and_hears_what_is_missing(self):
        source = self.write('hello.c', HELLO)
        for kind in KINDS:
            with self.subTest(kind):
                said = self.run_program(self.build([source], kind))
                self.assertTrue(said.startswith('hello 1 0 no heap profile'),
                                said)
                self.assertIn('pkg-config --static', said)
                said = self.run_program(self.build([source], kind, *WRAP))
                self.assertEqual(said, 'hello 1 0 heap')

    def test_new_throws(self):
        source = self.write('throw.cc', THROW)
        program = self.build([source], ['-static'], *WRAP, compiler='c++')
        self.assertEqual(self.run_program(program), 'bad_alloc 1 (nil)')

    def test_stacks_of_cpu_profiles_are_complete(self):
        sources = [os.path.join(SOURCE, name)
                   for name in ('truth.c', 'truth_library.c')]
        path = self.path('cpu')
        for kind in KINDS:
            for archive in ('libpprof-hooks.a', 'libpprof.a'):
                with self.subTest('%s %s' % (kind, archive)):
                    program = self.build(sources, kind, archive=archive)
                    self.run_program(program, '1', '500', path)
                    rows = runtime.top(path)
                    total = sum(flat for flat, _ in rows.values())
                    for name, share in (('main', 95), ('direct_50', 50),
                                        ('truth_library_30', 30),
                                        ('recurse_15', 15), ('thread_5', 5)):
                        self.assertAlmostEqual(
                            100 * rows[name][1] / total, share, delta=6,
                            msg=name)
                    ends = runtime.stack_ends(path)
                    self.assertGreater(ends[0], 0.99 * sum(ends))

    def test_every_block_is_in_the_heap_profile(self):
        source = os.path.join(SOURCE, 'heap_truth.c')
        for kind in KINDS:
            with self.subTest(kind):
                program = self.build([source], kind, *WRAP)
                truth, said = heap.run_truth(1, 1 << 20, program=program)
                for (site, size), (total, live) in truth.items():
                    self.assertEqual(said[site, size],
                                     [total, total * size, live, live * size],
                                     (site, size))

    def test_waits_are_in_the_block_and_mutex_profiles(self):
        block, mutex = self.path('block'), self.path('mutex')
        for kind in KINDS:
            program = self.build([os.path.join(SOURCE, 'waits.c')], kind)
            for what, waiting, releasing in (
                    ('mutex', 'pthread_mutex_lock', 'pthread_mutex_unlock'),
                    ('recursive', 'pthread_mutex_lock',
                     'pthread_mutex_unlock'),
                    ('timed', 'pthread_mutex_timedlock',
                     'pthread_mutex_unlock'),
                    ('mtx', 'mtx_lock', 'mtx_unlock'),
                    ('cnd', 'cnd_wait', None),
                    ('read', 'pthread_rwlock_rdlock',
                     'pthread_rwlock_unlock'),
                    ('write', 'pthread_rwlock_wrlock',
                     'pthread_rwlock_unlock'),
                    ('spin', 'pthread_spin_lock', 'pthread_spin_unlock'),
                    ('cond', 'pthread_cond_wait', None),
                    ('sem', 'sem_wait', None),
                    ('join', 'pthread_join', None),
                    ('futex', 'syscall', 'syscall'),
                    ('event', 'syscall', None)):
                with self.subTest('%s %s' % (kind, what)):
                    rounds, waited, caused = (
                        int(n) for n in self.run_program(
                            program, what, '10', '3', block, mutex).split())
                    self.assertAlmostEqual(runtime.top(block)[waiting][0],
                                           waited, delta=0.1 * waited + 1e5)
                    if releasing:
                        self.assertAlmostEqual(
                            runtime.top(mutex)[releasing][0], caused,
                            delta=0.1 * caused + 1e5)


class PackageConfig(unittest.TestCase):
    def test_static_programs_get_all_they_need(self):
        private = os.path.join(BUILD, 'meson-private')
        for name, words in (('libpprof', []), ('libpprof-hooks', WRAP)):
            done = subprocess.run(
                ['pkg-config', '--static', '--libs', name],
                env=dict(os.environ, PKG_CONFIG_PATH=private),
                capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            for word in ('-l' + name[3:], '-lz', *words):
                self.assertIn(word, done.stdout.split())


if __name__ == '__main__':
    unittest.main()
