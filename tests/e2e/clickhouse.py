"""ClickHouse servers for the tests: Debian's old one, and the current engine
from npm's chdb behind a small HTTP front.  Each test uses a database of its
own, so one server does for a whole module."""

import atexit
import http.client
import os
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.parse

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
  <interserver_http_host>127.0.0.1</interserver_http_host>
  <listen_host>127.0.0.1</listen_host>
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
  <profiles><default><log_queries>0</log_queries></default></profiles>
  <users><default><password>{password}</password>
    <networks><ip>127.0.0.1</ip></networks>
    <profile>default</profile><quota>default</quota></default></users>
  <quotas><default></default></quotas>
</yandex>
'''


class Server:
    """What both kinds have in common."""

    databases = 0
    password = ''

    def url(self, database=None):
        """Of a new database, unless one is named."""
        if database is None:
            Server.databases += 1
            database = 'test%d' % Server.databases
        return 'clickhouse://127.0.0.1:%d/%s' % (self.port, database)

    def query(self, sql, timeout=60):
        connection = http.client.HTTPConnection('127.0.0.1', self.port,
                                                timeout=timeout)
        try:
            connection.request('POST', '/?' + urllib.parse.urlencode(
                {'query_id': 'test-%d' % time.monotonic_ns()}), sql,
                {'X-ClickHouse-User': 'default',
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

    def __init__(self, password='', more='', ports=None):
        if not shutil.which('clickhouse-server'):
            raise unittest.SkipTest('clickhouse-server is not installed')
        self.dir = tempfile.mkdtemp(prefix='pprof-clickhouse-')
        self.password = password
        self.port, self.tcp, inter = ports or [support.free_port()
                                               for _ in range(3)]
        for name in ('data', 'tmp'):
            os.mkdir(os.path.join(self.dir, name))
        self.write('config.xml', CONFIG.format(
            dir=self.dir, http=self.port, tcp=self.tcp, inter=inter,
            more=more))
        self.write('users.xml', USERS.format(password=password))
        self.start()

    def write(self, name, text):
        with open(os.path.join(self.dir, name), 'w') as f:
            f.write(text)

    def start(self, wait=True):
        self.process = subprocess.Popen(
            ['clickhouse-server', '--config-file=' + self.dir + '/config.xml'],
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
