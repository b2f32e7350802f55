"""Profiles contain nothing of the profiler itself, unless PPROF_SELF=1 is
set."""
import os
import re
import subprocess
import tempfile
import unittest
import urllib.request

import runtime
import support
from runtime import BUILD, SANITIZED

SOURCE = os.path.join(os.path.dirname(__file__), '..', '..')

# Threads, locks that are waited for, memory that stays; then, if it is linked
# with the library, profiles of its own.
PROGRAM = '''
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef LINKED
#include <pprof/pprof.h>
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void *kept[64];

static void *work(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        for (volatile int i = 0; i < 200000; i++)
            ;
        pthread_mutex_unlock(&lock);
        usleep(100);
    }
    return arg;
}

static void *sleepy(void *arg)
{
    for (;;)
        pause();
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t t;

    for (int i = 0; i < 64; i++)
        kept[i] = malloc(1000);
    for (int i = 0; i < 3; i++)
        pthread_create(&t, NULL, i ? work : sleepy, NULL);
#ifdef LINKED
    static const char *const names[] = {"heap", "block", "mutex",
                                        "threadcreate", "threads"};

    chdir(argv[1]);
    pprof_set_mem_profile_rate(1);
    pprof_set_block_profile_rate(1);
    pprof_set_mutex_profile_fraction(1);
    kept[0] = malloc(1000);
    pprof_start_cpu_profile(open("profile", O_CREAT | O_WRONLY, 0600));
    pprof_serve("127.0.0.1:0");
    usleep(300000);
    pprof_stop_cpu_profile();
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 5; i++)
            pprof_write_profile(names[i], open(names[i],
                                O_CREAT | O_WRONLY | O_TRUNC, 0600), 0);
    _exit(argc == 2 ? 0 : 1);
#else
    for (;;)
        pause();
#endif
}
'''


def defined(path):
    """Names of functions that a library defines and does not export."""
    def names(*options):
        text = subprocess.run(['nm', *options, path], check=True, text=True,
                              capture_output=True).stdout
        return {line.split()[-1].split('@')[0] for line in text.splitlines()
                if re.search(r' [tTwW] ', line)}
    return names() - names('-D')


@unittest.skipIf(SANITIZED != 'none', 'a sanitizer must be loaded first')
class Self(support.TestCase):
    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.dir = directory.name

    def build(self, *options):
        path = os.path.join(self.dir, 'program')
        with open(path + '.c', 'w') as f:
            f.write(PROGRAM)
        subprocess.run([os.environ.get('CC', 'cc'), '-O2', '-w', '-o', path,
                        path + '.c', *options, '-pthread'], check=True)
        return path

    def names(self, path, *options):
        return set(runtime.top(path, *options))

    def serve(self, **more):
        process = subprocess.Popen(
            [os.path.join(BUILD, 'pprof-run'), '-addr', '127.0.0.1:0',
             self.build()], stderr=subprocess.PIPE, text=True,
            env=dict(os.environ, PPROF_MEM_RATE='1', PPROF_BLOCK_RATE='1',
                     PPROF_MUTEX_FRACTION='1', **more))
        self.addCleanup(process.stderr.close)
        self.addCleanup(support.stop, process)
        return re.search(r'http://\S+', process.stderr.readline()).group()

    def fetch(self, url, name):
        path = os.path.join(self.dir, name.split('?')[0])
        with urllib.request.urlopen(url + name) as reply:
            with open(path, 'wb') as f:
                f.write(reply.read())
        return path

    def check(self, path, ours, *options):
        found = self.names(path, *options)
        self.assertNotEqual(found, set(), path)
        wrong = {name for name in found if name in ours
                 or name.startswith(('inflate', 'deflate', '_dl_open'))}
        wrong -= {'main', '_start', '_init', 'work', 'sleepy'}
        self.assertEqual(wrong, set(), path)
        return found

    def test_profiles_of_the_endpoint_under_pprof_run(self):
        ours = defined(os.path.join(BUILD, 'libpprof-preload.so'))
        self.assertIn('run_thread', ours)
        self.assertIn('http_server_new', ours)
        url = self.serve()
        for _ in range(4):
            self.fetch(url, 'heap')
        for name in ('profile?seconds=1', 'wall?seconds=1&hz=200', 'heap',
                     'block', 'mutex', 'threadcreate', 'threads', 'goroutine'):
            with self.subTest(name):
                options = (['-sample_index=alloc_objects'] if name == 'heap'
                           else [])
                found = self.check(self.fetch(url, name), ours, *options)
                self.assertIn('main' if name in ('heap', 'threadcreate')
                              else 'work', found)
        with urllib.request.urlopen(url + 'threads?debug=2') as reply:
            text = reply.read().decode()
        self.assertNotIn('run_thread', text)
        self.assertNotIn('libpprof', text)

    def test_threadcreate_does_not_grow_with_requests(self):
        url = self.serve()
        for _ in range(10):
            self.fetch(url, 'heap')
        found = runtime.pprof('-top', self.fetch(url, 'threadcreate'))
        self.assertIn('of 3 total', found)

    def check_linked(self, *options):
        ours = defined(os.path.join(BUILD, 'libpprof-hooks.so'))
        program = self.build('-DLINKED', '-I', os.path.join(SOURCE, 'include'),
                             *options)
        subprocess.run([program, self.dir], check=True, timeout=60,
                       stderr=subprocess.DEVNULL)
        for name in ('profile', 'heap', 'block', 'mutex', 'threadcreate',
                     'threads'):
            with self.subTest(name):
                self.check(os.path.join(self.dir, name), ours, *(
                    ['-sample_index=alloc_objects'] if name == 'heap' else []))

    def test_profiles_that_a_program_takes_itself(self):
        self.check_linked(os.path.join(BUILD, 'libpprof-hooks.so'),
                          '-Wl,-rpath,' + os.path.abspath(BUILD))

    def test_profiles_of_a_program_with_the_static_library(self):
        self.check_linked(os.path.join(BUILD, 'libpprof-hooks.a'), '-lz',
                          '-ldl')

    def test_pprof_self_shows_it(self):
        url = self.serve(PPROF_SELF='1')
        self.fetch(url, 'heap')
        self.assertIn('http_server_new', self.names(
            self.fetch(url, 'heap'), '-sample_index=alloc_objects'))
        self.assertIn('thread_start', self.names(
            self.fetch(url, 'threadcreate')))
        self.assertIn('run_thread', self.names(self.fetch(url, 'threads')))


if __name__ == '__main__':
    unittest.main()
