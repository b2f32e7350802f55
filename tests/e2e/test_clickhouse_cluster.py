"""ClickHouse clusters: sharded tables on two servers, three collectors behind
nginx, and replicas with ZooKeeper; one of each is killed."""

import glob
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import clickhouse
import support
from clickhouse import Load, StoreTest
from collector import PPROFD, SECOND, cpu_profile

HOUR, DAY = 3600 * SECOND, 86400 * SECOND


def cluster_config(ports, replicated, more=''):
    """Two servers: two replicas of one shard, or two shards."""
    replica = ('<replica><host>127.0.0.1</host><port>%d</port></replica>')
    replicas = [replica % tcp for _, tcp, _ in ports]
    shard = ('<shard><internal_replication>true</internal_replication>'
             '%s</shard>')
    shards = (shard % ''.join(replicas) if replicated
              else ''.join(shard % r for r in replicas))
    return ('<remote_servers><both>%s</both></remote_servers>' % shards) + more


def two_servers(test, replicated, more=lambda i: ''):
    ports = [[support.free_port() for _ in range(3)] for _ in range(2)]
    servers = []
    for i in range(2):
        servers.append(clickhouse.Old(
            more=cluster_config(ports, replicated, more(i)), ports=ports[i]))
        test.addCleanup(servers[i].stop)
    return servers, 'clickhouse://127.0.0.1:%d,127.0.0.1:%d/fleet' % (
        ports[0][0], ports[1][0])


class Nginx:
    """In front of collectors; one that does not answer is passed over."""

    def __init__(self, test, pprofds):
        self.port = support.free_port()
        config = test.path('nginx.conf')
        with open(config, 'w') as f:
            f.write('daemon off; pid %s; error_log stderr;\n'
                    'events {}\nhttp { access_log off;\n'
                    'client_body_temp_path %s; proxy_temp_path %s;\n'
                    'fastcgi_temp_path %s; uwsgi_temp_path %s;\n'
                    'scgi_temp_path %s;\n'
                    'upstream fleet { %s }\n'
                    'server { listen 127.0.0.1:%d; location / {\n'
                    'proxy_pass http://fleet;\n'
                    'proxy_set_header Host $http_host;\n'
                    'proxy_next_upstream error timeout non_idempotent;\n'
                    '} } }\n' % (
                        test.path('nginx.pid'),
                        *[test.path('nginx-%d' % i) for i in range(5)],
                        ' '.join('server 127.0.0.1:%d;' % p.port
                                 for p in pprofds), self.port))
        self.process = subprocess.Popen(
            ['nginx', '-p', test.dir, '-c', config],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        test.addCleanup(support.stop, self.process)
        support.wait_for_port(self.port, self.process)


class Front:
    """Asks nginx as others ask a collector."""

    def __init__(self, nginx, pprofd):
        self.port = nginx.port
        self.request = lambda *args, **more: type(pprofd).request(
            self, *args, **more)
        self.get = lambda *args, **more: type(pprofd).get(self, *args, **more)
        self.post = lambda *args, **more: type(pprofd).post(
            self, *args, **more)


class Shards(StoreTest):
    """Two servers with Distributed tables.  The tables on them are not
    replicated: that is for the tests below."""

    def make_server(self):
        self.servers, self.cluster_url = two_servers(self, replicated=False)
        return self.servers[0]

    def setUp(self):
        super().setUp()
        self.url = self.cluster_url
        schema = subprocess.run(
            [PPROFD, 'schema', '--plain', '--store', self.url, '--cluster',
             'both'], capture_output=True, text=True, check=True).stdout
        self.assertIn("ENGINE = ReplicatedMergeTree('/clickhouse/tables/"
                      "{shard}/fleet/pprofd_profiles', '{replica}')", schema)
        self.assertIn('Distributed(both, fleet, pprofd_profiles_local, '
                      'cityHash64(service))', schema)
        single = re.sub(r"Replicated(\w*MergeTree)\('[^']*', '[^']*'\)",
                        r'\1', schema).replace(' ON CLUSTER both', '')
        single = single.replace('fleet.pprofd_schema (version) VALUES',
                                'fleet.pprofd_schema_local (version) VALUES')
        for server in self.servers:
            server.query('CREATE DATABASE fleet')
            for statement in single.split(';\n'):
                if statement.strip():
                    server.query(statement)

    def collector(self, *args, **more):
        return super().collector('--cluster', 'both', *args, **more)

    def counts(self):
        return [int(s.query('SELECT count() FROM fleet.pprofd_profiles_local'))
                for s in self.servers]

    def test_sharded_by_service(self):
        pprofd = self.collector()
        for i in range(12):
            self.stored(pprofd, cpu_profile({'main;s%d' % i: 1}),
                        service='s%d' % i)
        counts = self.counts()
        self.assertEqual(sum(counts), 12)
        self.assertGreater(min(counts), 0, counts)
        self.assertEqual(self.top(pprofd, 'cpu{service=~"s.*"}'),
                         {'s%d' % i: 1 for i in range(12)})

    def test_sums_of_expired_days(self):
        config = self.path('config.yaml')
        with open(config, 'w') as f:
            f.write('scrape:\n  self: false\nretention:\n  raw: 0\n')
        pprofds = [self.collector('--config', config) for _ in range(2)]
        day = time.time_ns() // DAY * DAY - 3 * DAY
        for i in range(12):
            for when in (0, HOUR, DAY - SECOND):
                self.stored(pprofds[i % 2], cpu_profile(
                    {'main;s%d' % i: 1, 'main;all': 2}, day + when),
                    service='s%d' % i)
        span = {'from': str(day // SECOND), 'to': str((day + DAY) // SECOND)}
        every = {'all': 72, **{'s%d' % i: 3 for i in range(12)}}
        ask = lambda pprofd: self.top(pprofd, 'cpu{service=~"s.*"}', **span)
        self.assertEqual(ask(pprofds[0]), every)
        with open(config, 'w') as f:
            f.write('scrape:\n  self: false\nretention:\n  raw: 1d\n')
        for pprofd in pprofds:
            pprofd.process.send_signal(signal.SIGHUP)
        self.wait_for(lambda: self.servers[0].query(
            'SELECT uniqExact(service) FROM fleet.pprofd_builds WHERE state = '
            '2') == '12\n')
        # Both shards have some, and the profiles do not count any more.
        for server in self.servers:
            self.assertGreater(int(server.query(
                'SELECT count() FROM fleet.pprofd_sums_local')), 0)
            server.query('ALTER TABLE fleet.pprofd_profiles_local DROP '
                         "PARTITION '%s'" % time.strftime(
                             '%Y-%m-%d', time.gmtime(day // SECOND)))
        for pprofd in pprofds:
            self.assertEqual(ask(pprofd), every)
            self.assertEqual(self.top(pprofd, 'cpu{service="s7"}', **span),
                             {'s7': 3, 'all': 6})

    @support.needs('nginx')
    def test_one_of_each_is_killed(self):
        """Three collectors behind nginx.  While a shard is down, profiles are
        accepted all the same; they are there when it is back."""
        pprofds = [self.collector() for _ in range(3)]
        front = Front(Nginx(self, pprofds), pprofds[0])
        load = Load(front, services=8)
        try:
            self.wait_for(lambda: len(load.ids) > 20)
            pprofds[2].kill()
            n = len(load.ids)
            self.wait_for(lambda: len(load.ids) > n + 20)
            self.servers[1].kill()
            n = len(load.ids)
            self.wait_for(lambda: len(load.ids) > n + 20, 60)
            reply = front.get('/api/1/services', **clickhouse.RANGE)
            self.assertEqual(reply.status, 503, reply.text)
            self.assertIn('a shard does not answer', reply.text)
            self.servers[1].start()
            n = len(load.ids)
            self.wait_for(lambda: len(load.ids) > n + 20)
        finally:
            load.end()
        self.wait_for(lambda: set(load.ids) <= set(self.listed(front)))
        for pprofd in (front, *pprofds[:2]):
            self.check_load(pprofd, load)


class ZooKeeper:
    """Debian's, on a free port."""

    def __init__(self):
        jars = glob.glob('/usr/share/java/zookeeper.jar')
        if not jars or not shutil.which('java'):
            raise unittest.SkipTest('zookeeper is not installed')
        self.dir = tempfile.mkdtemp(prefix='pprof-zookeeper-')
        self.port = support.free_port()
        self.start()

    def start(self):
        path = ':'.join('/usr/share/java/%s.jar' % name for name in (
            'zookeeper', 'zookeeper-jute', 'slf4j-api', 'slf4j-nop',
            'netty-all', 'netty-handler', 'netty-common', 'netty-buffer',
            'netty-transport', 'netty-codec', 'netty-resolver',
            'metrics-core', 'snappy-java', 'log4j-1.2', 'commons-io'))
        self.process = subprocess.Popen(
            ['java', '-Xmx128m', '-cp', path, '-Dzookeeper.admin.'
             'enableServer=false', 'org.apache.zookeeper.server.'
             'ZooKeeperServerMain', str(self.port), self.dir],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        support.wait_for_port(self.port, self.process)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        support.stop(self.process)
        shutil.rmtree(self.dir, ignore_errors=True)


class Replicas(StoreTest):
    """Two replicas of one shard, made by pprofd itself."""

    def make_server(self):
        self.keeper = ZooKeeper()
        self.addCleanup(self.keeper.stop)
        self.servers, self.cluster_url = two_servers(
            self, True, lambda i: (
                '<zookeeper><node><host>127.0.0.1</host><port>%d</port></node>'
                '<session_timeout_ms>5000</session_timeout_ms></zookeeper>'
                '<distributed_ddl><path>/clickhouse/ddl</path>'
                '</distributed_ddl><macros><shard>1</shard>'
                '<replica>r%d</replica></macros>' % (self.keeper.port, i)))
        return self.servers[0]

    def setUp(self):
        super().setUp()
        self.url = self.cluster_url

    def test_one_is_killed(self):
        pprofds = [self.collector('--cluster', 'both', '--store-timeout',
                                  '4s') for _ in range(2)]
        load = Load(*pprofds)
        try:
            self.wait_for(lambda: len(load.ids) > 20)
            self.servers[0].kill()
            n = len(load.ids)
            self.wait_for(lambda: len(load.ids) > n + 20)
            self.top(pprofds[0])
        finally:
            load.end()
        # What it had taken last comes back with it.
        self.servers[0].start()
        self.wait_for(lambda: all(set(load.ids) <= set(self.listed(p))
                                  for p in pprofds))
        for pprofd in pprofds:
            self.check_load(pprofd, load)
        # Without ZooKeeper they are read-only.
        self.keeper.kill()
        reply = self.wait_for(lambda: self.refusal(pprofds[0]))
        self.assertEqual(reply.status, 503, reply.text)
        self.check_load(pprofds[0], load)
        self.keeper.start()
        self.wait_for(lambda: not self.refusal(pprofds[0]))

    def refusal(self, pprofd):
        reply = pprofd.post(cpu_profile({'main;t': 1}), service='api',
                            type='cpu')
        return reply if reply.status != 200 else None


if __name__ == '__main__':
    unittest.main()
