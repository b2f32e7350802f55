"""ClickHouse that is killed, cut off, slow, full or read-only.  Each must be
reported clearly and survived: what was acknowledged is there, and once."""

import os
import shutil
import subprocess
import time
import unittest

import clickhouse
import support
from clickhouse import RANGE, Load, StoreTest
from collector import SECOND, TIME, cpu_profile

KILLS = int(os.environ.get('PPROF_TEST_KILLS', '3'))


class FaultTest(StoreTest):
    def collector(self, *args, **more):
        return super().collector('--store-timeout', '4s', *args, **more)

    def is_up(self, pprofd):
        return self.metric(pprofd, 'pprofd_store_up') == 1

    def refused(self, pprofd, *words):
        """Posts until a profile is refused for the reason in the words, which
        the log and the metrics have to show, too."""
        def post():
            reply = pprofd.post(cpu_profile({'main;a': 1}), service='api',
                                type='cpu')
            if reply.status == 200:
                self.accepted += 1
                return None
            return reply

        self.accepted = 0
        reply = self.wait_for(post)
        self.assertEqual(reply.status, 503, reply.text)
        self.assertTrue(reply.headers['Retry-After'])
        for word in words:
            self.assertIn(word, reply.text)
        self.assertEqual(self.metric(pprofd, 'pprofd_store_up'), 0)
        return reply

    def accepted_again(self, pprofd):
        """Posts until a profile is taken."""
        def post():
            return pprofd.post(cpu_profile({'main;a': 1}), service='api',
                               type='cpu').status == 200

        self.wait_for(post)
        self.assertTrue(self.is_up(pprofd))
        self.assertEqual(pprofd.get('/readyz').text, 'ok\n')

    def assert_logged(self, pprofd, *words):
        time.sleep(2.5)  # it looks every two seconds
        pprofd.stop()
        for word in (*words, 'profiles are written to the store again'):
            self.assertIn(word, pprofd.said)


class Killed(StoreTest):
    def make_server(self):
        server = clickhouse.Old()
        self.addCleanup(server.stop)
        return server

    def kill_under_load(self, *pprofds):
        load = Load(*pprofds)
        try:
            for _ in range(KILLS):
                time.sleep(1)
                self.server.kill()
                time.sleep(0.5)
                self.server.start()
            time.sleep(1)
        finally:
            load.end()
        return load

    def wait_for_empty_log(self, pprofd):
        self.wait_for(lambda: self.metric(
            pprofd, 'pprofd_store_wal_profiles') == 0, 120)

    def test_under_load(self):
        pprofd = self.collector()
        load = self.kill_under_load(pprofd)
        self.assertGreater(len(load.ids), 0)
        self.check_load(pprofd, load)

    def test_under_load_with_logs(self):
        """Two collectors, with a log each."""
        one, two = [self.collector('--wal', self.path('wal%d' % i))
                    for i in range(2)]
        load = self.kill_under_load(one, two)
        self.assertEqual(load.refused, 0)
        for pprofd in (one, two):
            self.wait_for_empty_log(pprofd)
        for pprofd in (one, two):
            self.check_load(pprofd, load)

    def test_log_survives_everything(self):
        """ClickHouse away from the start, pprofd killed, log full."""
        self.server.kill()
        pprofd = self.collector('--wal', self.path('wal'), '--wal-max', '20KB')
        ids = []
        for i in range(1000):
            reply = pprofd.post(cpu_profile({'main;t': 1, 'main;n%d' % i: 0},
                                            TIME + i * 1000000),
                                service='api', type='cpu')
            if reply.status != 200:
                break
            ids.append(reply.json['body']['id'])
        self.assertEqual(reply.status, 503, reply.text)
        self.assertIn('log is full', reply.text)
        self.assertGreater(len(ids), 0)
        self.assertEqual(pprofd.get('/api/1/services', **RANGE).status, 503)
        pprofd.kill()
        self.server.start()
        pprofd = self.collector('--wal', self.path('wal'))
        self.wait_for_empty_log(pprofd)
        self.assertEqual(set(self.listed(pprofd)), set(ids))
        self.assertEqual(self.top(pprofd), {'t': len(ids)})

    def test_files_of_the_log_are_sent_together(self):
        """A log that fills in small batches must not empty in small ones."""
        self.server.kill()
        pprofd = self.collector('--wal', self.path('wal'))
        ids = [self.stored(pprofd, cpu_profile({'main;t': 1},
                                               TIME + i * 1000000))
               for i in range(100)]
        self.assertEqual(len(self.log_files()), len(ids))
        pprofd.kill()
        self.server.start()
        proxy = clickhouse.Proxy(self.server)
        self.addCleanup(proxy.stop)
        pprofd = self.collector('--wal', self.path('wal'),
                                url='clickhouse://127.0.0.1:%d/%s' % (
                                    proxy.port, self.database))
        self.wait_for_empty_log(pprofd)
        self.assertEqual(set(self.listed(pprofd)), set(ids))
        inserts = bytes(proxy.sent).count(b'INSERT%20INTO%20pprofd_profiles')
        self.assertIn(inserts, range(1, 6))

    def log_files(self):
        return sorted(name for name in os.listdir(self.path('wal'))
                      if name.endswith('.batch'))

    def test_damaged_files_of_the_log(self):
        """They are put aside and reported; the others are sent."""
        self.server.kill()
        pprofd = self.collector('--wal', self.path('wal'))
        ids = [self.stored(pprofd, cpu_profile({'main;t': 1}, TIME + i),
                           service='api%d' % i) for i in range(5)]
        files = self.log_files()
        self.assertEqual(len(files), 5)
        pprofd.kill()
        with open(self.path('wal', files[0]), 'r+b') as f:
            f.truncate(60)
        with open(self.path('wal', files[2]), 'r+b') as f:
            f.seek(100)
            byte = f.read(1)
            f.seek(100)
            f.write(bytes([byte[0] ^ 1]))
        foreign = ['1.batch', 'ffffffffffffffff.batch', 'x.batch']
        for name in (*foreign, '0000000000000000.batch',
                     '0000000000000099.batch.new'):
            with open(self.path('wal', name), 'wb'):
                pass
        self.server.start()
        pprofd = self.collector('--wal', self.path('wal'))
        self.wait_for_empty_log(pprofd)
        self.wait_for(lambda: self.log_files() == foreign)
        self.assertEqual(sorted(self.listed(pprofd)),
                         sorted([ids[1], ids[3], ids[4]]))
        self.assertEqual(self.metric(pprofd, 'pprofd_store_wal_bytes'), 0)
        self.assertEqual(
            sorted(n for n in os.listdir(self.path('wal')) if '.dam' in n),
            ['0000000000000000.batch.damaged', files[0] + '.damaged',
             files[2] + '.damaged'])
        # One of two new files is deleted behind its back.
        self.server.kill()
        for i in (8, 9):
            self.stored(pprofd, cpu_profile({'main;t': 1}, TIME + i),
                        service='new%d' % i)
        os.unlink(self.path('wal', self.log_files()[0]))
        self.server.start()
        self.wait_for_empty_log(pprofd)
        self.assertEqual(len(self.listed(pprofd)), 4)
        self.assertEqual(self.metric(
            pprofd, 'pprofd_store_wal_lost_files_total'), 4)
        time.sleep(2.5)  # it looks every two seconds
        pprofd.stop()
        self.assertIn('profiles in the write-ahead log are lost', pprofd.said)

    @unittest.skipIf(os.geteuid() != 0, 'only root can mount a file system')
    def test_the_disk_of_the_log_is_full(self):
        place = self.path('wal')
        os.mkdir(place)
        made = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=64k',
                               'tmpfs', place], capture_output=True, text=True)
        if made.returncode:
            self.skipTest('tmpfs cannot be mounted: ' + made.stderr)
        self.addCleanup(subprocess.run, ['umount', '-l', place])
        pprofd = self.collector('--wal', place)
        self.server.kill()
        ids = []
        for i in range(1000):
            reply = pprofd.post(cpu_profile({'main;t': 1}, TIME + i),
                                service='api', type='cpu')
            if reply.status != 200:
                break
            ids.append(reply.json['body']['id'])
        self.assertEqual(reply.status, 503, reply.text)
        self.assertIn('no space left on device', reply.text)
        self.assertTrue(reply.headers['Retry-After'])
        self.server.start()
        self.wait_for_empty_log(pprofd)
        self.assertEqual(set(self.listed(pprofd)), set(ids))


class TwoCollectors(StoreTest):
    def test_write_and_read_at_once(self):
        """What one collector has acknowledged, both have in their answers."""
        pprofds = [self.collector(), self.collector()]
        load = Load(*pprofds)
        try:
            for _ in range(10):
                before = set(load.ids)
                answers = [set(self.listed(p)) for p in pprofds]
                for answer in answers:
                    self.assertEqual(before - answer, set())
        finally:
            load.end()
        self.assertGreater(len(load.ids), 0)
        for pprofd in pprofds:
            self.check_load(pprofd, load)
        ask = lambda p, path, **more: p.get(path, **RANGE, **more).json
        for path, more in (
                ('/api/1/top', {'query': 'cpu{service="api"}'}),
                ('/api/1/series', {'query': 'cpu{service="api"}',
                                   'step': '1m'}),
                ('/api/1/profiles', {'limit': '100'}),
                ('/api/1/services', {})):
            self.assertEqual(*[ask(p, path, **more) for p in pprofds])


class Replies(FaultTest):
    def setUp(self):
        super().setUp()
        self.proxy = clickhouse.Proxy(self.server)
        self.addCleanup(self.proxy.stop)
        self.direct = self.url
        self.url = 'clickhouse://127.0.0.1:%d/%s' % (self.proxy.port,
                                                     self.database)

    def test_slow_ones_are_waited_for(self):
        pprofd = self.collector()
        for harm in ('delay', 'dribble'):
            self.proxy.harm = harm
            self.stored(pprofd, cpu_profile({'main;a': 1}))
        self.assertEqual(self.top(pprofd), {'a': 2})

    def test_cut_ones_are_errors(self):
        pprofd = self.collector()
        self.stored(pprofd, cpu_profile({'main;a': 1}))
        self.proxy.harm = 'cut'
        reply = pprofd.get('/api/1/top', query='cpu{service="api"}', **RANGE)
        self.assertEqual(reply.status, 503, reply.text)
        self.assertIn('ClickHouse at http://127.0.0.1:%d' % self.proxy.port,
                      reply.text)
        self.proxy.harm = None
        self.accepted_again(pprofd)
        # An insert whose reply was cut off is repeated.
        self.proxy.harm, self.proxy.hit = 'cut', 0
        load = Load(pprofd)
        self.wait_for(lambda: self.proxy.hit > 3)
        self.proxy.harm = None
        self.wait_for(lambda: load.ids)
        load.end()
        self.assertEqual(set(load.ids) - set(self.listed(pprofd)), set())
        total = sum(n for name, n in self.top(pprofd).items()
                    if name.startswith('t'))
        self.assertEqual(total, len(self.listed(pprofd)) - 2)
        self.assertGreaterEqual(total, len(load.ids))

    def test_a_host_that_hangs_is_left(self):
        url = self.url.replace('/' + self.database, ',127.0.0.1:%d/%s' % (
            self.server.port, self.database))
        pprofd = self.collector('--store-timeout', '30s', url=url)
        self.proxy.harm = 'hang'
        self.stored(pprofd, cpu_profile({'main;a': 1}))
        start = time.monotonic()
        self.assertEqual(self.top(pprofd), {'a': 1})
        self.assertLess(time.monotonic() - start, 15)  # it is known by now

    def test_recorded_errors(self):
        """What cannot be brought about here, in ClickHouse's words."""
        pprofd = self.collector()
        for words, expected in (
                ('Code: 242, e.displayText() = DB::Exception: Table is in '
                 'readonly mode, e.what() = DB::Exception',
                 ('readonly mode', 'this replica is read-only')),
                ('Code: 252. DB::Exception: Too many parts (300). Merges are '
                 'processing significantly slower than inserts. '
                 '(TOO_MANY_PARTS) (version 26.1.1.1)',
                 ('Too many parts (300)', 'faster disks')),
                ('<html> 502 Bad Gateway', ('502 Bad Gateway',))):
            self.proxy.harm = words
            self.refused(pprofd, *expected)
            self.proxy.harm = None
            self.accepted_again(pprofd)
        self.assert_logged(pprofd, 'this replica is read-only')


class Server(FaultTest):
    """Faults of the real server."""

    def make_server(self):
        server = clickhouse.Old(more='<merge_tree><parts_to_delay_insert>3'
                                '</parts_to_delay_insert>'
                                '<parts_to_throw_insert>4'
                                '</parts_to_throw_insert></merge_tree>')
        self.addCleanup(server.stop)
        return server

    def test_too_many_parts(self):
        pprofd = self.collector()
        self.sql('SYSTEM STOP MERGES DB.pprofd_profiles')
        self.refused(pprofd, 'Too many parts', 'faster disks')
        # Questions are answered meanwhile.
        self.assertEqual(self.top(pprofd), {'a': self.accepted})
        self.assertEqual(pprofd.get('/readyz').status, 200)
        self.sql('SYSTEM START MERGES DB.pprofd_profiles')
        for table in ('profiles', 'ids', 'records'):
            self.sql('OPTIMIZE TABLE DB.pprofd_' + table)
        self.accepted_again(pprofd)
        self.assertEqual(self.top(pprofd), {'a': self.accepted + 1})
        self.assert_logged(pprofd, 'Too many parts')


class ReadOnly(FaultTest):
    def make_server(self):
        server = clickhouse.Old()
        self.addCleanup(server.stop)
        return server

    def test_user_that_may_only_read(self):
        pprofd = self.collector()
        self.stored(pprofd, cpu_profile({'main;a': 1}))
        self.server.set_profile('<readonly>2</readonly>')
        self.refused(pprofd, 'readonly', 'the user may only read')
        self.assertEqual(self.top(pprofd), {'a': 1 + self.accepted})
        self.server.set_profile()
        self.accepted_again(pprofd)
        self.assertEqual(self.top(pprofd), {'a': 2 + self.accepted})


@unittest.skipIf(os.geteuid() != 0, 'only root can mount a file system')
class FullDisk(FaultTest):
    def make_server(self):
        disk = self.path('disk')
        os.mkdir(disk)
        made = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=64m',
                               'tmpfs', disk], capture_output=True, text=True)
        if made.returncode:
            self.skipTest('tmpfs cannot be mounted: ' + made.stderr)
        self.addCleanup(subprocess.run, ['umount', '-l', disk])
        self.disk = os.path.join(disk, 'clickhouse')
        os.mkdir(self.disk)
        server = clickhouse.Old(dir=self.disk)
        self.addCleanup(server.stop)
        return server

    def fill(self):
        with open(os.path.join(self.disk, '..', 'filler'), 'wb',
                  buffering=0) as f:
            try:
                while f.write(b'x' * 4096):
                    pass
            except OSError:
                pass

    def test_full_disk(self):
        pprofd = self.collector()
        self.stored(pprofd, cpu_profile({'main;a': 1}))
        self.fill()
        self.refused(pprofd, 'its disk is full')
        os.unlink(os.path.join(self.disk, '..', 'filler'))
        self.accepted_again(pprofd)
        self.assertEqual(self.top(pprofd), {'a': 2 + self.accepted})


@unittest.skipIf(os.geteuid() != 0 or not shutil.which('ip'),
                 'only root can make a network namespace, with ip')
class Partition(FaultTest):
    """ClickHouse in a network namespace, behind a pair of interfaces."""

    def ip(self, *args):
        ran = subprocess.run(['ip', *args], capture_output=True, text=True)
        if ran.returncode:
            self.skipTest('ip %s: %s' % (' '.join(args), ran.stderr))

    def make_server(self):
        name = 'pf%d' % (os.getpid() % 100000)
        third = os.getpid() % 250
        self.near, far = name + 'a', name + 'b'
        self.link = ('-n', name, 'link', 'set', far)
        self.name, self.far = name, far
        self.far_address = '10.213.%d.2/24' % third
        self.ip('netns', 'add', name)
        self.addCleanup(subprocess.run, ['ip', 'netns', 'del', name])
        self.ip('link', 'add', self.near, 'type', 'veth', 'peer', 'name', far)
        self.addCleanup(subprocess.run, ['ip', 'link', 'del', self.near],
                        stderr=subprocess.DEVNULL)
        self.ip('link', 'set', far, 'netns', name)
        self.ip('addr', 'add', '10.213.%d.1/24' % third, 'dev', self.near)
        self.ip('link', 'set', self.near, 'up')
        self.ip('-n', name, 'addr', 'add', self.far_address, 'dev', far)
        self.ip('-n', name, 'link', 'set', far, 'up')
        self.ip('-n', name, 'link', 'set', 'lo', 'up')
        server = clickhouse.Old(host='10.213.%d.2' % third,
                                command=('ip', 'netns', 'exec', name))
        self.addCleanup(server.stop)
        return server

    def test_cut_and_healed(self):
        pprofd = self.collector()
        load = Load(pprofd)
        try:
            time.sleep(0.5)
            self.ip(*self.link, 'down')
            reply = self.wait_for(lambda: self.not_ready(pprofd))
            self.assertIn('see the log', reply.text)
            self.assertNotIn('10.213.', reply.text)  # anybody may ask
            reply = pprofd.get('/api/1/services', **RANGE)
            self.assertEqual(reply.status, 503)
            self.assertIn('ClickHouse at http://10.213.', reply.text)
            self.ip(*self.link, 'up')
            n = len(load.ids)
            self.wait_for(lambda: len(load.ids) > n + 5)
        finally:
            load.end()
        self.assertEqual(pprofd.get('/readyz').status, 200)
        self.check_load(pprofd, load)

    def test_packets_that_vanish_with_a_log(self):
        """Nobody says that the host is gone: its address is."""
        pprofd = self.collector('--wal', self.path('wal'))
        load = Load(pprofd)
        try:
            self.wait_for(lambda: len(load.ids) > 5)
            self.ip('-n', self.name, 'addr', 'del', self.far_address, 'dev',
                    self.far)
            n = len(load.ids)
            self.wait_for(lambda: len(load.ids) > n + 5)
            self.wait_for(lambda: self.metric(
                pprofd, 'pprofd_store_wal_profiles') > 0)
            self.assertEqual(pprofd.get('/readyz').status, 200)
            self.ip('-n', self.name, 'addr', 'add', self.far_address, 'dev',
                    self.far)
            self.wait_for(lambda: self.metric(
                pprofd, 'pprofd_store_wal_profiles') == 0)
        finally:
            load.end()
        self.assertEqual(load.refused, 0)
        self.wait_for(lambda: self.metric(
            pprofd, 'pprofd_store_wal_profiles') == 0)
        self.check_load(pprofd, load)

    def not_ready(self, pprofd):
        reply = pprofd.get('/readyz')
        return reply if reply.status == 503 else None


if __name__ == '__main__':
    unittest.main()
