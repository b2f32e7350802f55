"""The same profiles in the embedded store and in ClickHouse, the same
questions, the same answers: every path of both APIs and what the page asks
for, with texts, values and times of every kind."""

import glob
import gzip
import itertools
import json
import os
import re
import subprocess
import sys
import unittest
import urllib.parse

import clickhouse
import s3
import support
from collector import (PPROFD, Pprofd, SECOND, TIME, cpu_profile,
                       heap_profile)

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))
import profile_view  # noqa: E402
import profilepb  # noqa: E402

RECORDED = os.environ.get('PPROF_SHARED', os.path.join(
    os.path.dirname(os.path.abspath(__file__)), '../../../shared'))
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
FIRST = {'from': '1970-01-01', 'to': '2261-01-01'}
PART = {'from': '2019-05-30T21:12:00Z', 'to': '2019-05-30T21:15:30Z'}
MOMENT = {'from': '2019-05-30T21:10:05.25Z', 'to': '2019-05-30T21:10:05.25Z'}
NEVER = {'from': '2001-01-01', 'to': '2001-01-02'}

# Texts that SQL, JSON or a pattern could take for something else.
EVIL = [b"'; DROP TABLE pprofd_profiles; --", b'back\\slash\\', b"\\'", b'"',
        b'`', b'nul\0in it', b'\xff\xfe not UTF-8', 'ünïcödé ☃'.encode(),
        b'tab\tnew\nline', b'%', b'%_', b'{x:String}', b'\\x41\\n', b'?', b'',
        b' blanks around ', b'x' * 5000]


def labels(pairs):
    return ','.join(urllib.parse.quote(k, '') + '=' + urllib.parse.quote(v, '')
                    for k, v in pairs)


def literal(text):
    """In a selector."""
    for c, escape in ((b'\\', b'\\\\'), (b'"', b'\\"'), (b'\n', b'\\n'),
                      (b'\t', b'\\t')):
        text = text.replace(c, escape)
    return b'"' + text + b'"'


def rich_profile(start, number):
    """Mappings that move, inlined calls, labels of samples, comments."""
    p = profilepb.Profile([('samples', 'count'), ('cpu', 'nanoseconds')],
                          ('cpu', 'nanoseconds'), 10000000)
    p.time_nanos = TIME + number * MINUTE
    p.duration_nanos = 10 * SECOND
    p.drop_frames, p.keep_frames = 'dropped', 'kept'
    p.comments = ['the same', 'number %d' % number]
    program = p.mapping(start, start + 0x10000, 0x1000, '/bin/program',
                        'abcd1234')
    library = p.mapping(start + 0x100000, start + 0x110000, 0, '/lib/l.so')
    f, g, h = [p.function(name, name + '.c', '_Z' + name, line) for line, name
               in enumerate(('outer', 'inlined', "quo'ted \\ back"), 10)]
    frames = [p.location(f, 12, start + 0x10, program),
              p.location(f, 13, start + 0x20, program, [(g, 3), (h, 4)]),
              p.location(address=start + 0x100040, mapping=library)]
    p.sample([frames[1], frames[0]], [3, 30], {'thread': 'a'})
    p.sample([frames[1], frames[0]], [4, 40], {'thread': "b'\\", 'n': 7})
    p.sample([frames[2], frames[0]], [number, 5], {'n': (number, 'bytes')})
    p.sample([frames[2]], [-2, -20])
    p.sample([], [1, 10])
    return gzip.compress(p.encode())


def wide_profile(number):
    p = profilepb.Profile([('t%d' % i, 'count') for i in range(6)])
    p.time_nanos = TIME + number * MINUTE
    p.default_type = 't4'
    at = p.location(p.function('f', 'f.c'), line=1)
    p.sample([at], [1, 2, 3, 4, 5, number])
    p.sample([at, at], [1, 0, 0, 0, 0, 0])
    return gzip.compress(p.encode())


def extreme_profile():
    p = profilepb.Profile([('n', 'count')])
    p.time_nanos = TIME + 30 * MINUTE
    for i, value in enumerate((2 ** 63 - 1, -2 ** 63 + 1, 2 ** 53 + 1)):
        p.sample([p.location(p.function('f%d' % i), line=2 ** 40)], [value])
    return gzip.compress(p.encode())


def made():
    """(body, parameters), in the order in which they are sent."""
    for i in range(12):
        region, version = ('eu', 'us', 'ap')[i % 3], '1.%d' % (i // 6)
        for service in ('api', 'web'):
            yield (cpu_profile({'main;parse': i + 1, 'main;%s' % region: 10,
                                'main;n%d' % i: 1}, TIME + i * MINUTE),
                   {'service': service, 'type': 'cpu', 'labels':
                    'region=%s,version=%s' % (region, version)})
    for i, count in enumerate((100, 130, 170, 20, 25, 25)):
        for instance in 'ab':
            yield (heap_profile({'main;make': (count, count * 100, 1, i),
                                 'main;other;make': (5 + i, 50, 2, 2)},
                                TIME + i * MINUTE), {
                'service': 'api', 'type': 'heap', 'labels':
                'instance=' + instance})
    yield (heap_profile({'main;make': (7, 7, 7, 7)}, TIME + 7 * MINUTE),
           {'service': 'api', 'type': 'heap', 'delta': 'true',
            'labels': 'instance=c'})
    for i in range(4):
        yield rich_profile(0x400000 + i * 0x1000000, i), {
            'service': 'rich', 'type': 'cpu'}
        yield wide_profile(i), {'service': 'wide', 'type': 'other'}
    yield extreme_profile(), {'service': 'extreme', 'type': 'other'}
    for i, text in enumerate(EVIL):
        yield cpu_profile({'main;evil%d' % i: 1}, TIME + i * SECOND), {
            'service': text.strip() or b'none', 'type': 'cpu',
            'labels': labels([(text, b'key'), (b'value', text)])}
    for number in (-HOUR, 0, 1, 86400 * SECOND - 1, 86400 * SECOND,
                   4000000000 * SECOND):
        yield cpu_profile({'main;old': 1}, TIME + number), {
            'service': 'times', 'type': 'cpu'}
    yield cpu_profile({'main;zero': 0}, TIME), {'service': 'zero',
                                                'type': 'cpu'}
    yield b'opaque \0 bytes', {'service': 'api', 'type': 'trace',
                               'created_at': '2019-05-30T21:13:00'}
    # The same moment, and the same profile twice.
    for _ in range(2):
        yield cpu_profile({'main;twice': 3}, TIME), {
            'service': 'twice', 'type': 'cpu', 'labels': 'k=1,k=2'}


SELECTORS = [
    '', 'cpu', 'heap', 'other', 'trace', 'cpu{service="api"}',
    'heap{service="api"}', 'heap{instance="a"}', '{service="wide"}',
    '{service="rich"}', '{service="extreme"}', '{service="zero"}',
    '{service="times"}', '{service="twice"}', '{service=~"a.*|w.*"}',
    'cpu{service!="api"}', 'cpu{region!="eu"}', 'cpu{region=""}',
    'cpu{region!=""}', 'cpu{region=~"e.|"}', 'cpu{region!~"e.|us"}',
    'cpu{version=~"1\\\\.0",region="us"}', 'cpu{k="1"}', 'cpu{k="2"}',
    'cpu{k!="2"}', 'cpu{k=~"2"}', 'cpu{missing="x"}', '{__type__=~"c.*"}',
    '{service="none"}', 'cpu{service=~"("}', 'cpu{',
] + [b'cpu{value=' + literal(text) + b'}' for text in EVIL] + [
    b'{' + literal(text) + b'="key"}' for text in EVIL if text] + [
    b'cpu{service=' + literal(text.strip()) + b'}' for text in EVIL] + [
    b'cpu{value!=' + literal(EVIL[0]) + b'}',
    b'cpu{value=~".*DROP.*"}']
SOME = SELECTORS[:20]


def questions():
    """(path, parameters)"""
    for query in SELECTORS:
        yield '/api/1/profiles', {'query': query, **FIRST}
        yield '/api/1/top', {'query': query, **FIRST}
        yield '/api/1/merge', {'query': query, **FIRST}
    for query, span in itertools.product(SOME, (FIRST, PART, MOMENT, NEVER)):
        both = {'query': query, **span}
        yield '/api/1/services', both
        yield '/api/1/labels', both
        yield '/api/1/labels', {**both, 'name': 'region'}
        yield '/api/1/series', {**both, 'step': '50000d', 'by': 'service'}
        if span is not FIRST:
            yield '/api/1/merge', both
            yield '/api/1/profiles', {**both, 'order': 'oldest', 'limit': '3'}
            yield '/api/1/series', {**both, 'step': '1m', 'by': 'region'}
    for query in SOME[:11]:
        for span, values in itertools.product((FIRST, PART),
                                              ('sent', 'changes')):
            both = {'query': query, 'values': values, **span}
            yield '/api/1/merge', both
            yield '/api/1/top', {**both, 'n': '3', 'sort': 'cum'}
            yield '/api/1/series', {**both, 'step': '50000d'}
            yield '/api/1/diff', {**both, 'base_query': 'cpu{service="web"}',
                                  'base_from': '2019-05-30', 'base_to':
                                  '2019-06-01', 'normalize': 'true'}
            for name in ('main', 'make', 'parse', "quo'ted \\ back"):
                yield '/api/1/function', {**both, 'name': name,
                                          'step': '50000d'}
    for sample_type in ('samples', 'cpu', 'alloc_space', 't5', 'nothing'):
        for path in ('/api/1/series', '/api/1/function'):
            yield path, {'query': 'cpu{service="api"}', 'step': '2m',
                         'value_type': sample_type, 'name': 'parse', **PART}
    day = {'from': '2019-05-30T20:00:00Z', 'to': '2019-05-30T22:00:00Z'}
    for more in ({}, {'query': 'cpu'}, {'step': '10m', 'window': '7m',
                                        'compare': '3m'}, {'step': '1s'}):
        yield '/api/1/overview', {**day, **more}
    for service, name in itertools.product(
            ('api', 'web', EVIL[0], EVIL[5], 'none'), ('cpu', 'heap')):
        both = {'service': service, 'type': name,
                'from': '2019-05-30T21:00:00', 'to': '2019-05-30T22:00:00'}
        yield '/api/0/profiles', both
        yield '/api/0/profiles', {**both, 'limit': '2'}
        yield '/api/0/profiles', {**both, 'labels': 'region=eu'}
        yield '/api/0/profiles/merge', both
    yield '/api/0/services', {}
    for query in SOME[:12]:
        a = {'a': '%s 2019-05-30..2019-06-01' % (query or '{}')}
        # Flame graphs and traces stand in the order of samples.
        for what in ('meta', 'top', 'tags', 'graph', 'peek'):
            yield '/ui/data/' + what, {**a, 'f': 'main'}


class Answers:
    """KIND: of the server that is compared with the embedded store."""

    @classmethod
    def setUpClass(cls):
        server = clickhouse.shared(cls.KIND)
        cls.stores = []
        cls.place = support.tempfile.mkdtemp(prefix='pprof-e2e-')
        cls.addClassCleanup(support.shutil.rmtree, cls.place, True)
        for flags in ((), ('--store', server.url())):
            pprofd = Pprofd(os.path.join(cls.place, 'data%d' % len(cls.stores)),
                            '--retention', '0', *flags)
            cls.addClassCleanup(pprofd.stop)
            cls.stores.append(pprofd)
            pprofd.ids = []
        for body, query in cls.profiles():
            replies = [p.post(body, **query) for p in cls.stores]
            if {r.status for r in replies} != {200}:
                raise AssertionError('%r: %r' % (query,
                                                 [r.text for r in replies]))
            for pprofd, reply in zip(cls.stores, replies):
                pprofd.ids.append(reply.json['body']['id'])

    @staticmethod
    def profiles():
        return made()

    def plain(self, pprofd, reply):
        """What has to be equal: not ids, nor the order of samples."""
        if reply.headers['Content-Type'] == 'application/octet-stream' and \
                reply.body[:2] == b'\x1f\x8b':
            return profile_view.view(reply.body)
        text = reply.body
        for i, name in enumerate(pprofd.ids):
            text = text.replace(name.encode(), b'profile-%d' % i)
        try:
            found = json.loads(text)
        except ValueError:
            return text
        if isinstance(found, dict):
            found.pop('next', None)  # has an id in it
            found.get('progress', {}).pop('cpu_seconds', None)
        return found

    def compare(self, path, query):
        replies = [p.get(path, **query) for p in self.stores]
        self.assertEqual(*[r.status for r in replies],
                         [r.text for r in replies])
        self.assertEqual(*[self.plain(p, r) for p, r in
                           zip(self.stores, replies)])
        return replies[0].status

    def test_questions(self):
        asked = 0
        for path, query in questions():
            with self.subTest(path=path, **query):
                asked += self.compare(path, query) == 200
        self.assertGreater(asked, 300)

    def test_profiles_by_id(self):
        for ids in zip(*[p.ids for p in self.stores]):
            replies = [p.get('/api/0/profiles/' + i)
                       for p, i in zip(self.stores, ids)]
            with self.subTest(id=ids):
                self.assertEqual([r.status for r in replies], [200, 200])
                self.assertEqual(*[self.plain(p, r) for p, r in
                                   zip(self.stores, replies)])

    def pages(self, pprofd, **query):
        token = {}
        while True:
            reply = pprofd.get('/api/1/profiles', **FIRST, **query, **token)
            self.assertEqual(reply.status, 200, reply.text)
            yield [pprofd.ids.index(p['id']) for p in reply.json['profiles']]
            if 'next' not in reply.json:
                return
            token = {'after': reply.json['next']}

    def test_pages(self):
        """Profiles of the same moment stand in the order of their ids, which
        differ, so pages are compared as sets where the moment is the same."""
        for query in ({'limit': '7'}, {'limit': '5', 'order': 'oldest'},
                      {'limit': '3', 'query': 'cpu{region!="eu"}'}):
            pages = [list(self.pages(p, **query)) for p in self.stores]
            self.assertEqual(*[[len(page) for page in one] for one in pages])
            self.assertEqual(*[sorted(itertools.chain(*one))
                               for one in pages])


class OldServer(Answers, unittest.TestCase):
    KIND = '18.16'


class CurrentEngine(Answers, unittest.TestCase):
    KIND = '26.x'


class Recorded(OldServer):
    """Profiles of programs of a cluster."""

    @classmethod
    def setUpClass(cls):
        if not os.path.isdir(RECORDED):
            raise unittest.SkipTest('there are no recorded profiles in '
                                    + RECORDED)
        super().setUpClass()

    @staticmethod
    def profiles():
        for path in sorted(glob.glob(RECORDED + '/fleet-data/*.pb.gz')):
            service, name, number = re.match(
                r'(.*)\.(\w+)\.(\d+)\.pb\.gz', os.path.basename(path)).groups()
            # The scheduler was idle once.
            if int(number) <= 10 and os.path.getsize(path) > 400:
                with open(path, 'rb') as f:
                    yield f.read(), {'service': service, 'type': name,
                                     'labels': 'half=%d' % (int(number) // 6)}

    def test_questions(self):
        for service, name in itertools.product(
                ('kubelet', 'scheduler', 'controller-manager'),
                ('cpu', 'heap', 'goroutine')):
            for selector in ('%s{service="%s"}', '%s{service="%s",half="1"}'):
                query = {'query': selector % (name, service), **FIRST}
                for more in ({}, {'values': 'changes'}):
                    for path in ('merge', 'top', 'series', 'profiles'):
                        with self.subTest(path=path, **query, **more):
                            self.assertEqual(self.compare(
                                '/api/1/' + path,
                                {**query, 'step': '50000d', **more}), 200)


class RecordedOnCurrentEngine(Recorded):
    KIND = '26.x'


class Moved(support.TestCase):
    """From the embedded store to ClickHouse and back: through directories,
    and through a bucket."""

    def run_pprofd(self, *words, **env):
        done = subprocess.run([PPROFD, *words], capture_output=True, text=True,
                              env={**os.environ, **env}, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ''), words)

    def contents(self, *flags):
        pprofd = Pprofd(*flags, '--retention', '0')
        try:
            reply = pprofd.get('/api/1/profiles', limit='10000', **FIRST)
            self.assertEqual(reply.status, 200, reply.text)
            found = {p['id']: p for p in reply.json['profiles']}
            for name, p in found.items():
                p.pop('bytes')  # they are encoded anew
                reply = pprofd.get('/api/0/profiles/' + name)
                self.assertEqual(reply.status, 200, reply.text)
                p['profile'] = (reply.body if p['type'] == 'trace'
                                else profile_view.view(reply.body))
            return found
        finally:
            pprofd.stop()

    def check_moved(self, kind, one, two, *flags, longest=None, **env):
        server = clickhouse.shared(kind).url()
        first = Pprofd(self.path('first'), '--retention', '0')
        self.addCleanup(first.stop)
        sent = [(body, query) for body, query in made()
                if not longest or len(query.get('labels', '')) < longest]
        for body, query in sent:
            self.assertEqual(first.post(body, **query).status, 200)
        first.stop()
        before = self.contents(self.path('first'))
        self.assertEqual(len(before), len(sent))
        for command, store, place in (
                ('export', ('--data', self.path('first')), one),
                ('import', ('--store', server), one),
                ('export', ('--store', server), two),
                ('import', ('--data', self.path('third')), two)):
            self.run_pprofd(command, *store, *flags, place, **env)
        self.assertEqual(self.contents(self.path('second'), '--store', server),
                         before)
        self.assertEqual(self.contents(self.path('third')), before)

    def test_directories(self):
        for kind in clickhouse.KINDS:
            with self.subTest(kind=kind):
                self.check_moved(kind, self.path('one'), self.path('two'))
            self.doCleanups()
            self.setUp()

    def test_a_bucket(self):
        s3.install()
        bucket = s3.Bucket(self.path('bucket'))
        self.addCleanup(bucket.stop)
        self.check_moved('18.16', 's3://profiles/one', 's3://profiles/two',
                         '--s3-endpoint', 'http://127.0.0.1:%d' % bucket.port,
                         longest=900,  # keys have up to 1,024 bytes
                         AWS_ACCESS_KEY_ID=s3.KEY,
                         AWS_SECRET_ACCESS_KEY=s3.KEY)


if __name__ == '__main__':
    unittest.main()
