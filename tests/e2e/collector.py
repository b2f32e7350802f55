"""What the tests of the collector share: a pprofd on loopback with a data
directory of its own, and small profiles to send to it."""

import gzip
import http.client
import json
import os
import re
import subprocess
import sys
import unittest
import urllib.parse

import support

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))
import profilepb  # noqa: E402

PPROFD = os.path.abspath(os.path.join(support.BUILD, 'pprofd'))

SECOND = 1000000000
# 2019-05-30T21:10:05.25Z
TIME = 1559250605 * SECOND + SECOND // 4


def cpu_profile(stacks, time_nanos=TIME, labels=None):
    """gzip'd CPU profile; stacks: {'main;work': samples}, root first."""
    p = profilepb.Profile([('samples', 'count'), ('cpu', 'nanoseconds')],
                          ('cpu', 'nanoseconds'), 10000000)
    p.time_nanos = time_nanos
    p.duration_nanos = 10 * SECOND
    known = {}
    for stack, count in stacks.items():
        frames = []
        for name in reversed(stack.split(';')):
            if name not in known:
                known[name] = p.location(p.function(name, name + '.c'),
                                         line=len(known) + 1)
            frames.append(known[name])
        p.sample(frames, [count, count * 10000000], labels)
    return gzip.compress(p.encode(), mtime=0)


def heap_profile(sites, time_nanos=TIME):
    """gzip'd heap profile; sites: {'main;make': (alloc objects, alloc bytes,
    objects in use, bytes in use)}."""
    p = profilepb.Profile(
        [('alloc_objects', 'count'), ('alloc_space', 'bytes'),
         ('inuse_objects', 'count'), ('inuse_space', 'bytes')],
        ('space', 'bytes'), 524288)
    p.time_nanos = time_nanos
    for stack, values in sites.items():
        p.sample([p.location(p.function(name, name + '.c'), line=1)
                  for name in reversed(stack.split(';'))], list(values))
    return gzip.compress(p.encode(), mtime=0)


# The store that collectors of the tests use: '' is the embedded one, else a
# key of clickhouse.KINDS.
STORE = os.environ.get('PPROF_TEST_STORE', '')

embedded_only = unittest.skipIf(
    STORE, 'it is about the files of the embedded store')


def store_flags(data):
    """Instead of data directories: a ClickHouse database for each
    directory."""
    if not STORE:
        return ()
    import clickhouse
    return ('--store', clickhouse.shared(STORE).url(
        re.sub(r'\W', '_', 'd' + os.path.abspath(data))))


class Reply:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def text(self):
        return self.body.decode('utf-8', 'replace')

    @property
    def json(self):
        return json.loads(self.body)


class Pprofd:
    """A collector that listens on a free port."""

    def __init__(self, data, *args, env=None):
        self.data = data
        self.args = args
        self.env = env
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [PPROFD, 'serve', '--addr', '127.0.0.1:0', '--data', self.data,
             *(() if '--config' in self.args else ('--scrape-self=false',)),
             *store_flags(self.data), *self.args], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
            env={**os.environ, **(self.env or {})})
        self.said = ''
        for line in self.process.stdout:
            self.said += line
            found = re.match(
                r'pprofd: listening on https?://127\.0\.0\.1:(\d+)', line)
            if found:
                self.port = int(found.group(1))
                return
        raise AssertionError('pprofd ended: ' + self.said)

    def stop(self):
        support.stop(self.process)
        if self.process.stdout.closed:  # it was killed
            return self.process.returncode
        self.said += self.process.stdout.read()
        self.process.stdout.close()
        return self.process.returncode

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def url(self, path):
        return 'http://127.0.0.1:%d%s' % (self.port, path)

    def request(self, method, path, body=None, headers=None, timeout=60):
        connection = http.client.HTTPConnection('127.0.0.1', self.port,
                                                timeout=timeout)
        try:
            connection.request(method, path, body, headers or {})
            reply = connection.getresponse()
            return Reply(reply.status, reply.headers, reply.read())
        finally:
            connection.close()

    def get(self, path, **query):
        return self.request('GET', with_query(path, query))

    def post(self, body, **query):
        return self.request('POST', with_query('/api/0/profiles', query),
                            body)


def with_query(path, query):
    return path + ('?' + urllib.parse.urlencode(query) if query else '')


class CollectorTest(support.TestCase):
    """A test with a collector of its own."""

    ARGS = ()

    def setUp(self):
        super().setUp()
        self.pprofd = Pprofd(self.path('data'), *self.ARGS)
        self.addCleanup(self.pprofd.stop)

    def get(self, path, **query):
        return self.pprofd.get(path, **query)

    def post(self, body, **query):
        return self.pprofd.post(body, **query)

    def stored(self, body, **query):
        """Posts a profile that must be accepted; returns its id."""
        reply = self.post(body, **query)
        self.assertEqual(reply.status, 200, reply.text)
        return reply.json['body']['id']
