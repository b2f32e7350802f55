"""pprofd serve --archive: every profile is also in a bucket, whatever happens
to the bucket or to pprofd."""

import gzip
import os
import re
import threading
import time
import unittest
import urllib.parse

import clickhouse
import s3
import support
from collector import (PPROFD, Pprofd, SECOND, TIME, cpu_profile,
                       heap_profile)
from test_s3 import BucketTest, LISTING, PLACE

PATIENCE = 60  # seconds, for a busy machine
XID = 'bmvf8kbnc5s0000000g0'


class ArchiveTest(support.TestCase):
    """A pprofd that archives to s3rver, behind a server that can be down."""

    @classmethod
    def setUpClass(cls):
        s3.install()

    def setUp(self):
        super().setUp()
        self.bucket = s3.Bucket(self.path('bucket'))
        self.addCleanup(self.bucket.stop)
        self.reply = None  # what the bucket answers instead
        self.front = s3.Front(self.bucket.port, self.answer)
        self.addCleanup(self.front.stop)

    def answer(self, n):
        return self.reply(n) if callable(self.reply) else self.reply

    def start(self, *lines, place=PLACE, **env):
        config = self.path('pprofd.yaml')
        with open(config, 'w') as f:
            f.write('scrape: {self: false}\nstorage:\n  archive: %s\n'
                    '  s3_endpoint: http://127.0.0.1:%d\n%s'
                    % (place, self.front.port,
                       ''.join('  %s\n' % line for line in lines)))
        clean = {k: '' for k in os.environ
                 if k.startswith('AWS_') or 'proxy' in k.lower()}
        pprofd = Pprofd(self.path('data'), '--config', config, env={
            **clean, 'AWS_ACCESS_KEY_ID': s3.KEY,
            'AWS_SECRET_ACCESS_KEY': s3.KEY, **env})
        self.addCleanup(pprofd.stop)
        return pprofd

    def post(self, pprofd, body, **query):
        reply = pprofd.post(body, **query)
        self.assertEqual(reply.status, 200, reply.text)
        return reply.json['body']['id']

    def post_many(self, pprofd, n, first=0):
        return {self.post(pprofd, cpu_profile(
            {'main;f%d' % i: 1}, TIME + i * SECOND), service='api', type='cpu')
            for i in range(first, first + n)}

    def metric(self, pprofd, name):
        text = pprofd.get('/metrics').text
        found = re.search(r'^pprofd_archive_%s (\d+)$' % re.escape(name), text,
                          re.M)
        self.assertTrue(found, text)
        return int(found.group(1))

    def wait(self, condition, what):
        end = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.05)

    def wait_sent(self, pprofd):
        self.wait(lambda: self.metric(pprofd, 'waiting_profiles') == 0,
                  'not all are sent')

    def ids(self):
        return {re.search(r'/\d+-(\w{20})[^/]*$', key).group(1)
                for key in self.bucket.objects()}


class ArchiveWorks(ArchiveTest):
    def test_everything_arrives_as_it_was_sent(self):
        pprofd = self.start()
        packed = cpu_profile({'main;work': 3})
        plain = gzip.decompress(cpu_profile({'main;plain': 4}))
        ids = [self.post(pprofd, packed, service='a/b', type='cpu',
                         labels='z=1,host=x%2Cy'),
               self.post(pprofd, plain, service='api', type='cpu'),
               self.post(pprofd, b'opaque \0 bytes', service='api',
                         type='trace'),
               self.post(pprofd, heap_profile({'main;make': (1, 2, 3, 4)}),
                         service='api', type='heap', delta='true')]
        self.wait_sent(pprofd)
        found = self.bucket.objects()
        self.assertEqual(len(found), 4)
        by_id = {i: next(k for k in found if i in k) for i in ids}
        self.assertTrue(by_id[ids[0]].startswith('some/where/'))
        self.assertTrue(urllib.parse.unquote(by_id[ids[0]]).endswith(
            ',host=x,y,z=1.pb.gz'), by_id[ids[0]])
        self.assertEqual(found[by_id[ids[0]]], packed)
        self.assertEqual(gzip.decompress(found[by_id[ids[1]]]), plain)
        self.assertEqual(found[by_id[ids[2]]], b'opaque \0 bytes')
        self.assertTrue(by_id[ids[3]].endswith('.delta.pb.gz'))
        self.assertEqual(self.metric(pprofd, 'sent_total'), 4)
        self.assertEqual(self.metric(pprofd, 'up'), 1)
        # What is refused is not archived.
        self.assertEqual(pprofd.post(b'no profile', service='api',
                                     type='cpu').status, 400)
        self.assertEqual(pprofd.stop(), 0)
        self.assertEqual(len(self.bucket.objects()), 4)
        self.assertEqual(os.listdir(self.path('data/archive')), [])

    def test_a_new_store_from_the_archive(self):
        pprofd = self.start()
        self.post_many(pprofd, 20)
        self.post(pprofd, b'opaque', service='api', type='trace')
        before = BucketTest.contents(pprofd)
        self.wait_sent(pprofd)
        pprofd.stop()
        done = BucketTest.run_s3(self, 'import', 'new', self.front.port)
        self.assertEqual(done.returncode, 0, done.stderr)
        copy = Pprofd(self.path('new'))
        self.addCleanup(copy.stop)
        self.assertEqual(BucketTest.contents(copy), before)

    def test_beside_clickhouse(self):
        pprofd = self.start('store: ' + clickhouse.shared('18.16').url())
        ids = self.post_many(pprofd, 3)
        self.wait_sent(pprofd)
        self.assertEqual(self.ids(), ids)
        self.assertEqual(set(BucketTest.contents(pprofd)), ids)

    def test_large_objects_go_in_parts(self):
        failed = []

        def fail_once(n):
            method, path, _ = self.front.requests[n - 1]
            if 'partNumber=2' in path and not failed:
                failed.append(path)
                return 500, b'<Error><Code>InternalError</Code></Error>'
            return None
        self.reply = fail_once
        pprofd = self.start('archive_connections: 1')
        trace = os.urandom(10 << 20)
        self.post(pprofd, trace, service='api', type='trace')
        self.wait_sent(pprofd)
        self.assertEqual(list(self.bucket.objects().values()), [trace])
        self.assertEqual(
            [(method, re.sub(r'uploadId=[^&]*', 'uploadId=', path.partition(
                '?')[2])) for method, path, _ in self.front.requests],
            [('POST', 'uploads='), ('PUT', 'partNumber=1&uploadId='),
             ('PUT', 'partNumber=2&uploadId='),
             ('PUT', 'partNumber=2&uploadId='), ('POST', 'uploadId=')])

    def test_parts_that_are_of_no_use_are_deleted(self):
        def refuse(n):
            method, path, _ = self.front.requests[n - 1]
            if 'partNumber=2' in path and len(self.front.requests) < 5:
                return 403, b'<Error><Code>AccessDenied</Code></Error>'
            return None
        self.reply = refuse
        pprofd = self.start('archive_connections: 1')
        trace = os.urandom(9 << 20)
        self.post(pprofd, trace, service='api', type='trace')
        self.wait_sent(pprofd)
        self.assertEqual(list(self.bucket.objects().values()), [trace])
        self.assertEqual([m for m, _, _ in self.front.requests][:4],
                         ['POST', 'PUT', 'PUT', 'DELETE'])


class ArchiveTrouble(ArchiveTest):
    def test_a_bucket_that_is_down_for_a_while(self):
        for reply, words in (
                ((503, b'<Error><Code>SlowDown</Code></Error>'), 'SlowDown'),
                ((403, b'<Error><Code>AccessDenied</Code></Error>'),
                 's3:PutObject')):
            with self.subTest(words=words):
                self.reply = reply
                pprofd = self.start()
                ids = self.post_many(pprofd, 30)
                self.wait(lambda: self.metric(pprofd, 'failures_total') > 0,
                          'it does not fail')
                self.assertEqual(self.metric(pprofd, 'up'), 0)
                self.assertEqual(self.metric(pprofd, 'waiting_profiles'), 30)
                self.assertEqual(self.ids() & ids, set())
                self.reply = None
                self.wait_sent(pprofd)
                self.assertEqual(self.metric(pprofd, 'up'), 1)
                self.assertEqual(self.ids() & ids, ids)
                pprofd.stop()
                self.assertEqual(pprofd.said.count('cannot be written; '), 1)
                self.assertIn(words, pprofd.said)
                self.assertIn('can be written again', pprofd.said)

    def test_nobody_waits_for_a_bucket_that_hangs(self):
        hangs = threading.Event()
        self.addCleanup(hangs.set)
        self.reply = lambda n: hangs.wait(PATIENCE) and None
        pprofd = self.start()
        ids = self.post_many(pprofd, 50)
        self.assertEqual(self.metric(pprofd, 'sent_total'), 0)
        self.assertEqual(self.metric(pprofd, 'waiting_profiles'), 50)
        self.assertEqual(pprofd.stop(), 0)
        hangs.set()
        self.reply = None
        pprofd = self.start()
        self.wait_sent(pprofd)
        self.assertEqual(self.ids(), ids)

    def test_pprofd_is_killed(self):
        """Ten times, while the bucket is down, slow or fine: whatever was
        acknowledged is there in the end."""
        ids, ends = set(), threading.Event()
        self.addCleanup(ends.set)
        states = [(503, b''), None, lambda n: ends.wait(0.3) and None]
        for i in range(10):
            self.reply = states[i % len(states)]
            pprofd = self.start()
            ids |= self.post_many(pprofd, 20, first=20 * i)
            pprofd.kill()
        self.reply = None
        pprofd = self.start()
        self.wait_sent(pprofd)
        self.assertEqual(self.ids(), ids)
        self.assertEqual(self.metric(
            pprofd, 'left_out_total{reason="damaged"}'), 0)

    def test_a_full_spool(self):
        self.reply = (503, b'')
        pprofd = self.start('archive_spool: 64KB')
        bodies = [os.urandom(20000) for _ in range(8)]
        ids = [self.post(pprofd, body, service='api', type='trace')
               for body in bodies]
        self.assertEqual(self.metric(
            pprofd, 'left_out_total{reason="spool full"}'), 5)
        self.assertEqual(self.metric(pprofd, 'waiting_profiles'), 3)
        for i, body in zip(ids, bodies):  # they are in the store all the same
            self.assertEqual(pprofd.get('/api/0/profiles/' + i).body, body)
        self.reply = None
        self.wait_sent(pprofd)
        pprofd.stop()
        self.assertIn('the spool is full', pprofd.said)
        self.assertEqual(len(self.ids()), 3)
        # What is missing can be added.
        done = BucketTest.run_s3(self, 'export', 'data', self.front.port)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.ids(), set(ids))
        self.assertEqual(len(self.bucket.objects()), 8)

    def test_a_key_that_is_too_long(self):
        pprofd = self.start()
        self.post(pprofd, cpu_profile({'main': 1}), service='api', type='cpu',
                  labels='long=' + 'x' * 1100)
        self.assertEqual(self.metric(
            pprofd, 'left_out_total{reason="long key"}'), 1)
        self.wait_sent(pprofd)
        self.assertEqual(self.bucket.objects(), {})

    def test_nobody_is_told_the_credentials(self):
        secret, token = 'planted-S3cret', 'planted-T0ken'
        pprofd = self.start(AWS_SECRET_ACCESS_KEY=secret,
                            AWS_SESSION_TOKEN=token)
        self.post_many(pprofd, 3)
        self.wait(lambda: self.metric(pprofd, 'failures_total') > 0,
                  'it does not fail')
        _, _, headers = self.front.requests[0]
        self.assertEqual(headers['X-Amz-Security-Token'], token)
        shown = [pprofd.get(path).text for path in (
            '/metrics', '/targets', '/readyz', '/debug/pprof/cmdline')]
        pprofd.stop()
        self.assertIn('SignatureDoesNotMatch', pprofd.said)
        for place, _, names in os.walk(self.path('data')):
            for name in names:
                with open(os.path.join(place, name), 'rb') as f:
                    shown.append(f.read().decode('latin-1'))
        for text in (*shown, pprofd.said):
            self.assertNotIn(secret, text)
            self.assertNotIn(token, text)

    def test_settings_that_cannot_be(self):
        for place, env, words in (
                ('/some/dir', {}, 'must be s3://BUCKET/PREFIX'),
                (PLACE, {'AWS_ACCESS_KEY_ID': ''}, 'set AWS_ACCESS_KEY_ID')):
            with self.assertRaisesRegex(AssertionError, words):
                self.start(place=place, **env)


class Profefe(BucketTest):
    def test_what_profefe_left(self):
        profile = cpu_profile({'main;old': 7})
        keys = (b'P0.team__api/1/%s,host=a,region=eu' % XID.encode(),
                b'P0.team__api/0/%s' % XID.encode())
        replies = [LISTING % (keys[0], b'<NextContinuationToken>x'
                              b'</NextContinuationToken>'), profile,
                   LISTING % (keys[1], b'')]
        front = self.front(answer=lambda n: (200, replies[n - 1]))
        done = self.run_s3('import', 'new', front.port, place='s3://old')
        self.assert_ran(done, 'imported 1 profiles')
        self.assertIn('skipped 1 objects', done.stderr)
        copy = Pprofd(self.path('new'))
        self.addCleanup(copy.stop)
        (found, body), = self.contents(copy).values()
        self.assertEqual((found['service'], found['type'], found['labels']),
                         ('team__api', 'cpu', {'host': 'a', 'region': 'eu'}))
        self.assertIn(b'old', gzip.decompress(body))
        self.assertEqual(copy.get('/api/0/profiles/' + XID).status, 200)


if __name__ == '__main__':
    unittest.main()
