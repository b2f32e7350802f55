"""The endpoint under attack, and TLS in a program that forks and ends."""
import contextlib
import os
import resource
import select
import signal
import socket
import ssl
import subprocess
import threading
import time

import certificates
import support
from secure import RUN, SERVICE, Program, TestCase


def cpu_seconds(pid, name):
    """CPU time of the threads of that name."""
    total = 0
    for tid in os.listdir('/proc/%d/task' % pid):
        with open('/proc/%d/task/%s/stat' % (pid, tid)) as f:
            comm, rest = f.read().split('(', 1)[1].rsplit(')', 1)
        if comm == name:
            total += sum(int(x) for x in rest.split()[11:13])
    return total / os.sysconf('SC_CLK_TCK')


@contextlib.contextmanager
def knocking(port, clients=1):
    """Meanwhile clients shake hands and leave, again and again."""
    stop = threading.Event()
    context = ssl._create_unverified_context()

    def knock():
        while not stop.is_set():
            try:
                with socket.create_connection(('127.0.0.1', port), 5) as s:
                    context.wrap_socket(s).close()
            except OSError:
                pass

    threads = [threading.Thread(target=knock) for _ in range(clients)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


class Floods(TestCase):
    """Whatever the number and kind of requests, the program keeps its CPU
    time, and the endpoint answers afterwards."""
    SECONDS = 2

    def flood(self, attack):
        """Runs it; the share of one CPU that our thread used meanwhile."""
        program = self.serve([SERVICE], PPROF_MAX_CPU='2')
        stop = threading.Event()
        threads = [threading.Thread(target=self.repeat,
                                    args=(attack, program.port, stop))
                   for _ in range(4)]
        time.sleep(0.5)
        before = cpu_seconds(program.process.pid, 'pprof-http')
        start = time.monotonic()
        for t in threads:
            t.start()
        time.sleep(self.SECONDS)
        used = cpu_seconds(program.process.pid, 'pprof-http') - before
        took = time.monotonic() - start
        stop.set()
        for t in threads:
            t.join()
        self.assertIsNone(program.process.poll())
        # What was saved up, the share, and the clock's grain.
        self.assertLess(used, 0.05 + 0.02 * took + 0.1)
        # Several tries: what the flood left in the queue comes first.
        self.assertIn(200, [self.status(program.url + '/debug/pprof/cmdline',
                                        '-m', '10') for _ in range(3)])

    def repeat(self, attack, port, stop):
        while not stop.is_set():
            try:
                with socket.create_connection(('127.0.0.1', port), 1) as s:
                    s.settimeout(1)
                    attack(s, stop)
            except OSError:
                time.sleep(0.01)

    def test_pipelined_garbage(self):
        self.flood(lambda s, stop: s.sendall(b'\0GARBAGE / \r\n\r\n' * 10000))

    def test_pipelined_requests(self):
        self.flood(lambda s, stop: s.sendall(
            b'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n' * 10000))

    def test_chunks_of_one_byte(self):
        def attack(s, stop):
            s.sendall(b'POST /debug/pprof/symbol HTTP/1.1\r\n'
                      b'Host: localhost\r\nTransfer-Encoding: chunked\r\n'
                      b'\r\n')
            for _ in range(100):
                if stop.is_set():
                    return
                s.sendall(b'1\r\nx\r\n' * 10000)
        self.flood(attack)

    def test_headers_of_100_megabytes(self):
        def attack(s, stop):
            s.sendall(b'GET / HTTP/1.1\r\nHost: localhost\r\nX: ')
            for _ in range(1600):
                if stop.is_set():
                    return
                s.sendall(b'x' * 65536)
        self.flood(attack)

    def test_slow_headers(self):
        def attack(s, stop):
            for c in b'GET / HTTP/1.1\r\nHost: localhost\r\nX: ' + b'x' * 99:
                if stop.wait(0.02):
                    return
                s.sendall(bytes([c]))
        self.flood(attack)

    def test_10000_half_open_connections(self):
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        if limit[1] != resource.RLIM_INFINITY and limit[1] < 10500:
            self.skipTest('no more than %d descriptors' % limit[1])
        resource.setrlimit(resource.RLIMIT_NOFILE, (10500, limit[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, limit)
        program = self.serve([SERVICE], PPROF_MAX_CPU='2')
        before = cpu_seconds(program.process.pid, 'pprof-http')
        start = time.monotonic()
        sockets = []
        for _ in range(10000):
            s = socket.socket()
            s.setblocking(False)
            s.connect_ex(('127.0.0.1', program.port))
            sockets.append(s)
        fds = len(os.listdir('/proc/%d/fd' % program.process.pid))
        self.assertLess(fds, 80)
        for s in sockets:
            s.close()
        self.assertIn(200, [self.status(program.url + '/debug/pprof/cmdline',
                                        '-m', '10') for _ in range(3)])
        used = cpu_seconds(program.process.pid, 'pprof-http') - before
        self.assertLess(used, 0.15 + 0.02 * (time.monotonic() - start))


def connecting(port, source):
    """A socket that is connecting from an address."""
    s = socket.socket()
    s.setblocking(False)
    s.bind((source, 0))
    s.connect_ex(('127.0.0.1', port))
    return s


def is_connected(s, seconds):
    poll = select.poll()
    poll.register(s, select.POLLOUT)
    return bool(poll.poll(seconds * 1000))


class Queues(TestCase):
    """A flood of connections does not keep a kubelet out."""

    def probe(self, program):
        self.assertEqual(self.status(program.url + '/healthz'), 200)

    def stopped(self, program):
        """The program accepts nothing until the test goes on."""
        program.process.send_signal(signal.SIGSTOP)
        os.waitpid(program.process.pid, os.WUNTRACED)

    def try_queues(self, program):
        """Fills the queue for unknown addresses; returns whether 127.0.0.1 can
        still connect."""
        with contextlib.ExitStack() as stack:
            self.stopped(program)
            stack.callback(program.process.send_signal, signal.SIGCONT)
            for _ in range(1500):
                stack.enter_context(connecting(program.port, '127.0.0.2'))
            stranger = stack.enter_context(
                connecting(program.port, '127.0.0.3'))
            self.assertFalse(is_connected(stranger, 0.2))
            prober = stack.enter_context(
                connecting(program.port, '127.0.0.1'))
            return is_connected(prober, 0.5)

    def test_probes_have_a_queue_of_their_own(self):
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        if limit[1] != resource.RLIM_INFINITY and limit[1] < 2000:
            self.skipTest('no more than %d descriptors' % limit[1])
        resource.setrlimit(resource.RLIMIT_NOFILE, (2000, limit[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, limit)
        program = self.serve(PPROF_MAX_CPU='10')
        self.probe(program)
        self.assertFalse(self.try_queues(program))  # who is that?
        for _ in range(10):  # the address is known a while after two probes
            time.sleep(2.5)
            self.probe(program)
            if self.try_queues(program):
                break
        else:
            self.fail('strangers keep the prober out')
        self.probe(program)


def first_flight():
    """The bytes with which a TLS client begins."""
    out = ssl.MemoryBIO()
    hello = ssl._create_unverified_context().wrap_bio(ssl.MemoryBIO(), out)
    with contextlib.suppress(ssl.SSLWantReadError):
        hello.do_handshake()
    return out.read()


@support.needs('openssl', 'curl')
class StalledHandshakes(TestCase):
    """Clients that begin a TLS handshake and never go on."""
    CLIENTS = 200  # more than the endpoint keeps connections

    def setUp(self):
        super().setUp()
        cert, key = certificates.self_signed(self.certs, 'x')
        with open(self.path('tokens'), 'w') as f:
            f.write('token-of-the-reader\n')
        os.chmod(self.path('tokens'), 0o600)
        self.program = self.serve(PPROF_TLS_CERT=cert, PPROF_TLS_KEY=key,
                                  PPROF_TOKEN_FILE=self.path('tokens'))
        self.check_others()  # 127.0.0.1 has authenticated: known now

    def begin(self, source, hello):
        s = socket.create_connection(('127.0.0.1', self.program.port), 10,
                                     (source, 0))
        s.sendall(hello)
        return s

    def hold(self, sources, hello, stop):
        """Keeps connections open; those that the endpoint closes begin
        again."""
        poll, held = select.poll(), {}
        with contextlib.ExitStack() as stack:
            while not stop.is_set():
                while len(held) < self.CLIENTS and not stop.is_set():
                    with contextlib.suppress(OSError):
                        s = stack.enter_context(self.begin(
                            sources[len(held) % len(sources)], hello))
                        poll.register(s, select.POLLRDHUP)
                        held[s.fileno()] = s
                for fd, _ in poll.poll(100):
                    poll.unregister(fd)
                    held.pop(fd).close()

    def check(self, sources, hello):
        stop = threading.Event()
        attacker = threading.Thread(target=self.hold,
                                    args=(sources, hello, stop))
        attacker.start()
        try:
            for _ in range(10):
                time.sleep(0.1)
                self.check_others()
        finally:
            stop.set()
            attacker.join()

    def check_others(self):
        self.assertEqual(self.status(self.program.url + '/healthz', '-k'),
                         200)
        self.assertEqual(self.status(
            self.program.url + '/debug/pprof/cmdline', '-k', '-H',
            'Authorization: Bearer token-of-the-reader'), 200)

    def test_half_a_hello_from_one_address(self):
        hello = first_flight()
        self.check(['127.0.0.2'], hello[:len(hello) // 2])

    def test_a_hello_and_nothing_more_from_one_address(self):
        self.check(['127.0.0.2'], first_flight())

    def test_none_is_kept_for_ever(self):
        with self.begin('127.0.0.2', first_flight()[:50]) as s:
            s.settimeout(60)
            with contextlib.suppress(ConnectionResetError):
                self.assertEqual(s.recv(65536), b'')

    def test_half_a_hello_from_many_addresses(self):
        hello = first_flight()
        self.check(['127.0.0.%d' % i for i in range(2, 202)],
                   hello[:len(hello) // 2])

    def test_a_hello_and_nothing_more_from_many_addresses(self):
        self.check(['127.0.0.%d' % i for i in range(2, 202)], first_flight())


@support.needs('openssl', 'curl')
class Life(TestCase):
    """TLS in a program that forks, ends and has little to do with it."""

    def test_the_end_is_clean_while_clients_shake_hands(self):
        cert, key = certificates.self_signed(self.certs, 'x')
        for _ in range(3):
            program = Program([SERVICE, '1'], PPROF_TLS_CERT=cert,
                              PPROF_TLS_KEY=key)
            with knocking(program.port, clients=3):
                self.assertEqual(program.process.wait(20), 0)
            program.stop()

    def test_children_have_nothing_of_it(self):
        cert, key = certificates.self_signed(self.certs, 'x')
        program = self.serve(
            [RUN, '/usr/bin/python3', '-c',
             'import os, sys, time\n'
             'for i in range(50):\n'
             '    pid = os.fork()\n'
             '    if pid == 0:\n'
             '        import ssl, socket\n'
             '        a, b = socket.socketpair()\n'
             '        left = [f for f in range(3, 50)\n'
             '                if os.path.exists("/proc/self/fd/%d" % f)\n'
             '                and "socket" in os.readlink(\n'
             '                    "/proc/self/fd/%d" % f)]\n'
             '        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)\n'
             '        os._exit(len(left) > 2)\n'
             '    if os.waitpid(pid, 0)[1]: sys.exit(3)\n'
             'print("forked", file=sys.stderr, flush=True)\n'
             'time.sleep(60)\n'],
            PPROF_TLS_CERT=cert, PPROF_TLS_KEY=key)
        with knocking(program.port):
            program.wait_for_words('forked', 30)
        self.assertEqual(self.status(program.url + '/healthz', '-k'), 200)

    def test_children_are_behind_the_same_guard(self):
        cert, key = certificates.self_signed(self.certs, 'x')
        program = self.serve(
            [RUN, '-children', '-client-ca', cert, '/usr/bin/python3', '-c',
             'import os, time\n'
             'parent = os.getpid()\n'
             'child = os.fork() == 0\n'
             'while not child or os.getppid() == parent: time.sleep(0.1)'],
            PPROF_TLS_CERT=cert, PPROF_TLS_KEY=key)
        url = program.url + '/debug/pprof/cmdline'
        self.assertEqual(self.status(url, '-k'), 403)
        self.assertEqual(self.status(url, '-k', '--cert', cert, '--key', key),
                         200)
        self.assertEqual(len({line.split('//')[1].split('/')[0]
                              for line in program.said if '//' in line}), 1,
                         program.said)

    def test_a_client_that_breaks_off_kills_nobody(self):
        cert, key = certificates.self_signed(self.certs, 'x')
        program = self.serve(PPROF_TLS_CERT=cert, PPROF_TLS_KEY=key)
        context = ssl._create_unverified_context()
        for _ in range(20):
            s = context.wrap_socket(socket.create_connection(
                ('127.0.0.1', program.port)))
            s.sendall(b'GET /debug/pprof/symbol HTTP/1.1\r\n'
                      b'Host: localhost\r\n\r\n' * 5)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                         b'\1\0\0\0\0\0\0\0')
            s.close()
        time.sleep(0.3)
        self.assertIsNone(program.process.poll())
        self.assertEqual(self.status(program.url + '/healthz', '-k'), 200)

    def test_a_stderr_that_nobody_reads_kills_nobody(self):
        port = support.free_port()
        ours, theirs = os.pipe()
        os.close(ours)
        process = subprocess.Popen(
            [SERVICE], stderr=theirs, env=dict(
                os.environ, PPROF_ADDR='127.0.0.1:%d' % port,
                PPROF_AUDIT='stderr'))
        os.close(theirs)
        self.addCleanup(support.stop, process)
        support.wait_for_port(port, process)
        for _ in range(3):
            self.assertEqual(self.status(
                'http://127.0.0.1:%d/debug/pprof/cmdline' % port), 200)
        self.assertIsNone(process.poll())

    def test_a_file_that_is_number_2_now_gets_no_line(self):
        program = self.serve(
            [RUN, '-audit', 'stderr', '/usr/bin/python3', '-c',
             'import os, time\n'
             'time.sleep(0.5)\n'
             'os.close(2)\n'
             'os.open("%s", os.O_RDWR | os.O_CREAT)\n'
             'time.sleep(60)' % self.path('data')])
        for _ in range(100):
            if os.path.exists(self.path('data')):
                break
            time.sleep(0.05)
        self.assertEqual(self.status(program.url + '/debug/pprof/cmdline'),
                         200)
        self.assertEqual(os.path.getsize(self.path('data')), 0)

    def test_nothing_of_openssl_without_tls(self):
        program = self.serve()
        self.status(program.url + '/debug/pprof/cmdline')
        with open('/proc/%d/maps' % program.process.pid) as f:
            self.assertNotIn('libssl', f.read())
