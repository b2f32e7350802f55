"""pprofd scrapes a real etcd that demands client certificates, while clients',
servers' and CAs' certificates are replaced."""

import os
import shutil
import subprocess
import time
import unittest

import support
from test_etcd import EXTENSIONS, make_ca, make_certificate
from test_scrape import ScrapeTest, job


@support.needs('etcd', 'openssl')
class Etcd(ScrapeTest):
    def setUp(self):
        super().setUp()
        self.write('extensions', EXTENSIONS)
        make_ca(self.dir, 'ca')
        make_ca(self.dir, 'foreign')
        make_certificate(self.dir, 'server', 'ca', 'server')
        make_certificate(self.dir, 'client', 'ca', 'client')
        make_certificate(self.dir, 'stranger', 'foreign', 'client')
        self.port, peer = support.free_port(), support.free_port()
        url = 'https://127.0.0.1:%d' % self.port
        peer_url = 'http://127.0.0.1:%d' % peer
        etcd = subprocess.Popen(
            ['etcd', '--name', 'test', '--data-dir', self.path('etcd'),
             '--listen-client-urls', url, '--advertise-client-urls', url,
             '--listen-peer-urls', peer_url, '--initial-advertise-peer-urls',
             peer_url, '--initial-cluster', 'test=' + peer_url,
             '--cert-file', self.path('server.crt'), '--key-file',
             self.path('server.key'), '--client-cert-auth',
             '--trusted-ca-file', self.path('ca.crt'), '--enable-pprof',
             '--logger', 'zap'],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(support.stop, etcd)
        support.wait_for_port(self.port, etcd)

    def use(self, name):
        for end in ('.crt', '.key'):
            shutil.copy(self.path(name + end), self.path('now' + end + '.new'))
            os.rename(self.path('now' + end + '.new'), self.path('now' + end))

    def job(self, name, *more):
        return job(name, '127.0.0.1:%d' % self.port, 'scheme: https',
                   'profiles: [heap]', *more)

    def test_mutual_tls_and_rotation(self):
        self.use('client')
        # Paths are relative to the configuration.
        self.start(
            self.job('etcd', 'tls_config: {ca_file: ca.crt, cert_file: '
                     'now.crt, key_file: now.key}'),
            self.job('bare', 'tls_config: {ca_file: ca.crt}'),
            self.job('blind', 'tls_config: {cert_file: client.crt, key_file: '
                     'client.key}'),
            self.job('misled', 'tls_config: {ca_file: ca.crt, cert_file: '
                     'client.crt, key_file: client.key, server_name: x.y}'),
            self.job('careless', 'tls_config: {insecure_skip_verify: true, '
                     'cert_file: client.crt, key_file: client.key}'))
        self.wait_good('heap', service='etcd')
        self.wait_stored('etcd', 'heap', 'etcd')
        self.wait_good('heap', service='careless')
        self.wait_bad('certificate problem', 'requires a client certificate',
                      service='bare')
        self.wait_bad('certificate problem', 'not trusted.*ca_file',
                      service='blind')
        self.wait_bad('certificate problem', 'another name.*server_name',
                      service='misled')
        # A certificate that etcd does not trust, and then the right one again.
        self.use('stranger')
        self.wait_bad('certificate problem', 'refused the client certificate',
                      service='etcd')
        good = self.profiles(service='etcd')['heap']['good']
        self.use('client')
        self.wait_good('heap', more_than=good, service='etcd')

    def use_ca(self, *names):
        texts = []
        for name in names:
            with open(self.path(name + '.crt')) as f:
                texts.append(f.read())
        self.write('trusted.crt', ''.join(texts))

    def test_a_new_ca(self):
        """etcd reads its certificate anew for each connection."""
        self.use_ca('ca')
        self.start(self.job('etcd', 'tls_config: {ca_file: trusted.crt, '
                            'cert_file: client.crt, key_file: client.key}'))
        self.wait_good('heap', service='etcd')
        # The proper order: first trust both, then change the server's.
        make_ca(self.dir, 'next')
        self.use_ca('ca', 'next')
        time.sleep(6)  # libcurl keeps CAs for 5 seconds
        make_certificate(self.dir, 'fresh', 'next', 'server')
        for end in ('.key', '.crt'):
            os.rename(self.path('fresh' + end), self.path('server' + end))
        now = self.profiles(service='etcd')['heap']
        self.wait_good('heap', more_than=now['good'] + 2, service='etcd')
        # Without the new CA it fails, and with it alone it works.
        self.use_ca('ca')
        self.wait_bad('certificate problem', 'not trusted.*ca_file',
                      service='etcd')
        good = self.profiles(service='etcd')['heap']['good']
        self.use_ca('next')
        self.wait_good('heap', more_than=good, service='etcd')


if __name__ == '__main__':
    unittest.main()
