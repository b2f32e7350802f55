"""A heap profile before the memory is used up."""
import http.server
import os
import resource
import subprocess
import tempfile
import threading
import unittest
import urllib.parse

from heap import INUSE_SPACE, samples
from runtime import BUILD, PROGRAMS

LIMIT = 512 << 20


# Two thirds and more of the limit, with what else the program has; a profile
# needs room, too.
def run(env, megabytes=300):
    return subprocess.run(
        [os.path.join(PROGRAMS, 'heap_grow'), str(megabytes), '4'],
        env=dict(os.environ, **env,
                 LD_PRELOAD=os.path.join(BUILD, 'libpprof-preload.so')),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS,
                                              (LIMIT, LIMIT)),
        capture_output=True, text=True, timeout=60)


def grown(path):
    return sum(values[INUSE_SPACE] for values, functions, _ in samples(path)
               if functions[:1] == ['grow'])


class Limit(unittest.TestCase):
    def test_each_threshold_gives_one_whole_file(self):
        with tempfile.TemporaryDirectory() as directory:
            done = run({'PPROF_HEAP_DUMP_AT': '60%,40%',
                        'PPROF_HEAP_DUMP_DIR': directory,
                        'PPROF_SERVICE': 'a/b'})
            self.assertEqual(done.returncode, 0, done.stderr)
            found = {}
            for name in os.listdir(directory):
                kind, service, _, percent, *rest = name.split('.')
                self.assertEqual([kind, service, *rest],
                                 ['heap', 'a_b', 'pb', 'gz'])
                found[percent] = grown(os.path.join(directory, name))
                mode = os.stat(os.path.join(directory, name)).st_mode
                self.assertEqual(mode & 0o777, 0o600)
            # On a busy machine both may be passed between two looks.
            self.assertLessEqual(set(found), {'40', '60'})
            self.assertTrue(50 << 20 < found['60'] < LIMIT, done.stderr)
            self.assertLessEqual(found.get('40', 0), found['60'])

    def test_far_from_the_limit_nothing_is_written(self):
        with tempfile.TemporaryDirectory() as directory:
            run({'PPROF_HEAP_DUMP_AT': '99%',
                 'PPROF_HEAP_DUMP_DIR': directory}, megabytes=50)
            self.assertEqual(os.listdir(directory), [])

    def test_a_collector_gets_it(self):
        got = []

        class Collector(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                length = int(self.headers['Content-Length'])
                got.append((self.path, self.rfile.read(length)))
                self.send_response(200)
                self.send_header('Content-Length', '0')
                self.end_headers()

            def log_message(self, *args):
                pass

        server = http.server.HTTPServer(('127.0.0.1', 0), Collector)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            done = run({'PPROF_HEAP_DUMP_AT': '60',
                        'PPROF_SERVICE': 'my service',
                        'PPROF_HEAP_DUMP_URL':
                        'http://127.0.0.1:%d/' % server.server_port})
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(got), 1)
        path, _, query = got[0][0].partition('?')
        query = urllib.parse.parse_qs(query)
        self.assertEqual((path, query['service'], query['type']),
                         ('/api/0/profiles', ['my service'], ['heap']))
        self.assertIn('note=memory%20limit%2060%25', query['labels'][0])
        with tempfile.NamedTemporaryFile() as f:
            f.write(got[0][1])
            f.flush()
            self.assertGreater(grown(f.name), 50 << 20)

    def test_a_collector_that_is_not_there_harms_nobody(self):
        done = run({'PPROF_HEAP_DUMP_AT': '60',
                    'PPROF_HEAP_DUMP_URL': 'http://127.0.0.1:1'})
        self.assertEqual(done.returncode, 0)
        self.assertIn('no heap profile at 60%', done.stderr)
        self.assertEqual(done.stdout, '300\n')


if __name__ == '__main__':
    unittest.main()
