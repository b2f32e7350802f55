"""ClickHouse servers for the tests: Debian's old one, and the current engine
from npm's chdb behind a small HTTP front.  Each test uses a database of its
own, so one server does for a whole module."""

import atexit
import http.client
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.parse

import collector
import support

CHDB = 'chdb@3.4.0'
CHDB_HOME = os.path.join(os.path.abspath(support.BUILD), 'chdb')
FRONT = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                     'chdb_front.mjs')

CONFIG = '''<yandex>
  <logger><level>warning</level><log>{dir}/log</log>
    <errorlog>{dir}/errors</errorlog></logger>
  <http_port>{http}</http_port>
  <tcp_port>{tcp}</tcp_port>
  <interserver_http_port>{inter}</interserver_http_port>
  <interserver_http_host>{host}</interserver_http_host>
  <listen_host>{host}</listen_host>
  <path>{dir}/data/</path>
  <tmp_path>{dir}/tmp/</tmp_path>
  <users_config>{dir}/users.xml</users_config>
  <default_profile>default</default_profile>
  <default_database>default</default_database>
  <mark_cache_size>67108864</mark_cache_size>
  {more}
</yandex>
'''

USERS = '''<yandex>
  <profiles><default><log_queries>0</log_queries>{settings}</default>
    <admin><readonly>0</readonly></admin></profiles>
  <users><default><password>{password}</password>
    <networks><ip>::/0</ip></networks>
    <profile>default</profile><quota>default</quota></default>
    <admin><password>{password}</password>
    <networks><ip>::/0</ip></networks>
    <profile>admin</profile><quota>default</quota></admin></users>
  <quotas><default></default></quotas>
</yandex>
'''


class Server:
    """What both kinds have in common."""

    databases = 0
    password = ''
    host = '127.0.0.1'

    def url(self, database=None):
        """Of a new database, unless one is named."""
        if database is None:
            Server.databases += 1
            database = 'test%d' % Server.databases
        return 'clickhouse://%s:%d/%s' % (self.host, self.port, database)

    def query(self, sql, timeout=60, user='default'):
        connection = http.client.HTTPConnection(self.host, self.port,
                                                timeout=timeout)
        try:
            connection.request('POST', '/?' + urllib.parse.urlencode(
                {'query_id': 'test-%d' % time.monotonic_ns()}), sql,
                {'X-ClickHouse-User': user,
                 'X-ClickHouse-Key': self.password})
            reply = connection.getresponse()
            body = reply.read().decode('utf-8', 'replace')
            if reply.status != 200:
                raise AssertionError(body)
            return body
        finally:
            connection.close()

    def wait(self, seconds=120):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise AssertionError('ClickHouse ended')
            try:
                self.query('SELECT 1', timeout=10)
                return
            except (OSError, http.client.HTTPException):
                time.sleep(0.1)
        raise AssertionError('ClickHouse does not answer')

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        support.stop(self.process)
        shutil.rmtree(self.dir, ignore_errors=True)


class Old(Server):
    """Debian's clickhouse-server 18.16."""

    NAME = '18.16'

    def __init__(self, password='', more='', ports=None, dir=None,
                 host='127.0.0.1', command=()):
        """dir: an empty directory; command: what runs the server."""
        if not shutil.which('clickhouse-server'):
            raise unittest.SkipTest('clickhouse-server is not installed')
        self.dir = dir or tempfile.mkdtemp(prefix='pprof-clickhouse-')
        self.password, self.host, self.command = password, host, command
        self.port, self.tcp, inter = ports or [support.free_port()
                                               for _ in range(3)]
        for name in ('data', 'tmp'):
            os.mkdir(os.path.join(self.dir, name))
        self.write('config.xml', CONFIG.format(
            dir=self.dir, host=host, http=self.port, tcp=self.tcp, inter=inter,
            more=more))
        self.set_profile()
        self.start()

    def set_profile(self, settings=''):
        """Settings of its user."""
        self.write('users.xml', USERS.format(password=self.password,
                                             settings=settings))
        if hasattr(self, 'process'):
            self.query('SYSTEM RELOAD CONFIG', user='admin')

    def write(self, name, text):
        with open(os.path.join(self.dir, name), 'w') as f:
            f.write(text)

    def start(self, wait=True):
        self.process = subprocess.Popen(
            [*self.command, 'clickhouse-server', '--config-file=' + self.dir + '/config.xml'],
            cwd=self.dir, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        if wait:
            self.wait()


def install_chdb():
    """Once, into the build directory; skips the tests where npm cannot."""
    module = os.path.join(CHDB_HOME, 'node_modules', 'chdb', 'package.json')
    if os.path.exists(module):
        return
    if not shutil.which('npm') or not shutil.which('node'):
        raise unittest.SkipTest('node and npm are not installed')
    os.makedirs(CHDB_HOME, exist_ok=True)
    npm = subprocess.run(
        ['npm', 'install', '--no-audit', '--no-fund', '--no-package-lock',
         '--prefix', CHDB_HOME, CHDB], cwd=CHDB_HOME, capture_output=True,
        text=True)
    if npm.returncode != 0:
        raise unittest.SkipTest('npm cannot install ' + CHDB)


class Current(Server):
    """The current engine behind chdb_front.mjs."""

    NAME = '26.x'

    def __init__(self):
        install_chdb()
        self.dir = tempfile.mkdtemp(prefix='pprof-chdb-')
        self.port = support.free_port()
        self.start()

    def start(self, wait=True):
        self.process = subprocess.Popen(
            ['node', FRONT, os.path.join(CHDB_HOME, 'node_modules', 'chdb'),
             os.path.join(self.dir, 'data'), str(self.port)],
            stdout=subprocess.DEVNULL,
            stderr=open(os.path.join(self.dir, 'errors'), 'w'))
        if wait:
            self.wait()


KINDS = {'18.16': Old, '26.x': Current}
servers = {}


def shared(kind):
    """A server for the whole module."""
    if kind not in servers:
        servers[kind] = KINDS[kind]()
        atexit.register(servers[kind].stop)
    return servers[kind]


class Proxy:
    """A proxy between pprofd and ClickHouse that damages replies.
    `harm` may be
        None          pass on
        'delay'       each reply begins a second and a half late
        'dribble'     replies come byte by byte
        'cut'         replies end in the middle
        'hang'        nothing is passed on
        a text        inserts get this as the words of an error.
    `sent` is what pprofd has sent so far."""

    def __init__(self, server):
        self.target, self.harm = (server.host, server.port), None
        self.socket = socket.create_server(('127.0.0.1', 0))
        self.port = self.socket.getsockname()[1]
        self.hit, self.sent = 0, bytearray()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            server = socket.create_connection(self.target)
            threading.Thread(target=self.requests, args=(client, server),
                             daemon=True).start()
            threading.Thread(target=self.replies, args=(server, client),
                             daemon=True).start()

    def requests(self, client, server):
        with client, server:
            try:
                while data := client.recv(1 << 16):
                    self.sent += data
                    if (isinstance(self.harm, str) and ' ' in self.harm and
                            b'INSERT' in data):
                        self.hit += 1
                        words = self.harm.encode()
                        client.sendall(
                            b'HTTP/1.1 500 Internal Server Error\r\n'
                            b'Connection: close\r\nContent-Length: %d\r\n\r\n'
                            % len(words) + words)
                        client.shutdown(socket.SHUT_WR)
                        while client.recv(1 << 16):
                            pass
                        return
                    if self.harm != 'hang':
                        server.sendall(data)
            except OSError:
                pass

    def replies(self, server, client):
        try:
            while data := server.recv(1 << 16):
                if self.harm == 'delay':
                    time.sleep(1.5)
                if self.harm == 'cut':
                    self.hit += 1
                    client.sendall(data[:len(data) // 2])
                    break
                if self.harm == 'dribble':
                    for at in range(len(data)):
                        client.sendall(data[at:at + 1])
                        time.sleep(0.001)
                elif self.harm != 'hang':
                    client.sendall(data)
        except OSError:
            pass
        for end in (client, server):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def stop(self):
        self.socket.close()


RANGE = {'from': '2019-05-30T21:00:00Z', 'to': '2019-05-30T22:00:00Z'}


class StoreTest(support.TestCase):
    """Collectors on a database of their own."""

    KIND = '18.16'

    def setUp(self):
        super().setUp()
        self.n = 0
        self.use(self.make_server())

    def make_server(self):
        return shared(self.KIND)

    def use(self, server):
        self.server = server
        self.url = server.url()
        self.database = self.url.rpartition('/')[2]

    def collector(self, *args, url=None, **more):
        self.n += 1
        pprofd = collector.Pprofd(self.path('data%d' % self.n), '--store',
                                  url or self.url, *args, **more)
        self.addCleanup(pprofd.stop)
        return pprofd

    def sql(self, text):
        return self.server.query(text.replace('DB.', self.database + '.'))

    def stored(self, pprofd, body, **query):
        reply = pprofd.post(body, **{'service': 'api', 'type': 'cpu', **query})
        self.assertEqual(reply.status, 200, reply.text)
        return reply.json['body']['id']

    def top(self, pprofd, query='cpu{service="api"}', **more):
        reply = pprofd.get('/api/1/top', query=query,
                           **{**RANGE, 'sample_index': 'samples', **more})
        self.assertEqual(reply.status, 200, reply.text)
        return {row['name']: row['flat'] for row in reply.json['rows']
                if row['flat']}

    def listed(self, pprofd):
        """The ids of all profiles."""
        ids, token = [], {}
        while True:
            reply = pprofd.get('/api/1/profiles', limit='1000', **RANGE,
                               **token)
            self.assertEqual(reply.status, 200, reply.text)
            ids += [p['id'] for p in reply.json['profiles']]
            token = {'after': reply.json.get('next')}
            if not token['after']:
                return ids

    def wait_for(self, what, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if found := what():
                return found
            time.sleep(0.1)
        self.fail('it does not happen')

    def metric(self, pprofd, name):
        for line in pprofd.get('/metrics').text.splitlines():
            if line.startswith(name + ' '):
                return float(line.split()[1])
        self.fail('no metric ' + name)

    def check_load(self, pprofd, load):
        """Everything that was acknowledged is stored exactly once."""
        found = self.listed(pprofd)
        self.assertEqual(len(found), len(set(found)))
        self.assertEqual(set(load.ids) - set(found), set())
        total = sum(n for name, n in self.top(
            pprofd, 'cpu{service=~".*"}').items() if name.startswith('t'))
        self.assertEqual(total, len(found))


class Load:
    """Threads that post to collectors and remember what was acknowledged."""

    def __init__(self, *pprofds, services=1):
        self.ids, self.refused, self.ending = [], 0, False
        self.services = services
        self.threads = [threading.Thread(target=self.run, args=(i, p))
                        for i, p in enumerate(pprofds * (4 // len(pprofds)))]
        for thread in self.threads:
            thread.start()

    def run(self, number, pprofd):
        i = 0
        while not self.ending:
            body = collector.cpu_profile(
                {'main;t%d' % number: 1, 'main;n%d' % i: 1},
                collector.TIME + i * 1000000)
            service = 'api%d' % (i % self.services) if i % self.services \
                else 'api'
            i += 1
            try:
                reply = pprofd.post(body, service=service, type='cpu',
                                    labels='thread=%d' % number)
            except (OSError, http.client.HTTPException):  # it was killed
                reply = None
            if reply and reply.status == 200:
                self.ids.append(reply.json['body']['id'])
            else:
                self.refused += 1
                time.sleep(0.05)

    def end(self):
        self.ending = True
        for thread in self.threads:
            thread.join()
