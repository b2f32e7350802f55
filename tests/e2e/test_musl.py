"""Built with musl: libpprof, the preload library and pprof-run, with programs
that are linked with musl.  And each pprof-run with the other one's programs.

The build takes half a minute; it is kept in the build directory."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import urllib.request

import heap
import runtime

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, '..', '..')
SOURCE = os.path.join(HERE, 'programs')
BUILD = os.path.abspath(runtime.BUILD)
MUSL = os.path.join(BUILD, 'musl')

SERVICE = '''
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile long sink;
static void burn(void) { for (long i = 0; i < 1000000; i++) sink += i * i; }
static void *work(void *arg) {
    for (;;) {
        pthread_mutex_lock(&m);
        burn();
        pthread_mutex_unlock(&m);
        free(malloc(1000));
    }
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    work(NULL);
}
'''

HELLO = '#include <stdio.h>\nint main(void) { return puts("hello") < 0; }\n'


def run(*command, **kwargs):
    return subprocess.run(command, capture_output=True, text=True,
                          timeout=300, **kwargs)


@unittest.skipUnless(shutil.which('musl-gcc'), 'not installed: musl-tools')
@unittest.skipIf(runtime.SANITIZED != 'none', 'sanitizers need glibc')
class Musl(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = run('sh', os.path.join(ROOT, 'scripts', 'build-musl'), MUSL)
        if done.returncode:
            raise AssertionError(done.stdout[-3000:] + done.stderr)
        cls.output = done.stdout

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.dir = directory.name

    def path(self, name):
        return os.path.join(self.dir, name)

    def compile(self, *arguments, compiler='musl-gcc'):
        program = self.path('program')
        if compiler == 'musl-gcc': # the kernel's headers
            arguments = (*arguments, '-idirafter',
                         os.path.join(MUSL, 'lent', 'include'))
        done = run(compiler, '-g', '-O2', '-fomit-frame-pointer', '-I',
                   os.path.join(ROOT, 'include'), *arguments, '-o', program,
                   '-pthread')
        self.assertEqual(done.returncode, 0, done.stderr)
        return program

    def linked(self, library, *sources):
        return self.compile(*(os.path.join(SOURCE, s) for s in sources),
                            '-L', MUSL, '-l' + library,
                            '-Wl,-rpath,' + MUSL)

    def check_shares(self, path, delta=6):
        # Debian's musl has no unwind tables: samples in its own code, the
        # reading of clocks here, have no callers.
        rows = runtime.top(path, '-focus=burn')
        total = sum(flat for flat, _ in rows.values())
        lost = sum(flat for flat, _ in runtime.top(
            path, '-ignore=burn|clock_gettime').values())
        self.assertLess(lost, 0.03 * total)
        for name, share in (('main', 95), ('direct_50', 50),
                            ('truth_library_30', 30), ('recurse_15', 15),
                            ('thread_5', 5)):
            self.assertAlmostEqual(100 * rows.get(name, (0, 0))[1] / total,
                                   share,
                                   delta=delta, msg=name)

    def test_it_builds_without_a_warning(self):
        self.assertNotIn('warning:', self.output)

    def test_cpu_profiles_of_a_program_that_links_it(self):
        program = self.linked('pprof', 'truth.c', 'truth_library.c')
        for source in runtime.working_sources():
            with self.subTest(source):
                path = self.path('cpu')
                done = run(program, '1', '500', path,
                           env=dict(os.environ, PPROF_CPU_SOURCE=source))
                self.assertEqual(done.returncode, 0, done.stderr)
                # Timers follow the kernel's tick.
                self.check_shares(path, 20 if source == 'timer' else 6)

    def test_a_static_program(self):
        program = self.compile(
            '-static', *(os.path.join(SOURCE, s)
                         for s in ('truth.c', 'truth_library.c')),
            os.path.join(MUSL, 'libpprof.a'), os.path.join(MUSL, 'lent',
                                                           'libz.a'))
        done = run(program, '1', '500', self.path('cpu'))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_shares(self.path('cpu'))

    def test_every_block_is_in_the_heap_profile(self):
        source = self.path('heap.c')
        with open(os.path.join(SOURCE, 'heap_truth.c')) as f:
            text = f.read()
        with open(source, 'w') as f: # musl has no pvalloc
            f.write('#define pvalloc valloc\n' + text)
        program = self.compile(source, '-L', MUSL, '-lpprof-hooks',
                               '-Wl,-rpath,' + MUSL)
        truth, said = heap.run_truth(1, 1 << 19, program=program)
        for (site, size), (total, live) in truth.items():
            if site == 'site_pvalloc':
                continue
            self.assertEqual(said[site, size],
                             [total, total * size, live, live * size],
                             (site, size))

    def test_waits(self):
        program = self.linked('pprof-hooks', 'waits.c')
        block, mutex = self.path('block'), self.path('mutex')
        for what, waiting, releasing in (
                ('mutex', 'pthread_mutex_lock', 'pthread_mutex_unlock'),
                ('recursive', 'pthread_mutex_lock', 'pthread_mutex_unlock'),
                ('mtx', 'mtx_lock', 'mtx_unlock'),
                ('read', 'pthread_rwlock_rdlock', 'pthread_rwlock_unlock'),
                ('cond', 'pthread_cond_wait', None),
                ('sem', 'sem_wait', None),
                ('join', 'pthread_join', None),
                ('futex', 'syscall', 'syscall')):
            with self.subTest(what):
                done = run(program, what, '10', '3', block, mutex)
                self.assertEqual(done.returncode, 0, done.stderr)
                _, waited, caused = (int(n) for n in done.stdout.split())
                self.assertAlmostEqual(runtime.top(block)[waiting][0], waited,
                                       delta=0.1 * waited + 1e5)
                if releasing:
                    self.assertAlmostEqual(runtime.top(mutex)[releasing][0],
                                           caused, delta=0.1 * caused + 1e5)

    def test_the_preload_library(self):
        source = self.path('service.c')
        with open(source, 'w') as f:
            f.write(SERVICE)
        program = self.compile(source)
        process = subprocess.Popen(
            [os.path.join(MUSL, 'pprof-run'), '-addr', '127.0.0.1:0',
             program], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
            text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        url = re.search(r'http://\S+', process.stderr.readline()).group(0)
        for name in ('profile?seconds=1', 'heap', 'threads', 'block', 'mutex'):
            with urllib.request.urlopen(url + name, timeout=30) as reply:
                with open(self.path('got'), 'wb') as f:
                    f.write(reply.read())
            self.assertIn('Type: ', runtime.pprof('-top', self.path('got')))
            if name.startswith('profile'):
                self.assertGreater(runtime.top(self.path('got'))['work'][1],
                                   1e8)

    def test_a_program_of_the_other_c_library_is_not_broken(self):
        source = self.path('hello.c')
        with open(source, 'w') as f:
            f.write(HELLO)
        for build, compiler, word in ((BUILD, 'musl-gcc', 'musl'),
                                      (MUSL, 'gcc', 'glibc')):
            with self.subTest(compiler):
                program = self.compile(source, compiler=compiler)
                done = run(os.path.join(build, 'pprof-run'), '-cpuprofile',
                           self.path('x'), program)
                self.assertEqual((done.returncode, done.stdout),
                                 (0, 'hello\n'), done.stderr)
                self.assertEqual(done.stderr.count('\n'), 1, done.stderr)
                self.assertIn('cannot be profiled: it is linked with ' + word,
                              done.stderr)


if __name__ == '__main__':
    unittest.main()
