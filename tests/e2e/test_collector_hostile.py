"""Malicious senders: thousands that never finish, gzip bombs on every
connection, a million label values, a million stacks.  The limits hold, memory
stays within its budget, and others are served meanwhile.

PPROFD_HOSTILE=full sends the whole million; otherwise a tenth of it."""

import gzip
import os
import random
import resource
import re
import socket
import threading
import time
import unittest

import collector
from collector import CollectorTest, SECOND, cpu_profile

FULL = os.environ.get('PPROFD_HOSTILE') == 'full'
MILLION = 1000000 if FULL else 100000
SLOW = 2000
# The settings' own: 96 MB for what is not in a day file, 64 MB of requests,
# twice a profile of 128 MB being read, and the program itself.
BUDGET_MB = 512
# Recent, so that nothing expires.
TIME = int(time.time() - 7200) * SECOND
EVER = {'from': 'now-1d', 'to': 'now+1d'}


def cpu(n, functions):
    """A CPU profile of n samples to come, and its locations."""
    p = collector.profilepb.Profile([('samples', 'count')], ('cpu', 'count'), 1)
    return p, [p.location(p.function('f%d' % i), line=i)
               for i in range(functions)]


def labelled(values, when):
    """A sample for each value of the label."""
    p, at = cpu(len(values), 3)
    p.time_nanos = when
    for value in values:
        p.sample([at[value % 3]], [1], {'request': 'id-%d' % value})
    return gzip.compress(p.encode(), 1)


def stacks(n, part, chance, when):
    """Samples on stacks that nobody has seen before."""
    p, at = cpu(n, 400)
    p.time_nanos = when
    for i in range(n):
        p.sample([chance.choice(at) for _ in range(12)] +
                 [at[i % 400], at[part % 400]], [1])
    return gzip.compress(p.encode(), 1)


class HostileTest(CollectorTest):
    def peak_mb(self):
        with open('/proc/%d/status' % self.pprofd.process.pid) as f:
            return int(re.search(r'VmHWM:\s*(\d+)', f.read()).group(1)) / 1024

    def serve_others(self, n=20, service='good'):
        """A sender that behaves: it tries again when told to."""
        for i in range(n):
            until = time.monotonic() + 60
            body = cpu_profile({'main;f%d' % i: 1}, TIME + i * SECOND)
            while True:
                reply = self.post(body, service=service, type='cpu')
                if reply.status == 200:
                    break
                self.assertEqual(reply.status, 503, reply.text)
                self.assertIn('Retry-After', reply.headers)
                self.assertLess(time.monotonic(), until, 'never served')
                time.sleep(0.2)
        reply = self.get('/api/1/profiles', query='cpu{service="%s"}' % service,
                         limit='1000', **EVER)
        self.assertEqual(len(reply.json['profiles']), n)

    def test_thousands_of_slow_senders(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < SLOW + 500:
            self.skipTest('only %d open files are allowed' % hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE,
                        (soft, hard))
        sockets = []
        self.addCleanup(lambda: [s.close() for s in sockets])
        for i in range(SLOW):
            s = socket.create_connection(('127.0.0.1', self.pprofd.port),
                                         source_address=(
                                             '127.0.0.%d' % (2 + i % 200), 0))
            s.sendall(b'POST /api/0/profiles?service=slow&type=cpu HTTP/1.1\r\n'
                      b'Host: 127.0.0.1\r\nContent-Length: 1000000\r\n\r\nx')
            sockets.append(s)
        self.serve_others()
        for s in sockets:
            try:
                s.send(b'y')
            except OSError:
                pass  # it was shown the door
        self.serve_others(service='later')
        self.assertLess(self.peak_mb(), BUDGET_MB)

    def test_gzip_bombs_on_many_connections(self):
        # A profile of nothing but a string of zeros, so that it inflates.
        bomb = gzip.compress(b'\x32\x80\x80\x80\x40' + b'\0' * (120 << 20), 9)
        over = gzip.compress(b'\0' * (200 << 20), 9)
        replies = []

        def send(body):
            replies.append(self.post(body, service='bad', type='cpu').status)

        threads = [threading.Thread(target=send, args=(b,))
                   for b in [bomb, over] * 12]
        for t in threads:
            t.start()
        self.serve_others(5)
        for t in threads:
            t.join()
        self.assertEqual(len(replies), 24)
        self.assertLessEqual(set(replies), {400, 413, 503})
        self.assertLess(self.peak_mb(), BUDGET_MB)

    def test_a_million_label_values(self):
        each, total = 5000, 0
        for part in range(MILLION // each):
            body = labelled(range(part * each, (part + 1) * each),
                            TIME + part * SECOND)
            self.send_patiently(body, 'labels')
            total += each
        self.assertEqual(self.total_of('labels'), total)
        self.serve_others()
        self.assertGreater(self.metric('pprofd_store_dropped_labels_total'), 0)
        self.assertLess(self.peak_mb(), BUDGET_MB)

    def test_a_million_stacks(self):
        each, total = 5000, 0
        chance = random.Random(1)
        for part in range(MILLION // each):
            body = stacks(each, part, chance, TIME + part * SECOND)
            self.send_patiently(body, 'stacks')
            total += each
        self.assertEqual(self.total_of('stacks'), total)
        self.serve_others()
        self.assertLess(self.peak_mb(), BUDGET_MB)

    def send_patiently(self, body, service):
        for _ in range(200):
            reply = self.post(body, service=service, type='cpu')
            if reply.status != 503:
                break
            time.sleep(0.1)
        self.assertEqual(reply.status, 200, reply.text)

    def total_of(self, service):
        reply = self.get('/api/1/series', query='cpu{service="%s"}' % service,
                         value_type='samples', **EVER)
        self.assertEqual(reply.status, 200, reply.text)
        return sum(point[1] for group in reply.json['groups']
                   for point in group['points'])

    def metric(self, name):
        found = re.search(r'^%s (\S+)$' % name, self.get('/metrics').text, re.M)
        self.assertIsNotNone(found, name)
        return float(found.group(1))


if __name__ == '__main__':
    unittest.main()
