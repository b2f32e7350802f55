"""A small DNS server on loopback, by UDP and TCP, for the tests of discovery
by names."""

import socket
import socketserver
import struct
import threading

A, AAAA, SRV = 1, 28, 33
SERVFAIL, NXDOMAIN = 2, 3
UDP_MAX = 512


def encode_name(name):
    return b''.join(bytes((len(part),)) + part.encode()
                    for part in name.split('.')) + b'\0'


def address(text):
    family = socket.AF_INET6 if ':' in text else socket.AF_INET
    return (AAAA if ':' in text else A), socket.inet_pton(family, text)


def service(host, port):
    return SRV, struct.pack('>HHH', 0, 0, port) + encode_name(host)


class Nameserver:
    """`names` is {name: list of records, or an error code}; names that are not
    there do not exist.  `asked` are the questions as (name, type, by TCP)."""

    def __init__(self, **names):
        self.names = names
        self.asked = []
        server = self

        class Datagram(socketserver.BaseRequestHandler):
            def handle(self):
                query, back = self.request
                reply = server.answer(query, False)
                if len(reply) > UDP_MAX:  # TC: ask again by TCP
                    reply = reply[:2] + b'\x83\x80' + reply[4:6] + bytes(6)
                    reply += query[12:query.index(b'\0', 12) + 5]
                back.sendto(reply, self.client_address)

        class Stream(socketserver.StreamRequestHandler):
            def handle(self):
                size = self.rfile.read(2)
                while len(size) == 2:
                    reply = server.answer(
                        self.rfile.read(struct.unpack('>H', size)[0]), True)
                    self.wfile.write(struct.pack('>H', len(reply)) + reply)
                    size = self.rfile.read(2)

        self.servers = self.listen(Datagram, Stream)
        self.address = '127.0.0.1:%d' % self.servers[0].server_address[1]
        for one in self.servers:
            threading.Thread(target=one.serve_forever, daemon=True).start()

    @staticmethod
    def listen(datagram, stream):
        """Both on one port."""
        for _ in range(100):
            tcp = socketserver.ThreadingTCPServer(('127.0.0.1', 0), stream)
            tcp.daemon_threads = True
            try:
                return [tcp, socketserver.ThreadingUDPServer(
                    tcp.server_address, datagram)]
            except OSError:
                tcp.server_close()
        raise OSError('no port is free for both UDP and TCP')

    def answer(self, query, by_tcp):
        end = query.index(b'\0', 12)
        parts, at = [], 12
        while at < end:
            parts.append(query[at + 1:at + 1 + query[at]].decode())
            at += 1 + query[at]
        name, kind = '.'.join(parts), struct.unpack_from('>H', query, end + 1)[0]
        self.asked.append((name, kind, by_tcp))
        found = self.names.get(name, NXDOMAIN)
        code, records = (found, []) if isinstance(found, int) else (0, found)
        records = [(k, data) for k, data in records if k == kind]
        reply = query[:2] + struct.pack('>HHHHH', 0x8180 | code, 1,
                                        len(records), 0, 0)
        reply += query[12:end + 5]
        for k, data in records:
            reply += struct.pack('>HHHIH', 0xc00c, k, 1, 1, len(data)) + data
        return reply

    def close(self):
        for one in self.servers:
            one.shutdown()
            one.server_close()
