"""pprof fetches from a real etcd that demands client certificates."""

import os
import shutil
import subprocess
import tempfile

import support

EXTENSIONS = '''
[server]
subjectAltName = IP:127.0.0.1, DNS:localhost
extendedKeyUsage = serverAuth
[client]
extendedKeyUsage = clientAuth
'''


def openssl(dir, *args):
    subprocess.run(['openssl', *args], cwd=dir, check=True,
                   capture_output=True)


def make_ca(dir, name):
    openssl(dir, 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2',
            '-subj', '/CN=' + name, '-keyout', name + '.key', '-out',
            name + '.crt')


def make_certificate(dir, name, ca, section):
    openssl(dir, 'req', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=' + name,
            '-keyout', name + '.key', '-out', name + '.csr')
    openssl(dir, 'x509', '-req', '-in', name + '.csr', '-CA', ca + '.crt',
            '-CAkey', ca + '.key', '-CAcreateserial', '-days', '2', '-extfile',
            'extensions', '-extensions', section, '-out', name + '.crt')


@support.needs('etcd', 'openssl')
class Etcd(support.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.certs = tempfile.mkdtemp(prefix='pprof-etcd-')
        with open(os.path.join(cls.certs, 'extensions'), 'w') as f:
            f.write(EXTENSIONS)
        for ca in ('ca', 'foreign-ca'):
            make_ca(cls.certs, ca)
        make_certificate(cls.certs, 'server', 'ca', 'server')
        make_certificate(cls.certs, 'client', 'ca', 'client')
        make_certificate(cls.certs, 'stranger', 'foreign-ca', 'client')
        make_certificate(cls.certs, 'lone', 'ca', 'client')
        os.unlink(cls.cert('lone.crt'))
        with open(cls.cert('both.pem'), 'w') as both:
            for part in ('client.crt', 'client.key'):
                with open(cls.cert(part)) as f:
                    both.write(f.read())
        cls.start_etcd()

    @classmethod
    def start_etcd(cls):
        cls.port, peer = support.free_port(), support.free_port()
        url = 'https://127.0.0.1:%d' % cls.port
        peer_url = 'http://127.0.0.1:%d' % peer
        cls.etcd = subprocess.Popen(
            ['etcd', '--name', 'test', '--data-dir', cls.cert('data'),
             '--listen-client-urls', url, '--advertise-client-urls', url,
             '--listen-peer-urls', peer_url, '--initial-advertise-peer-urls',
             peer_url, '--initial-cluster', 'test=' + peer_url,
             '--cert-file', cls.cert('server.crt'), '--key-file',
             cls.cert('server.key'), '--client-cert-auth', '--trusted-ca-file',
             cls.cert('ca.crt'), '--enable-pprof', '--logger', 'zap'],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        support.wait_for_port(cls.port, cls.etcd)

    @classmethod
    def tearDownClass(cls):
        support.stop(cls.etcd)
        shutil.rmtree(cls.certs, ignore_errors=True)

    @classmethod
    def cert(cls, name):
        return os.path.join(cls.certs, name)

    def url(self, profile, scheme='https'):
        return '%s://127.0.0.1:%d/debug/pprof/%s' % (scheme, self.port, profile)

    def fetch(self, url, cert=None, key=None, ca=None):
        args = ['-top', '-no_save']
        for flag, name in (('cert', cert), ('key', key), ('ca', ca)):
            if name:
                args += ['-tls_' + flag, self.cert(name)]
        return self.pprof(*args, url)

    def assert_fetched(self, result, kind):
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn('Type: ' + kind, result.stdout)
        self.assertIn('File: etcd', result.stdout)

    def test_profiles_with_certificate_key_and_ca(self):
        for name, kind in (('profile?seconds=1', 'cpu'), ('mutex', 'delay'),
                           ('heap', 'inuse_space'), ('goroutine', 'goroutine')):
            with self.subTest(name):
                self.assert_fetched(
                    self.fetch(self.url(name), 'client.crt', 'client.key',
                               'ca.crt'), kind)

    def test_https_insecure_still_sends_the_certificate(self):
        url = self.url('goroutine', 'https+insecure')
        self.assert_fetched(self.fetch(url, 'client.crt', 'client.key'),
                            'goroutine')
        self.assert_fetched(
            self.fetch(url, 'client.crt', 'client.key', 'foreign-ca.crt'),
            'goroutine')

    def test_one_file_with_both(self):
        self.assert_fetched(
            self.fetch(self.url('goroutine'), 'both.pem', 'both.pem', 'ca.crt'),
            'goroutine')

    def test_the_recipe_with_only_a_key(self):
        """-tls_key K -tls_ca C: the certificate is in K, or beside it."""
        url = self.url('goroutine', 'https+insecure')
        r = self.fetch(url, key='both.pem', ca='ca.crt')
        self.assert_fetched(r, 'goroutine')
        self.assertIn('No -tls_cert given: using ' + self.cert('both.pem'),
                      r.stderr)
        r = self.fetch(url, key='client.key', ca='ca.crt')
        self.assert_fetched(r, 'goroutine')
        self.assertIn('No -tls_cert given: using ' + self.cert('client.crt'),
                      r.stderr)

    def test_no_certificate(self):
        self.assert_fails(
            self.fetch(self.url('heap'), ca='ca.crt'),
            'the server requires a client certificate: give it with -tls_cert')

    def test_a_certificate_of_a_foreign_ca(self):
        self.assert_fails(
            self.fetch(self.url('heap'), 'stranger.crt', 'stranger.key',
                       'ca.crt'),
            'the server refused the client certificate')

    def test_a_server_certificate_as_client(self):
        self.assert_fails(
            self.fetch(self.url('heap'), 'server.crt', 'server.key', 'ca.crt'),
            'the server refused the client certificate',
            'valid for client authentication')

    def test_a_server_that_is_not_trusted(self):
        for ca in (None, 'foreign-ca.crt'):
            self.assert_fails(
                self.fetch(self.url('heap'), 'client.crt', 'client.key', ca),
                "the server's certificate is not trusted", '-tls_ca')

    def test_a_key_that_does_not_fit(self):
        self.assert_fails(
            self.fetch(self.url('heap'), 'client.crt', 'stranger.key',
                       'ca.crt'),
            'could not load certificate/key pair specified by -tls_cert')

    def test_files_that_are_not_there(self):
        self.assert_fails(
            self.fetch(self.url('heap'), 'absent.crt', 'client.key', 'ca.crt'),
            'could not load certificate/key pair')
        self.assert_fails(
            self.fetch(self.url('heap'), 'client.crt', 'client.key', 'absent'),
            'could not load CA specified by -tls_ca')
        self.assert_fails(
            self.fetch(self.url('heap'), key='lone.key', ca='ca.crt'),
            '-tls_key is specified, so -tls_cert must also be specified')

    def test_http_instead_of_https(self):
        self.assert_fails(self.fetch(self.url('heap', 'http')),
                          'HTTP')


if __name__ == '__main__':
    import unittest
    unittest.main()
