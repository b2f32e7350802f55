"""The store on ClickHouse: what the embedded one does not have.  That both
give the same answers is for the collector's own tests to show, which run on
all of them."""

import os
import signal
import subprocess
import threading
import time
import unittest

import clickhouse
import support
from clickhouse import RANGE, StoreTest
from collector import PPROFD, SECOND, TIME, cpu_profile, heap_profile


class TwoKinds:
    """Runs on the old server and on the current engine."""

    def test_two_collectors_share_a_database(self):
        one, two = self.collector(), self.collector()
        for i in range(10):
            self.stored(one if i % 2 else two,
                        cpu_profile({'main;a': 1, 'main;b': i},
                                    TIME + i * SECOND), labels='n=%d' % i)
        for pprofd in (one, two):
            self.assertEqual(self.top(pprofd), {'a': 10, 'b': 45})
            self.assertEqual(
                self.top(pprofd, 'cpu{service="api",n=~"[0-4]"}'),
                {'a': 5, 'b': 10})

    def test_changes_across_collectors(self):
        """A process whose profiles reach different collectors."""
        one, two = self.collector(), self.collector()
        for i, count in enumerate((100, 130, 170, 20, 25)):
            self.stored(one if i % 2 else two,
                        heap_profile({'main;make': (count, count, 1, 1)},
                                     TIME + i * SECOND), type='heap')
        # 30 + 40, then a restart: 20 + 5.
        self.assertEqual(self.top(one, 'heap{service="api"}',
                                  sample_index='alloc_objects',
                                  values='changes'), {'make': 95})

    def test_a_row_that_came_twice_counts_once(self):
        pprofd = self.collector()
        for i in range(3):
            self.stored(pprofd, cpu_profile({'main;a': 2}, TIME + i * SECOND))
        self.stored(pprofd, heap_profile({'main;make': (5, 5, 5, 5)}),
                    type='heap')
        ask = lambda: [
            self.top(pprofd),
            pprofd.get('/api/1/series', query='cpu{service="api"}',
                       step='1m', **RANGE).json,
            pprofd.get('/api/1/profiles', **RANGE).json,
            pprofd.get('/api/1/services', **RANGE).json]
        before = ask()
        self.sql('INSERT INTO DB.pprofd_profiles SELECT * FROM '
                 'DB.pprofd_profiles')
        self.assertEqual(self.sql('SELECT count() FROM DB.pprofd_profiles'),
                         '8\n')
        self.assertEqual(ask(), before)

    def test_texts_cannot_leave_their_quotes(self):
        pprofd = self.collector()
        evil = "'; DROP TABLE pprofd_profiles; --\\"
        self.stored(pprofd, cpu_profile({"main;a'\\": 1}), service=evil)
        self.assertEqual(pprofd.get('/api/0/services').json['body'], [evil])
        rows = pprofd.get('/api/0/profiles', service=evil, type='cpu',
                          **{'from': '2019-05-30T21:00:00',
                             'to': '2019-05-30T22:00:00'}).json['body']
        self.assertEqual(len(rows), 1)

    def test_many_sample_types(self):
        """More than the columns that ClickHouse adds up."""
        import gzip
        import profilepb
        p = profilepb.Profile([('t%d' % i, 'count') for i in range(6)])
        p.time_nanos = TIME
        p.sample([p.location(p.function('f', 'f.c'), line=1)],
                 [1, 2, 3, 4, 5, 6])
        pprofd = self.collector()
        for _ in range(2):
            self.stored(pprofd, gzip.compress(p.encode()), type='other')
        self.assertEqual(self.top(pprofd, 'other{service="api"}',
                                  sample_index='t5'), {'f': 12})

    def test_tables_made_from_the_printed_schema(self):
        plain = () if self.KIND != '18.16' else ('--plain',)
        text = subprocess.run([PPROFD, 'schema', *plain, '--store', self.url],
                              capture_output=True, text=True, check=True)
        self.server.query('CREATE DATABASE ' + self.database)
        for statement in text.stdout.split(';\n'):
            if statement.strip():
                self.server.query(statement)
        pprofd = self.collector()
        self.stored(pprofd, cpu_profile({'main;a': 1}))
        self.assertEqual(self.top(pprofd), {'a': 1})

    def test_newer_tables_are_refused(self):
        self.collector().stop()
        self.sql('INSERT INTO DB.pprofd_schema (version) VALUES (99)')
        with self.assertRaisesRegex(AssertionError, 'newer pprofd'):
            self.collector()

    def retain(self, pprofd, config, text):
        with open(config, 'w') as f:
            f.write('retention:\n' + text)
        if pprofd:
            pprofd.process.send_signal(signal.SIGHUP)

    def await_sql(self, text, expected):
        """Mutations run in the background."""
        end = time.monotonic() + 60
        while time.monotonic() < end and self.sql(text) != expected:
            time.sleep(0.1)
        self.assertEqual(self.sql(text), expected)

    def test_days_expire(self):
        config = self.path('config.yaml')
        self.retain(None, config, '  raw: 0\n')
        pprofd = self.collector('--config', config, '--scrape-self=false')
        self.stored(pprofd, cpu_profile({'main;old': 1}))
        self.retain(pprofd, config, '  raw: 30d\n')
        for table in ('profiles', 'ids', 'records'):
            self.await_sql('SELECT count() FROM DB.pprofd_' + table, '0\n')

    def test_rules_for_services_and_types(self):
        config = self.path('config.yaml')
        self.retain(None, config, '  raw: 0\n')
        pprofd = self.collector('--config', config, '--scrape-self=false')
        for service in ('api', 'b\'atch'):
            self.stored(pprofd, cpu_profile({'main;old': 1}), service=service)
            self.stored(pprofd, heap_profile({'main;x': (1, 1, 1, 1)}),
                        service=service, type='heap')
        kept = ("SELECT service, type FROM DB.pprofd_%s ORDER BY service, "
                "type")
        self.retain(pprofd, config, '  raw: 30d\n  rules:\n'
                    '    - service: api\n      type: cpu\n      raw: 30d\n'
                    '    - service: api\n      raw: 90000d\n'
                    '    - type: heap\n      raw: 90000d\n')
        for table in ('profiles', 'ids'):
            self.await_sql(kept % table, "api\theap\nb\\'atch\theap\n")
        self.retain(pprofd, config, '  raw: 0\n  rules:\n'
                    '    - service: "b\'atch"\n      raw: 30d\n')
        for table in ('profiles', 'ids'):
            self.await_sql(kept % table, 'api\theap\n')
        self.await_sql('SELECT DISTINCT service FROM DB.pprofd_records',
                       'api\n')
        reply = pprofd.get('/api/1/top', query='heap{service="api"}',
                           sample_index='inuse_space', **RANGE)
        self.assertEqual([row['name'] for row in reply.json['rows']
                          if row['flat']], ['x'])


class OldServer(TwoKinds, StoreTest):
    pass


class CurrentEngine(TwoKinds, StoreTest):
    KIND = '26.x'


class Options(StoreTest):
    def refused(self, *args):
        ran = subprocess.run([PPROFD, 'serve', '--addr', '127.0.0.1:0', *args],
                             capture_output=True, text=True, timeout=60)
        self.assertEqual(ran.returncode, 1)
        return ran.stderr

    def test_what_cannot_be_done_is_said(self):
        with open(self.path('config.yaml'), 'w') as f:
            f.write('retention:\n  rules:\n    - service: api\n'
                    '      max_bytes: 1GB\n')
        for args, words in (
                (('--wal', self.path('wal')), 'need storage.store'),
                (('--store', 'mysql://x/y'), 'must be a URL like'),
                (('--store', 'clickhouse://me:secret@h/db'),
                 'does not belong in the URL'),
                (('--store', 'clickhouse://h/d-b'), 'name of a database'),
                (('--store', self.url, '--max-disk', '1GB'),
                 'max_disk cannot be used'),
                (('--store', self.url, '--config', self.path('config.yaml')),
                 'max_bytes in a retention rule cannot be used'),
                (('--store', self.url, '--store-cert', 'x'), 'both or none'),
                (('--store', 'clickhouse://127.0.0.1:1/db'), '127.0.0.1:1')):
            said = self.refused(*args)
            self.assertIn(words, said)
            self.assertNotIn('secret', said)

    def test_a_batch_waits_as_long_as_it_is_told(self):
        config = self.path('config.yaml')
        with open(config, 'w') as f:
            f.write('storage:\n  batch_wait: 700ms\n  batch_profiles: 3\n')
        pprofd = self.collector('--config', config)
        begun = time.monotonic()
        self.stored(pprofd, cpu_profile({'main;alone': 1}))
        self.assertGreater(time.monotonic() - begun, 0.69)
        # Three are enough, whatever the wait.
        threads = [threading.Thread(target=self.stored, args=(
            pprofd, cpu_profile({'main;together': 1}))) for _ in range(9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.top(pprofd), {'alone': 1, 'together': 9})
        with open(config, 'w') as f:
            f.write('storage:\n  batch_profiles: 0\n')
        self.assertIn('at least 1', self.refused(
            '--store', self.url, '--config', config))

    def test_password(self):
        server = clickhouse.Old(password='open sesame')
        self.addCleanup(server.stop)
        with open(self.path('password'), 'w') as f:
            f.write('open sesame\n')
        os.chmod(self.path('password'), 0o600)
        pprofd = self.collector('--store-password-file', self.path('password'),
                                url=server.url())
        self.stored(pprofd, cpu_profile({'main;a': 1}))
        other = self.collector(url=server.url(),
                               env={'PPROFD_STORE_PASSWORD': 'open sesame'})
        other.stop()
        self.assertIn('assword', self.refused('--store', server.url()))
        with open(self.path('password'), 'w') as f:
            f.write('wrong sesame\n')
        said = self.refused('--store', server.url(), '--log.level', 'debug',
                            '--store-password-file', self.path('password'))
        self.assertIn('check --store-password-file', said)
        for text in (said, pprofd.get('/metrics').text,
                     pprofd.get('/debug/pprof/cmdline').text):
            self.assertNotIn('sesame', text)

    def test_another_host_takes_over(self):
        url = self.url.replace('127.0.0.1', '127.0.0.1:%d,127.0.0.1'
                               % support.free_port())
        pprofd = self.collector(url=url)
        self.stored(pprofd, cpu_profile({'main;a': 1}))
        self.assertEqual(self.top(pprofd), {'a': 1})


if __name__ == '__main__':
    unittest.main()
