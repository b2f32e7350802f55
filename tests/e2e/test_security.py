"""An endpoint that other machines can reach: the recipes of five guides with
real certificates, tokens, rotation and limits."""
import http.client
import os
import re
import shutil
import socket
import ssl
import stat
import subprocess
import tempfile
import time

import certificates
import support
from secure import QUIET, RUN, SERVICE, Program, TestCase

PROFILES = ('profile?seconds=1', 'heap', 'goroutine', 'allocs',
            'threadcreate')


@support.needs('openssl', 'curl')
class Olm(TestCase):
    """Certificate, key and client CA: the same self-signed file."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cert, cls.key = certificates.self_signed(cls.certs, 'olm')
        cls.program = Program(
            [RUN, '-tls-cert', cls.cert, '-tls-key', cls.key,
             '--client-ca=' + cls.cert, '/usr/bin/python3', '-c',
             'import time\n'
             'while True: [x*x for x in range(9999)]; time.sleep(.01)'])
        cls.addClassCleanup(cls.program.stop)
        cls.pprof_url = cls.program.url + '/debug/pprof/'

    def test_five_profiles_with_the_certificate(self):
        for name in PROFILES:
            with self.subTest(name=name):
                self.assert_profile(self.curl(
                    self.pprof_url + name, '--cert', self.cert, '--key',
                    self.key, '--insecure'))

    def test_403_without(self):
        for name in PROFILES + ('', 'cmdline', 'symbol', 'nope'):
            with self.subTest(name=name):
                self.assertEqual(self.curl(self.pprof_url + name,
                                           '--insecure'),
                                 (403, b'a client certificate is required\n'))

    def test_probes_are_green(self):
        for path in ('/healthz', '/readyz'):
            self.assertEqual(self.curl(self.program.url + path, '-k'),
                             (200, b'ok'))

    def test_plain_http_is_told_so(self):
        self.assertEqual(
            self.curl(self.pprof_url.replace('https:', 'http:')),
            (400, b'Client sent an HTTP request to an HTTPS server.\n'))

    def test_our_pprof_fetches(self):
        done = self.pprof('-top', '-no_save', '-seconds=1',
                          '-tls_cert', self.cert, '-tls_key', self.key,
                          self.pprof_url.replace('https:', 'https+insecure:')
                          + 'profile')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('Type: cpu', done.stdout)

    def test_a_line_for_each_profile(self):
        self.curl(self.pprof_url + 'goroutine?debug=1', '-k', '--cert',
                  self.cert, '--key', self.key)
        line = self.program.wait_for_words('goroutine?debug=1')
        self.assertRegex(
            line, r'^pprof: audit time=\S+Z who="CN:olm" '
            r'from=127\.0\.0\.1:\d+ what="/debug/pprof/goroutine\?debug=1" '
            r'status=200 bytes=\d+ seconds=\d+\.\d+\n$')

    def test_the_key_usage_of_servers_is_not_enough(self):
        cert, key = certificates.self_signed(
            self.certs, 'servers', '-addext', 'extendedKeyUsage=serverAuth')
        program = self.serve(PPROF_TLS_CERT=cert, PPROF_TLS_KEY=key,
                             PPROF_CLIENT_CA=cert)
        self.assertEqual(self.status(program.url + '/debug/pprof/', '-k',
                                     '--cert', cert, '--key', key), 0)


@support.needs('openssl', 'curl')
class MutualTls(TestCase):
    """What etcd does with --client-cert-auth."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.ca = ca = certificates.Authority(cls.certs)
        cls.foreign = certificates.Authority(cls.certs, 'foreign')
        cls.server = ca.sign('server', usage='serverAuth',
                             alternatives='IP:127.0.0.1,DNS:localhost')
        cls.people = {
            'client': ca.sign('client', usage='clientAuth'),
            'both': ca.sign('both', usage='clientAuth,serverAuth'),
            'none': ca.sign('none'),
            'servers': ca.sign('servers', usage='serverAuth'),
            'old': ca.sign('old', usage='clientAuth', days='-1'),
            'stranger': cls.foreign.sign('stranger', usage='clientAuth'),
            'pod': ca.sign('pod', usage='clientAuth', alternatives=(
                'DNS:pod.example,URI:spiffe://cluster/ns/mon/sa/prom')),
        }
        cls.env = dict(PPROF_TLS_CERT=cls.server[0],
                       PPROF_TLS_KEY=cls.server[1], PPROF_CLIENT_CA=ca.cert)
        cls.program = Program(QUIET, **cls.env)
        cls.addClassCleanup(cls.program.stop)

    def as_(self, name, program=None):
        cert, key = self.people[name]
        return self.status((program or self.program).url +
                           '/debug/pprof/cmdline', '--cacert', self.ca.cert,
                           '--cert', cert, '--key', key)

    def test_who_gets_in(self):
        for name in ('client', 'both', 'none', 'pod'):
            self.assertEqual((name, self.as_(name)), (name, 200))

    def test_who_does_not(self):
        for name in ('servers', 'stranger', 'old'):
            with self.subTest(name=name):
                self.assertIn(self.as_(name), (0, 403))

    def test_the_server_proves_who_it_is(self):
        cert, key = self.people['client']
        options = ['--cert', cert, '--key', key]
        url = self.program.url + '/debug/pprof/cmdline'
        self.assertEqual(self.status(url, *options), 0)
        self.assertEqual(self.status(url, *options, '--cacert',
                                     self.foreign.cert), 0)
        self.assertEqual(self.status(url.replace('127.0.0.1', 'localhost'),
                                     *options, '--cacert', self.ca.cert), 200)

    def test_our_pprof_fetches(self):
        cert, key = self.people['client']
        done = self.pprof('-top', '-no_save', '-tls_cert', cert, '-tls_key',
                          key, '-tls_ca', self.ca.cert,
                          self.program.url + '/debug/pprof/threads')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('Type: threads', done.stdout)
        cert, key = self.people['stranger']
        self.assert_fails(self.pprof(
            '-top', '-no_save', '-tls_cert', cert, '-tls_key', key, '-tls_ca',
            self.ca.cert, self.program.url + '/debug/pprof/threads'))

    def test_only_these_names(self):
        for allowed, passes in (('bob, client', ('client',)),
                                ('DNS:POD.example', ('pod',)),
                                ('spiffe://cluster/ns/mon/*', ('pod',)),
                                ('DNS:client,CN:x', ())):
            program = Program(QUIET, PPROF_CLIENT_ALLOW=allowed,
                              **self.env)
            for name in ('client', 'pod'):
                with self.subTest(allowed=allowed, name=name):
                    self.assertEqual(self.as_(name, program),
                                     200 if name in passes else 403)
            program.stop()

    def test_keep_alive_and_a_large_post(self):
        cert, key = self.people['client']
        context = ssl.create_default_context(cafile=self.ca.cert)
        context.load_cert_chain(cert, key)
        c = http.client.HTTPSConnection('127.0.0.1', self.program.port,
                                        context=context, timeout=30)
        self.addCleanup(c.close)
        for _ in range(5):
            c.request('POST', '/debug/pprof/symbol', '0x1+' * 100000)
            reply = c.getresponse()
            self.assertEqual(reply.status, 200)
            self.assertTrue(reply.read().startswith(b'num_symbols: 1\n'))
            c.request('GET', '/debug/pprof/cmdline')
            reply = c.getresponse()
            self.assertEqual((reply.status, reply.read()),
                             (200, b'/bin/sleep\x001000'))

    def test_pipelined_requests_in_one_record(self):
        cert, key = self.people['client']
        context = ssl.create_default_context(cafile=self.ca.cert)
        context.load_cert_chain(cert, key)
        with socket.create_connection(('127.0.0.1', self.program.port)) as s:
            with context.wrap_socket(s, server_hostname='127.0.0.1') as t:
                one = b'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'
                last = one.replace(b'\r\n\r\n',
                                   b'\r\nConnection: close\r\n\r\n')
                t.sendall(one * 299 + last)
                got = b''
                while chunk := t.recv(65536):
                    got += chunk
        self.assertEqual(got.count(b'HTTP/1.1 200 OK'), 300)

    @support.needs('nmap')
    def test_nothing_below_tls_1_2_and_no_weak_cipher(self):
        done = subprocess.run(
            ['nmap', '-Pn', '-p', str(self.program.port), '--script',
             'ssl-enum-ciphers', '127.0.0.1'], capture_output=True, text=True,
            timeout=120)
        self.assertEqual(set(re.findall(r'(TLSv[\d.]+|SSLv\d)', done.stdout)),
                         {'TLSv1.2', 'TLSv1.3'}, done.stdout)
        grades = re.findall(r'(TLS_\S+) .* - ([A-F])', done.stdout)
        self.assertTrue(grades)
        for cipher, grade in grades:
            self.assertEqual(grade, 'A', cipher)
            self.assertRegex(cipher, r'GCM|CHACHA20')
        self.assertIn('least strength: A', done.stdout)
        self.assertNotIn('warnings', done.stdout)

    def test_old_protocols_and_renegotiation(self):
        address = '127.0.0.1:%d' % self.program.port
        for old in ('-tls1', '-tls1_1'):
            done = subprocess.run(
                ['openssl', 's_client', '-connect', address, old, '-cipher',
                 'ALL:@SECLEVEL=0'], input=b'', capture_output=True,
                timeout=20)
            self.assertNotEqual(done.returncode, 0)
        self.assertIn('no renegotiation', self.renegotiate(address))

    def renegotiate(self, address):
        """The output of s_client.  Its input stays open until it ends: at the
        end of its input it exits, with or without the answer."""
        client = subprocess.Popen(
            ['timeout', '60', 'openssl', 's_client', '-connect', address,
             '-tls1_2'], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)
        with client:
            client.stdin.write('R\n')
            client.stdin.flush()
            return client.stderr.read()


@support.needs('openssl', 'curl')
class Rotation(TestCase):
    def replace(self, pair):
        """As cert-manager and the kubelet do: another directory's link."""
        fresh = tempfile.mkdtemp(dir=self.dir)
        shutil.copy(pair[0], os.path.join(fresh, 'tls.crt'))
        shutil.copy(pair[1], os.path.join(fresh, 'tls.key'))
        link = self.path('link')
        os.symlink(fresh, link)
        os.rename(link, self.path('data'))

    def serial(self, port):
        pem = ssl.get_server_certificate(('127.0.0.1', port))
        done = subprocess.run(['openssl', 'x509', '-noout', '-subject'],
                              input=pem, capture_output=True, text=True)
        return done.stdout.strip().split('=')[-1].strip()

    def wait_for_serial(self, port, name):
        support.wait_for(lambda: self.serial(port) == name)

    def test_a_new_certificate_is_served(self):
        ca = certificates.Authority(self.dir)
        first, second = ca.sign('first'), ca.sign('second')
        third = ca.sign('third')
        self.replace(first)
        data = self.path('data')
        program = self.serve(PPROF_TLS_CERT=data + '/tls.crt',
                             PPROF_TLS_KEY=data + '/tls.key')
        context = ssl._create_unverified_context()
        old = http.client.HTTPSConnection('127.0.0.1', program.port,
                                          context=context)
        self.addCleanup(old.close)
        old.request('GET', '/healthz')
        self.assertEqual(old.getresponse().read(), b'ok')
        self.assertEqual(self.serial(program.port), 'first')
        self.replace(second)
        self.wait_for_serial(program.port, 'second')
        # A connection that was there goes on.
        old.request('GET', '/healthz')
        self.assertEqual(old.getresponse().read(), b'ok')
        # A pair that does not fit together is not taken, and said once.
        self.replace((third[0], second[1]))
        program_said = 'the old one stays in use'
        end = time.monotonic() + 60
        while time.monotonic() < end and not any(
                program_said in line for line in program.said):
            self.assertEqual(self.serial(program.port), 'second')
            time.sleep(0.1)
        time.sleep(2.5)
        self.assertEqual(self.serial(program.port), 'second')
        self.assertEqual(len([line for line in program.said
                              if program_said in line]), 1)
        self.assertIn('tls.key: key values mismatch',
                      program.wait_for_words(program_said))
        self.replace(third)
        self.wait_for_serial(program.port, 'third')


    def test_a_new_client_ca_counts_for_open_connections(self):
        old_ca = certificates.Authority(self.dir, 'old')
        new_ca = certificates.Authority(self.dir, 'new')
        cert, key = old_ca.sign('server')
        mine = old_ca.sign('me', usage='clientAuth')
        shutil.copy(old_ca.cert, self.path('ca'))
        program = self.serve(PPROF_TLS_CERT=cert, PPROF_TLS_KEY=key,
                             PPROF_CLIENT_CA=self.path('ca'))
        context = ssl._create_unverified_context()
        context.load_cert_chain(*mine)
        c = http.client.HTTPSConnection('127.0.0.1', program.port,
                                        context=context, timeout=30)
        self.addCleanup(c.close)
        c.request('GET', '/debug/pprof/cmdline')
        self.assertEqual(c.getresponse().read()[:1], b'/')
        shutil.copy(new_ca.cert, self.path('fresh'))
        os.rename(self.path('fresh'), self.path('ca'))

        def refused():
            try:
                c.request('GET', '/debug/pprof/cmdline')
                return not c.getresponse().read()
            except OSError:
                return True
        support.wait_for(refused, pause=0.5)  # it looks every second
        c.close()
        self.assertTrue(refused())  # by a new connection

    def test_a_session_is_resumed_until_the_ca_changes(self):
        ca = certificates.Authority(self.dir)
        cert, key = ca.sign('server')
        mine = ca.sign('me', usage='clientAuth')
        shutil.copy(ca.cert, self.path('ca'))
        program = self.serve(PPROF_TLS_CERT=cert, PPROF_TLS_KEY=key,
                             PPROF_CLIENT_CA=self.path('ca'))
        context = ssl._create_unverified_context()
        context.load_cert_chain(*mine)

        def ask(session=None):
            with socket.create_connection(('127.0.0.1', program.port)) as s:
                with context.wrap_socket(s, session=session) as t:
                    t.sendall(b'GET /debug/pprof/cmdline HTTP/1.1\r\n'
                              b'Host: localhost\r\nConnection: close\r\n\r\n')
                    self.assertIn(b' 200 ', t.recv(4096))
                    return t.session_reused, t.session
        reused, session = ask()
        self.assertFalse(reused)
        self.assertTrue(ask(session)[0])
        with open(self.path('ca'), 'a') as f:
            f.write('\n')
        support.wait_for(lambda: not ask(session)[0], pause=0.5)


class Loopback(TestCase):
    """library-go's: 127.0.0.1 and nobody is asked."""

    def test_everybody_here_but_no_stranger_s_page(self):
        program = self.serve()
        url = program.url + '/debug/pprof/cmdline'
        self.assertEqual(self.status(url), 200)
        self.assertEqual(self.status(url.replace('127.0.0.1', 'localhost')),
                         200)
        status, body = self.curl(url, '-H', 'Host: evil.example')
        self.assertEqual(status, 403)
        self.assertIn(b'PPROF_HOSTS', body)
        self.assertEqual(self.status(program.url + '/healthz', '-H',
                                     'Host: evil.example'), 200)
        self.assertFalse([x for x in program.said if 'audit' in x])

    def test_odd_hosts_and_other_sites(self):
        program = self.serve()
        url = program.url + '/debug/pprof/cmdline'
        for host in ('[::1]evil.example', '127.0.0.1:evil.example',
                     'localhost:80:80'):
            self.assertEqual(self.status(url, '-H', 'Host: ' + host), 403)
        self.assertEqual(self.status(url, '-H', 'Sec-Fetch-Site: cross-site'),
                         403)
        self.assertEqual(self.status(url, '-H', 'Sec-Fetch-Site: none'), 200)

    def test_a_name_that_is_allowed(self):
        program = self.serve(PPROF_HOSTS='pod.example', PPROF_AUDIT='stderr')
        url = program.url + '/debug/pprof/cmdline'
        self.assertEqual(self.status(url, '-H', 'Host: pod.example:8443'),
                         200)
        self.assertIn('who="-"', program.wait_for_words('audit'))

    def test_no_cors_no_sniffing_no_listing(self):
        program = self.serve()
        for path in ('/debug/pprof/', '/debug/pprof/threads', '/', '/etc',
                     '/debug/pprof/../../etc/passwd', '/healthz'):
            done = subprocess.run(
                ['curl', '-si', '--path-as-is', '-H', 'Origin: http://evil',
                 program.url + path], capture_output=True, text=True,
                errors='replace')
            head = done.stdout.split('\r\n\r\n')[0].lower()
            self.assertNotIn('access-control', head)
            self.assertIn('x-content-type-options: nosniff', head)
            self.assertNotIn('root:', done.stdout)


class BindAddress(TestCase):
    """controller-runtime's and Redkey's: an address of one's choice."""

    def refused(self, **env):
        full = {k: v for k, v in os.environ.items()
                if not k.startswith('PPROF_')}
        done = subprocess.run([SERVICE, '1'], env=dict(full, **env),
                              capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr

    def test_a_wider_address_needs_more(self):
        for address in (':0', '0.0.0.0:0', '[::]:0'):
            said = self.refused(PPROF_ADDR=address)
            for word in (address, 'other machines', 'PPROF_CLIENT_CA',
                         'PPROF_TOKEN_FILE', 'PPROF_INSECURE=1'):
                self.assertIn(word, said)

    def test_tokens_in_the_clear_need_more(self):
        with open(self.path('tokens'), 'w') as f:
            f.write('secret\n')
        os.chmod(self.path('tokens'), 0o600)
        said = self.refused(PPROF_ADDR=':0',
                            PPROF_TOKEN_FILE=self.path('tokens'))
        self.assertIn('unencrypted', said)
        program = self.serve(PPROF_ADDR='0.0.0.0:0', PPROF_INSECURE='1',
                             PPROF_TOKEN_FILE=self.path('tokens'))
        url = program.url.replace('0.0.0.0', '127.0.0.1') + '/debug/pprof/'
        self.assertEqual(self.status(url), 401)

    def test_insecure_says_it_in_so_many_words(self):
        program = self.serve(PPROF_ADDR='0.0.0.0:0', PPROF_INSECURE='1')
        url = program.url.replace('0.0.0.0', '127.0.0.1') + '/debug/pprof/'
        self.assertEqual(self.status(url, '-H', 'Host: any.name'), 200)
        program = self.serve(PPROF_ADDR='0.0.0.0:0', PPROF_INSECURE='1',
                             PPROF_HOSTS='pod.example')
        url = program.url.replace('0.0.0.0', '127.0.0.1') + '/debug/pprof/'
        self.assertEqual(self.status(url, '-H', 'Host: any.name'), 403)
        self.assertEqual(self.status(url, '-H', 'Host: pod.example'), 200)

    @support.needs('openssl')
    def test_settings_that_do_not_go_together(self):
        cert, key = certificates.self_signed(self.certs, 'a')
        _, other = certificates.self_signed(self.certs, 'b')
        self.assertIn('PPROF_TLS_KEY', self.refused(PPROF_TLS_CERT=cert))
        self.assertIn('PPROF_TLS_CERT', self.refused(PPROF_TLS_KEY=key))
        self.assertIn('PPROF_TLS_CERT', self.refused(PPROF_CLIENT_CA=cert))
        self.assertIn('PPROF_CLIENT_CA',
                      self.refused(PPROF_CLIENT_ALLOW='alice'))
        self.assertIn('PPROF_CLIENT_ALLOW) is empty', self.refused(
            PPROF_TLS_CERT=cert, PPROF_TLS_KEY=key, PPROF_CLIENT_CA=cert,
            PPROF_CLIENT_ALLOW=''))
        said = self.refused(PPROF_TLS_CERT=cert, PPROF_TLS_KEY=other)
        self.assertIn('key values mismatch', said)
        said = self.refused(PPROF_TLS_CERT='/nowhere', PPROF_TLS_KEY=key)
        self.assertIn('/nowhere', said)
        said = self.refused(PPROF_TOKEN_FILE='/nowhere')
        self.assertIn('open /nowhere: no such file', said)
        said = self.refused(PPROF_MAX_SECONDS='many')
        self.assertIn('PPROF_MAX_SECONDS=many: must be a number', said)
        said = self.refused(PPROF_KUBERNETES='1')
        self.assertIn('KUBERNETES_SERVICE_HOST', said)


@support.needs('curl')
class Tokens(TestCase):
    def setUp(self):
        super().setUp()
        self.write('# who may\nfirst\nbob:pass\n')
        self.program = self.serve(PPROF_TOKEN_FILE=self.path('tokens'))
        self.url = self.program.url + '/debug/pprof/cmdline'

    def write(self, text, mode=0o600):
        with open(self.path('new'), 'w') as f:
            f.write(text)
        os.chmod(self.path('new'), mode)
        os.rename(self.path('new'), self.path('tokens'))

    def test_bearer_and_basic(self):
        for options in (['-H', 'Authorization: Bearer first'],
                        ['-u', 'bob:pass'], ['-u', 'any:first']):
            self.assertEqual(self.status(self.url, *options), 200)
        for options in ([], ['-H', 'Authorization: Bearer firs'],
                        ['-H', 'Authorization: Bearer bob:pass'],
                        ['-u', 'bob:'], ['-u', 'eve:pass'],
                        ['-H', 'Authorization: Digest x']):
            status, body = self.curl(self.url, *options)
            self.assertEqual((status, body), (401, b'Unauthorized\n'))
        self.assertEqual(self.status(self.program.url + '/readyz'), 200)
        self.assertIn('who="user bob"',
                      self.program.wait_for_words('user bob'))

    def test_the_file_is_read_again(self):
        self.write('second\n')
        support.wait_for(lambda: self.status(
            self.url, '-H', 'Authorization: Bearer second') == 200, pause=0.5)
        self.assertEqual(self.status(self.url, '-u', 'bob:pass'), 401)
        os.remove(self.path('tokens'))
        support.wait_for(lambda: self.status(
            self.url, '-u', 'x:second') == 401, pause=0.5)
        self.program.wait_for_words('no token is valid until the file is readable again')

    def test_guessing_ends_soon(self):
        c = http.client.HTTPConnection('127.0.0.1', self.program.port)
        self.addCleanup(c.close)
        seen = []
        for i in range(80):
            c.request('GET', '/debug/pprof/cmdline', headers={
                'Authorization': 'Bearer %d' % i})
            reply = c.getresponse()
            reply.read()
            seen.append(reply.status)
        self.assertEqual(set(seen), {401, 429})
        self.assertEqual(seen[0], 401)
        self.assertEqual(seen[-1], 429)

    def test_strangers_do_not_use_up_the_limit_of_a_client(self):
        program = self.serve(PPROF_TOKEN_FILE=self.path('tokens'),
                             PPROF_MAX_REQUESTS='20')
        url = program.url + '/debug/pprof/cmdline'
        seen = [self.status(url) for _ in range(22)]
        self.assertEqual(seen, [401] * 20 + [429] * 2)
        token = ['-H', 'Authorization: Bearer first']
        seen = [self.status(url, *token) for _ in range(22)]
        self.assertEqual(seen, [200] * 20 + [429] * 2)
        self.assertEqual(self.status(url, '-u', 'bob:pass'), 200)

    def test_a_refused_client_leaves_one_line(self):
        for _ in range(5):
            self.status(self.url + '?secret=1')
        self.assertRegex(
            self.program.wait_for_words('refused'),
            r'^pprof: .*refused from=127\.0\.0\.1 status=401 '
            r'reason="Unauthorized" path="/debug/pprof/cmdline"\n$')
        lines = [x for x in self.program.said if 'refused' in x]
        self.assertEqual(len(lines), 1, lines)

    def test_a_file_that_others_can_read_is_worth_a_word(self):
        self.write('x\n', 0o644)
        program = self.serve(PPROF_TOKEN_FILE=self.path('tokens'))
        program.wait_for_words('chmod 600')

    def test_a_key_that_others_can_read_is_worth_a_word(self):
        cert, key = certificates.self_signed(self.dir, 'x')
        os.chmod(key, 0o644)
        program = self.serve(PPROF_TLS_CERT=cert, PPROF_TLS_KEY=key)
        self.assertIn(key, program.wait_for_words('chmod 600'))
        os.chmod(key, 0o600)
        program = self.serve(PPROF_TLS_CERT=cert, PPROF_TLS_KEY=key)
        self.assertFalse([x for x in program.said if 'chmod' in x])

    def test_a_token_for_writing_reads_nothing(self):
        self.write('w scope=write\nr scope=read\n')
        program = self.serve(PPROF_TOKEN_FILE=self.path('tokens'))
        url = program.url + '/debug/pprof/cmdline'
        self.assertEqual(self.curl(url, '-H', 'Authorization: Bearer w'),
                         (403, b'this token may not read\n'))
        self.assertEqual(self.status(url, '-H', 'Authorization: Bearer r'),
                         200)

    @support.needs('go')
    def test_go_tool_pprof_with_a_password_in_the_url(self):
        env = dict(os.environ, HOME=self.dir, PPROF_TMPDIR=self.dir)
        url = self.url.replace('http://', 'http://bob:%s@').replace(
            'cmdline', 'threads')
        done = subprocess.run(['go', 'tool', 'pprof', '-top', url % 'pass'],
                              env=env, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('Type: threads', done.stdout)
        done = subprocess.run(['go', 'tool', 'pprof', '-top', url % 'wrong'],
                              env=env, capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('401', done.stderr)

    def test_our_pprof_with_a_password_in_the_url(self):
        done = self.pprof('-top', '-no_save',
                          self.url.replace('http://', 'http://bob:pass@')
                          .replace('cmdline', 'threads'))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('Type: threads', done.stdout)


class UnixSocket(TestCase):
    def test_its_mode_and_its_user(self):
        path = self.path('s')
        program = self.serve(PPROF_ADDR='unix:' + path)
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        ask = ['curl', '-s', '--unix-socket', path, '-o', '/dev/null', '-w',
               '%{http_code}', 'http://any.name/debug/pprof/cmdline']
        self.assertEqual(subprocess.run(ask, capture_output=True).stdout,
                         b'200')
        program.stop()
        if os.getuid() != 0:
            self.skipTest('another user can be tried as root alone')
        os.chmod(self.dir, 0o755)
        program = self.serve(PPROF_ADDR='unix:' + path, PPROF_UNIX_MODE='666')
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o666)
        done = subprocess.run(ask, capture_output=True, user=65534)
        self.assertEqual(done.stdout, b'403')
        self.assertEqual(subprocess.run(ask, capture_output=True).stdout,
                         b'200')


class Limits(TestCase):
    def test_the_longest_profile(self):
        program = self.serve(PPROF_MAX_SECONDS='2')
        url = program.url + '/debug/pprof/'
        for name in ('profile?seconds=3', 'trace?seconds=2.5',
                     'threads?seconds=99999999999'):
            self.assertEqual(
                self.curl(url + name),
                (400, b'"seconds" may be 2 at most in this program\n'))
        start = time.monotonic()
        self.assert_profile(self.curl(url + 'profile'))  # not 30
        self.assertLess(time.monotonic() - start, 20)

    def test_the_head_alone_takes_no_time(self):
        program = self.serve()
        for name in ('profile', 'trace?seconds=200', 'threads?seconds=200'):
            self.assertEqual(self.status(program.url + '/debug/pprof/' + name,
                                         '-I', '-m', '30'), 200)

    def test_so_many_requests_a_minute(self):
        program = self.serve(PPROF_MAX_REQUESTS='5')
        seen = [self.status(program.url + '/debug/pprof/cmdline')
                for _ in range(7)]
        self.assertEqual(seen, [200] * 5 + [429] * 2)
        self.assertEqual(self.status(program.url + '/healthz'), 200)

    def test_so_many_connections(self):
        program = self.serve(PPROF_MAX_CONNECTIONS='3')
        silent = [socket.create_connection(('127.0.0.1', program.port))
                  for _ in range(10)]
        self.assertEqual(self.status(program.url + '/debug/pprof/cmdline'),
                         200)
        fds = '/proc/%d/fd' % program.process.pid
        sockets = [f for f in os.listdir(fds) if os.path.islink(
            os.path.join(fds, f)) and 'socket' in os.readlink(
                os.path.join(fds, f))]
        self.assertLessEqual(len(sockets), 5)
        for s in silent:
            s.close()

    def test_probes_answer_while_all_workers_wait(self):
        program = self.serve()
        busy = []
        for _ in range(12):
            s = socket.create_connection(('127.0.0.1', program.port))
            s.sendall(b'GET /debug/pprof/threads?seconds=200 HTTP/1.1\r\n'
                      b'Host: localhost\r\n\r\n')
            busy.append(s)
        time.sleep(0.5)
        self.assertEqual(self.status(program.url + '/healthz', '-m', '30'),
                         200)
        for s in busy:
            s.close()


@support.needs('openssl', 'curl')
class Page(TestCase):
    """pprof -http by TLS."""

    def start(self, *options):
        sample = self.path('p')
        with open(sample, 'w') as f:
            f.write('threads profile: total 1\n1 @ 0x1 0x2\n')
        process = subprocess.Popen(
            [support.PPROF, '-no_browser', *options, sample], text=True,
            stderr=subprocess.PIPE, env=dict(os.environ, HOME=self.dir))
        self.addCleanup(process.stderr.close)
        self.addCleanup(support.stop, process)
        for line in process.stderr:
            found = re.search(r'Serving web UI on (\S+)', line)
            if found:
                return found.group(1).replace('0.0.0.0', '127.0.0.1')
        self.fail('no page')

    def test_certificates_instead_of_a_token(self):
        ca = certificates.Authority(self.certs)
        cert, key = ca.sign('page', alternatives='IP:127.0.0.1')
        mine = ca.sign('me', usage='clientAuth')
        url = self.start('-http=0.0.0.0:0', '-http_cert=' + cert,
                         '-http_key=' + key, '-http_client_ca=' + ca.cert)
        self.assertTrue(url.startswith('https://'), url)
        self.assertNotIn('token', url)
        trust = ['--cacert', ca.cert, '-L']
        self.assertEqual(self.status(url + '/ui/', *trust), 403)
        self.assertEqual(self.status(url + '/ui/', *trust, '--cert', mine[0],
                                     '--key', mine[1]), 200)

    def test_a_token_that_travels_by_tls(self):
        cert, key = certificates.self_signed(self.certs, 'page')
        url = self.start('-http=0.0.0.0:0', '-http_cert=' + cert,
                         '-http_key=' + key)
        self.assertEqual(self.status(url.split('?')[0], '-k'), 403)
        done = subprocess.run(['curl', '-ski', url], capture_output=True,
                              text=True)
        self.assertIn('302 Found', done.stdout)
        self.assertIn('; Secure', done.stdout)
        self.assertEqual(self.status(url, '-kL', '-c', self.path('jar'), '-b',
                                     self.path('jar')), 200)


@support.needs('curl')
class MountedHandler(TestCase):
    """On a server that the program has already: its own rules hold."""

    def test_on_microhttpd(self):
        command = os.path.join(support.BUILD, 'examples', 'on-microhttpd')
        if not os.path.exists(command):
            self.skipTest('not built')
        process = subprocess.Popen([command], stdout=subprocess.PIPE,
                                   text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(support.stop, process)
        url = 'http://%s/debug/pprof/' % process.stdout.readline().strip()
        for name in ('profile?seconds=1', 'goroutine', 'threads'):
            self.assert_profile(self.curl(url + name))
        head = subprocess.run(['curl', '-sI', url], capture_output=True,
                              text=True).stdout.lower()
        self.assertIn('nosniff', head)
        self.assertNotIn('access-control', head)
