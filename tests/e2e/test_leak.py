"""The leak profile lists lost blocks, and none to which a pointer exists."""
import os
import subprocess
import tempfile
import time
import unittest

from heap import library
from runtime import BUILD, PROGRAMS, pprof
from test_heap import get, start


def functions(text):
    """{leaf function: count} of a text profile."""
    found, lines = {}, text.splitlines()
    for i, line in enumerate(lines):
        if ' @ ' in line and not line.startswith('#'):
            leaf = lines[i + 1].split('\t')[2].split('+')[0]
            found[leaf] = found.get(leaf, 0) + int(line.split()[0])
    return found


class Leak(unittest.TestCase):
    def serve(self, env):
        process, url = start([os.path.join(PROGRAMS, 'heap_leak')], env)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        time.sleep(0.3)
        return process, url

    def check_held(self, found):
        self.assertEqual([f for f in found if f.startswith('held_')], [])

    def test_everything_lost_is_listed_at_rate_1(self):
        process, url = self.serve({'PPROF_MEM_RATE': '1'})
        text = get(url + 'leak?age=0s&debug=1').decode()
        found = functions(text)
        self.check_held(found)
        self.assertTrue(45 <= found.get('lost_block', 0) <= 50, found)
        self.assertEqual(found.get('lost_big'), 1, found)
        # A list is lost from its first node on.
        self.assertTrue(45 <= found.get('lost_node', 0) <= 50, found)
        # Old frames below a waiting thread's stack pointer hold nothing.
        self.assertTrue(45 <= found.get('lost_on_stack', 0) <= 50, found)
        self.assertRegex(text, r'# pause: \d+ us')
        time.sleep(0.1)
        self.assertIsNone(process.poll(), 'the program saw a child')

    def test_above_jemalloc(self):
        below = library('libjemalloc.so.2')
        if not below:
            self.skipTest('no jemalloc')
        # Whose malloc the program finds first is the one that is wrapped.
        preload = os.path.join(BUILD, 'libpprof-preload.so')
        _, url = self.serve({'PPROF_MEM_RATE': '1',
                             'LD_PRELOAD': preload + ' ' + below})
        found = functions(get(url + 'leak?age=0s&debug=1').decode())
        self.check_held(found)
        # It leaves addresses of blocks that it has handed out in its cache.
        self.assertTrue(10 <= found.get('lost_block', 0) <= 50, found)

    def test_after_privileges_are_dropped(self):
        """/proc/self/mem is root's then."""
        if os.getuid() != 0:
            self.skipTest('needs root')
        _, url = self.serve({'PPROF_MEM_RATE': '1', 'HEAP_LEAK_UID': '65534'})
        found = functions(get(url + 'leak?age=0s&debug=1').decode())
        self.check_held(found)
        self.assertTrue(45 <= found.get('lost_block', 0) <= 50, found)
        self.assertTrue(45 <= found.get('lost_node', 0) <= 50, found)

    def test_young_blocks_are_left_out(self):
        _, url = self.serve({'PPROF_MEM_RATE': '1'})
        self.assertEqual(functions(get(url + 'leak?debug=1').decode()), {})

    def test_profile_has_values_labels_and_comments(self):
        _, url = self.serve({'PPROF_MEM_RATE': '300'})
        with tempfile.NamedTemporaryFile() as f:
            f.write(get(url + 'leak?age=0'))
            f.flush()
            raw = pprof('-symbolize=none', '-raw', f.name)
        self.assertIn('leaked_objects/count leaked_space/bytes\n', raw)
        self.assertIn('bytes:[500]', raw)
        self.assertIn('Comment: pause: ', raw)

    def test_a_bad_age_is_refused(self):
        _, url = self.serve({})
        for age in ('x', '-1s', '5d', '99999999999'):
            done = subprocess.run(
                ['curl', '-s', '-o', '/dev/null', '-w', '%{http_code}',
                 url + 'leak?age=' + age], capture_output=True, text=True)
            self.assertEqual(done.stdout, '400', age)


if __name__ == '__main__':
    unittest.main()
