"""TLS between pprofd and ClickHouse, with client certificates."""

import os
import subprocess
import unittest

import certificates
import clickhouse
import support
from clickhouse import StoreTest
from collector import PPROFD, cpu_profile

OPENSSL = '''<https_port>%d</https_port><openSSL><server>
  <certificateFile>%s</certificateFile><privateKeyFile>%s</privateKeyFile>
  <caConfig>%s</caConfig><verificationMode>%s</verificationMode>
  <cacheSessions>false</cacheSessions></server></openSSL>'''


class Tls(StoreTest):
    MODE = 'strict'

    def make_server(self):
        self.ca = certificates.Authority(self.dir)
        cert, key = self.ca.sign('server', alternatives='DNS:localhost')
        self.client = self.ca.sign('client', usage='clientAuth')
        self.https = support.free_port()
        server = clickhouse.Old(more=OPENSSL % (self.https, cert, key,
                                                self.ca.cert, self.MODE))
        self.addCleanup(server.stop)
        return server

    def secure_url(self, host='localhost'):
        return 'clickhouses://%s:%d/%s' % (host, self.https, self.database)

    def flags(self, ca=None, cert=None):
        out = ['--store-ca', ca or self.ca.cert]
        if cert:
            out += ['--store-cert', cert[0], '--store-key', cert[1]]
        return out

    def refused(self, *args, host='localhost'):
        ran = subprocess.run(
            [PPROFD, 'serve', '--addr', '127.0.0.1:0', '--data',
             self.path('none'), '--store', self.secure_url(host), *args],
            capture_output=True, text=True, timeout=60)
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertIn('ClickHouse at https://%s:%d' % (host, self.https),
                      ran.stderr)
        return ran.stderr

    def test_client_certificate(self):
        pprofd = self.collector(*self.flags(cert=self.client),
                                url=self.secure_url())
        self.stored(pprofd, cpu_profile({'main;a': 1}))
        self.assertEqual(self.top(pprofd), {'a': 1})
        self.assertIn('--store-cert', self.refused(*self.flags()))
        self.assertIn('check --store-ca', self.refused(
            *self.flags(cert=self.client), host='127.0.0.1'))
        os.mkdir(self.path('other'))
        other = certificates.Authority(self.path('other'))
        self.assertIn('check --store-ca', self.refused(
            *self.flags(ca=other.cert, cert=self.client)))
        self.assertIn('check --store-cert', self.refused(
            *self.flags(cert=(self.path('missing'), self.client[1]))))


if __name__ == '__main__':
    unittest.main()
