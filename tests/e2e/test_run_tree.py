"""A whole process tree under one address (-addr -children), and in one file
(-merge)."""
import glob
import http.client
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest

from heap import samples
from runtime import BUILD, PROGRAMS, pprof, top
from support import TestCase, free_port, wait_for_port

RUN = os.path.abspath(os.path.join(BUILD, 'pprof-run'))
PHP_FPM = glob.glob('/usr/sbin/php-fpm*')
ENDINGS = os.path.abspath(os.path.join(PROGRAMS, 'endings'))

# A parent that waits, and three forked children that compute.
SERVER = '''
import os, signal
for i in range(3):
    if os.fork() == 0:
        while True:
            sum(range(1000))
print(1, flush=True)
signal.sigwait([signal.SIGTERM])
os.killpg(0, signal.SIGTERM)
'''


def fast_cgi(port, script):
    """What a script prints when a FastCGI server runs it."""
    def record(kind, content):
        return struct.pack('>BBHHBB', 1, kind, 1, len(content), 0, 0) + content

    def pair(name, value):
        return (struct.pack('>BB', len(name), len(value)) +
                (name + value).encode())

    parameters = (pair('SCRIPT_FILENAME', script) +
                  pair('REQUEST_METHOD', 'GET'))
    with socket.create_connection(('127.0.0.1', port), timeout=60) as s:
        s.sendall(record(1, struct.pack('>HB5x', 1, 0)) +
                  record(4, parameters) + record(4, b'') + record(5, b''))
        said = b''
        while data := s.recv(65536):
            said += data
    return said


def leftovers():
    return set(glob.glob(os.path.join(os.environ.get('TMPDIR', '/tmp'),
                                      'pprof-run.*')))


class Tree(TestCase):
    """One tree for all cases, in a process group of its own."""

    @classmethod
    def setUpClass(cls):
        cls.before = leftovers()
        cls.log = tempfile.NamedTemporaryFile('r')
        with open(cls.log.name, 'w') as log:
            cls.process = subprocess.Popen(
                [RUN, '-addr', '127.0.0.1:0', '-children',
                 '/usr/bin/python3', '-c', SERVER], stdout=subprocess.PIPE,
                start_new_session=True, stderr=log, text=True)
        cls.process.stdout.readline()
        cls.said = cls.log.read()
        cls.address = re.search(r'http://([^/]+)/', cls.said).group(1)
        for _ in range(100):
            if len(cls.list()) == 4:
                break
            time.sleep(0.1)

    @classmethod
    def tearDownClass(cls):
        if cls.process.poll() is None:
            os.killpg(cls.process.pid, signal.SIGKILL)
        cls.process.wait()
        cls.process.stdout.close()
        cls.log.close()

    @classmethod
    def request(cls, target, method='GET', body=None):
        c = http.client.HTTPConnection(cls.address, timeout=60)
        try:
            c.request(method, '/debug/pprof/' + target, body=body)
            r = c.getresponse()
            return r.status, r.headers, r.read()
        finally:
            c.close()

    @classmethod
    def list(cls):
        return json.loads(cls.request('processes')[2])

    def fetch(self, target):
        status, _, body = self.request(target)
        self.assertEqual(status, 200, body)
        with open(self.path('profile'), 'wb') as f:
            f.write(body)
        return self.path('profile')

    def test_one_line_says_where_it_is(self):
        self.assertEqual(
            self.said, 'Starting profiling endpoint at http://%s/debug/pprof/ '
            'for /usr/bin/python3 (pid %d) and its child processes\n'
            % (self.address, self.process.pid))

    def test_the_processes_are_listed(self):
        listed = self.list()
        self.assertEqual(len(listed), 4)
        self.assertIn(self.process.pid, [p['pid'] for p in listed])
        for p in listed:
            self.assertEqual(p['name'], 'python3')
            self.assertIn('/usr/bin/python3', p['command'])

    def test_cpu_profiles_are_merged(self):
        path = self.fetch('profile?seconds=2')
        self.assertIn('merged from 4 processes', pprof('-comments', path))
        self.assertIn('_PyEval_EvalFrameDefault', top(path))
        tags = pprof('-tags', path)
        pids = [p['pid'] for p in self.list() if p['pid'] != self.process.pid]
        for pid in pids:
            self.assertRegex(tags, r': %d\b' % pid)
        self.assertIn('process: Total', tags)
        # They ran side by side: two seconds, not eight.
        duration = re.search(r'Duration: ([\d.]+)', pprof('-raw', path))
        self.assertLess(float(duration.group(1)), 4)

    def test_snapshots_are_merged(self):
        raw = pprof('-raw', self.fetch('threads'))
        pids = set(re.findall(r'pid:\[(\d+)\]', raw))
        self.assertEqual(pids, {str(p['pid']) for p in self.list()})
        self.assertTrue(samples(self.fetch('heap')) is not None)

    def test_a_pid_selects_a_process(self):
        pid = self.list()[1]['pid']
        path = self.fetch('threads?pid=%d' % pid)
        self.assertNotIn('pid:[', pprof('-raw', path))
        for target, words in (
                ('threads?debug=1&pid=%d' % pid, b'threads profile: total 1'),
                ('cmdline?pid=%d' % pid, b'/usr/bin/python3')):
            status, headers, body = self.request(target)
            self.assertEqual(status, 200)
            self.assertIn('text/plain', headers['Content-Type'])
            self.assertIn(words, body)

    def test_text_comes_one_process_after_the_other(self):
        status, headers, body = self.request('threads?debug=2')
        self.assertEqual((status, headers['Content-Type']),
                         (200, 'text/plain; charset=utf-8'))
        self.assertEqual(
            [int(n) for n in re.findall(rb'=== process (\d+), ', body)],
            [p['pid'] for p in self.list()])

    def test_the_index_lists_profiles_and_processes(self):
        status, headers, body = self.request('')
        self.assertEqual(status, 200)
        self.assertIn('text/html', headers['Content-Type'])
        pid = self.list()[1]['pid']
        self.assertIn(b"<a href='heap?debug=1'>heap</a>", body)
        self.assertIn(b"<a href='?pid=%d'>%d</a>" % (pid, pid), body)
        body = self.request('?pid=%d' % pid)[2]
        self.assertIn(b"<a href='heap?debug=1&amp;pid=%d'>heap</a>" % pid,
                      body)
        self.assertIn('heap', pprof('-no_save',
                                    'http://%s/debug/pprof/' % self.address))

    def test_what_cannot_be_merged_is_of_the_first_process(self):
        body = self.request('cmdline')[2]
        self.assertTrue(body.startswith(b'/usr/bin/python3\0-c\0'), body)
        status, _, body = self.request('symbol', 'POST', '0x1')
        self.assertEqual((status, body[:14]), (200, b'num_symbols: 1'))

    def test_refusals(self):
        for target, method, status, words in (
                ('heap?pid=1', 'GET', 404, b'no such process'),
                ('heap?pid=x', 'GET', 400, b'"pid"'),
                ('heap?pid=-1', 'GET', 400, b'"pid"'),
                ('nope', 'GET', 404, b'Unknown profile'),
                ('a%2fb', 'GET', 404, b'not found'),
                ('heap', 'DELETE', 405, b'Method Not Allowed'),
                ('profile?seconds=99999', 'GET', 400, b'300 at most')):
            with self.subTest(target):
                got, _, body = self.request(target, method)
                self.assertEqual(got, status, body)
                self.assertIn(words, body)

    def test_head_does_not_wait(self):
        start = time.monotonic()
        self.assertEqual(self.request('profile?seconds=200', 'HEAD')[0], 200)
        self.assertLess(time.monotonic() - start, 60)

    def test_a_client_that_leaves_frees_the_processes(self):
        with socket.create_connection(
                tuple(self.address.rsplit(':', 1))) as s:
            s.sendall(b'GET /debug/pprof/profile?seconds=30 HTTP/1.1\r\n'
                      b'Host: localhost\r\n\r\n')
            time.sleep(0.5)
        for _ in range(50):
            status, _, body = self.request('profile?seconds=1')
            if status == 200:
                self.fetch('profile?seconds=1')
                return
            time.sleep(0.2)
        self.fail('still busy: %r' % body)

    def test_zz_the_end_leaves_nothing(self):
        """Last, because the tree is gone then."""
        self.process.terminate()
        self.process.wait(30)
        for _ in range(100):
            if leftovers() <= self.before:
                break
            time.sleep(0.1)
        self.assertLessEqual(leftovers(), self.before)
        with self.assertRaises(OSError):
            self.request('')


class Access(TestCase):
    def start(self, *options, command=('sleep', '60'), **kwargs):
        process = subprocess.Popen(
            [RUN, '-addr', '127.0.0.1:0', '-children', *options, *command],
            stderr=subprocess.PIPE, text=True, **kwargs)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        said = process.stderr.readline()
        return process, re.search(r'http://([^/]+)/', said).group(1)

    def get(self, address, target, **headers):
        c = http.client.HTTPConnection(address, timeout=60)
        self.addCleanup(c.close)
        c.request('GET', target, headers=headers)
        return c.getresponse().status

    def wait_for(self, address, **headers):
        """Until the program serves; the listener is there before it."""
        for _ in range(100):
            status = self.get(address, '/debug/pprof/threads', **headers)
            if status != 503:
                break
            time.sleep(0.1)
        self.assertEqual(status, 200)

    def test_the_guard_is_before_all_processes(self):
        with open(self.path('tokens'), 'w') as f:
            f.write('secret-of-the-test\n')
        os.chmod(self.path('tokens'), 0o600)
        _, address = self.start('-token-file', self.path('tokens'),
                                '-audit', 'off')
        self.assertEqual(self.get(address, '/debug/pprof/heap'), 401)
        self.assertEqual(self.get(address, '/debug/pprof/processes'), 401)
        self.wait_for(address, Authorization='Bearer secret-of-the-test')
        self.assertEqual(self.get(address, '/healthz'), 200)

    def test_an_address_in_use_is_refused_before_the_start(self):
        with socket.socket() as s:
            s.bind(('127.0.0.1', 0))
            s.listen()
            done = subprocess.run(
                [RUN, '-addr', '127.0.0.1:%d' % s.getsockname()[1],
                 '-children', 'touch', self.path('marker')],
                capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn('address already in use', done.stderr)
        self.assertEqual(os.listdir(self.dir), [])

    def test_output_ends_with_the_program(self):
        """Who reads the program's stderr does not wait for us."""
        start = time.monotonic()
        done = subprocess.run([RUN, '-addr', '127.0.0.1:0', '-children',
                               'true'], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertLess(time.monotonic() - start, 20)

    def test_the_program_keeps_its_process_id_and_status(self):
        process, _ = self.start(command=('sh', '-c', 'kill -TERM $$'))
        self.assertEqual(process.wait(30), -signal.SIGTERM)

    @unittest.skipUnless(os.getuid() == 0 and shutil.which('setpriv'),
                         'needs root and setpriv')
    def test_a_program_that_gives_up_root_and_execs(self):
        """It keeps its capabilities in between, which our threads do not: its
        change of group would end it."""
        process, address = self.start(
            command=('setpriv', '--reuid', '65534', '--regid', '65534',
                     '--clear-groups', 'sleep', '60'))
        for _ in range(100):
            with open('/proc/%d/comm' % process.pid) as f:
                if f.read() == 'sleep\n':
                    break
            time.sleep(0.1)
        self.wait_for(address)
        with open('/proc/%d/status' % process.pid) as f:
            self.assertRegex(f.read(), r'Gid:\s+65534\s+65534')

    def wait_for_commands(self, address, count):
        """The command lines of a master and its workers, count in all."""
        c = http.client.HTTPConnection(address, timeout=60)
        for _ in range(100):
            c.request('GET', '/debug/pprof/processes')
            names = [p['command'] for p in json.loads(c.getresponse().read())]
            # A worker has the master's name until it has set its own.
            if len(names) == count and sum('master' in n for n in names) == 1:
                break
            time.sleep(0.1)
        c.close()
        return names

    @unittest.skipUnless(shutil.which('nginx'), 'no nginx')
    def test_nginx_is_one_target(self):
        port = free_port()
        with open(self.path('conf'), 'w') as f:
            f.write('daemon off; worker_processes 2; pid %s/pid;\n'
                    'error_log %s/log; events {}\n'
                    'http { access_log off; server { listen 127.0.0.1:%d;\n'
                    'location / { return 200 x; } } }\n'
                    % (self.dir, self.dir, port))
        process, address = self.start(
            command=('nginx', '-c', self.path('conf'), '-p', self.dir))
        wait_for_port(port)
        names = self.wait_for_commands(address, 3)
        self.assertEqual(sum('master' in n for n in names), 1, names)
        self.assertEqual(sum('worker' in n for n in names), 2, names)
        process.terminate()
        self.assertEqual(process.wait(30), 0)


    @unittest.skipUnless(PHP_FPM, 'no php-fpm')
    @unittest.skipUnless(os.getuid() == 0, 'needs root')
    def test_php_fpm_is_one_target(self):
        """Its workers give up root, and do the work that a profile shows."""
        os.chmod(self.dir, 0o755)
        port = free_port()
        with open(self.path('work.php'), 'w') as f:
            f.write('<?php $s = 0; for ($i = 0; $i < 3000000; $i++) '
                    '$s += $i % 7; echo $s;')
        with open(self.path('conf'), 'w') as f:
            f.write('[global]\nerror_log = %s\n[www]\nuser = nobody\n'
                    'group = nogroup\nlisten = 127.0.0.1:%d\npm = static\n'
                    'pm.max_children = 2\n' % (self.path('log'), port))
        process, address = self.start(
            command=(PHP_FPM[0], '-F', '-n', '-y', self.path('conf')))
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)  # it ends its workers, a kill not
        wait_for_port(port)
        names = self.wait_for_commands(address, 3)
        self.assertEqual(sum('master' in n for n in names), 1, names)
        self.assertEqual(sum('pool www' in n for n in names), 2, names)
        enough = threading.Event()

        def ask():
            while not enough.is_set():
                fast_cgi(port, self.path('work.php'))

        load = threading.Thread(target=ask)
        load.start()
        self.addCleanup(load.join)
        self.addCleanup(enough.set)
        c = http.client.HTTPConnection(address, timeout=60)
        c.request('GET', '/debug/pprof/profile?seconds=1')
        with open(self.path('cpu'), 'wb') as f:
            f.write(c.getresponse().read())
        c.close()
        enough.set()
        self.assertIn('execute_ex', top(self.path('cpu')))
        self.assertIn(b'8999994', fast_cgi(port, self.path('work.php')))
        process.terminate()
        self.assertEqual(process.wait(30), 0)


class Merge(TestCase):
    def run_it(self, *command):
        return subprocess.run(
            [RUN, '-children', '-merge', '-cpuprofile', self.path('cpu'),
             *command], capture_output=True, text=True, timeout=120)

    def test_one_file_for_all_processes(self):
        before = leftovers()
        done = self.run_it('/bin/sh', '-c',
                           '%s exit; %s fork; exit 5' % (ENDINGS, ENDINGS))
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertEqual(os.listdir(self.dir), ['cpu'])
        rows = top(self.path('cpu'))
        self.assertIn('in_child', rows)
        self.assertIn('compute', rows)
        tags = pprof('-tags', self.path('cpu'))
        self.assertRegex(tags, r'pid: Total')
        self.assertRegex(tags, r'process: Total')
        self.assertLessEqual(leftovers(), before)

    def test_what_came_before_exec_is_in_it(self):
        self.assertEqual(self.run_it(ENDINGS, 'exec').returncode, 7)
        self.assertEqual(os.listdir(self.dir), ['cpu'])
        compute = top(self.path('cpu'))['compute'][1]
        self.assertGreater(compute, 1.5 * 100e6 * 0.8)

    def test_a_daemon_is_waited_for(self):
        self.assertEqual(self.run_it(ENDINGS, 'daemon').returncode, 0)
        self.assertIn('in_child', top(self.path('cpu')))

    def test_it_ends_as_the_program_does(self):
        done = self.run_it(ENDINGS, 'signal', '15')
        self.assertEqual(done.returncode, -signal.SIGTERM)
        self.assertIn('compute', top(self.path('cpu')))
        self.assertEqual(self.run_it('/nonexistent').returncode, 127)

    def test_a_signal_is_passed_on(self):
        process = subprocess.Popen(
            [RUN, '-children', '-merge', '-cpuprofile', self.path('cpu'),
             '/bin/sh', '-c', 'echo 1; while :; do :; done'],
            stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        process.stdout.readline()
        time.sleep(0.5)
        process.terminate()
        self.assertEqual(process.wait(30), -signal.SIGTERM)
        self.assertTrue(top(self.path('cpu')))

    def test_what_is_lost_is_reported(self):
        done = self.run_it(ENDINGS, 'signal', '9')
        self.assertEqual(done.returncode, -signal.SIGKILL)
        self.assertIn('killed by SIGKILL: its profiles are lost', done.stderr)


if __name__ == '__main__':
    unittest.main()
