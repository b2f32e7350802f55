"""Unmodified programs, with every wait recorded."""
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

from support import free_port, wait_for, wait_for_port
from runtime import BUILD, PROGRAMS, pprof

EVERYTHING = {'PPROF_BLOCK_RATE': '1', 'PPROF_MUTEX_FRACTION': '1'}
PRELOAD = os.path.join(BUILD, 'libpprof-preload.so')

PYTHON = '''
import queue, sys, threading
q = queue.Queue(10)
def work():
    while q.get() is not None:
        pass
threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads: t.start()
for i in range(3000): q.put(i)
for t in threads: q.put(None)
for t in threads: t.join()
print('done', flush=True)
sys.stdin.read()
'''


class Programs(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        self.address = '127.0.0.1:%d' % free_port()

    def need(self, *programs):
        for program in programs:
            if not shutil.which(program):
                self.skipTest('%s is not installed' % program)

    def start(self, *command, env=EVERYTHING, **kwargs):
        process = subprocess.Popen(
            [os.path.join(BUILD, 'pprof-run'), '-addr', self.address,
             *command], env=dict(os.environ, **env),
            stderr=subprocess.DEVNULL, **kwargs)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_for_port(int(self.address.split(':')[1]), process)
        return process

    def get(self, what):
        url = 'http://%s/debug/pprof/%s' % (self.address, what)
        with urllib.request.urlopen(url, timeout=60) as reply:
            return reply.read()

    def check_block(self, *names):
        text = self.get('block?debug=1').decode()
        self.assertTrue(text.startswith('--- contention:\n'), text[:100])
        for name in names:
            self.assertTrue(name in text, name)
        path = os.path.join(self.directory, 'block')
        with open(path, 'wb') as f:
            f.write(self.get('block'))
        self.assertIn('Type: delay', pprof('-top', path))
        if shutil.which('go'):
            done = subprocess.run(
                ['go', 'tool', 'pprof', '-top', path], text=True,
                capture_output=True, env=dict(os.environ, HOME=self.directory))
            self.assertIn('Type: delay', done.stdout, done.stderr)

    def test_life_goes_on_as_without_us(self):
        life = os.path.join(PROGRAMS, 'lock_life')
        plain = subprocess.run([life], capture_output=True, text=True,
                               timeout=60)
        self.assertNotIn('not ok', plain.stdout)
        for env in ({}, EVERYTHING, {'PPROF_ADDR': '127.0.0.1:0'}):
            with self.subTest(**env):
                done = subprocess.run(
                    [life], capture_output=True, text=True, timeout=60,
                    env=dict(os.environ, LD_PRELOAD=PRELOAD, **env))
                self.assertEqual((done.returncode, done.stdout),
                                 (0, plain.stdout))

    def test_condition_variables_of_the_first_version(self):
        program = os.path.join(PROGRAMS, 'old_cond')
        if not os.path.exists(program):
            self.skipTest('there is one version only on this machine')
        done = subprocess.run([program], capture_output=True, text=True,
                              timeout=60, env=dict(os.environ, **EVERYTHING,
                                                   LD_PRELOAD=PRELOAD))
        self.assertEqual((done.returncode, done.stdout), (0, 'ok\n'))

    def test_python3(self):
        if not os.access('/usr/bin/python3', os.X_OK):
            self.skipTest('no /usr/bin/python3')
        process = self.start('/usr/bin/python3', '-c', PYTHON,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.assertEqual(process.stdout.readline(), b'done\n')
        self.check_block('sem_wait', 'pthread_cond_')
        process.stdin.close()
        self.assertEqual(process.wait(60), 0)

    def test_a_batch_program_writes_files(self):
        names = ('blockprofile', 'mutexprofile', 'wallprofile')
        paths = [os.path.join(self.directory, name) for name in names]
        flags = [word for name, path in zip(names, paths)
                 for word in ('-' + name, path)]
        done = subprocess.run(
            [os.path.join(BUILD, 'pprof-run'), *flags,
             os.path.join(PROGRAMS, 'lock_life')], timeout=60,
            stdout=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        for path, kind in zip(paths, ('delay', 'delay', 'wall')):
            self.assertIn('Type: ' + kind, pprof('-top', path))
        self.assertIn('thousands_of_threads',
                      pprof('-top', '-cum', '-nodefraction=0', paths[0]))
        self.assertIn('pthread_mutex_unlock', pprof('-top', paths[1]))

    def test_redis_server(self):
        self.need('redis-server', 'redis-benchmark')
        port = free_port()
        server = self.start('redis-server', '--port', str(port), '--save', '',
                            '--dir', self.directory, '--io-threads', '2',
                            stdout=subprocess.DEVNULL)
        wait_for_port(port)
        subprocess.run(['redis-benchmark', '-p', str(port), '-n', '3000',
                        '-t', 'set', '-q', '-P', '16'], check=True,
                       stdout=subprocess.DEVNULL, timeout=120)
        self.check_block('pthread_mutex_lock')
        mutex = self.get('mutex?debug=1').decode()
        self.assertRegex(mutex, r'\n\d+ \d+ @ 0x')
        self.assertIn('pthread_mutex_unlock', mutex)
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(60), 0)

    def test_nginx_with_a_pool_of_threads(self):
        self.need('nginx')
        port = free_port()
        config = os.path.join(self.directory, 'nginx.conf')
        page = os.path.join(self.directory, 'page')
        with open(page, 'w') as f:
            f.write('x' * 20000)
        with open(config, 'w') as f:
            f.write('daemon off; master_process off; pid %(d)s/pid;\n'
                    'thread_pool default threads=4;\n'
                    'error_log %(d)s/log;\nevents {}\n'
                    'http { access_log off; aio threads; sendfile off;\n'
                    '  output_buffers 1 4k;\n'
                    '  server { listen 127.0.0.1:%(p)d; root %(d)s; } }\n'
                    % {'d': self.directory, 'p': port})
        server = self.start('nginx', '-c', config, '-p', self.directory)
        wait_for_port(port)
        for _ in range(50):
            with socket.create_connection(('127.0.0.1', port)) as s:
                s.sendall(b'GET /page HTTP/1.0\r\n\r\n')
                data = b''.join(iter(lambda: s.recv(1 << 16), b''))
                self.assertTrue(data.endswith(b'x' * 20000))
        self.check_block('pthread_cond_wait')
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(60), 0)

    def test_what_an_endpoint_switches_on_by_itself(self):
        self.start('sleep', '60', env={})
        index = self.get('').decode()
        self.assertNotIn('PPROF_BLOCK_RATE', index)
        self.assertNotIn('PPROF_MUTEX_FRACTION', index)

    def test_what_is_off_says_how_to_switch_it_on(self):
        self.start('sleep', '60', env={'PPROF_BLOCK_RATE': '0',
                                       'PPROF_MUTEX_FRACTION': '0'})
        index = self.get('').decode()
        self.assertIn('PPROF_BLOCK_RATE', index)
        self.assertIn('PPROF_MUTEX_FRACTION', index)
        self.assertEqual(self.get('mutex?debug=1').decode(),
                         '--- mutex:\ncycles/second=1000000000\n'
                         'sampling period=0\n')

    def test_deltas_have_what_came_meanwhile(self):
        process = self.start(os.path.join(PROGRAMS, 'lock_life'), env=dict(
            EVERYTHING, LOCK_LIFE_WAITS='1'), stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        path = os.path.join(self.directory, 'delta')
        begun = time.monotonic()
        with open(path, 'wb') as f:
            f.write(self.get('block?seconds=1'))
        took = 1000 * (time.monotonic() - begun)
        text = pprof('-top', '-unit=ms', path)
        total = float(re.search(r'of ([\d.]+)ms total', text).group(1))
        # One thread waits all the time, 10 ms at once.
        self.assertTrue(800 <= total <= took + 400, text)

    def test_wall_over_http(self):
        self.start('sleep', '60', env={})
        path = os.path.join(self.directory, 'wall')

        def ask(name, answers):
            try:
                answers.append((200, self.get(name)))
            except urllib.error.HTTPError as e:
                with e:
                    answers.append((e.code, e.read()))

        def ask_both():
            """The answers, if the first came first."""
            answers, late = [], []
            thread = threading.Thread(target=ask, args=(
                'wall?seconds=2&hz=200&thread_labels=1', answers))
            thread.start()
            time.sleep(0.3)
            ask('wall?seconds=1', late)
            thread.join()
            return answers + late if late[0][0] != 200 else None

        (status, profile), (_, refusal) = wait_for(ask_both)
        self.assertEqual(status, 200, profile)
        self.assertIn(b'wall profiling already in use', refusal)
        with open(path, 'wb') as f:
            f.write(profile)
        self.assertIn('sleeping', pprof('-tags', path))
        self.assertIn('sleep', pprof('-tags', '-tagshow=^thread$', path))
        if shutil.which('go'):
            done = subprocess.run(
                ['go', 'tool', 'pprof', '-top', path], text=True,
                capture_output=True, env=dict(os.environ, HOME=self.directory))
            self.assertIn('Type: wall', done.stdout, done.stderr)


if __name__ == '__main__':
    unittest.main()
