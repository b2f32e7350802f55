"""Port-forward and exec as Kubernetes speaks them, the server's side.

kubectl 1.30 and later asks for a WebSocket and falls back to SPDY/3.1 when
that is refused; older ones know SPDY alone.  Port-forward through a WebSocket
carries SPDY frames in binary messages; exec through a WebSocket puts the
channel into the first byte of each message.
"""
import base64
import hashlib
import json
import selectors
import socket
import struct
import subprocess
import threading
import zlib

# The dictionary of SPDY/3 header compression (section 2.6.10.1): words with
# their lengths, then plain text.
WORDS = '''options head post put delete trace accept accept-charset
accept-encoding accept-language accept-ranges age allow authorization
cache-control connection content-base content-encoding content-language
content-length content-location content-md5 content-range content-type date
etag expect expires from host if-match if-modified-since if-none-match
if-range if-unmodified-since last-modified location max-forwards pragma
proxy-authenticate proxy-authorization range referer retry-after server te
trailer transfer-encoding upgrade user-agent vary via warning
www-authenticate method get status 200~OK version HTTP/1.1 url public
set-cookie keep-alive origin'''
TEXT = ('100101201202205206300302303304305306307402405406407408409410411412'
        '413414415416417502504505203 Non-Authoritative Information204 No '
        'Content301 Moved Permanently400 Bad Request401 Unauthorized403 '
        'Forbidden404 Not Found500 Internal Server Error501 Not Implemented'
        '503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov '
        'Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,'
        'text/html,image/png,image/jpg,image/gif,application/xml,'
        'application/xhtml+xml,text/plain,text/javascript,publicprivate'
        'max-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,'
        'enq=0.')
DICTIONARY = b''.join(
    struct.pack('>I', len(word)) + word.replace('~', ' ').encode()
    for word in WORDS.split()) + TEXT.encode()
assert zlib.adler32(DICTIONARY) == 0xe3c6a7c2

SYN_STREAM, SYN_REPLY, RST_STREAM, PING, GOAWAY = 1, 2, 3, 6, 7
FIN = 1


class Closed(Exception):
    """The other side is gone."""


class Raw:
    """The bytes of a connection after the headers."""

    def __init__(self, rfile, connection):
        self.rfile, self.connection = rfile, connection
        self.lock = threading.Lock()

    def read(self, n):
        data = self.rfile.read(n) if n else b''
        if len(data) < n:
            raise Closed()
        return data

    def write(self, data):
        with self.lock:
            self.connection.sendall(data)

    def close(self):
        pass


class WebSocket(Raw):
    """Messages; read() and write() see the bytes of the binary ones."""

    def __init__(self, rfile, connection):
        super().__init__(rfile, connection)
        self.pending = b''

    def message(self):
        """The payload of the next binary message."""
        while True:
            first, second = Raw.read(self, 2)
            n = second & 127
            if n == 126:
                n, = struct.unpack('>H', Raw.read(self, 2))
            elif n == 127:
                n, = struct.unpack('>Q', Raw.read(self, 8))
            mask = Raw.read(self, 4) if second & 128 else bytes(4)
            data = Raw.read(self, n)
            data = bytes(b ^ mask[i & 3] for i, b in enumerate(data))
            if first & 15 == 8:
                raise Closed()
            if first & 15 == 9:
                self.frame(10, data)
            elif first & 15 in (0, 1, 2):
                return data

    def frame(self, opcode, data):
        n = len(data)
        size = (struct.pack('>B', n) if n < 126 else
                struct.pack('>BH', 126, n) if n < 65536 else
                struct.pack('>BQ', 127, n))
        Raw.write(self, bytes([128 | opcode]) + size + data)

    def read(self, n):
        while len(self.pending) < n:
            self.pending += self.message()
        data, self.pending = self.pending[:n], self.pending[n:]
        return data

    def write(self, data):
        self.frame(2, data)

    def close(self):
        self.frame(8, struct.pack('>H', 1000))


def accept_key(key):
    guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
    return base64.b64encode(
        hashlib.sha1((key + guid).encode()).digest()).decode()


class Spdy:
    """SPDY/3.1 frames over a Raw or a WebSocket."""

    def __init__(self, stream):
        self.stream = stream
        self.inflate = zlib.decompressobj(zdict=DICTIONARY)
        self.deflate = zlib.compressobj(9, zlib.DEFLATED, 15, 8,
                                        zlib.Z_DEFAULT_STRATEGY, DICTIONARY)

    def receive(self):
        """(kind, stream id, flags, headers or data); DATA has kind 0."""
        head = self.stream.read(8)
        word, = struct.unpack('>I', head[:4])
        flags, n = head[4], int.from_bytes(head[5:], 'big')
        body = self.stream.read(n)
        if not word >> 31:
            return 0, word, flags, body
        kind = word & 0xffff
        number = struct.unpack('>I', body[:4])[0] & 0x7fffffff if n else 0
        if kind == SYN_STREAM:
            return kind, number, flags, self.headers(body[10:])
        return kind, number, flags, body[4:]

    def headers(self, packed):
        plain = self.inflate.decompress(packed)
        count, = struct.unpack('>I', plain[:4])
        at, parts = 4, []
        for _ in range(2 * count):
            n, = struct.unpack('>I', plain[at:at + 4])
            parts.append(plain[at + 4:at + 4 + n].decode())
            at += 4 + n
        return dict(zip(parts[::2], parts[1::2]))

    def control(self, kind, body, flags=0):
        self.stream.write(struct.pack('>HHI', 0x8003, kind,
                                      flags << 24 | len(body)) + body)

    def reply(self, number):
        none = self.deflate.compress(bytes(4))
        none += self.deflate.flush(zlib.Z_SYNC_FLUSH)
        self.control(SYN_REPLY, struct.pack('>I', number) + none)

    def data(self, number, data, flags=0):
        self.stream.write(struct.pack('>II', number,
                                      flags << 24 | len(data)) + data)


def pump_to_client(backend, send, end):
    """Copies what the backend says until it ends."""
    try:
        while True:
            data = backend.recv(65536)
            if not data:
                break
            send(data)
    except OSError:
        pass
    try:
        end()
    except OSError:
        pass


def port_forward(stream, connect):
    """Serves one session; connect(port) returns a socket or raises OSError
    with the words for the error stream."""
    spdy, streams, errors = Spdy(stream), {}, {}

    def begin(number, headers):
        spdy.reply(number)
        request = headers.get('requestid')
        if headers.get('streamtype') == 'error':
            errors[request] = number
            return
        error = errors.get(request)
        try:
            backend = connect(int(headers['port']))
        except OSError as e:
            spdy.data(number, b'', FIN)
            spdy.data(error, str(e).encode())
            spdy.data(error, b'', FIN)
            return
        streams[number] = backend

        def end():
            spdy.data(number, b'', FIN)
            spdy.data(error, b'', FIN)
        threading.Thread(target=pump_to_client, daemon=True, args=(
            backend, lambda data: spdy.data(number, data), end)).start()

    try:
        while True:
            kind, number, flags, body = spdy.receive()
            if kind == SYN_STREAM:
                begin(number, body)
            elif kind == 0 and number in streams:
                if body:
                    streams[number].sendall(body)
                if flags & FIN:
                    streams[number].shutdown(socket.SHUT_WR)
            elif kind == RST_STREAM and number in streams:
                streams.pop(number).close()
            elif kind == PING:
                spdy.control(PING, struct.pack('>I', number))
            elif kind == GOAWAY:
                break
    except (Closed, OSError):
        pass
    for backend in streams.values():
        try:
            backend.shutdown(socket.SHUT_RDWR)  # a thread may wait for it
        except OSError:
            pass
        backend.close()


def not_found_status(name):
    words = ('Internal error occurred: Internal error occurred: error '
             'executing command in container: failed to exec in container: '
             'failed to start exec "%s": OCI runtime exec failed: exec '
             'failed: unable to start container process: exec: "%s": '
             'executable file not found in $PATH' % ('0' * 64, name))
    return {'metadata': {}, 'status': 'Failure', 'message': words,
            'reason': 'InternalError',
            'details': {'causes': [{'message': words}]}, 'code': 500}


def exit_status(code):
    if code == 0:
        return {'metadata': {}, 'status': 'Success'}
    if code < 0:
        code = 128 - code
    return {'metadata': {}, 'status': 'Failure',
            'message': 'command terminated with non-zero exit code: command '
                       'terminated with exit code %d' % code,
            'reason': 'NonZeroExitCode',
            'details': {'causes': [{'reason': 'ExitCode',
                                    'message': str(code)}]}}


def compact(value):
    return json.dumps(value, separators=(',', ':')).encode()


class ExecOverWebSocket:
    """v5.channel.k8s.io: the first byte of a message is the channel."""

    def __init__(self, socket_):
        self.socket = socket_

    def start(self):
        self.socket.write(b'\1')

    def send(self, name, data):
        self.socket.write(bytes([{'stdout': 1, 'stderr': 2,
                                  'error': 3}[name]]) + data)

    def receive(self):
        """Bytes for standard input, or None at its end."""
        while True:
            data = self.socket.message()
            if data[:1] == b'\0' and len(data) > 1:
                return data[1:]
            if data == b'\xff\0':
                return None

    def end(self, names):
        self.socket.close()


class ExecOverSpdy:
    """v4.channel.k8s.io: a stream for each channel."""

    def __init__(self, raw, wanted):
        self.spdy, self.wanted, self.numbers = Spdy(raw), wanted, {}

    def start(self):
        while len(self.numbers) < len(self.wanted):
            kind, number, _, headers = self.spdy.receive()
            if kind == SYN_STREAM:
                self.numbers[headers['streamtype']] = number
                self.spdy.reply(number)

    def send(self, name, data):
        self.spdy.data(self.numbers[name], data)

    def receive(self):
        while True:
            kind, number, flags, body = self.spdy.receive()
            if kind == GOAWAY:
                raise Closed()
            if kind == 0 and number == self.numbers.get('stdin'):
                return None if flags & FIN and not body else body

    def end(self, names):
        for name in names:
            self.spdy.data(self.numbers[name], b'', FIN)
        self.spdy.control(GOAWAY, struct.pack('>II', 5, 0))


def feed(channel, process):
    """Standard input of the process, until the client ends or is gone; a
    client that is gone takes the process with it."""
    try:
        while True:
            data = channel.receive()
            if data is None:
                process.stdin.close()
                continue
            process.stdin.write(data)
            process.stdin.flush()
    except (Closed, OSError, ValueError):
        if process.poll() is None:
            process.kill()


def execute(channel, command, env, cwd, wanted):
    """Runs the command as the pod's container would."""
    channel.start()
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=env, cwd=cwd)
    except OSError:
        channel.send('error', compact(not_found_status(
            command[0].rpartition('/')[2])))
        channel.end([])
        return
    if 'stdin' not in wanted:
        process.stdin.close()
    threading.Thread(target=feed, args=(channel, process),
                     daemon=True).start()
    try:
        copy_output(channel, process)
        code = process.wait()
        channel.send('error', compact(exit_status(code)))
        channel.end([n for n in ('stdout', 'stderr') if n in wanted])
    except OSError:
        process.kill()
    finally:
        process.wait()
        process.stdout.close()
        process.stderr.close()


def copy_output(channel, process):
    with selectors.DefaultSelector() as waiting:
        waiting.register(process.stdout, selectors.EVENT_READ, 'stdout')
        waiting.register(process.stderr, selectors.EVENT_READ, 'stderr')
        while waiting.get_map():
            for key, _ in waiting.select():
                data = key.fileobj.read1(32768)
                if data:
                    channel.send(key.data, data)
                else:
                    waiting.unregister(key.fileobj)
