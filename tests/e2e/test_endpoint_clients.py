"""/debug/pprof/ of a native program as its clients meet it: side by side with
recorded replies of a Go server, and through the commands that people type."""
import gzip
import http.client
import os
import re
import socket
import subprocess
import threading
import time

import support
import test_endpoint

SHARED = os.environ.get('PPROF_SHARED') or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), '..', '..', '..', 'shared')
RECORDED = os.path.join(SHARED, 'endpoint-data', 'go126')

# What each file holds is the reply to this request; those of "busy" need
# another one that is under way.
REPLIES = [
    ('index.html', 'GET', ''),
    ('cmdline.bin', 'GET', 'cmdline'),
    ('symbol.get.txt', 'GET', 'symbol?0x1'),
    ('symbol.post.txt', 'POST', 'symbol'),
    ('profile.3s.pb.gz', 'GET', 'profile?seconds=1'),
    ('goroutine.pb.gz', 'GET', 'goroutine'),
    ('goroutine.debug1.txt', 'GET', 'goroutine?debug=1'),
    ('goroutine.debug2.txt', 'GET', 'goroutine?debug=2'),
    ('goroutine.delta2s.pb.gz', 'GET', 'goroutine?seconds=1'),
    ('threadcreate.pb.gz', 'GET', 'threadcreate'),
    ('threadcreate.debug1.txt', 'GET', 'threadcreate?debug=1'),
    ('threadcreate.delta2s.pb.gz', 'GET', 'threadcreate?seconds=1'),
    ('heap.pb.gz', 'GET', 'heap'),
    ('heap.debug1.txt', 'GET', 'heap?debug=1'),
    ('heap.delta2s.pb.gz', 'GET', 'heap?seconds=1'),
    ('allocs.pb.gz', 'GET', 'allocs'),
    ('allocs.debug1.txt', 'GET', 'allocs?debug=1'),
    ('allocs.delta2s.pb.gz', 'GET', 'allocs?seconds=1'),
    ('block.pb.gz', 'GET', 'block'),
    ('block.debug1.txt', 'GET', 'block?debug=1'),
    ('block.delta2s.pb.gz', 'GET', 'block?seconds=1'),
    ('mutex.pb.gz', 'GET', 'mutex'),
    ('mutex.debug1.txt', 'GET', 'mutex?debug=1'),
    ('mutex.delta2s.pb.gz', 'GET', 'mutex?seconds=1'),
    ('err.404.txt', 'GET', 'nope'),
    ('err.405.txt', 'POST', 'heap'),
    ('err.400.seconds.txt', 'GET', 'heap?seconds=x'),
    ('err.400.debug.txt', 'GET', 'heap?seconds=1&debug=1'),
]


@support.unittest.skipUnless(os.path.isdir(RECORDED),
                             'no recorded replies of a Go server here')
class Recorded(test_endpoint.Endpoint):
    """Status, headers and, where they are fixed, bodies are Go's."""

    def recorded(self, name):
        with open(os.path.join(RECORDED, name + '.headers')) as f:
            lines = f.read().strip().splitlines()
        headers = {}
        for line in lines[1:]:
            key, value = line.split(': ', 1)
            headers[key] = value
        with open(os.path.join(RECORDED, name), 'rb') as f:
            return int(lines[0].split()[1]), headers, f.read()

    def compare(self, name, reply):
        status, headers, body = self.recorded(name)
        self.assertEqual(reply[0], status, name)
        for unfixed in ('Date', 'Content-Length', 'Transfer-Encoding'):
            headers.pop(unfixed, None)
        got = {k: v for k, v in reply[1].items()
               if k in headers or k not in ('Date', 'Content-Length',
                                            'Connection')}
        self.assertEqual(got, headers, name)
        if name.startswith('err.'):
            self.assertEqual(reply[2], body, name)

    def test_replies_are_like_those_of_go(self):
        for name, method, path in REPLIES:
            with self.subTest(name):
                self.compare(name, self.get(path, method=method,
                                            body=b'' if method == 'POST'
                                            else None))

    def test_a_redirect_is_like_that_of_go(self):
        status, headers, body = self.request('/debug/pprof')
        recorded = self.recorded('redirect.307.txt')
        self.assertEqual((status, body), (recorded[0], recorded[2]))
        for key in ('Location', 'Content-Type'):
            self.assertEqual(headers[key], recorded[1][key])

    def test_refusals_to_the_second_are_like_those_of_go(self):
        for name, kind in (('err.500.cpu-busy.txt', 'profile'),
                           ('err.500.trace-busy.txt', 'trace')):
            other = self.under_way(kind, 200)
            self.compare(name, self.get(kind + '?seconds=200'))
            self.leave(other)


class Behaviour(test_endpoint.Endpoint):
    def test_every_row_of_the_index_is_served(self):
        body = self.get('')[2].decode()
        rows = re.findall(r"<a href='(\w+)\?debug=1'>", body)
        self.assertEqual(rows, sorted(rows))
        for name in rows:
            takes_time = name in ('profile', 'trace', 'wall')
            status, headers, body = self.get(
                name + ('?seconds=1' if takes_time else ''))
            self.assertEqual(status, 200, name)
            self.assertEqual(headers['X-Content-Type-Options'], 'nosniff')
            self.assertIsNone(headers['ETag'])

    def test_head_has_the_headers_and_no_body(self):
        status, headers, body = self.get('profile?seconds=100', method='HEAD')
        self.assertEqual((status, body), (200, b''))
        self.assertEqual(headers['Content-Disposition'],
                         'attachment; filename="profile"')

    def test_nothing_is_sent_before_the_time_is_over(self):
        host, port = self.address.split(':')
        with socket.create_connection((host, int(port))) as s:
            start = time.monotonic()
            s.sendall(b'GET /debug/pprof/threads?seconds=1 HTTP/1.1\r\n'
                      b'Host: 127.0.0.1\r\n\r\n')
            s.recv(1)
            self.assertGreater(time.monotonic() - start, 0.9)

    def test_who_closes_his_side_gets_what_there_is_at_once(self):
        """A client that has left looks the same, and must free the profiler:
        Go decides so, too."""
        host, port = self.address.split(':')
        with socket.create_connection((host, int(port))) as s:
            s.sendall(b'GET /debug/pprof/profile?seconds=120 HTTP/1.1\r\n'
                      b'Host: 127.0.0.1\r\nConnection: close\r\n\r\n')
            time.sleep(0.5)
            s.shutdown(socket.SHUT_WR)
            s.settimeout(30)
            while s.recv(65536):
                pass
        self.assert_profile(self.get('profile?seconds=1'), 'profile')

    def test_encodings_that_the_client_accepts_change_nothing(self):
        for accepts in ('gzip', 'identity', 'br, gzip;q=0'):
            self.assert_profile(
                self.get('threads', headers={'Accept-Encoding': accepts}),
                'threads')

    def test_different_profiles_at_the_same_time(self):
        replies = {}

        def fetch(name):
            replies[name] = self.get(name)
        names = ('profile?seconds=2', 'threads?seconds=2', 'goroutine?seconds=2',
                 'threads?debug=2', 'heap', 'symbol?0x1')
        threads = [threading.Thread(target=fetch, args=(n,)) for n in names]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual({n: r[0] for n, r in replies.items()},
                         dict.fromkeys(names, 200))

    def test_sample_types_are_gos(self):
        for name, types, period in (
                ('goroutine', 'goroutine/count', 'goroutine count'),
                ('threadcreate', 'threadcreate/count', 'threadcreate count'),
                ('profile?seconds=1', 'samples/count cpu/nanoseconds',
                 'cpu nanoseconds'),
                ('heap', 'alloc_objects/count alloc_space/bytes '
                 'inuse_objects/count inuse_space/bytes', 'space bytes'),
                ('block', 'contentions/count delay/nanoseconds',
                 'contentions count')):
            raw = self.assert_profile(self.get(name), name.split('?')[0])
            self.assertIn('PeriodType: ' + period, raw)
            self.assertRegex(raw, r'(?m)^%s *$' % re.escape(types))


class Commands(test_endpoint.Endpoint):
    """What people type."""

    def setUp(self):
        super().setUp()
        self.url = 'http://%s/debug/pprof/' % self.address

    def run_here(self, *command, **kwargs):
        return subprocess.run(command, cwd=self.dir, capture_output=True,
                              env=dict(os.environ, HOME=self.dir), timeout=60,
                              **kwargs)

    def curl(self, *args):
        done = self.run_here('curl', '-sS', *args)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def until(self, word, run):
        """On a machine that is busy a thread may not answer in time."""
        for _ in range(20):
            said = run()
            if word in said:
                return said
        self.fail('%s not in %s' % (word, said))

    @support.needs('curl')
    def test_curl(self):
        self.curl('-o', 'cpu.pb.gz', self.url + 'profile?seconds=1')
        self.assertIn('handle_report',
                      self.pprof('-top', self.path('cpu.pb.gz')).stdout)
        self.curl('-OJ', self.url + 'goroutine?seconds=1')
        self.assertTrue(os.path.exists(self.path('goroutine-delta')))
        self.until(b'worker', lambda: self.curl(self.url + 'threads?debug=2'))
        self.assertIn(b'200 OK', self.curl('-I', self.url + 'threads'))
        self.assertIn(b'/debug/pprof/', self.curl('-L', self.url[:-1]))
        failed = self.run_here('curl', '-sS', '--fail', self.url + 'nope')
        self.assertEqual(failed.returncode, 22)
        # gzip is the payload and stays it.
        data = self.curl('--compressed', self.url + 'threads')
        self.assertGreater(len(gzip.decompress(data)), 100)

    @support.needs('curl')
    def test_symbols_as_jeprof_asks_for_them(self):
        text = self.until(b'worker+', lambda: self.curl(
            self.url + 'threads?debug=1')).decode()
        address = re.search(r'#\t(0x[0-9a-f]+)\tworker\+', text).group(1)
        self.assertIn(b'num_symbols: 1', self.curl(self.url + 'symbol'))
        with open(self.path('request'), 'w') as f:
            f.write(address + '+0x1')
        said = self.curl('-d', '@request', self.url + 'symbol')
        self.assertEqual(said.decode(),
                         'num_symbols: 1\n%s worker\n' % address)

    def commands(self):
        """[(arguments, word that must be seen)]"""
        return [(['-top', '-seconds=1', self.url + 'profile'],
                 'handle_report'),
                (['-top', self.url + 'profile?seconds=1'], 'handle_report'),
                (['-traces', self.url + 'goroutine'], 'worker'),
                (['-top', self.url + 'threads?debug=1'], 'worker'),
                (['-top', self.url + 'threadcreate'], 'threadcreate'),
                (['-top', '-sample_index=alloc_space', self.url + 'heap'],
                 'alloc_space')]

    @support.needs('go')
    def test_go_tool_pprof(self):
        for args, word in self.commands() + [
                (['-top', '-seconds=1', self.address], 'handle_report')]:
            def run():
                done = self.run_here('go', 'tool', 'pprof', *args, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                return done.stdout
            self.until(word, run)

    @support.needs('go')
    def test_go_tool_pprof_shows_why_it_was_refused(self):
        done = self.run_here('go', 'tool', 'pprof', '-top', self.url + 'nope',
                             text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('Unknown profile', done.stderr)

    def test_our_pprof(self):
        for args, word in self.commands() + [
                (['-top', '-seconds=1', self.address], 'handle_report')]:
            def run():
                done = self.pprof('-no_save', *args)
                self.assertEqual(done.returncode, 0, done.stderr)
                return done.stdout
            self.until(word, run)
        done = self.pprof('-top', '-no_save', self.url + 'nope')
        self.assert_fails(done, 'Unknown profile')

    def test_our_pprof_waits_for_the_profile_of_another_client(self):
        self.under_way('profile', 5)
        done = self.pprof('-top', '-no_save', '-seconds=1', self.address)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('Another client is taking a profile there', done.stderr)
        self.assertIn('Type: cpu', done.stdout)

    def test_our_pprof_does_not_wait_for_ever(self):
        other = self.under_way('profile', 200)
        done = self.pprof('-top', '-no_save', '-seconds=1', '-timeout=1',
                          self.address)
        self.assert_fails(done, 'cpu profiling already in use')
        self.leave(other)

    def test_a_collector_of_profefes_kind(self):
        """All of its types at once, the bodies taken as they come."""
        names = ('allocs', 'block', 'goroutine', 'heap', 'mutex',
                 'threadcreate', 'profile?seconds=1')
        bodies = {}

        def fetch(name):
            c = http.client.HTTPConnection(self.address, timeout=60)
            c.request('GET', '/debug/pprof/' + name,
                      headers={'User-Agent': 'Go-http-client/1.1',
                               'Accept-Encoding': 'gzip'})
            bodies[name] = c.getresponse().read()
            c.close()
        threads = [threading.Thread(target=fetch, args=(n,)) for n in names]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for name in names:
            with open(self.path('p'), 'wb') as f:
                f.write(bodies[name])
            done = self.pprof('-raw', self.path('p'))
            self.assertEqual(done.returncode, 0, name + done.stderr)


if __name__ == '__main__':
    support.unittest.main()
