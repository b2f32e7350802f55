"""pprofd query: the API's answers, from a store without a server."""

import json
import os
import subprocess
import time
import unittest

import support
from collector import (CollectorTest, PPROFD, Pprofd, SECOND, STORE, TIME,
                       cpu_profile, embedded_only, store_flags)

PPROF = os.path.join(os.path.abspath(support.BUILD), 'pprof')
RANGE = {'from': '2000-01-01', 'to': '2100-01-01'}
PATIENCE = 60  # seconds, for a busy machine
API = '{service="api"}'


class Query(CollectorTest):
    """The questions are asked over HTTP first; then the server is stopped."""

    def setUp(self):
        super().setUp()
        for i in range(3):
            self.stored(cpu_profile({'main;work': 3, 'main;idle': 1},
                                    TIME + 60 * i * SECOND),
                        service='api', type='cpu', labels='host=h%d' % i)
        self.stored(cpu_profile({'main;other': 5}, TIME), service='web',
                    type='cpu')

    def flags(self, **params):
        return [word for k, v in {**RANGE, **params}.items()
                for word in ('--' + k, v)]

    def run_query(self, *words, data='data'):
        return subprocess.run([PPROFD, 'query', '--data', self.path(data),
                               *store_flags(self.path(data)), *words],
                              capture_output=True, timeout=120)

    def query(self, *words):
        done = self.run_query(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def table(self, *words):
        return [line.split() for line in
                self.query(*words).decode().splitlines()]

    def test_json_is_that_of_the_api(self):
        asked = (('services', '', {}), ('labels', API, {}),
                 ('labels', API, {'name': 'host'}),
                 ('profiles', API, {'limit': '2'}),
                 ('series', '', {'by': 'service', 'step': '100d'}),
                 ('function', API, {'name': 'work', 'step': '100d'}),
                 ('top', API, {'n': '1', 'sort': 'cum'}))
        served = [self.get('/api/1/' + what, query=selector,
                           **{**RANGE, **params})
                  for what, selector, params in asked]
        self.pprofd.stop()
        for (what, selector, params), reply in zip(asked, served):
            with self.subTest(what=what, **params):
                self.assertEqual(reply.status, 200, reply.text)
                words = [selector] if selector else []
                said = self.query(what, *words, '--json',
                                  *self.flags(**params))
                self.assertEqual(json.loads(said), reply.json)

    def test_tables(self):
        self.pprofd.stop()
        self.assertEqual([row[:3] for row in self.table('services')],
                         [['service', 'type', 'profiles'],
                          ['api', 'cpu', '3'], ['web', 'cpu', '1']])
        self.assertEqual([row[:2] for row in self.table('labels', API)],
                         [['label', 'profiles'], ['host', '3']])
        self.assertEqual(
            [row[0] for row in self.table('labels', '--name', 'host')],
            ['value', 'h0', 'h1', 'h2'])
        profiles = self.table('profiles', API, *self.flags())
        self.assertEqual([row[-1] for row in profiles],
                         ['labels', 'host=h2', 'host=h1', 'host=h0'])
        series = self.table('series', *self.flags(by='service', step='50000d'))
        self.assertEqual([row[0] for row in series], ['group', 'api', 'web'])
        self.assertEqual([row[5] for row in series], ['profiles', '3', '1'])
        top = self.table('top', API, *self.flags())
        self.assertEqual(top[1], ['flat', 'flat%', 'cum', 'cum%', 'function'])
        self.assertEqual([(row[1], row[-1]) for row in top[2:4]],
                         [('75.00%', 'work'), ('25.00%', 'idle')])
        work = self.table('function', API,
                          *self.flags(name='work', step='50000d'))
        self.assertEqual(work[1][-1], '3')

    def test_profiles_for_pprof(self):
        merged = self.get('/api/1/merge', query=API, **RANGE).body
        self.pprofd.stop()
        out = self.path('merged.pb.gz')
        self.query('merge', API, '-o', out, *self.flags())
        piped = self.query('merge', API, *self.flags())
        with open(out, 'rb') as f:
            self.assertEqual(f.read(), piped)
        self.assertEqual(self.top(piped), self.top(merged))
        self.assertIn('work', self.top(piped))
        later = '2100-01-01'
        diff = self.query('diff', API, '--base_query', '{service="web"}',
                          '--base_from', RANGE['from'], '--base_to', later,
                          *self.flags())
        self.assertIn('other', self.top(diff))

    def top(self, profile):
        path = self.path('some.pb.gz')
        with open(path, 'wb') as f:
            f.write(profile)
        return subprocess.run([PPROF, '-top', path], capture_output=True,
                              text=True, check=True).stdout

    def assert_refused(self, words, *args, data='data'):
        done = self.run_query(*args, data=data)
        self.assertEqual((done.returncode, done.stdout), (1, b''))
        self.assertIn(words, done.stderr.decode())

    def test_refusals(self):
        if not STORE:  # several processes can share ClickHouse
            self.assert_refused('stop', 'services')
        self.pprofd.stop()
        self.assert_refused('no query given')
        self.assert_refused('known are services, labels', 'servces')
        self.assert_refused('no parameter "nme"', 'labels', '--nme', 'x')
        self.assert_refused('flags of the store come before', 'top', '--data',
                            'x')
        self.assert_refused('needs a value', 'top', '--from')
        self.assert_refused('unexpected argument "b"', 'top', 'a', 'b')
        self.assert_refused('bad selector', 'top', 'cpu{')
        self.assert_refused('nothing found', 'merge', 'heap')
        self.assert_refused('there is no store in', 'services', data='none')
        self.assertFalse(os.path.exists(self.path('none')))

    @embedded_only
    def test_nothing_expires_meanwhile(self):
        """The default keeps a week, and the profile in a file of its day is
        years old; a server that keeps everything wrote it."""
        self.pprofd.stop()
        data, config = self.path('old'), self.path('keep.yaml')
        with open(config, 'w') as f:
            f.write('scrape: {self: false}\nstorage: {memory: 1KB}\n'
                    'retention: {raw: 0}\n')
        keeper = Pprofd(data, '--config', config)
        self.addCleanup(keeper.stop)
        keeper.post(cpu_profile({'main': 1}, 1500000000 * SECOND),
                    service='old', type='cpu')
        day = os.path.join(data, 'day-20170714.db')
        end = time.monotonic() + PATIENCE
        while not os.path.exists(day):
            self.assertLess(time.monotonic(), end, os.listdir(data))
            time.sleep(0.1)
        keeper.stop()
        for command in (['query', '--data', data, 'services'],
                        ['stats', '--data', data],
                        ['export', '--data', data, self.path('exported')]) * 2:
            said = subprocess.run([PPROFD, *command], capture_output=True,
                                  text=True, check=True).stdout
            self.assertIn('1 profiles' if command[0] == 'export' else 'old',
                          said, command)
            self.assertTrue(os.path.exists(day), command)


if __name__ == '__main__':
    unittest.main()
