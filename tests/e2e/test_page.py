"""pprof -http and -html: the server around the page, with real sockets."""
import gzip
import http.client
import http.server
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import threading
import time
import unittest

import support
import symbols

sys.path.insert(0, os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
from profilepb import Profile  # noqa: E402

PATIENCE = 60


def make_profile(scale=1):
    p = Profile([('samples', 'count'), ('cpu', 'nanoseconds')])
    main = p.location(p.function('main', 'main.c'), line=3)
    for i in range(20):
        work = p.location(p.function('work%d' % i, 'work.c'), line=i)
        p.sample([work, main], [1, scale * 1000000 * (i + 1)])
    return p


def make_bare_profile(seed, n):
    """Addresses of pprof itself, of a program that is gone, and frames that
    are to be dropped; samples that only rounding tells apart."""
    p = Profile([('cpu', 'nanoseconds')])
    p.drop_frames = 'dropped'
    text, size = symbols.section(support.PPROF, '.text')
    start = text & ~0xfff
    program = p.mapping(start, text + size, start, support.PPROF,
                        symbolized=False)
    gone = p.mapping(0x70000000, 0x70001000, 0, '/nowhere/gone',
                     symbolized=False)
    unnamed = p.location(address=0x70000100, mapping=gone)
    kept = p.location(p.function('kept'), 1)
    below = p.location(p.function('dropped'), 1)
    for i, address in enumerate(symbols.addresses_in(support.PPROF, n, seed)):
        stack = [p.location(address=address, mapping=program), unnamed]
        p.sample([below] * (i % 2) + stack + [kept], [3 + i * seed])
        p.sample([below] * (i % 3) + stack + [kept], [1 + i])
    return p


class Page:
    """A pprof that serves, and questions to it."""

    def __init__(self, directory, *words, env=None):
        self.process = subprocess.Popen(
            [support.PPROF, '-no_browser', *words], cwd=directory,
            env={'PATH': os.environ['PATH'], 'HOME': directory,
                 **{k: v for k, v in os.environ.items()
                    if k.startswith(('ASAN', 'UBSAN', 'LSAN'))},
                 **(env or {})},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)
        self.said, self.url = [], None
        for line in self.process.stderr:
            self.said.append(line)
            found = re.search(r'Serving web UI on (\S+)', line)
            if found:
                self.url = found.group(1)
                break
        if not self.url:
            raise AssertionError('no server: ' + ''.join(self.said))
        self.port = int(re.search(r':(\d+)(/|$)', self.url).group(1))
        self.reader = threading.Thread(target=self.listen, daemon=True)
        self.reader.start()

    def listen(self):
        self.said += self.process.stderr.readlines()

    def ask(self, path, method='GET', body=None, **headers):
        connection = http.client.HTTPConnection('127.0.0.1', self.port,
                                                timeout=PATIENCE)
        connection.request(method, path, body, {
            name.replace('_', '-'): value for name, value in headers.items()})
        reply = connection.getresponse()
        data = reply.read()
        connection.close()
        return reply, data

    def json(self, path, **kwargs):
        reply, data = self.ask(path, **kwargs)
        assert reply.status == 200, data
        return json.loads(data)

    def stop(self, how=signal.SIGINT):
        self.process.send_signal(how)
        code = self.process.wait(PATIENCE)
        self.reader.join(PATIENCE)
        return code


class TestPage(support.TestCase):
    def setUp(self):
        super().setUp()
        make_profile().write(self.path('a.pb.gz'))
        make_profile(3).write(self.path('b.pb.gz'))

    def page(self, *words, **kwargs):
        page = Page(self.dir, *words, **kwargs)
        self.addCleanup(support.stop, page.process)
        return page

    def test_interrupt_and_terminate_end_it_without_a_word(self):
        for how in signal.SIGINT, signal.SIGTERM:
            page = self.page('-http=:', 'a.pb.gz')
            self.assertEqual(page.ask('/ui/flamegraph')[0].status, 200)
            self.assertEqual(page.stop(how), 0)
            self.assertEqual(page.said[-1],
                             'Serving web UI on http://localhost:%d\n'
                             % page.port)

    def test_addresses_that_cannot_be_are_refused(self):
        for address, words in (
                ('localhost', 'address localhost: missing port in address'),
                ('a:b:1', 'address a:b:1: too many colons in address'),
                (':x', 'invalid port number: strconv.Atoi: parsing "x"')):
            ran = self.pprof('-http=' + address, '-no_browser', 'a.pb.gz')
            self.assert_fails(ran, words)

    def test_without_a_home_there_is_no_server(self):
        ran = self.pprof('-http=:', '-no_browser', 'a.pb.gz',
                         env={'HOME': ''})
        self.assert_fails(
            ran, 'neither $XDG_CONFIG_HOME nor $HOME are defined')

    def test_many_requests_at_a_time_get_the_same_answers(self):
        page = self.page('-http=127.0.0.1:', 'a.pb.gz')
        names = ['flame', 'top', 'graph', 'meta', 'peek', 'raw']
        want = {name: page.ask('/ui/data/' + name)[1] for name in names}
        got = []

        def worker(number):
            for i in range(20):
                name = names[(number + i) % len(names)]
                got.append(page.ask('/ui/data/' + name)[1] == want[name])

        threads = [threading.Thread(target=worker, args=(n,))
                   for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(got, [True] * 160)

    def test_the_table_is_that_of_the_terminal(self):
        page = self.page('-http=127.0.0.1:', 'a.pb.gz')
        terminal = self.pprof('-top', 'a.pb.gz').stdout.splitlines()
        table = page.json('/ui/data/top')
        self.assertEqual(
            [' '.join(line.split()) for line in terminal[-len(table['rows']):]],
            [' '.join((row['flat_text'], row['flat_pct'], row['sum_pct'],
                       row['cum_text'], row['cum_pct'], row['name']))
             for row in table['rows']])
        self.assertEqual(len(table['rows']), 20)  # one is below 0.5%

    def test_a_base_is_taken_off_as_in_the_terminal(self):
        """The terminal subtracts before it looks for symbols and drops
        frames, the page after that and for each request."""
        make_bare_profile(2, 60).write(self.path('old.pb.gz'))
        make_bare_profile(3, 90).write(self.path('new.pb.gz'))
        for flag in '-diff_base=old.pb.gz', '-base=old.pb.gz':
            words = [flag, '-add_comment=compared', 'new.pb.gz']
            page = self.page('-http=127.0.0.1:', *words)
            for norm, flags in ('f', []), ('t', ['-normalize']):
                terminal = self.pprof('-raw', *flags, *words)
                self.assertIn('.c:', terminal.stdout)
                self.assertEqual(
                    page.json('/ui/data/raw?norm=' + norm)['text'],
                    terminal.stdout)
            self.assertEqual(page.stop(), 0)
            self.assertEqual(''.join(page.said[:-1]), terminal.stderr)

    def test_files_of_the_command_line_can_be_seen_one_by_one(self):
        page = self.page('-http=127.0.0.1:', 'a.pb.gz', 'b.pb.gz')
        meta = page.json('/ui/data/meta')
        self.assertEqual([p['name'] for p in meta['profiles']],
                         ['2 profiles', 'a.pb.gz', 'b.pb.gz'])
        totals = [page.json('/ui/data/top?profile=%d' % i)['total']
                  for i in (1, 2, 3)]
        self.assertEqual(totals, [840000000, 210000000, 630000000])
        diff = page.json('/ui/data/diff?profile=3&base=2')
        self.assertEqual(diff['total']['delta'], 420000000)
        self.assertEqual(diff['rows'][0]['name'], 'work19')

    def test_a_dropped_file_and_its_limits(self):
        page = self.page('-http=127.0.0.1:', 'a.pb.gz')
        with open(self.path('b.pb.gz'), 'rb') as f:
            other = f.read()
        reply, data = page.ask('/ui/profiles?name=b', 'POST', other)
        self.assertEqual(reply.status, 403)
        reply, data = page.ask('/ui/profiles?name=b', 'POST', other, X_Pprof='1')
        self.assertEqual((reply.status, data), (200, b'{"id":"2"}'))
        self.assertEqual(page.json('/ui/data/top?profile=2')['total'],
                         630000000)
        reply, data = page.ask('/ui/profiles?name=b', 'POST', b'nonsense',
                               X_Pprof='1')
        self.assertEqual(reply.status, 400)
        self.assertIn(b'parsing profile: ', data)

    def test_a_live_source_is_fetched_again(self):
        scale = [1]

        class Service(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                make_profile(scale[0]).write(served)
                with open(served, 'rb') as f:
                    data = f.read()
                self.send_response(200)
                self.send_header('Content-Length', str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *words):
                pass

        served = self.path('served.pb.gz')
        server = http.server.HTTPServer(('127.0.0.1', 0), Service)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        page = self.page('-http=127.0.0.1:', 'http://127.0.0.1:%d/debug/pprof/'
                         'heap' % server.server_port)
        self.assertTrue(page.json('/ui/data/meta')['can_fetch'])
        scale[0] = 2
        reply, data = page.ask('/ui/refetch', 'POST', X_Pprof='1')
        self.assertEqual((reply.status, data), (200, b'{"id":"2"}'))
        diff = page.json('/ui/data/diff?profile=2&base=1')['total']
        self.assertEqual((diff['base'], diff['new']), (210000000, 420000000))

    def test_beyond_this_machine_the_printed_token_is_asked_for(self):
        page = self.page('-http=0.0.0.0:', 'a.pb.gz')
        path = page.url[page.url.index('/ui/'):]
        self.assertEqual(page.ask('/ui/data/top')[0].status, 403)
        self.assertEqual(page.ask('/ui/profiles', 'POST', b'x' * 100,
                                  X_Pprof='1')[0].status, 403)
        reply, _ = page.ask(path)
        self.assertEqual(reply.status, 302)
        cookie = reply.getheader('Set-Cookie').split(';')[0]
        self.assertEqual(page.ask('/ui/data/top', Cookie=cookie)[0].status, 200)
        self.assertEqual(
            page.ask('/ui/profiles', 'POST', b'x' * (17 << 20), Cookie=cookie,
                     X_Pprof='1')[0].status, 413)

    def test_replies_are_gzipped_and_the_flame_graph_is_binary(self):
        page = self.page('-http=127.0.0.1:', 'a.pb.gz')
        reply, data = page.ask('/ui/data/flame', Accept_Encoding='gzip')
        self.assertEqual(reply.getheader('Content-Encoding'), 'gzip')
        magic, version, size = struct.unpack_from(
            '<4sII', gzip.decompress(data))
        self.assertEqual((magic, version), (b'PPFL', 2))
        header = json.loads(gzip.decompress(data)[12:12 + size])
        self.assertEqual((header['nodes'], header['total']), (22, 210000000))

    def test_a_terminal_gets_a_browser(self):
        page_url = self.path('url')
        browser = self.path('browser')
        with open(browser, 'w', encoding='utf-8') as f:
            f.write('#!/bin/sh\nprintf %%s "$1" >%s.tmp\nmv %s.tmp %s\n'
                    % ((page_url,) * 3))
        os.chmod(browser, 0o755)
        pid, fd = pty.fork()
        if pid == 0:
            os.execve(support.PPROF, ['pprof', '-http=127.0.0.1:',
                                      '-focus=work1 .', '-trim=false',
                                      self.path('a.pb.gz')],
                      {'PATH': os.environ['PATH'], 'HOME': self.dir,
                       'BROWSER': browser})
        end = time.monotonic() + PATIENCE
        while not os.path.exists(page_url) and time.monotonic() < end:
            if select.select([fd], [], [], 0.05)[0]:
                os.read(fd, 4096)
        os.kill(pid, signal.SIGINT)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        os.close(fd)
        with open(page_url, encoding='utf-8') as f:
            self.assertRegex(f.read(), r'^http://127\.0\.0\.1:\d+'
                             r'\?f=work1\+\.&trim=f$')


class TestOneFile(support.TestCase):
    def test_it_holds_every_sample_type_and_runs_nothing_else(self):
        make_profile().write(self.path('a.pb.gz'))
        ran = self.pprof('-html', '-output=page.html', 'a.pb.gz')
        self.assertEqual(ran.returncode, 0, ran.stderr)
        with open(self.path('page.html'), encoding='utf-8') as f:
            page = f.read()
        answers = re.findall(r'data-answer="(\w+)\?si=(\w+)"', page)
        for kind in 'samples', 'cpu':
            self.assertLessEqual({'meta', 'flame', 'top', 'graph'},
                                 {name for name, si in answers if si == kind})
        self.assertEqual(answers[0], ('meta', 'cpu'))
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
        self.assertIn("default-src 'none'; script-src 'sha256-",
                      policy.group(1))
        self.assertNotIn('unsafe', policy.group(1))
        self.assertNotIn(' src="', page)
        self.assertNotIn('assets/', page)

    def test_filters_hold_for_it(self):
        make_profile().write(self.path('a.pb.gz'))
        whole = self.pprof('-html', 'a.pb.gz').stdout
        part = self.pprof('-html', '-focus=work1$', 'a.pb.gz').stdout
        self.assertLess(len(part), len(whole))
        self.assert_fails(self.pprof('-html', '-focus=(', 'a.pb.gz'),
                          'parsing focus regexp')


if __name__ == '__main__':
    unittest.main()
