"""/debug/pprof/ of a native program: Go's behaviour, as far as it applies to
native programs, and clients made for Go."""
import http.client
import json
import glob
import os
import re
import select
import shutil
import socket
import subprocess
import time

import support

EXAMPLES = os.path.join(support.BUILD, 'examples')


class Endpoint(support.TestCase):
    """A service of ours in C, started anew for each test class.  On a busy
    machine lines of many profiles are more than its share of the CPU."""
    command = [os.path.join(EXAMPLES, 'service')]
    said_on = 'stderr'

    @classmethod
    def setUpClass(cls):
        if not os.path.exists(cls.command[0]):
            raise support.unittest.SkipTest('not built: ' + cls.command[0])
        cls.process = subprocess.Popen(
            cls.command, env=dict(os.environ, PPROF_ADDR='127.0.0.1:0',
                                  PPROF_MAX_CPU='0'),
            text=True, **{cls.said_on: subprocess.PIPE})
        cls.said = getattr(cls.process, cls.said_on).readline()
        cls.address = re.search(r'127\.0\.0\.1:\d+', cls.said).group()

    @classmethod
    def tearDownClass(cls):
        support.stop(cls.process)
        getattr(cls.process, cls.said_on).close()

    def request(self, path, method='GET', body=None, headers={}):
        c = http.client.HTTPConnection(self.address, timeout=60)
        self.addCleanup(c.close)
        c.request(method, path, body=body, headers=headers)
        r = c.getresponse()
        return r.status, r.headers, r.read()

    def get(self, name, **kwargs):
        return self.request('/debug/pprof/' + name, **kwargs)

    def under_way(self, name, seconds):
        """The connection of another client that is being served."""
        host, port = self.address.split(':')

        def start():
            self.wait_until_free()
            s = socket.create_connection((host, int(port)))
            self.addCleanup(s.close)
            s.sendall(b'GET /debug/pprof/%s?seconds=%d HTTP/1.1\r\n'
                      b'Host: localhost\r\n\r\n' % (name.encode(), seconds))
            while self.get(name + '?seconds=1')[0] != 500:
                if select.select([s], [], [], 0)[0]:
                    return None  # ours came first, and it was refused
            return s
        return support.wait_for(start)

    def wait_until_free(self):
        """Nobody takes a CPU profile or a trace."""
        support.wait_for(lambda: self.get('trace?seconds=0.001')[0] == 200,
                         pause=0.2)

    def leave(self, connection):
        """The other client goes."""
        connection.close()
        self.wait_until_free()

    def assert_refused(self, reply, status, words):
        self.assertEqual(reply[0], status)
        self.assertEqual(reply[1]['X-Go-Pprof'], '1')
        self.assertEqual(reply[1]['Content-Type'], 'text/plain; charset=utf-8')
        self.assertEqual(reply[1]['X-Content-Type-Options'], 'nosniff')
        self.assertIsNone(reply[1]['Content-Disposition'])
        self.assertEqual(reply[2].decode(), words + '\n')

    def assert_profile(self, reply, filename):
        self.assertEqual(reply[0], 200)
        self.assertEqual(reply[1]['Content-Type'], 'application/octet-stream')
        self.assertEqual(reply[1]['Content-Disposition'],
                         'attachment; filename="%s"' % filename)
        self.assertEqual(reply[1]['X-Content-Type-Options'], 'nosniff')
        self.assertIsNone(reply[1]['Content-Encoding'])
        self.assertEqual(reply[2][:2], b'\x1f\x8b')
        with open(self.path('profile'), 'wb') as f:
            f.write(reply[2])
        done = self.pprof('-raw', self.path('profile'))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


class Routes(Endpoint):
    def test_the_start_is_announced_once(self):
        self.assertEqual(self.said, 'Starting profiling endpoint at '
                         'http://%s/debug/pprof/ for service (pid %d)\n'
                         % (self.address, self.process.pid))

    def test_index(self):
        status, headers, body = self.get('?debug=1')
        self.assertEqual(status, 200)
        self.assertEqual(headers['Content-Type'], 'text/html; charset=utf-8')
        rows = re.findall(r"<tr><td>(\d+)</td><td><a href='(\w+)\?debug=1'>"
                          r"(\w+)</a></td></tr>", body.decode())
        names = [name for _, name, _ in rows]
        self.assertEqual(names, sorted(names))
        for name in ('cmdline', 'goroutine', 'profile', 'symbol',
                     'threadcreate', 'threads', 'trace'):
            self.assertIn(name, names)
        counts = {name: int(count) for count, name, _ in rows}
        self.assertEqual(counts['threads'], 3)  # main and two workers
        self.assertEqual(counts['profile'], 0)

    def test_paths(self):
        def place(path):
            status, headers, _ = self.request(path)
            return status, headers['Location']
        self.assertEqual(place('/debug/pprof'), (307, '/debug/pprof/'))
        self.assertEqual(place('/debug/pprof?a=b'), (307, '/debug/pprof/?a=b'))
        self.assertEqual(place('/debug/pprof//threads?debug=1'),
                         (307, '/debug/pprof/threads?debug=1'))
        self.assertEqual(place('/debug/pprof/./threads'),
                         (307, '/debug/pprof/threads'))
        self.assertEqual(place('/debug/pprof/../pprof/threads'),
                         (307, '/debug/pprof/threads'))
        self.assertEqual(self.get('%74hreads')[0], 200)
        for path in ('/', '/debug/', '/elsewhere', '/debug/pprof%zz'):
            status, headers, body = self.request(path)
            self.assertEqual((status, body), (404, b'404 page not found\n'))
            self.assertIsNone(headers['X-Go-Pprof'])
        for name in ('nope', 'Threads', 'threads/', 'threads/x', 'threads%20',
                     'profile/', 'cmdline/', 'goroutineleak'):
            self.assert_refused(self.get(name), 404, 'Unknown profile')

    def test_methods(self):
        for method in ('POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'):
            status, headers, body = self.get('threads', method=method)
            self.assertEqual((status, body), (405, b'Method Not Allowed\n'))
            self.assertEqual(headers['Allow'], 'GET, HEAD')
            self.assertIsNone(headers['X-Go-Pprof'])
        for name in ('', 'threads', 'symbol', 'cmdline'):
            status, headers, body = self.get(name, method='HEAD')
            self.assertEqual((status, body), (200, b''))
            self.assertGreater(int(headers['Content-Length']), 0)

    def test_head_requests_return_at_once(self):
        for name in ('profile?seconds=200', 'wall?seconds=200',
                     'trace?seconds=200', 'threads?seconds=200'):
            start = time.monotonic()
            status, _, body = self.get(name, method='HEAD')
            self.assertEqual((status, body), (200, b''), name)
            self.assertLess(time.monotonic() - start, 60, name)

    def test_cmdline(self):
        status, headers, body = self.get('cmdline?debug=1')
        self.assertEqual(headers['Content-Type'], 'text/plain; charset=utf-8')
        self.assertEqual(body.decode(), self.command[0])

    def test_debug_values(self):
        for value in ('', '0', 'abc', '1.5', '-1'):
            self.assert_profile(self.get('threads?debug=' + value), 'threads')
        for value in ('1', '2', '3', '1&debug=0'):
            status, headers, body = self.get('threads?debug=' + value)
            self.assertEqual(headers['Content-Type'],
                             'text/plain; charset=utf-8')
            self.assertIsNone(headers['Content-Disposition'])
        text = self.get('goroutine?debug=1')[2].decode()
        self.assertRegex(text, r'\Agoroutine profile: total 3\n[123] @ 0x')
        # Threads at the same place share a line.
        self.assertEqual(sum(map(int, re.findall(r'(?m)^(\d+) @ 0x', text))), 3)
        dump = self.get('threads?debug=2')[2].decode()
        self.assertEqual(len(re.findall(r'(?m)^thread \d+ \[', dump)), 3)

    def test_the_text_form_is_read_by_pprof(self):
        done = self.pprof('-top', '-no_save',
                          'http://%s/debug/pprof/threads?debug=1' % self.address)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('worker', done.stdout)

    def test_deltas(self):
        raw = self.assert_profile(self.get('threads?seconds=1'),
                                  'threads-delta')
        self.assertRegex(raw, r'Duration: 1(\.0)?')
        for value in ('0', '-1', 'abc', '1.5', '1s', '+1',
                      '99999999999999999999'):
            self.assert_refused(
                self.get('threads?seconds=' + value), 400,
                'invalid value for "seconds" - must be a positive integer')
        self.assert_refused(self.get('threads?seconds=1&debug=1'), 400,
                            'seconds and debug params are incompatible')
        self.assert_refused(self.get('nope?seconds=x'), 404, 'Unknown profile')
        self.assert_profile(self.get('threads?seconds='), 'threads')

    def test_symbol(self):
        raw = self.assert_profile(self.get('threads'), 'threads')
        address = re.search(r'(0x[0-9a-f]+) M=\d+ worker ', raw).group(1)
        want = 'num_symbols: 1\n%s worker\n' % address
        self.assertEqual(self.get('symbol?' + address)[2].decode(), want)
        self.assertEqual(self.get('symbol', method='POST',
                                  body=address)[2].decode(), want)
        self.assertEqual(
            self.get('symbol?%s+0x1+0+zz+%%2B+%d' %
                     (address, int(address, 16)))[2].decode(),
            want + '%s worker\n' % address)
        self.assertEqual(self.get('symbol')[2], b'num_symbols: 1\n')
        long = self.get('symbol?' + 'a' * 5000 + '+' + address)[2]
        self.assertEqual(long, b'num_symbols: 1\nreading request: bufio: '
                         b'buffer full\n')

    def test_every_profile_says_where_it_is_from(self):
        raw = self.assert_profile(self.get('threads'), 'threads')
        mapping = re.search(r'(?m)^1: 0x\w+/0x\w+/0x\w+ (\S+) ([0-9a-f]+) '
                            r'\[FN\]', raw)
        self.assertEqual(mapping.group(1), self.command[0])


class Cpu(Endpoint):
    def test_cpu_profile(self):
        raw = self.assert_profile(self.get('profile?seconds=1'), 'profile')
        self.assertIn('samples/count cpu/nanoseconds', raw)
        self.assertIn('PeriodType: cpu nanoseconds', raw)
        self.assertIn('Period: 10000000', raw)
        self.assertRegex(raw, r'Comment: cpu source: (perf|timer)')
        self.assertIn('handle_report', raw)

    def test_only_one_at_a_time(self):
        other = self.under_way('profile', 200)
        # At once: the reply to the first comes later than we wait.
        self.assert_refused(
            self.get('profile?seconds=200'), 500, 'Could not enable CPU '
            'profiling: cpu profiling already in use')
        self.assert_profile(self.get('threads'), 'threads')
        self.leave(other)

    def test_a_client_that_leaves_frees_the_profiler(self):
        self.leave(self.under_way('profile', 200))

    def test_a_wall_profile_whose_client_leaves_frees_the_profiler(self):
        self.under_way('wall', 200).close()

        def again():
            reply = self.get('wall?seconds=1')
            return reply if reply[0] == 200 else None
        self.assert_profile(support.wait_for(again), 'wall')

    def test_the_dump_has_files_and_lines(self):
        """Of the program, and of libc if its debug information is here."""
        text = self.get('threads?debug=2')[2].decode()
        self.assertRegex(text, r'\n\t\S+service\.c:\d+\n')
        for frame in re.findall(r'\n(\S+)\(\.\.\.\)\n\t(\S+)', text):
            print('# %s %s' % frame)
        if glob.glob('/usr/lib/debug/.build-id/*/*.debug'):
            self.assertRegex(text, r'\nstart_thread\(\.\.\.\)\n\t\S+\.c:\d+\n')

    def test_trace_is_a_timeline_for_chrome(self):
        status, headers, body = self.get('trace?seconds=0.5')
        self.assertEqual(status, 200)
        self.assertEqual(headers['Content-Type'], 'application/json')
        events = json.loads(body)['traceEvents']
        self.assertTrue(any('worker' in json.dumps(e) for e in events))


class Cplusplus(Endpoint):
    command = [os.path.join(EXAMPLES, 'service-cc')]

    def test_names_are_readable(self):
        reply = self.get('profile?seconds=2')
        raw = self.assert_profile(reply, 'profile')
        self.assertRegex(raw, r'shop::serve_customer ')
        self.assertIn('(_ZN', raw)  # and the linker's name is kept


class OnMicrohttpd(Endpoint):
    command = [os.path.join(EXAMPLES, 'on-microhttpd')]
    said_on = 'stdout'

    def test_the_endpoint_on_another_server(self):
        self.assert_profile(self.get('threads'), 'threads')
        self.assert_profile(self.get('profile?seconds=1'), 'profile')
        self.assert_refused(self.get('nope'), 404, 'Unknown profile')
        self.assertEqual(self.get('symbol', method='POST', body='0x1')[2],
                         b'num_symbols: 1\n')

    def test_methods_are_refused_there_as_well(self):
        for method in ('DELETE', 'PUT'):
            status, headers, _ = self.get('threads', method=method)
            self.assertEqual((status, headers['Allow']), (405, 'GET, HEAD'))
        status, _, body = self.get('profile?seconds=30', method='HEAD')
        self.assertEqual((status, body), (200, b''))


class OnLibevent(OnMicrohttpd):
    command = [os.path.join(EXAMPLES, 'on-libevent')]


class Starting(support.TestCase):
    service = os.path.join(EXAMPLES, 'service')

    def run_service(self, **env):
        return subprocess.run([self.service, '0'], env=dict(os.environ, **env),
                              capture_output=True, text=True, timeout=30)

    def test_an_address_in_use_is_an_error_returned(self):
        with socket.socket() as s:
            s.bind(('127.0.0.1', 0))
            s.listen()
            address = '127.0.0.1:%d' % s.getsockname()[1]
            done = self.run_service(PPROF_ADDR=address)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, 'service: listen %s: address already in '
                         'use\n' % address)

    def test_other_machines_only_when_told_so(self):
        done = self.run_service(PPROF_ADDR=':0')
        self.assertEqual(done.returncode, 1)
        self.assertIn('can be reached from other machines', done.stderr)
        self.assertIn('PPROF_INSECURE=1', done.stderr)
        done = self.run_service(PPROF_ADDR=':0', PPROF_INSECURE='1')
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_unix_socket(self):
        path = self.path('s.sock')
        p = subprocess.Popen([self.service],
                             env=dict(os.environ, PPROF_ADDR='unix:' + path),
                             stderr=subprocess.PIPE, text=True)
        self.addCleanup(p.stderr.close)
        self.addCleanup(support.stop, p)
        self.assertIn('unix://%s/debug/pprof/' % path, p.stderr.readline())
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        done = self.pprof('-top', '-no_save',
                          'unix://%s/debug/pprof/threads' % path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('worker', done.stdout)

    def test_an_unchanged_program(self):
        p = subprocess.Popen(
            [os.path.join(support.BUILD, 'pprof-run'), '-addr', '127.0.0.1:0',
             shutil.which('xz'), '-9', '-c', '/dev/zero'],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(p.stderr.close)
        self.addCleanup(support.stop, p)
        url = re.search(r'http://\S+', p.stderr.readline()).group()
        done = self.pprof('-top', '-no_save', url + 'profile?seconds=1')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('lzma', done.stdout)

    def test_children_serve_only_when_asked(self):
        run = [os.path.join(support.BUILD, 'pprof-run'), '-addr',
               '127.0.0.1:0']
        script = ['sh', '-c', 'true; ls /dev/null >/dev/null; true']
        quiet = subprocess.run(run + script, capture_output=True, text=True)
        self.assertEqual(quiet.stderr.count('Starting profiling endpoint'), 1)
        preload = os.path.join(support.BUILD, 'libpprof-preload.so')
        asked = subprocess.run(
            script, capture_output=True, text=True,
            env=dict(os.environ, PPROF_ADDR='127.0.0.1:0', PPROF_CHILDREN='1',
                     LD_PRELOAD=os.path.abspath(preload)))
        self.assertGreaterEqual(
            asked.stderr.count('Starting profiling endpoint'), 2)


if __name__ == '__main__':
    support.unittest.main()
