"""What ClickHouse is asked to do: no longer than somebody waits for it, with
limits, and never by texts that others chose."""

import os
import re
import socket
import subprocess
import unittest

import clickhouse
import support
from clickhouse import RANGE, StoreTest
from collector import PPROFD, cpu_profile, heap_profile

# As much of a profile's row as is needed to count profiles, without an end.
ENDLESS = '''CREATE VIEW DB.pprofd_profiles AS SELECT toDate(18046) AS day,
'api' AS service, 'cpu' AS type, toInt64(1559250605250000000) AS created,
toFixedString('123456789012', 12) AS id, %s AS series,
emptyArrayString() AS label_keys, emptyArrayString() AS label_values
FROM system.numbers'''
RUNNING = ("SELECT count() FROM system.processes WHERE query_id LIKE "
           "'pprofd-%' AND query LIKE '%pprofd_profiles%'")


class Endless(StoreTest):
    """A query that only ClickHouse's limits or KILL QUERY can end."""

    def make_server(self):
        server = clickhouse.Old()
        self.addCleanup(server.stop)
        return server

    def start(self, max_cpu, series='toUInt64(1)'):
        with open(self.path('config.yaml'), 'w') as f:
            f.write('query:\n  max_cpu: %s\n' % max_cpu)
        pprofd = self.collector('--config', self.path('config.yaml'))
        self.sql('RENAME TABLE DB.pprofd_profiles TO DB.kept')
        self.sql(ENDLESS % series)
        return pprofd

    def running(self):
        return int(self.sql(RUNNING))

    def test_a_client_that_disconnects_ends_it(self):
        pprofd = self.start('10m')
        with socket.create_connection(('127.0.0.1', pprofd.port)) as s:
            s.sendall(b'GET /api/1/services HTTP/1.1\r\nHost: x\r\n\r\n'
                      .replace(b'x', b'127.0.0.1'))
            self.wait_for(lambda: self.running() == 1)
        self.wait_for(lambda: self.running() == 0, 30)

    def test_pprofd_that_stops_ends_it(self):
        pprofd = self.start('10m')
        with socket.create_connection(('127.0.0.1', pprofd.port)) as s:
            s.sendall(b'GET /api/1/services HTTP/1.1\r\nHost: 127.0.0.1\r\n'
                      b'\r\n')
            self.wait_for(lambda: self.running() == 1)
            pprofd.stop()
        self.wait_for(lambda: self.running() == 0, 30)

    def test_a_command_that_is_interrupted_ends_it(self):
        self.start('10m')
        command = subprocess.Popen(
            [PPROFD, 'query', '--store', self.url, 'services'],
            stdout=subprocess.DEVNULL)
        self.wait_for(lambda: self.running() == 1)
        command.send_signal(2)
        command.wait(60)
        self.wait_for(lambda: self.running() == 0, 30)

    def test_time_is_limited(self):
        pprofd = self.start('1s')
        reply = pprofd.get('/api/1/services', **RANGE)
        self.assertEqual(reply.status, 422, reply.text)
        self.assertIn('Timeout exceeded', reply.text)
        self.assertEqual(self.running(), 0)

    def test_memory_is_limited(self):
        pprofd = self.start('10m', 'number')
        self.server.set_profile('<max_memory_usage_for_user>100000000'
                                '</max_memory_usage_for_user>')
        reply = pprofd.get('/api/1/services', **RANGE)
        self.assertEqual(reply.status, 422, reply.text)
        self.assertIn('Memory limit (for user) exceeded', reply.text)
        self.assertEqual(self.running(), 0)


class Settings(StoreTest):
    def test_every_query_has_limits(self):
        proxy = clickhouse.Proxy(self.server)
        self.addCleanup(proxy.stop)
        with open(self.path('config.yaml'), 'w') as f:
            f.write('query:\n  max_cpu: 7s\n')
        pprofd = self.collector(
            '--config', self.path('config.yaml'),
            url='clickhouse://127.0.0.1:%d/%s' % (proxy.port, self.database))
        ids = [self.stored(pprofd, cpu_profile({'main;a': 1})),
               self.stored(pprofd, heap_profile({'main;a': (1, 2, 3, 4)}),
                           type='heap')]
        del proxy.sent[:]
        for path in ('services', 'labels', 'profiles', 'series', 'function',
                     'overview', 'top', 'merge', 'diff'):
            for values in ('sent', 'changes'):
                reply = pprofd.get('/api/1/' + path, values=values,
                                   query='{service=~"a.*"}', name='main',
                                   **RANGE)
                self.assertIn(reply.status, (200, 400, 404), reply.text)
        asked = self.asked(proxy)
        self.assertGreater(len(asked), 30)
        for parameters in asked:
            self.assertEqual((parameters['max_memory_usage'],
                              parameters['max_execution_time']),
                             ('4294967296', '8'))
        del proxy.sent[:]
        for i in ids:
            self.assertEqual(pprofd.get('/api/0/profiles/' + i).status, 200)
        for parameters in self.asked(proxy):
            self.assertIn('max_memory_usage', parameters)
            self.assertIn('max_execution_time', parameters)

    def asked(self, proxy):
        """Parameters of the queries so far."""
        return [dict(re.findall(rb'(\w+)=([^& ]*)'.decode(),
                                line.decode()))
                for line in re.findall(rb'POST /\?(\S+) HTTP', proxy.sent)
                if b'query=INSERT' not in line]


class Names(StoreTest):
    """Of clusters and databases: they stand in SQL without quotes."""

    def run_schema(self, *args):
        return subprocess.run([PPROFD, 'schema', *args], capture_output=True,
                              text=True)

    def test_clusters(self):
        for name, written in (('both', 'both'), ('fleet-1.eu', '`fleet-1.eu`'),
                              ('{cluster}', '`{cluster}`')):
            ran = self.run_schema('--store', self.url, '--cluster', name)
            self.assertIn(' ON CLUSTER %s ' % written, ran.stdout)
            self.assertIn('= Distributed(%s, ' % written, ran.stdout)
        for name in ('a b', "a'", 'a`', 'a;DROP TABLE x', 'a\\', 'ü'):
            for command in ('schema', 'serve'):
                ran = subprocess.run(
                    [PPROFD, command, '--store', self.url, '--cluster', name],
                    capture_output=True, text=True, timeout=60)
                self.assertEqual(ran.returncode, 1, name)
                self.assertIn('is not the name of a cluster', ran.stderr)
                self.assertEqual(ran.stdout, '')

    def test_a_mistyped_database_is_not_made(self):
        pprofd = self.collector()
        self.stored(pprofd, cpu_profile({'main;a': 1}))
        for command in (('query', 'services'), ('stats',),
                        ('export', self.path('out'))):
            ran = subprocess.run(
                [PPROFD, command[0], '--store', self.url + '_typo',
                 *command[1:]], capture_output=True, text=True, timeout=60)
            self.assertEqual(ran.returncode, 1, command)
            self.assertIn('there is no store in the database %s_typo'
                          % self.database, ran.stderr)
        self.assertNotIn('_typo', self.server.query('SHOW DATABASES'))
        self.assertFalse(os.path.exists(self.path('out')))

    def test_commands_beside_a_server_with_a_log(self):
        with open(self.path('config.yaml'), 'w') as f:
            f.write('storage:\n  store: %s\n  wal: %s\n'
                    % (self.url, self.path('wal')))
        pprofd = self.collector('--config', self.path('config.yaml'))
        self.stored(pprofd, cpu_profile({'main;a': 1}))
        for command in (('query', 'services'), ('stats',),
                        ('export', self.path('out')),
                        ('import', self.path('out'))):
            ran = subprocess.run(
                [PPROFD, command[0], '--config', self.path('config.yaml'),
                 *command[1:]], capture_output=True, text=True, timeout=60)
            self.assertEqual((ran.returncode, ran.stderr), (0, ''), command)


if __name__ == '__main__':
    unittest.main()
