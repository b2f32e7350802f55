"""Where debug information is found: a stripped program whose debug file is
elsewhere, servers that the user names; files of another build are not used."""

import os
import re
import shutil
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

import support
from symbols import SOURCES, run

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                '..'))
from profilepb import Profile  # noqa: E402


@support.needs('gcc', 'g++', 'objcopy', 'readelf', 'nm')
class DebugFiles(support.TestCase):

    def setUp(self):
        super().setUp()
        self.program = self.path('production', 'service')
        os.mkdir(self.path('production'))
        run('g++', '-g', '-O1', *(os.path.join(SOURCES, n) for n in (
            'main.c', 'part.c', 'part.cc')), '-o', self.program)
        notes = subprocess.run(['readelf', '-n', self.program], text=True,
                               capture_output=True).stdout
        self.build_id = re.search(r'Build ID: (\w+)', notes).group(1)
        names = subprocess.run(['nm', self.program], text=True,
                               capture_output=True).stdout
        self.function = int(re.search(r'(\w+) T tree_sum', names).group(1), 16)
        self.debug = self.path('service.debug')
        run('objcopy', '--only-keep-debug', self.program, self.debug)
        self.whole = self.path('whole')
        shutil.copy(self.program, self.whole)
        run('strip', self.program)

    def profile(self, build_id=None):
        """One sample in tree_sum, as a PIE at 0x555555554000 has it."""
        headers = subprocess.run(['readelf', '-lW', self.program], text=True,
                                 capture_output=True).stdout
        # The text segment starts at a page whose address is its offset.
        offset, text, size = (int(x, 16) for x in re.search(
            r'LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x\w+ 0x(\w+) R E',
            headers).groups())
        self.assertEqual(offset, text)
        base = 0x555555554000
        p = Profile([('samples', 'count')])
        m = p.mapping(base + text, base + text + (size + 0xfff & ~0xfff),
                      text, self.program,
                      self.build_id if build_id is None else build_id,
                      symbolized=False)
        p.sample([p.location(address=base + self.function, mapping=m)], [1])
        p.write(self.path('profile.pb.gz'))
        return self.path('profile.pb.gz')

    def lines(self, **env):
        return self.pprof('-lines', '-top', self.profile(), env=env)

    def test_stripped_it_has_no_names(self):
        self.assertNotIn('tree_sum', self.lines().stdout)

    def test_a_debug_file_in_the_directories_of_the_user(self):
        """$PPROF_BINARY_PATH/xx/yyyy.debug by the build id."""
        place = self.path('debug', self.build_id[:2])
        os.makedirs(place)
        shutil.copy(self.debug, os.path.join(
            place, self.build_id[2:] + '.debug'))
        result = self.lines(PPROF_BINARY_PATH=self.path('debug'))
        self.assertRegex(result.stdout, r'tree_sum .*/part.c:\d+')

    def test_an_unstripped_copy_in_the_directories_of_the_user(self):
        os.makedirs(self.path('copies'))
        shutil.copy(self.whole, self.path('copies', 'service'))
        result = self.lines(PPROF_BINARY_PATH=self.path('copies'))
        self.assertRegex(result.stdout, r'tree_sum .*/part.c:\d+')

    def test_a_file_of_another_build_is_not_guessed_from(self):
        profile = self.profile('ab' * 20)
        result = self.pprof('-top', profile)
        self.assertIn('service (build ID %s): build ID mismatch' % ('ab' * 20),
                      result.stderr)
        self.assertNotIn('tree_sum', result.stdout)
        # Nor is its debug file, lying where one of that id would lie.
        place = self.path('debug', 'ab')
        os.makedirs(place)
        shutil.copy(self.debug, os.path.join(place, 'ab' * 19 + '.debug'))
        result = self.pprof('-top', profile,
                            env={'PPROF_BINARY_PATH': self.path('debug')})
        self.assertIn('build-id mismatch', result.stderr)
        self.assertNotIn('tree_sum', result.stdout)

    def start_debuginfod(self):
        served = self.path('served')
        os.mkdir(served)
        shutil.move(self.debug, served)
        shutil.copy(os.path.join(served, 'service.debug'), self.debug)
        port = support.free_port()
        server = subprocess.Popen(
            ['debuginfod', '-F', '-p', str(port), '-d',
             self.path('index.sqlite'), served],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(support.stop, server)
        support.wait_for_port(port, server)
        url = 'http://127.0.0.1:%d' % port
        for _ in range(200):
            try:
                urllib.request.urlopen('%s/buildid/%s/debuginfo' % (
                    url, self.build_id))
                return url
            except urllib.error.HTTPError:
                time.sleep(0.1)
        self.fail('debuginfod does not find the file')

    @support.needs('debuginfod')
    def test_a_server_that_the_user_names(self):
        url = self.start_debuginfod()
        if not re.search(r'libdebuginfod\.so\.1', subprocess.run(
                ['/sbin/ldconfig', '-p'], text=True,
                capture_output=True).stdout):
            self.skipTest('not installed: libdebuginfod1')
        result = self.lines(DEBUGINFOD_URLS=url, DEBUGINFOD_TIMEOUT='20')
        self.assertRegex(result.stdout, r'tree_sum .*/part.c:\d+')
        # Nothing is asked when nobody is named, not even the library.
        result = self.lines(LD_DEBUG='files',
                            DEBUGINFOD_CACHE_PATH=self.path('empty'))
        self.assertNotIn('tree_sum', result.stdout)
        self.assertIn('calling init', result.stderr)
        self.assertNotIn('libdebuginfod', result.stderr)
        self.assertFalse(os.path.exists(self.path('empty')))

    def test_a_server_that_is_not_there_costs_nothing_but_names(self):
        result = self.lines(
            DEBUGINFOD_URLS='http://127.0.0.1:%d' % support.free_port())
        self.assertEqual(result.returncode, 0)
        self.assertNotIn('tree_sum', result.stdout)


if __name__ == '__main__':
    unittest.main()
