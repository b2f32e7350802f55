#!/usr/bin/env python3
"""Compares the page's data with recorded pages of google/pprof.

usage: tests/golden/web.py BINARY [CASE-PREFIX]

The recordings are not part of this repository: they lie in ../shared/golden
beside it, or where $PPROF_SHARED says.  Without them the test is skipped.
Prints TAP.
"""
import gzip
import http.client
import json
import os
import re
import shlex
import struct
import subprocess
import sys
import tempfile

import run

MOST_ROWS = 500  # google/pprof's top table ends there


class Server:
    """pprof -http on a free port, in a directory with the inputs."""

    def __init__(self, binary, flags, profile, home):
        inputs = os.path.join(run.GOLDEN, 'inputs')
        env = dict(PATH='/nonexistent', HOME=home, TZ='UTC', PWD=inputs)
        self.process = subprocess.Popen(
            [os.path.abspath(binary), '-http=127.0.0.1:', '-no_browser']
            + shlex.split(flags) + [profile],
            cwd=inputs, env=env, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.port = None
        for line in self.process.stderr:
            found = re.search(rb'Serving web UI on http://127.0.0.1:(\d+)',
                              line)
            if found:
                self.port = int(found.group(1))
                break

    def get(self, url):
        connection = http.client.HTTPConnection('127.0.0.1', self.port,
                                                timeout=60)
        connection.request('GET', url, headers={'X-Pprof': '1'})
        reply = connection.getresponse()
        body = reply.read()
        connection.close()
        return reply, body

    def stop(self):
        self.process.terminate()
        self.process.stderr.read()
        self.process.wait()


def data_url(url, name):
    return '/ui/data/%s%s' % (name, url[url.index('?'):] if '?' in url else '')


def json_of(server, url, name):
    reply, body = server.get(data_url(url, name))
    if reply.status != 200:
        raise ValueError('%d %s' % (reply.status, body.decode()))
    return json.loads(body)


def flame_header(server, url):
    body = server.get(data_url(url, 'flame'))[1]
    magic, version, size = struct.unpack_from('<4sII', body)
    assert (magic, version) == (b'PPFL', 2)
    return json.loads(body[12:12 + size])


def view_head(server, url):
    if url.startswith('/ui/flamegraph'):
        return flame_header(server, url)
    return json_of(server, url, 'top')


def stacks(server, url, expected):
    return json_of(server, url, 'stacks'), json.loads(expected)


def top(server, url, expected):
    table = json_of(server, url, 'top')
    rows = [{'Name': row['name'], 'InlineLabel': row['inline'],
             'Flat': row['flat'], 'Cum': row['cum'],
             'FlatFormat': row['flat_text'], 'CumFormat': row['cum_text']}
            for row in table['rows'][:MOST_ROWS]]
    total, want = expected.decode().split('\n', 1)
    return (table['total'], rows), (int(total), json.loads(want) or [])


def legend(server, url, expected):
    return view_head(server, url)['legend'], expected.decode().splitlines()


def errors(server, url, expected):
    return view_head(server, url)['warnings'], expected.decode().splitlines()


def pre(server, url, expected):
    return (json_of(server, url, 'peek')['text'].rstrip('\n').split('\n'),
            expected.decode().rstrip('\n').split('\n'))


def plain(server, url, expected):
    reply, body = server.get(url)
    return b'%d\n%s' % (reply.status, body), expected


def status(server, url, expected):
    reply, _ = server.get(url)
    got = '%d %s %s' % (reply.status, reply.getheader('Location', '-'),
                        reply.getheader('Content-Type', '-'))
    return got, expected.decode().rstrip('\n')


def download(server, url, expected):
    return gzip.decompress(server.get(url)[1]), expected


KINDS = {f.__name__: f for f in (stacks, top, legend, errors, pre, plain,
                                 status, download)}


def difference(got, want):
    """A few words about two values that should be equal."""
    if isinstance(got, dict) and isinstance(want, dict):
        for key in sorted(set(got) | set(want)):
            if got.get(key) != want.get(key):
                return '%s: %s' % (key, difference(got.get(key),
                                                   want.get(key)))
    if isinstance(got, (list, tuple)) and isinstance(want, (list, tuple)):
        for i, pair in enumerate(zip(got, want)):
            if pair[0] != pair[1]:
                return '[%d]: %s' % (i, difference(*pair))
        return 'lengths %d, want %d' % (len(got), len(want))
    return '%.300r, want %.300r' % (got, want)


def check(server, url, kind, expected):
    with open(os.path.join(run.GOLDEN, expected), 'rb') as f:
        want = f.read()
    try:
        got, want = KINDS[kind](server, url, want)
    except (ValueError, OSError, KeyError) as e:
        return str(e)
    return None if got == want else difference(got, want)


def main():
    binary = sys.argv[1]
    prefix = sys.argv[2] if len(sys.argv) > 2 else ''
    table = os.path.join(run.GOLDEN, 'web.tsv')
    if not os.path.exists(table):
        print('1..0 # SKIP no recorded pages at ../shared/golden')
        return 0
    with open(table, encoding='utf-8') as f:
        rows = [line.rstrip('\n').split('\t') for line in f
                if line.startswith(prefix) and not line.startswith('#')]
    failed, server, started = 0, None, None
    with tempfile.TemporaryDirectory() as home:
        for i, (case, flags, profile, url, kind, expected) in enumerate(rows):
            if started != (flags, profile):
                if server:
                    server.stop()
                server, started = Server(binary, flags, profile, home), (
                    flags, profile)
            wrong = check(server, url, kind, expected)
            failed += wrong is not None
            if wrong is not None:
                print('# %s %s %s: %s' % (flags, profile, url, wrong))
            print('%sok %d - %s %s %s' % ('not ' if wrong is not None else '',
                                          i + 1, case, kind, url))
        if server:
            server.stop()
    print('1..%d' % len(rows))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
