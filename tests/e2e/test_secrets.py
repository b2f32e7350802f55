"""A secret that a program is given, in whatever way, is in nothing that it
prints, serves or saves."""
import base64
import gzip
import http.server
import os
import re
import subprocess
import sys
import threading

import secure
import support
from test_page import Page

sys.path.insert(0, os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
from profilepb import Profile  # noqa: E402

SECRET = 'planted-S3cret'


def make_profile():
    """One that needs the server's help: its mapping has no name, its
    addresses have none either."""
    p = Profile([('samples', 'count')])
    nameless = p.mapping(0x1000, 0x9000, 0, '', symbolized=False)
    p.sample([p.location(address=0x1234, mapping=nameless)], [7])
    return p


class Guarded(http.server.BaseHTTPRequestHandler):
    """A server that answers those who know the secret."""

    def do_GET(self):
        path, _, query = self.path.partition('?')
        basic = base64.b64encode(('me:' + SECRET).encode()).decode()
        known = (self.headers.get('Authorization') in
                 ('Basic ' + basic, 'Bearer ' + SECRET) or
                 self.headers.get('X-Key') == SECRET)
        if not known:
            self.reply(401, b'who are you?')
        elif path.endswith('/symbol'):
            self.server.named = True
            self.reply(200, b'num_symbols: 1\n0x1234 named_by_server\n')
        elif path.endswith('/heap'):
            self.reply(200, self.server.profile)
        else:
            self.reply(404, b'no such profile')

    def do_POST(self):
        self.reply(403, b'forbidden')

    def reply(self, status, body):
        self.send_response(status)
        self.send_header('Content-Type', 'text/plain')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Secrets(support.TestCase):
    def setUp(self):
        super().setUp()
        path = self.path('served.pb.gz')
        make_profile().write(path)
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Guarded)
        with open(path, 'rb') as f:
            server.profile = f.read()
        server.named = False
        os.unlink(path)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.server = server
        self.host = '127.0.0.1:%d' % server.server_port
        # Beside the home directory, which is searched.
        self.token = self.dir + '.token'
        with open(self.token, 'w', encoding='utf-8') as f:
            f.write(SECRET + '\n')
        self.addCleanup(os.unlink, self.token)

    def ways(self):
        """(words that bring the secret, host) for each way to give it."""
        return {
            'url': ([], 'http://me:%s@%s' % (SECRET, self.host)),
            'encoded': ([], 'http://me:%s@%s'
                        % (SECRET.replace('S', '%53'), self.host)),
            'no scheme': ([], 'me:%s@%s' % (SECRET, self.host)),
            'token file': (['-token_file', self.token],
                           'http://' + self.host),
            'header': (['-header', 'X-Key: ' + SECRET],
                       'http://' + self.host),
        }

    def clean(self, what, data):
        if isinstance(data, str):
            data = data.encode()
        for found in (SECRET.encode(), base64.b64encode(SECRET.encode()),
                      SECRET.replace('S', '%53').encode()):
            self.assertNotIn(found, data, what)
        if data[:2] == b'\x1f\x8b':
            self.clean(what, gzip.decompress(data))

    def clean_files(self, what):
        n = 0
        for directory, _, names in os.walk(self.dir):
            for name in names:
                self.clean(what, name)
                with open(os.path.join(directory, name), 'rb') as f:
                    self.clean('%s: %s' % (what, name), f.read())
                n += 1
        return n

    def clean_run(self, *words, env=None):
        run = self.pprof(*words, env=env)
        self.clean(words, run.stdout)
        self.clean(words, run.stderr)
        return run

    def test_reports_messages_and_saved_profiles(self):
        for way, (words, host) in self.ways().items():
            url = host + '/debug/pprof/heap'
            with self.subTest(way):
                self.server.named = False
                run = self.clean_run('-top', *words, url)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertIn('named_by_server', run.stdout)
                self.assertTrue(self.server.named)
                self.assertIn('Saved profile in', run.stderr)
                self.clean_run('-raw', '-add_comment=x', *words, url)
                self.clean_run('-top', '-diff_base', url, *words, url)
                self.clean_run('-html', '-output', 'page.html', *words, url)
                self.clean_run('-proto', '-symbolize=none', '-output', 'p',
                               *words, url)
                self.assertGreater(self.clean_files(way), 4)

    def test_errors(self):
        dead = '127.0.0.1:%d' % support.free_port()
        hosts = [host for _, host in self.ways().values()]
        hosts += ['http://me:%s@%s' % (SECRET, dead),
                  'https://me:%s@%s' % (SECRET, self.host),
                  'http://me:%s@no.such.host.invalid' % SECRET,
                  'gopher://me:%s@%s' % (SECRET, self.host),
                  # A slash, a blank or an odd port make it no URL at all.
                  'http://me:a/%s@%s' % (SECRET, self.host),
                  'http://me:a %s@%s' % (SECRET, self.host),
                  'http://me:%s@host:port' % SECRET,
                  'me:a/%s@%s' % (SECRET, self.host)]
        for host in hosts:
            with self.subTest(host):
                run = self.clean_run('-top', host + '/debug/pprof/none')
                self.assertEqual(run.returncode, 2, run.stdout)
                run = self.clean_run(host + '/debug/pprof/')
                self.assertEqual(run.returncode, 2, run.stdout)
        self.clean_run('-top', '-token_file', self.token,
                       'http://%s/debug/pprof/none' % dead)

    def test_a_proxy_of_the_environment(self):
        dead = '127.0.0.1:%d' % support.free_port()
        for name in 'http_proxy', 'https_proxy', 'all_proxy':
            scheme = 'https' if name == 'https_proxy' else 'http'
            run = self.clean_run(
                '-top', '%s://example.invalid/debug/pprof/heap' % scheme,
                env={name: 'http://me:%s@%s' % (SECRET, dead)})
            self.assertEqual(run.returncode, 2, run.stdout)

    def test_the_page(self):
        for way, (words, host) in self.ways().items():
            with self.subTest(way):
                page = Page(self.dir, '-http=127.0.0.1:', *words,
                            host + '/debug/pprof/heap')
                self.addCleanup(support.stop, page.process)
                for path in ('', 'flamegraph', 'top', 'graph', 'source',
                             'peek', 'disasm', 'data/meta', 'data/flame',
                             'data/top', 'data/graph', 'data/profiles',
                             'data/none', 'download', 'offline'):
                    reply, data = page.ask('/ui/' + path)
                    self.clean(path, str(reply.getheaders()))
                    self.clean(path, data)
                reply, data = page.ask('/ui/refetch', 'POST', X_Pprof='1')
                self.assertEqual(reply.status, 200, data)
                self.clean('refetch', data)
                page.stop()
                self.clean('what was said', ''.join(page.said))
                self.clean_files(way)


class Endpoint(secure.TestCase):
    """The other side: what a program with an endpoint knows of tokens."""

    def test_tokens_are_in_no_reply_and_no_message(self):
        tokens = self.path('tokens')
        with open(tokens, 'w', encoding='utf-8') as f:
            f.write('me:' + SECRET + '\n')
        os.chmod(tokens, 0o600)
        program = self.serve(PPROF_TOKEN_FILE=tokens, PPROF_SELF='1')
        login = ['-u', 'me:' + SECRET]
        found = 0
        for name in ('', 'cmdline', 'heap', 'heap?debug=1', 'threads',
                     'threads?debug=2', 'profile?seconds=1', 'wall?seconds=1',
                     'symbol', 'symbol?0x1234', 'block', 'mutex',
                     'threadcreate?debug=1', 'none'):
            for options in login, ['-u', 'me:wrong'], []:
                status, body = self.curl(program.url + '/debug/pprof/' + name,
                                         '-i', *options)
                found += status == 200
                self.assertNotIn(SECRET.encode(), body, name)
        self.assertGreater(found, 5)
        program.stop()
        self.assertNotIn(SECRET, ''.join(program.said))


if __name__ == '__main__':
    import unittest
    unittest.main()
