"""What the tests of pushed profiles share: programs under pprof-run, and
collectors that misbehave."""
import contextlib
import os
import socket
import subprocess
import threading
import time
import urllib.parse

import support

PPROF_RUN = os.path.abspath(os.path.join(support.BUILD, 'pprof-run'))
PROGRAMS = os.path.abspath(os.path.join(support.BUILD, 'tests', 'e2e',
                                        'programs'))
PUSHED = os.path.join(PROGRAMS, 'pushed')

# What the environment of this machine may have, and the labels would show.
IDENTITY = ('POD_NAME', 'POD_NAMESPACE', 'NODE_NAME', 'CONTAINER_NAME',
            'HOSTNAME', 'OTEL_SERVICE_NAME', 'OTEL_RESOURCE_ATTRIBUTES')


def environment(**more):
    env = {k: v for k, v in os.environ.items()
           if k not in IDENTITY and not k.startswith('PPROF_')}
    env['HOSTNAME'] = 'test-host'
    env.update(more)
    return env


def start(url, command, *options, env=None, **kwargs):
    """Starts a command under pprof-run with a collector."""
    return subprocess.Popen(
        [PPROF_RUN, '-collector', url, *options, *command],
        env=environment(**(env or {})), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, **kwargs)


def run(url, command, *options, env=None, timeout=120, **kwargs):
    process = start(url, command, *options, env=env, **kwargs)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def listed(pprofd, service, profile_type):
    """The stored profiles as [{'labels': {...}, 'id': ...}]."""
    reply = pprofd.get('/api/0/profiles', service=service, type=profile_type,
                       **{'from': '2020-01-01T00:00:00',
                          'to': '2100-01-01T00:00:00'})
    if reply.status == 404:
        return []
    assert reply.status == 200, reply.text
    return [dict(p, labels={l['key']: l['value'] for l in p.get('labels', [])})
            for p in reply.json['body']]


def merge_url(pprofd, service, profile_type):
    return pprofd.url('/api/0/profiles/merge?' + urllib.parse.urlencode(
        {'service': service, 'type': profile_type,
         'from': '2020-01-01T00:00:00', 'to': '2100-01-01T00:00:00'}))


class Collector:
    """A collector that calls `behave` for each connection, until it is closed.
    Counts connections and keeps the requests' heads."""

    def __init__(self, behave):
        self.behave = behave
        self.heads = []
        self.connections = 0
        self.is_over = threading.Event()
        self.socket = socket.create_server(('127.0.0.1', 0))
        self.socket.settimeout(0.1)
        self.url = 'http://127.0.0.1:%d' % self.socket.getsockname()[1]
        self.threads = [threading.Thread(target=self.accept)]
        self.threads[0].start()

    def accept(self):
        while not self.is_over.is_set():
            try:
                connection, _ = self.socket.accept()
            except OSError:
                continue
            self.connections += 1
            thread = threading.Thread(target=self.serve, args=(connection,))
            self.threads.append(thread)
            thread.start()

    def serve(self, connection):
        connection.settimeout(0.1)
        with contextlib.suppress(OSError), connection:
            self.behave(self, connection)

    def read_request(self, connection):
        """A whole request; its body."""
        data = b''
        while not self.is_over.is_set():
            head, end, body = data.partition(b'\r\n\r\n')
            if end:
                length = [int(line.split(b':')[1])
                          for line in head.split(b'\r\n')
                          if line.lower().startswith(b'content-length:')]
                if length and len(body) >= length[0]:
                    self.heads.append(head.decode())
                    return body
            with contextlib.suppress(TimeoutError):
                more = connection.recv(65536)
                if not more:
                    return None
                data += more
        return None

    def close(self):
        self.is_over.set()
        for thread in self.threads:
            thread.join()
        self.socket.close()


def accepts_only(collector, _):
    """Takes the connection and never reads or answers."""
    collector.is_over.wait(120)


def never_answers(collector, connection):
    collector.read_request(connection)
    collector.is_over.wait(120)


def one_byte_a_second(collector, connection):
    collector.read_request(connection)
    for byte in b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}' * 20:
        connection.send(bytes([byte]))
        if collector.is_over.wait(1):
            return


def reply(text):
    """Answers every request so."""
    def behave(collector, connection):
        collector.read_request(connection)
        connection.sendall(text if isinstance(text, bytes) else text.encode())
    return behave


def endless(start_of_reply, more):
    """Sends for as long as somebody reads."""
    def behave(collector, connection):
        collector.read_request(connection)
        connection.sendall(start_of_reply)
        while not collector.is_over.is_set():
            with contextlib.suppress(TimeoutError):
                connection.sendall(more * 1000)
    return behave


def hangs_up(_, connection):
    connection.close()


def resets(collector, connection):
    """Closes with data unread, which is an RST."""
    connection.recv(10)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                          b'\x01\0\0\0\0\0\0\0')
    connection.close()


# name: what it does to a request.
TROUBLE = {
    'accepts and never reads': accepts_only,
    'never answers': never_answers,
    'one byte a second': one_byte_a_second,
    'hangs up': hangs_up,
    'resets': resets,
    'says 503': reply('HTTP/1.1 503 Busy\r\nRetry-After: 3600\r\n'
                      'Content-Length: 4\r\n\r\nfull'),
    'says 507': reply('HTTP/1.1 507 Insufficient Storage\r\n'
                      'Content-Length: 0\r\n\r\n'),
    'refuses': reply('HTTP/1.1 401 Unauthorized\r\nContent-Length: 7\r\n\r\n'
                     'no\x1b[2Jno'),
    'redirects to itself': reply('HTTP/1.1 307 Temporary Redirect\r\n'
                                 'Location: /api/0/profiles\r\n'
                                 'Content-Length: 0\r\n\r\n'),
    'garbage': reply(bytes(range(256)) * 40),
    'a bad length': reply('HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n'),
    'a huge length': reply('HTTP/1.1 500 No\r\n'
                           'Content-Length: 99999999999999\r\n\r\n'),
    'endless header lines': endless(b'HTTP/1.1 200 OK\r\n', b'A: b\r\n'),
    'one endless header': endless(b'HTTP/1.1 200 OK\r\nA: ', b'bbbbbbbb'),
    'an endless body': endless(b'HTTP/1.1 500 No\r\n\r\n', b'bbbbbbbb'),
    'endless chunks': endless(b'HTTP/1.1 500 No\r\n'
                              b'Transfer-Encoding: chunked\r\n\r\n',
                              b'1\r\nb\r\n'),
}
