"""What the tests of buckets share: s3rver, an S3 server from npm, and a small
server to put before it that counts, fails, remembers, and checks signatures,
which s3rver does not do for version 4."""

import hashlib
import hmac
import http.client
import http.server
import os
import re
import shutil
import subprocess
import threading
import unittest

import support

PACKAGE = 's3rver@3.7.1'
HOME = os.path.join(os.path.abspath(support.BUILD), 's3rver')
SERVER = os.path.join(HOME, 'node_modules', '.bin', 's3rver')
MISMATCH = (403, b'<Error><Code>SignatureDoesNotMatch</Code></Error>')
OBJECT = '._S3rver_object'  # the end of the names of s3rver's files
KEY = 'S3RVER' # both the id and the secret that s3rver knows


def install():
    """Once, into the build directory; skips the tests where npm cannot."""
    if os.path.exists(SERVER):
        return
    if not shutil.which('npm'):
        raise unittest.SkipTest('npm is not installed')
    os.makedirs(HOME, exist_ok=True)
    npm = subprocess.run(
        ['npm', 'install', '--no-audit', '--no-fund', '--no-package-lock',
         '--ignore-scripts', '--prefix', HOME, PACKAGE], cwd=HOME,
        capture_output=True, text=True)
    if npm.returncode != 0:
        raise unittest.SkipTest('npm cannot install ' + PACKAGE)


class Bucket:
    """A running s3rver with the bucket `profiles`."""

    def __init__(self, directory):
        self.directory = directory
        self.port = support.free_port()
        self.process = subprocess.Popen(
            [SERVER, '-d', directory, '-a', '127.0.0.1', '-p', str(self.port),
             '--configure-bucket', 'profiles', '-s'],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        support.wait_for_port(self.port, self.process)

    def stop(self):
        support.stop(self.process)

    def objects(self):
        """{key: bytes}"""
        found = {}
        for place, _, names in os.walk(os.path.join(self.directory,
                                                    'profiles')):
            for name in names:
                if name.endswith(OBJECT):
                    path = os.path.join(place, name)
                    key = os.path.relpath(path, self.directory)
                    with open(path, 'rb') as f:
                        found[key[len('profiles/'):-len(OBJECT)]] = f.read()
        return found


def signature(secret, method, path, headers, body):
    """Signature Version 4 of a request, from its Authorization header."""
    date, region, names = re.search(
        r'Credential=[^/]+/(\d+)/([^/]+)/s3/aws4_request, ?'
        r'SignedHeaders=([^,]+)', headers['Authorization']).groups()
    path, _, query = path.partition('?')
    request = '\n'.join(
        [method, path, '&'.join(sorted(query.split('&'))),
         *('%s:%s' % (n, headers[n].strip()) for n in names.split(';')), '',
         names, hashlib.sha256(body).hexdigest()])
    scope = '/'.join((date, region, 's3', 'aws4_request'))
    text = '\n'.join(('AWS4-HMAC-SHA256', headers['X-Amz-Date'], scope,
                      hashlib.sha256(request.encode()).hexdigest()))
    key = b'AWS4' + secret.encode()
    for word in (*scope.split('/'), text):
        key = hmac.new(key, word.encode(), hashlib.sha256).digest()
    return key.hex()


class Front:
    """Passes requests on to `port`, unless `answer` replies itself: it gets
    the number of the request, and returns (status, body) or None."""

    def __init__(self, port=None, answer=lambda n: None, secret=KEY):
        self.requests = [] # (method, path, headers)
        front = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def serve(self):
                body = self.rfile.read(int(self.headers.get('Content-Length',
                                                            0)))
                front.requests.append((self.command, self.path, self.headers))
                wrong = not self.headers['Authorization'].endswith(
                    signature(secret, self.command, self.path, self.headers,
                              body))
                status, reply, *headers = (
                    answer(len(front.requests)) or
                    (wrong and port and MISMATCH) or
                    front.pass_on(port, self, body))
                self.send_response(status)
                for header in headers:
                    self.send_header(*header)
                self.send_header('Content-Length', str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            do_GET = do_PUT = do_POST = do_DELETE = serve

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0),
                                                      Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *args: None  # clients go early
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever,
                         daemon=True).start()

    @staticmethod
    def pass_on(port, request, body):
        connection = http.client.HTTPConnection('127.0.0.1', port, timeout=60)
        try:
            connection.request(request.command, request.path, body,
                               dict(request.headers))
            reply = connection.getresponse()
            etag = reply.headers['ETag']
            return (reply.status, reply.read(),
                    *([('ETag', etag)] if etag else []))
        finally:
            connection.close()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
