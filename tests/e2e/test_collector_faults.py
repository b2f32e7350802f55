"""What was acknowledged is on disk, whatever happens: kill -9 under load, a
full disk, a directory that cannot be written, two processes on one store, a
store of a newer version, damage, and clients that behave badly."""

import gzip
import os
import random
import re
import shutil
import socket
import sqlite3
import subprocess
import threading
import time
import unittest

import support
from collector import (CollectorTest, PPROFD, Pprofd, SECOND, STORE, TIME,
                       cpu_profile, embedded_only)

KILLS = int(os.environ.get('PPROFD_KILLS', '8'))


class Sender(threading.Thread):
    """Posts until the collector dies; remembers what was acknowledged."""

    def __init__(self, pprofd, number):
        super().__init__()
        self.pprofd = pprofd
        self.number = number
        self.taken = {}
        self.start()

    def run(self):
        for i in range(100000):
            value = self.number * 100000 + i
            body = cpu_profile({'main;f%d' % (value % 50): value % 97 + 1},
                               TIME + value * SECOND)
            try:
                reply = self.pprofd.post(body, service='s%d' % (value % 3),
                                         type='cpu')
                if reply.status == 200:
                    self.taken[reply.json['body']['id']] = value % 97 + 1
            except OSError:
                return
            except Exception:  # a reply that is cut off
                return


class KillTest(support.TestCase):
    def test_kill_loses_nothing_that_was_acknowledged(self):
        seed = int(os.environ.get('PPROFD_SEED', time.time()))
        print('# PPROFD_SEED=%d' % seed)
        chance = random.Random(seed)
        pprofd = Pprofd(self.path('data'))
        taken = {}
        for kill in range(KILLS):
            senders = [Sender(pprofd, kill * 4 + n) for n in range(4)]
            time.sleep(chance.uniform(0.05, 0.5))
            pprofd.kill()
            for sender in senders:
                sender.join()
                taken.update(sender.taken)
            if not STORE:
                check = subprocess.run([PPROFD, 'check', '--data',
                                        pprofd.data], capture_output=True,
                                       text=True)
                self.assertEqual(check.returncode, 0,
                                 check.stdout + check.stderr)
            pprofd.start()
        found = {}
        for service in ('s0', 's1', 's2'):
            reply = pprofd.get('/api/1/profiles', limit='100000',
                               query='cpu{service="%s"}' % service,
                               **{'from': '0', 'to': '2200-01-01'})
            for p in reply.json['profiles']:
                found[p['id']] = p['totals'][0]['sum']
        pprofd.stop()
        self.assertGreater(len(taken), KILLS)
        self.assertEqual({i: found.get(i) for i in taken}, taken)


@embedded_only
class DirectoryTest(support.TestCase):
    def fails(self, *args):
        result = subprocess.run([PPROFD, 'serve', '--addr', '127.0.0.1:0',
                                 *args], capture_output=True, text=True,
                                timeout=30)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(len(result.stderr.strip().splitlines()), 1,
                         result.stderr)
        return result.stderr

    def test_two_processes(self):
        first = Pprofd(self.path('data'))
        self.addCleanup(first.stop)
        self.assertIn(self.path('data'),
                      self.fails('--data', self.path('data')))

    def test_a_file_in_the_way(self):
        with open(self.path('file'), 'w') as f:
            f.write('x')
        self.assertIn(self.path('file'),
                      self.fails('--data', self.path('file')))

    def test_a_newer_store(self):
        pprofd = Pprofd(self.path('data'))
        pprofd.stop()
        head = os.path.join(self.path('data'), 'head.db')
        with sqlite3.connect(head) as db:
            db.execute('PRAGMA user_version = 1000000')
        db.close()
        self.assertIn('newer', self.fails('--data', self.path('data')))

    def test_a_damaged_store_is_reported(self):
        pprofd = Pprofd(self.path('data'))
        for i in range(50):
            pprofd.post(cpu_profile({'main;f%d' % i: i + 1},
                                    TIME + i * SECOND),
                        service='a', type='cpu')
        pprofd.stop()
        head = os.path.join(self.path('data'), 'head.db')
        size = os.path.getsize(head)
        with open(head, 'r+b') as f:
            f.seek(size // 2)
            f.write(os.urandom(min(8192, size // 4)))
        check = subprocess.run([PPROFD, 'check', '--data',
                                self.path('data')], capture_output=True,
                               text=True)
        self.assertEqual(check.returncode, 1, check.stdout)


@embedded_only
@unittest.skipUnless(os.geteuid() == 0 and shutil.which('mount'),
                     'mounting a small file system needs root')
class FileSystemTest(support.TestCase):
    def mount(self, options):
        """A tmpfs; where it is."""
        place = self.path('small')
        os.makedirs(place, exist_ok=True)
        mounted = subprocess.run(['mount', '-t', 'tmpfs', '-o', options,
                                  'tmpfs', place], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest('cannot mount a tmpfs here')
        self.addCleanup(subprocess.run, ['umount', '-l', place])
        return place

    def test_a_directory_that_cannot_be_written(self):
        place = self.mount('size=3m')
        data = os.path.join(place, 'data')
        pprofd = Pprofd(data)
        pprofd.post(cpu_profile({'main': 1}), service='a', type='cpu')
        pprofd.stop()
        subprocess.run(['mount', '-o', 'remount,ro', place], check=True)
        for path in data, os.path.join(place, 'other'):
            result = subprocess.run([PPROFD, 'serve', '--addr', '127.0.0.1:0',
                                     '--data', path], capture_output=True,
                                    text=True, timeout=30)
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr,
                             re.escape(path) + r'.*[Rr]ead-only file system')
            self.assertEqual(result.stderr.count('\n'), 1, result.stderr)

    def test_a_full_disk_is_an_error_of_the_request(self):
        place = self.mount('size=3m')
        pprofd = Pprofd(os.path.join(place, 'data'))
        self.addCleanup(pprofd.stop)
        taken, refused = [], None
        for i in range(4000):
            body = os.urandom(20000)
            reply = pprofd.post(body, service='a', type='trace')
            if reply.status != 200:
                refused = reply
                break
            taken.append((reply.json['body']['id'], body))
        self.assertIsNotNone(refused)
        self.assertEqual(refused.status, 500)
        self.assertRegex(refused.json['error'], 'full|space')
        for profile, body in taken:
            self.assertEqual(pprofd.get('/api/0/profiles/' + profile).body,
                             body)


class BadClientsTest(CollectorTest):
    def test_slow_senders_do_not_stop_others(self):
        sockets = []
        for _ in range(300):
            s = socket.create_connection(('127.0.0.1', self.pprofd.port))
            s.sendall(b'POST /api/0/profiles?service=a&type=cpu HTTP/1.1\r\n'
                      b'Host: 127.0.0.1\r\nContent-Length: 100000\r\n\r\nx')
            sockets.append(s)
        try:
            for i in range(20):
                self.stored(cpu_profile({'main': 1}, TIME + i * SECOND),
                            service='good', type='cpu')
        finally:
            for s in sockets:
                s.close()

    def test_bombs_and_bounds(self):
        bomb = gzip.compress(b'\0' * (200 << 20), 9)
        for _ in range(3):
            self.assertIn(self.post(bomb, service='a', type='cpu').status,
                          (400, 413))
        self.stored(cpu_profile({'main': 1}), service='a', type='cpu')

    def test_many_label_values_drop_the_key_and_not_the_sample(self):
        total = 0
        for part in range(3):
            stacks = {'main;f%d' % i: 1 for i in range(50)}
            total += 50
            self.stored(cpu_profile(stacks, TIME + part * SECOND,
                                    {'request': 'id-%d' % part}),
                        service='labels', type='cpu')
        reply = self.get('/api/1/top', query='cpu{service="labels"}',
                         sample_index='samples', n='1000',
                         **{'from': '0', 'to': '2200-01-01'})
        self.assertEqual(sum(r['flat'] for r in reply.json['rows']), total)

    def test_a_client_that_disconnects_ends_its_query(self):
        for i in range(50):
            self.stored(cpu_profile({'main;f%d' % i: 1}, TIME + i * SECOND),
                        service='a', type='cpu')
        # Some queries are over before the server can know.
        until = time.monotonic() + 30
        while not self.cancelled_queries():
            self.assertLess(time.monotonic(), until, 'no query was cancelled')
            s = socket.create_connection(('127.0.0.1', self.pprofd.port))
            s.sendall(b'GET /api/1/merge?query=cpu&from=0 HTTP/1.1\r\n'
                      b'Host: 127.0.0.1\r\n\r\n')
            s.close()
        self.assertEqual(self.get('/api/1/services').status, 200)

    def cancelled_queries(self):
        """Merges that ended because their client had gone."""
        metrics = self.get('/metrics').body.decode()
        return [line for line in metrics.splitlines()
                if line.startswith('profefe_api_requests_total') and
                '/api/1/merge' in line and 'code="499"' in line]


if __name__ == '__main__':
    unittest.main()
