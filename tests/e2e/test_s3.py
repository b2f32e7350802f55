"""export to and import from a bucket, with an S3 server behind one that
checks signatures, and with servers that fail."""

import os
import re
import subprocess
import unittest

import s3
import support
from collector import (CollectorTest, PPROFD, Pprofd, SECOND, TIME,
                       cpu_profile, store_flags)

PLACE = 's3://profiles/some/where'
LISTING = (b'<ListBucketResult><Contents><Key>%s</Key><Size>9</Size>'
           b'</Contents>%s</ListBucketResult>')


class BucketTest(CollectorTest):
    """Three profiles, the third an opaque one; the collector is stopped."""

    def setUp(self):
        super().setUp()
        self.post(cpu_profile({'main;work': 3}), service='api', type='cpu')
        self.post(cpu_profile({'main;idle': 5}, TIME + 90000 * SECOND),
                  service='web/../x', type='cpu',
                  labels=','.join('%s=%s' % (k, v) for k, v in
                                  (('host', 'a'), ('version', '1.0/ü'))))
        self.post(b'opaque', service='..', type='trace')
        self.before = self.contents(self.pprofd)
        self.assertEqual(len(self.before), 3)
        self.pprofd.stop()

    def post(self, body, **query):
        reply = self.pprofd.post(body, **query)
        self.assertEqual(reply.status, 200, reply.text)

    @staticmethod
    def contents(pprofd):
        """{id: (what the listing says, the profile)}"""
        listed = pprofd.get('/api/1/profiles', limit='1000',
                            **{'from': '0'}).json['profiles']
        return {p['id']: (
            {k: p[k] for k in ('service', 'type', 'labels', 'created_at')},
            pprofd.get('/api/0/profiles/' + p['id']).body) for p in listed}

    def run_s3(self, command, data, port, *args, place=PLACE, **env):
        full = {k: v for k, v in os.environ.items()
                if not k.startswith('AWS_') and 'proxy' not in k.lower()}
        full.update(AWS_ACCESS_KEY_ID=s3.KEY, AWS_SECRET_ACCESS_KEY=s3.KEY)
        full.update(env)
        return subprocess.run(
            [PPROFD, command, '--data', self.path(data),
             *store_flags(self.path(data)), '--s3-endpoint',
             'http://127.0.0.1:%d' % port, *args, place], env=full,
            capture_output=True, text=True, timeout=120)

    def assert_ran(self, result, words):
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(words, result.stdout)

    def assert_refused(self, result, *words):
        self.assertEqual(result.returncode, 1, result.stdout)
        for word in words:
            self.assertIn(word, result.stderr)

    def front(self, port=None, answer=lambda n: None):
        front = s3.Front(port, answer)
        self.addCleanup(front.stop)
        return front


class RealServerTest(BucketTest):
    @classmethod
    def setUpClass(cls):
        s3.install()

    def setUp(self):
        super().setUp()
        self.bucket = s3.Bucket(self.path('bucket'))
        self.addCleanup(self.bucket.stop)
        self.port = self.front(self.bucket.port).port

    def test_profiles_come_back_as_they_were(self):
        for _ in range(2): # doing it again is harmless
            self.assert_ran(self.run_s3('export', 'data', self.port),
                            'exported 3 profiles to ' + PLACE)
        self.assert_ran(self.run_s3('import', 'new', self.port),
                        'imported 3 profiles (0 of them')
        self.assert_ran(self.run_s3('import', 'new', self.port),
                        'imported 3 profiles (3 of them')
        copy = Pprofd(self.path('new'))
        try:
            self.assertEqual(self.contents(copy), self.before)
        finally:
            copy.stop()

    def test_a_region_without_a_name(self):
        """As Google's Cloud Storage wants it; its credentials are an HMAC
        key, signed in the same way."""
        for command, data in (('export', 'data'), ('import', 'new')):
            done = self.run_s3(command, data, self.port, AWS_REGION='auto')
            self.assert_ran(done, '%sed 3 profiles' % command)

    def test_the_endpoint_of_the_environment(self):
        result = subprocess.run(
            [PPROFD, 'export', '--data', self.path('data'),
             *store_flags(self.path('data')), 's3://profiles'],
            env={**os.environ, 'AWS_ACCESS_KEY_ID': s3.KEY,
                 'AWS_SECRET_ACCESS_KEY': s3.KEY, 'AWS_REGION': 'eu-west-1',
                 'AWS_ENDPOINT_URL':
                     'http://127.0.0.1:%d/' % self.bucket.port},
            capture_output=True, text=True)
        self.assert_ran(result, 'exported 3 profiles')

    def test_refusals_say_what_to_do(self):
        port = self.port
        wrong = self.run_s3('export', 'data', port,
                            AWS_SECRET_ACCESS_KEY='not-the-secret')
        self.assert_refused(wrong, 's3://profiles/some/where/',
                            'status 403 SignatureDoesNotMatch',
                            'check AWS_SECRET_ACCESS_KEY')
        self.assertNotIn('not-the-secret', wrong.stderr + wrong.stdout)
        self.assert_refused(
            self.run_s3('export', 'data', self.bucket.port,
                        AWS_ACCESS_KEY_ID='nobody'),
            'status 403 InvalidAccessKeyId', 'check AWS_ACCESS_KEY_ID')
        self.assert_refused(
            self.run_s3('import', 'new', port, place='s3://missing/x'),
            'status 404 NoSuchBucket', 'check the name')
        self.assert_refused(
            self.run_s3('import', 'new', port, place='s3://profiles/som'),
            'no exported profiles')

    def test_errors_that_go_away(self):
        for reply in ((500, b'<Error><Code>InternalError</Code></Error>'),
                      (503, b'<Error><Code>SlowDown</Code></Error>')):
            front = self.front(self.bucket.port,
                               lambda n, r=reply: r if n <= 2 else None)
            self.assert_ran(self.run_s3('export', 'data', front.port),
                            'exported 3 profiles')
            self.assertEqual(len(front.requests), 2 + 3)
        front = self.front(self.bucket.port,
                           lambda n: (500, b'') if n in (1, 3) else None)
        self.assert_ran(self.run_s3('import', 'new', front.port),
                        'imported 3 profiles')


class OwnServerTest(BucketTest):
    def test_a_server_that_is_down(self):
        self.assert_refused(
            self.run_s3('export', 'data', support.free_port()),
            'write s3://profiles/some/where/', 'connect',
            'check --s3-endpoint')

    def test_errors_that_stay(self):
        front = self.front(answer=lambda n: (
            500, b'<Error><Code>InternalError</Code>'
                 b'<Message>We are sorry</Message></Error>'))
        self.assert_refused(self.run_s3('export', 'data', front.port),
                            'status 500 InternalError: We are sorry',
                            'try again later')
        self.assertEqual(len(front.requests), 5)

    def test_refusals_are_not_tried_again(self):
        front = self.front(answer=lambda n: (
            403, b'<Error><Code>AccessDenied</Code></Error>'))
        self.assert_refused(self.run_s3('import', 'new', front.port),
                            'AccessDenied', 's3:ListBucket')
        self.assertEqual(len(front.requests), 1)

    def test_listings_with_several_pages(self):
        pages = [LISTING % (b'a/other.txt', b'<NextContinuationToken>x+/='
                                            b'</NextContinuationToken>'),
                 LISTING % (b'b/other.txt', b'')]
        front = self.front(answer=lambda n: (200, pages[n - 1]))
        self.assert_refused(self.run_s3('import', 'new', front.port),
                            'skipped 2 objects', 'not exported profiles')
        self.assertEqual([path for _, path, _ in front.requests], [
            '/profiles?list-type=2&prefix=some%2Fwhere%2F',
            '/profiles?continuation-token=x%2B%2F%3D&list-type=2'
            '&prefix=some%2Fwhere%2F'])
        endless = self.front(answer=lambda n: (200, pages[0]))
        self.assert_refused(self.run_s3('import', 'new', endless.port),
                            'the same page')

    def test_something_else_answers(self):
        for status in (200, 404):
            front = self.front(answer=lambda n, s=status: (s, b'<html>hi'))
            self.assert_refused(self.run_s3('import', 'new', front.port),
                                'is this an S3 endpoint?')

    def test_wrong_arguments(self):
        for place in ('s3://', 's3:///x', 's3://a?b/x'):
            self.assert_refused(self.run_s3('export', 'data', 1, place=place),
                                'must be s3://BUCKET/PREFIX')
        self.assert_refused(
            self.run_s3('export', 'data', 1, AWS_ACCESS_KEY_ID=''),
            'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
        for url in ('ftp://x', 'localhost:9000', 'http://me:secret@host'):
            result = self.run_s3('export', 'data', 1, '--s3-endpoint', url)
            self.assert_refused(result, 'the S3 endpoint must be a URL')
            self.assertNotIn('secret', result.stderr)

    @unittest.skipUnless(
        '--aws-sigv4' in subprocess.run(
            ['curl', '--help', 'all'], capture_output=True, text=True).stdout,
        'this curl cannot sign')
    def test_signatures_are_those_of_curl(self):
        front = self.front(answer=lambda n: (200, LISTING % (b'x', b'')))
        for token in ({}, {'AWS_SESSION_TOKEN': 'temporary'}):
            del front.requests[:]
            self.run_s3('import', 'new', front.port, AWS_REGION='eu-west-1',
                        AWS_SECRET_ACCESS_KEY='a/secret+key', **token)
            _, path, ours = front.requests[0]
            given = [word for name in ('X-Amz-Date', 'X-Amz-Content-Sha256',
                                       'X-Amz-Security-Token')
                     if name in ours
                     for word in ('-H', '%s: %s' % (name, ours[name]))]
            subprocess.run(
                ['curl', '-s', '--noproxy', '*', '--aws-sigv4',
                 'aws:amz:eu-west-1:s3', '--user', s3.KEY + ':a/secret+key',
                 *given, 'http://127.0.0.1:%d%s' % (front.port, path)],
                check=True, capture_output=True)
            _, _, theirs = front.requests[1]
            self.assertEqual(parts(ours), parts(theirs))


def parts(headers):
    return re.findall(r'(Credential|SignedHeaders|Signature)=([^, ]+)',
                      headers['Authorization'])


if __name__ == '__main__':
    unittest.main()
