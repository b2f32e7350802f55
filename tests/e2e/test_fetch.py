"""pprof fetches from real servers: a Go program with net/http/pprof, a Unix
socket, ssh, and servers that answer wrongly."""

import gzip
import http.server
import json
import os
import shutil
import socketserver
import subprocess
import sys
import threading
import unittest

import certificates
import secure
import support
import test_security_cluster

sys.path.insert(0, os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
from profilepb import Profile  # noqa: E402

GO_PROGRAM = '''
package main

import (
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime"
	"sync"
)

var keep [][]byte

func burn() {
	for x := 0; ; x++ {
	}
}

func main() {
	runtime.MemProfileRate = 1 // 64 MB are 64 MB, not an estimate
	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(1)
	var mu sync.Mutex
	for i := 0; i < 2; i++ {
		go func() {
			for {
				mu.Lock()
				for x := 0; x < 100000; x++ {
				}
				mu.Unlock()
			}
		}()
	}
	for i := 0; i < 64; i++ {
		keep = append(keep, make([]byte, 1<<20))
	}
	go burn()
	l, err := net.Listen(os.Args[1], os.Args[2])
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	http.Serve(l, nil)
}
'''


def build_go_program(dir):
    source = os.path.join(dir, 'main.go')
    with open(source, 'w') as f:
        f.write(GO_PROGRAM)
    env = dict(os.environ, GOCACHE=os.path.join(dir, 'cache'), GOFLAGS='',
               GO111MODULE='off')
    subprocess.run(['go', 'build', '-o', os.path.join(dir, 'service'), source],
                   check=True, env=env)
    return os.path.join(dir, 'service')


@support.needs('go')
class GoServer(support.TestCase):
    @classmethod
    def setUpClass(cls):
        import tempfile
        cls.shared = tempfile.mkdtemp(prefix='pprof-go-')
        cls.program = build_go_program(cls.shared)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.shared, ignore_errors=True)

    def serve(self, network='tcp', address='127.0.0.1:0'):
        p = subprocess.Popen([self.program, network, address],
                             stdout=subprocess.PIPE, text=True)
        self.addCleanup(p.stdout.close)
        self.addCleanup(support.stop, p)
        return p.stdout.readline().strip()

    def test_every_profile_can_be_fetched(self):
        address = self.serve()
        for name, kind in (('heap', 'inuse_space'), ('allocs', 'alloc_space'),
                           ('goroutine', 'goroutine'), ('mutex', 'delay'),
                           ('block', 'delay'), ('threadcreate', 'threadcreate'),
                           ('profile?seconds=1', 'cpu')):
            with self.subTest(name):
                r = self.pprof('-top', '-no_save',
                               'http://%s/debug/pprof/%s' % (address, name))
                self.assertEqual(r.returncode, 0, r.stderr)
                self.assertIn('Type: ' + kind, r.stdout)
        r = self.pprof('-top', '-no_save', '-unit=mb',
                       address + '/debug/pprof/heap?gc=1')
        self.assertRegex(r.stdout, r' 64(\.\d+)?MB .* main\.main')

    def test_deltas_and_seconds(self):
        address = self.serve()
        r = self.pprof('-raw', '-no_save', '-seconds=1',
                       'http://%s/debug/pprof/mutex' % address)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn('/mutex?seconds=1', r.stderr)
        self.assertIn('Please wait... (1s)', r.stderr)
        self.assertRegex(r.stdout, r'Duration: 1(\.0)?')

    def test_a_host_alone_means_its_cpu_profile(self):
        address = self.serve()
        r = self.pprof('-top', '-seconds=1', address)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn('main.burn', r.stdout)
        self.assertIn('Saved profile in ' +
                      self.path('pprof/pprof.service.samples.cpu.001.pb.gz'),
                      r.stderr)

    def test_no_save_leaves_nothing_behind(self):
        address = self.serve()
        self.pprof('-top', '-no_save', address + '/debug/pprof/heap')
        self.assertEqual(os.listdir(self.dir), [])

    def test_the_index_lists_the_profiles(self):
        address = self.serve()
        r = self.pprof('http://%s/debug/pprof/' % address)
        self.assertEqual(r.returncode, 0, r.stderr)
        names = [line.split()[-1] for line in r.stdout.splitlines()]
        for name in ('allocs', 'block', 'goroutine', 'heap', 'mutex'):
            self.assertIn(name, names)

    def test_addresses_are_named_by_the_server(self):
        """debug=1 text has addresses only; the server's /symbol names them."""
        address = self.serve()
        r = self.pprof('-top', '-no_save',
                       'http://%s/debug/pprof/heap?debug=1' % address)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn('main.main', r.stdout)

    def test_a_unix_socket(self):
        self.serve('unix', self.path('s.sock'))
        r = self.pprof('-top', '-no_save', 'unix://' + self.path('s.sock') +
                       '/debug/pprof/heap')
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn('main.main', r.stdout)

    def test_some_of_several_sources_may_fail(self):
        address = self.serve()
        good = 'http://%s/debug/pprof/heap' % address
        r = self.pprof('-top', '-no_save', good, good + 'x')
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn('heapx: server response: 404 Not Found - Unknown profile',
                      r.stderr)
        self.assertIn('Fetched 1 source profiles out of 2', r.stderr)

    @support.needs('ssh', 'sshd', 'ssh-keygen')
    def test_through_ssh(self):
        address = self.serve()
        port, key = support.free_port(), self.path('key')
        subprocess.run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f',
                        key], check=True)
        shutil.copy(key + '.pub', self.path('authorized'))
        with open(self.path('sshd_config'), 'w') as f:
            f.write('HostKey %s\nAuthorizedKeysFile %s\nStrictModes no\n'
                    'PidFile none\nListenAddress 127.0.0.1:%d\n'
                    'UsePAM no\nPermitRootLogin yes\n'
                    % (key, self.path('authorized'), port))
        os.makedirs('/run/sshd', exist_ok=True)
        sshd = subprocess.Popen([shutil.which('sshd'), '-D', '-e', '-f',
                                 self.path('sshd_config')],
                                stderr=subprocess.DEVNULL)
        self.addCleanup(support.stop, sshd)
        support.wait_for_port(port, sshd)
        # The user's ssh is what PATH has: here one that knows the test's key.
        os.mkdir(self.path('bin'))
        with open(self.path('bin/ssh'), 'w') as f:
            f.write('#!/bin/sh\nexec %s -F none -i %s -o BatchMode=yes -o '
                    'StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null '
                    '-o LogLevel=ERROR "$@"\n' % (shutil.which('ssh'), key))
        os.chmod(self.path('bin/ssh'), 0o755)
        r = self.pprof('-top', '-no_save', 'ssh://127.0.0.1:%d/%s/debug/pprof/'
                       'heap' % (port, address.rsplit(':', 1)[1]),
                       env={'PATH': self.path('bin') + ':' +
                            os.environ['PATH']})
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn('main.main', r.stdout)


class SymbolService(http.server.BaseHTTPRequestHandler):
    """A profile of bare addresses, and names for them by some methods."""

    def reply(self, status, body):
        self.send_response(status)
        self.send_header('Content-Type', 'text/plain')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def name(self, method, addresses):
        self.server.asked.append((method, len(addresses)))
        if method not in self.server.methods:
            self.reply(*self.server.otherwise)
            return
        lines = ['num_symbols: 1']
        lines += ['%s f_%s' % (word, word) for word in addresses.split('+')]
        self.reply(200, ('\n'.join(lines) + '\n').encode())

    def do_GET(self):
        path, _, query = self.path.partition('?')
        if path.endswith('/symbol'):
            self.name('GET', query)
        else:
            self.reply(200, self.server.profile)

    def do_POST(self):
        length = int(self.headers['Content-Length'])
        self.name('POST', self.rfile.read(length).decode())

    def log_message(self, *args):
        pass


class Symbols(support.TestCase):
    """The profile is shown whatever the symbol service answers."""

    def serve(self, methods, addresses=3, otherwise=(403, b'forbidden\n')):
        server = socketserver.ThreadingTCPServer(('127.0.0.1', 0),
                                                 SymbolService)
        server.daemon_threads = True
        p = Profile([('samples', 'count')])
        nameless = p.mapping(0x10000, 0x9000000, 0, '', symbolized=False)
        for i in range(addresses):
            p.sample([p.location(address=0x10000 + i * 16, mapping=nameless)],
                     [1 + i])
        p.write(self.path('served'))
        with open(self.path('served'), 'rb') as f:
            server.profile = f.read()
        server.methods, server.otherwise = methods, otherwise
        server.asked = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.server = server
        return 'http://127.0.0.1:%d/debug/pprof/goroutine' % (
            server.server_address[1])

    def top(self, *args, **kwargs):
        run = self.pprof('-top', '-no_save', '-nodefraction=0',
                         self.serve(*args, **kwargs))
        self.assertEqual(run.returncode, 0, run.stderr)
        return run

    def test_names_are_asked_for_by_get_alone(self):
        run = self.top(['GET'])
        self.assertIn('f_0x10020', run.stdout)
        self.assertEqual([method for method, _ in self.server.asked], ['GET'])
        self.assertNotIn('No names', run.stderr)

    def test_a_service_that_wants_post_gets_it(self):
        for otherwise in (405, b'no'), (200, b'num_symbols: 1\n'), (404, b''):
            run = self.top(['POST'], otherwise=otherwise)
            self.assertIn('f_0x10020', run.stdout)
            self.assertNotIn('No names', run.stderr)

    def test_many_addresses_take_several_requests(self):
        run = self.top(['GET'], addresses=1000)
        self.assertIn('f_0x13e70', run.stdout)
        self.assertGreater(len(self.server.asked), 1)
        self.assertLessEqual(max(n for _, n in self.server.asked), 4000)

    def test_very_many_go_by_post_unless_that_is_refused(self):
        run = self.top(['GET', 'POST'], addresses=10000)
        self.assertIn('f_0x370f0', run.stdout)
        self.assertEqual([method for method, _ in self.server.asked], ['POST'])
        run = self.top(['GET'], addresses=10000)
        self.assertIn('f_0x370f0', run.stdout)
        self.assertEqual(self.server.asked[0][0], 'POST')

    def test_a_service_that_refuses_costs_names_only(self):
        for otherwise in ((403, b'forbidden\n'), (500, b''),
                          (200, b'<html>'), (200, b'\xff' * 100)):
            run = self.top([], otherwise=otherwise)
            self.assertIn('<unknown>', run.stdout)
        self.top([])
        self.assertIn('No names from the server: Post http://', self.pprof(
            '-top', '-no_save', self.serve([])).stderr)
        self.assertIn('/symbol: server response: 403 Forbidden - forbidden',
                      self.pprof('-top', '-no_save', self.serve([])).stderr)

    def test_a_server_without_symbol_service_is_not_a_problem(self):
        run = self.top([], otherwise=(404, b'nothing here\n'))
        self.assertIn('<unknown>', run.stdout)
        self.assertNotIn('No names', run.stderr)


@support.needs('openssl')
@unittest.skipUnless(os.path.isdir(test_security_cluster.REVIEWS),
                     'no recorded reviews at ../shared/kube-data')
class RecordedCluster(secure.TestCase):
    """The endpoint asks a cluster that answers as a real one did: a rule for
    "get" is enough to read a profile with its names."""

    def recorded(self, name):
        with open(os.path.join(test_security_cluster.REVIEWS,
                               name + '.response.http'), 'rb') as f:
            return json.loads(f.read().partition(b'\r\n\r\n')[2] or b'{}')

    def start(self):
        test = self

        class Replay(test_security_cluster.Cluster):
            def answer(self, kind, spec):
                if kind == 'TokenReview':
                    return test.recorded('tokenreview-good')['status']
                verb = spec['nonResourceAttributes']['verb']
                return test.recorded(
                    'subjectaccessreview-nonresource-' +
                    ('allowed' if verb == 'get' else 'wrong-verb'))['status']

        with open(os.path.join(self.certs, 'token'), 'w') as f:
            f.write('account-token')
        ca = certificates.Authority(self.certs)
        cluster = Replay(*ca.sign('api', usage='serverAuth',
                                  alternatives='IP:127.0.0.1'))
        self.addCleanup(cluster.server_close)
        self.addCleanup(cluster.shutdown)
        return self.serve(
            PPROF_KUBERNETES='1', PPROF_KUBERNETES_DIR=self.certs,
            KUBERNETES_SERVICE_HOST='127.0.0.1',
            KUBERNETES_SERVICE_PORT=str(cluster.server_address[1]))

    def test_a_rule_for_get_reads_a_profile_with_names(self):
        program = self.start()
        with open(self.path('T'), 'w') as f:
            f.write('of-a-reader\n')
        run = self.pprof('-top', '-no_save', '-symbolize=remote',
                         '-token_file', self.path('T'),
                         program.url + '/debug/pprof/heap?debug=1')
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotIn('Forbidden', run.stderr)


class OddServer(http.server.BaseHTTPRequestHandler):
    """Answers by path, to see what pprof makes of it."""

    def do_GET(self):
        replies = {
            '/html': (200, 'text/html', b'<html><body>hello</body></html>'),
            '/empty': (200, 'application/octet-stream', b''),
            '/garbage': (200, 'application/octet-stream', b'\xff' * 50),
            '/cut': (200, 'application/octet-stream',
                     gzip.compress(b'x' * 1000)[:-12]),
            '/denied': (403, 'text/plain; charset=utf-8', b'who are you?\n'),
            '/json': (500, 'application/json', b'{"error":"out of luck"}'),
            '/loop': (302, 'text/plain', b''),
        }
        if self.path == '/header':
            body = (self.headers.get('Authorization', '-') + ' ' +
                    self.headers.get('X-Test', '-')).encode()
            status, kind = 418, 'text/plain'
        else:
            status, kind, body = replies[self.path]
        self.send_response(status)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(body)))
        if status == 302:
            self.send_header('Location', self.path)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class OddReplies(support.TestCase):
    def setUp(self):
        super().setUp()
        server = socketserver.ThreadingTCPServer(('127.0.0.1', 0), OddServer)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.base = 'http://127.0.0.1:%d' % server.server_address[1]

    def fails(self, path, *words, args=()):
        r = self.pprof('-top', *args, self.base + path)
        self.assert_fails(r, *words)
        self.assertEqual(os.listdir(self.dir), [])

    def test_each_gets_its_sentence(self):
        self.fails('/html', 'the server sent an HTML page, not a profile')
        self.fails('/empty', 'empty input file')
        self.fails('/garbage', 'parsing profile: unrecognized profile format')
        self.fails('/cut', 'decompressing profile: unexpected EOF')
        self.fails('/denied', 'server response: 403 Forbidden - who are you?')
        self.fails('/json', '500 Internal Server Error - {"error":"out of luck"}')
        self.fails('/loop', 'stopped after 10 redirects')

    def test_headers_and_token_reach_the_server(self):
        token = os.path.join(self.dir, '..', os.path.basename(self.dir) + '.t')
        with open(token, 'w') as f:
            f.write('secret\n')
        self.addCleanup(os.unlink, token)
        self.fails('/header', '- Bearer secret yes',
                   args=['-token_file', token, '-header', 'X-Test: yes'])
        self.fails('/header', 'token file: open /nonexistent: no such file',
                   args=['-token_file', '/nonexistent'])

    def test_nobody_listens(self):
        port = support.free_port()
        r = self.pprof('-top', 'http://127.0.0.1:%d/x' % port)
        self.assert_fails(r, 'connect: connection refused')
        r = self.pprof('-top', 'https://127.0.0.1:%d/x' % port)
        self.assert_fails(r, 'connect: connection refused')
        self.assertNotIn('certificate', r.stderr)

    def test_nobody_listens_behind_a_forwarded_port(self):
        """Like kubectl port-forward: it accepts, tries, and closes."""
        import socket
        s = socket.socket()
        self.addCleanup(s.close)
        s.bind(('127.0.0.1', 0))
        s.listen()

        def forward(reset):
            client = s.accept()[0]
            if not reset:
                client.recv(65536)
            client.close()
        for reset in (True, False):
            thread = threading.Thread(target=forward, args=(reset,))
            thread.start()
            r = self.pprof('-top', 'https://127.0.0.1:%d/x'
                           % s.getsockname()[1])
            thread.join()
            self.assert_fails(r, 'closed the connection without a reply')
            self.assertNotIn('certificate', r.stderr)

    def test_a_server_that_never_answers(self):
        import socket
        s = socket.socket()
        self.addCleanup(s.close)
        s.bind(('127.0.0.1', 0))
        s.listen()
        r = self.pprof('-top', '-timeout=1',
                       'http://127.0.0.1:%d/x' % s.getsockname()[1])
        self.assert_fails(r, 'no complete answer within 6 s', '-timeout')


if __name__ == '__main__':
    import unittest
    unittest.main()
