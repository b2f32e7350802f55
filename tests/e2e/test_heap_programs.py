"""Unmodified programs: the heap profile follows the memory use that the system
reports."""
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

from heap import INUSE_SPACE, samples
from runtime import BUILD, PROGRAMS
from support import free_port
from test_heap import get

# Headers and gaps between blocks belong to the system's figure only; what
# was touched before and is used again to ours.
LEAST, MOST = 0.6, 1.2
MB = 1 << 20


class Program:
    """A program under pprof-run, and what it uses."""

    def __init__(self, command, **kwargs):
        self.process = subprocess.Popen(
            [os.path.join(BUILD, 'pprof-run'), '-addr', '127.0.0.1:0',
             '-memrate', '65536', *command], stderr=subprocess.PIPE,
            text=True, **kwargs)
        self.url = None
        for line in self.process.stderr:
            found = re.search(r'profiling endpoint at (http://\S+)', line)
            if found:
                self.url = found.group(1)
                break
        if not self.url:
            raise AssertionError('no endpoint: %s' % command)

    def end(self):
        self.process.kill()
        self.process.communicate()

    def resident(self):
        with open('/proc/%d/status' % self.process.pid,
                  encoding='ascii') as f:
            return 1024 * int(re.search(r'VmRSS:\s+(\d+)', f.read()).group(1))

    def heap(self):
        with tempfile.NamedTemporaryFile() as f:
            f.write(get(self.url + 'heap'))
            f.flush()
            return sum(values[INUSE_SPACE]
                       for values, _, _ in samples(f.name))

    def ask(self, line, answers=1):
        """Sends a line, waits for as many."""
        self.process.stdin.write(line + '\n')
        self.process.stdin.flush()
        return [self.process.stdout.readline() for _ in range(answers)]


class Programs(unittest.TestCase):
    def need(self, name):
        if not shutil.which(name):
            self.skipTest('no ' + name)

    def start(self, command, **kwargs):
        program = Program(command, **kwargs)
        self.addCleanup(program.end)
        return program

    def talk(self, command):
        return self.start(command, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE)

    def check(self, program, grow, least_growth):
        program.heap()  # makes what a profile needs
        resident, heap = program.resident(), program.heap()
        grow()
        resident = program.resident() - resident
        heap = program.heap() - heap
        print('# %s: resident +%.1f MB, heap profile +%.1f MB' %
              (self.id().split('.')[-1], resident / MB, heap / MB))
        self.assertGreater(resident, least_growth)
        self.assertGreater(heap, LEAST * resident)
        self.assertLess(heap, MOST * resident)

    def test_redis_with_its_jemalloc(self):
        self.need('redis-server')
        port = free_port()
        program = self.start(['redis-server', '--port', str(port), '--save',
                              '', '--appendonly', 'no'],
                             stdout=subprocess.DEVNULL)
        for _ in range(200):
            try:
                client = socket.create_connection(('127.0.0.1', port))
                break
            except OSError:
                time.sleep(0.05)
        self.addCleanup(client.close)

        def grow():
            reader = client.makefile('rb')
            for i in range(300):
                client.sendall(b''.join(b'SET key:%d %s\r\n' %
                                        (i * 200 + k, b'v' * 900)
                                        for k in range(200)))
                for _ in range(200):
                    self.assertEqual(reader.readline(), b'+OK\r\n')
        self.check(program, grow, 40 * MB)

    def test_python(self):
        program = self.talk(['/usr/bin/python3', '-c', '''
import sys
print('ready', flush=True)
kept = []
for line in sys.stdin:
    kept.append([bytearray(2000) for _ in range(30000)])
    print('done', flush=True)
'''])
        program.process.stdout.readline()
        self.check(program, lambda: program.ask('go'), 50 * MB)

    def test_sqlite(self):
        self.need('sqlite3')
        program = self.talk(['sqlite3', ':memory:'])
        program.ask('create table t(a, b); select 1;')

        def grow():
            program.ask('with recursive n(i) as (select 1 union all select '
                        'i + 1 from n where i < 60000) insert into t select '
                        'i, hex(randomblob(450)) from n; select 2;')
        self.check(program, grow, 40 * MB)

    def test_git(self):
        self.need('git')
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run(['git', 'init', '-q', directory], check=True)
            program = self.talk(['git', '-C', directory, 'fast-import',
                                 '--quiet', '--max-pack-size=1g'])
            program.ask('progress ready')

            def grow():
                out = []
                for i in range(60000):
                    out.append('blob\nmark :%d\ndata %d\n%d\n' %
                               (i + 1, len(str(i)), i))
                program.process.stdin.write(''.join(out))
                program.ask('progress done')
            self.check(program, grow, 2 * MB)

    def test_cplusplus(self):
        program = self.talk([os.path.join(PROGRAMS, 'heap_map')])
        program.process.stdout.readline()
        self.check(program, lambda: program.ask('go'), 40 * MB)

    def test_nginx(self):
        self.need('nginx')
        with tempfile.TemporaryDirectory() as directory:
            heap, resident = [], []
            for entries in (10, 60000):
                conf = os.path.join(directory, 'nginx.conf')
                with open(conf, 'w', encoding='ascii') as f:
                    f.write('daemon off; master_process off;\n'
                            'pid %s/pid; error_log %s/log;\n'
                            'events {} http { access_log off;\n'
                            'map_hash_max_size 262144;\n'
                            'map $uri $to {\n' % (directory, directory))
                    for i in range(entries):
                        f.write('/%d%s "%s";\n' % (i, 'k' * 40, 'v' * 300))
                    f.write('} server { listen unix:%s/socket%d; } }\n' %
                            (directory, entries))
                program = self.start(['nginx', '-p', directory, '-c', conf,
                                      '-e', directory + '/log'])
                for _ in range(200):
                    if os.path.exists('%s/socket%d' % (directory, entries)):
                        break
                    time.sleep(0.05)
                time.sleep(0.3)
                program.heap()
                heap.append(program.heap())
                resident.append(program.resident())
            grown, seen = resident[1] - resident[0], heap[1] - heap[0]
            print('# nginx: resident +%.1f MB, heap profile +%.1f MB' %
                  (grown / MB, seen / MB))
            self.assertGreater(grown, 20 * MB)
            # What it needed only to read its configuration is free again.
            self.assertGreater(seen, 0.35 * grown)
            self.assertLess(seen, MOST * grown)


if __name__ == '__main__':
    unittest.main()
