"""Certificates for tests, made with the openssl program."""
import os
import subprocess


def openssl(*args):
    subprocess.run(['openssl', *args], check=True, capture_output=True)


class Authority:
    """A CA in a directory: DIR/NAME.crt and .key, and what it signs."""

    def __init__(self, directory, name='ca'):
        self.dir = directory
        self.cert, self.key = self.pair(name)
        openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt',
                'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2',
                '-subj', '/CN=%s' % name, '-keyout', self.key,
                '-out', self.cert)

    def pair(self, name):
        return (os.path.join(self.dir, name + '.crt'),
                os.path.join(self.dir, name + '.key'))

    def sign(self, name, subject=None, usage=None, alternatives=None,
             days='2'):
        """(certificate, key) for a name; usage: clientAuth, serverAuth."""
        cert, key = self.pair(name)
        request = os.path.join(self.dir, name + '.csr')
        lines = ['basicConstraints=CA:FALSE']
        if usage:
            lines.append('extendedKeyUsage=' + usage)
        if alternatives:
            lines.append('subjectAltName=' + alternatives)
        extensions = os.path.join(self.dir, name + '.ext')
        with open(extensions, 'w') as f:
            f.write('\n'.join(lines) + '\n')
        openssl('req', '-newkey', 'ec', '-pkeyopt',
                'ec_paramgen_curve:prime256v1', '-nodes', '-subj',
                '/CN=%s' % (subject or name), '-keyout', key,
                '-out', request)
        openssl('x509', '-req', '-in', request, '-CA', self.cert, '-CAkey',
                self.key, '-CAcreateserial', '-days', days, '-extfile',
                extensions, '-out', cert)
        return cert, key


def self_signed(directory, name, *options):
    """A certificate as in guides: `openssl req -x509`, an RSA key, no host
    names."""
    cert = os.path.join(directory, name + '.crt')
    key = os.path.join(directory, name + '.key')
    openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2',
            '-subj', '/CN=%s' % name, '-keyout', key, '-out', cert, *options)
    return cert, key
