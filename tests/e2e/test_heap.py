"""Heap profiles of programs that link the hooks, and of programs that know
nothing of them."""
import gzip
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from heap import INUSE_SPACE, library, samples
from runtime import BUILD, PROGRAMS, pprof

SOURCE = os.path.join(os.path.dirname(__file__), '..', '..')


def start(command, env=None):
    """A program with its endpoint at a free port: (process, URL)."""
    process = subprocess.Popen(command, env=dict(os.environ, **(env or {})),
                               stderr=subprocess.PIPE, text=True)
    line = process.stderr.readline()
    found = re.search(r'http://\S+', line)
    if not found:
        process.kill()
        raise AssertionError('no endpoint: ' + line)
    return process, found.group(0)


def get(url):
    with urllib.request.urlopen(url, timeout=60) as reply:
        return reply.read()


class Endpoint(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.process, cls.url = start(
            [os.path.join(BUILD, 'examples', 'memory'), '127.0.0.1:0'],
            {'PPROF_MEM_RATE': '1024'})
        time.sleep(1)

    @classmethod
    def tearDownClass(cls):
        cls.process.kill()
        cls.process.communicate()
        cls.directory.cleanup()

    def fetch(self, name):
        path = os.path.join(self.directory.name, 'profile')
        with open(path, 'wb') as f:
            f.write(get(self.url + name))
        return path

    def test_types_and_period_are_as_go_writes_them(self):
        raw = pprof('-raw', self.fetch('heap?gc=1'))
        self.assertIn('PeriodType: space bytes\nPeriod: 1024\n', raw)
        self.assertIn('alloc_objects/count alloc_space/bytes '
                      'inuse_objects/count inuse_space/bytes\n', raw)
        raw = pprof('-raw', self.fetch('allocs'))
        self.assertIn('alloc_objects/count alloc_space/bytes[dflt] '
                      'inuse_objects/count inuse_space/bytes\n', raw)

    def test_what_is_freed_is_not_in_use(self):
        by_site = {}
        for values, functions, size in samples(self.fetch('heap')):
            if functions[:1] == ['make_garbage']:
                self.assertTrue(5000 <= size < 6000)
                self.assertEqual(values[2:], [0, 0])
            for name in functions[:1]:
                by_site[name] = by_site.get(name, 0) + values[INUSE_SPACE]
        self.assertGreater(by_site['fill_cache'], 1000000)
        self.assertGreater(by_site['forget'], 100000)

    def test_seconds_give_what_changed(self):
        rows = samples(self.fetch('allocs?seconds=1'))
        garbage = sum(values[1] for values, functions, _ in rows
                      if functions[:1] == ['make_garbage'])
        self.assertGreater(garbage, 0)
        whole = sum(values[1] for values, functions, _ in
                    samples(self.fetch('allocs'))
                    if functions[:1] == ['make_garbage'])
        self.assertLess(garbage, whole)

    def test_text_says_the_same_to_every_reader(self):
        path = self.fetch('heap?debug=1')
        with open(path, encoding='utf-8') as f:
            text = f.read()
        self.assertRegex(text, r'\Aheap profile: \d+: \d+ \[\d+: \d+\] '
                               r'@ heap/2048\n')
        self.assertIn('\nMAPPED_LIBRARIES:\n', text)
        readers = [[os.path.join(BUILD, 'pprof')]]
        if shutil.which('go'):
            readers.append(['go', 'tool', 'pprof'])
        for reader in readers:
            done = subprocess.run(
                [*reader, '-symbolize=none', '-sample_index=inuse_space',
                 '-unit=B', '-raw', path],
                capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn('Period: 1024\n', done.stdout)
            self.assertIn('inuse_space/bytes', done.stdout)
            self.assertIn('bytes:[20000]', done.stdout)

    def test_proto_and_text_agree(self):
        in_text = samples(self.fetch('heap?debug=1'))
        in_proto = samples(self.fetch('heap'))

        def cached(rows):
            return sum(values[INUSE_SPACE] for values, _, size in rows
                       if size == 20000)
        # The program runs on meanwhile.
        self.assertAlmostEqual(cached(in_text) / cached(in_proto), 1,
                               delta=0.2)

    def test_the_index_says_that_it_is_on(self):
        page = get(self.url).decode()
        row = re.search(r'<li><div class=profile-name>heap:.*', page).group(0)
        self.assertNotIn('Off', row)


class Linking(unittest.TestCase):
    def check(self, arguments, environment):
        with tempfile.TemporaryDirectory() as directory:
            program = os.path.join(directory, 'memory')
            subprocess.run(
                ['cc', '-I', os.path.join(SOURCE, 'include'),
                 os.path.join(SOURCE, 'examples', 'memory.c'), '-o', program,
                 *arguments, '-pthread', '-ldl', '-lz'], check=True)
            process, url = start([program, '127.0.0.1:0'],
                                 dict(environment, PPROF_MEM_RATE='1024'))
            try:
                time.sleep(0.5)
                path = os.path.join(directory, 'heap')
                with open(path, 'wb') as f:
                    f.write(get(url + 'heap'))
                names = {f[0] for _, f, _ in samples(path) if f}
                self.assertIn('forget', names)
                self.assertIn('fill_cache', names)
            finally:
                process.kill()
                process.communicate()

    def test_the_archive_is_enough(self):
        self.check([os.path.join(BUILD, 'libpprof-hooks.a')], {})

    def test_the_shared_library_is_enough(self):
        self.check(['-L', BUILD, '-lpprof-hooks'],
                   {'LD_LIBRARY_PATH': os.path.abspath(BUILD)})

    def test_the_index_says_whose_malloc_comes_before(self):
        path = library('libjemalloc.so.2')
        if not path:
            self.skipTest('no jemalloc')
        process, url = start([os.path.join(BUILD, 'examples', 'memory'),
                              '127.0.0.1:0'], {'LD_PRELOAD': path})
        try:
            page = get(url).decode()
            row = re.search(r'<li><div class=profile-name>heap:.*',
                            page).group(0)
            self.assertIn('Off', row)
            self.assertIn('jemalloc', row)
        finally:
            process.kill()
            process.communicate()

    def test_without_hooks_the_index_says_what_is_missing(self):
        process, url = start([os.path.join(BUILD, 'examples', 'service'),
                              '127.0.0.1:0'])
        try:
            page = get(url).decode()
            row = re.search(r'<li><div class=profile-name>heap:.*',
                            page).group(0)
            self.assertIn('Off', row)
            self.assertIn('libpprof-hooks', row)
            path = gzip.decompress(get(url + 'heap'))
            self.assertIn(b'heap profile is off', path)
        finally:
            process.kill()
            process.communicate()


class Allocators(unittest.TestCase):
    def run_below(self, allocator, rate):
        """Objects (allocated, in use) of each site of heap_new."""
        path = library(allocator) if allocator else ''
        if path is None:
            self.skipTest('no ' + allocator)
        with tempfile.TemporaryDirectory() as directory:
            profile = os.path.join(directory, 'heap')
            done = subprocess.run(
                [os.path.join(PROGRAMS, 'heap_new')],
                env=dict(os.environ, PPROF_MEM_RATE=str(rate),
                         PPROF_HEAPPROFILE=profile,
                         LD_PRELOAD=os.path.join(
                             BUILD, 'libpprof-preload.so') + ' ' + path),
                capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            sites = {}
            for values, functions, _ in samples(profile):
                site = [f for f in functions if f.startswith('site_')]
                if site:
                    counts = sites.setdefault(site[0], [0, 0])
                    counts[0] += values[0]
                    counts[1] += values[2]
            return sites

    def check(self, allocator):
        self.assertEqual(self.run_below(allocator, 1),
                         {'site_new': [1000, 500], 'site_aligned': [1000, 500],
                          'site_array': [1000, 500],
                          'site_nothrow': [1000, 500]})
        # Its operators and its malloc take what was sampled.
        self.run_below(allocator, 1000)
        self.run_below(allocator, 100000)

    def test_libc(self):
        self.check('')

    def test_jemalloc(self):
        self.check('libjemalloc.so.2')

    def test_tcmalloc(self):
        self.check('libtcmalloc_minimal.so.4')

    def test_mimalloc(self):
        self.check('libmimalloc.so.2')


if __name__ == '__main__':
    unittest.main()
