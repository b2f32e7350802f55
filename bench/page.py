#!/usr/bin/env python3
"""What the page costs: bytes sent and time of the server for each view.

usage: bench/page.py [--samples N] [--times N] [--build DIR] [--ours]
                     [--results FILE]

Makes a profile whose flame graph has about a million frames, serves it with
build/pprof -http and with `go tool pprof -http` of Debian's Go, and asks both
as a browser does (gzip accepted).  Time is the server's CPU time, user and
system, the best of --times.  The peer makes its page of that size in over a
minute; --ours leaves it out.  The same as JSON lines goes to --results.
"""
import argparse
import gzip
import http.client
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OURS = ['data/meta', 'data/flame', 'data/top', 'data/graph', 'data/tags',
        'data/flame?f=Handle', 'flamegraph']
PEERS = ['flamegraph', 'top']
TICK_MS = 1000 / os.sysconf('SC_CLK_TCK')


class Server:
    def __init__(self, command, directory):
        self.process = subprocess.Popen(
            [*command, '-http=127.0.0.1:', '-no_browser', '-symbolize=none',
             os.path.join(directory, 'profile.pb.gz')],
            env={**os.environ, 'HOME': directory,
                 'PPROF_TMPDIR': directory},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, start_new_session=True)
        started = None
        for line in self.process.stderr:
            started = re.search(r'Serving web UI on http://[^:]*:(\d+)', line)
            if started:
                break
        if not started:
            sys.exit('%s does not serve' % command[0])
        self.port = int(started.group(1))

    def pids(self):
        """The process and what it started: go runs the tool as a child."""
        found = [self.process.pid]
        for pid in found:
            with open('/proc/%d/task/%d/children' % (pid, pid),
                      encoding='ascii') as f:
                found += map(int, f.read().split())
        return found

    def cpu_ms(self):
        ticks = 0
        for pid in self.pids():
            with open('/proc/%d/stat' % pid, encoding='ascii') as f:
                fields = f.read().rsplit(')', 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks * TICK_MS

    def peak_mb(self):
        peak = 0
        for pid in self.pids():
            with open('/proc/%d/status' % pid, encoding='ascii') as f:
                found = re.search(r'VmHWM:\s+(\d+)', f.read())
            peak += int(found.group(1)) if found else 0
        return peak / 1024

    def ask(self, path):
        """Bytes of the body as sent, CPU and wall time in ms, the body."""
        before, start = self.cpu_ms(), time.monotonic()
        connection = http.client.HTTPConnection('127.0.0.1', self.port,
                                                timeout=600)
        connection.request('GET', '/ui/' + path,
                           headers={'Accept-Encoding': 'gzip',
                                    'Accept': 'text/html,*/*'})
        reply = connection.getresponse()
        body = reply.read()
        wall = (time.monotonic() - start) * 1000
        connection.close()
        if reply.status != 200:
            sys.exit('%s: %d %s' % (path, reply.status, body[:200]))
        cpu = self.cpu_ms() - before
        if reply.getheader('Content-Encoding') == 'gzip':
            return len(body), cpu, wall, gzip.decompress(body)
        return len(body), cpu, wall, body

    def stop(self):
        for pid in reversed(self.pids()):
            os.kill(pid, 15)
        self.process.stderr.read()
        self.process.wait()


def frames_of(body):
    size = struct.unpack_from('<I', body, 8)[0]
    return json.loads(body[12:12 + size])['nodes']


def measure(name, server, paths, times, results):
    sent = {}
    for path in paths:
        # Another word each time, or the server gives what it made before.
        runs = [server.ask('%s%s_=%d' % (path, '&' if '?' in path else '?', i))
                for i in range(times)]
        size, cpu, wall, body = min(runs, key=lambda run: run[1])
        if path == 'data/flame':
            print('%d frames, %d bytes before gzip'
                  % (frames_of(body), len(body)))
        print('%-14s %-22s %12d bytes  %8.0f ms cpu  %8.0f ms wall'
              % (name, path, size, cpu, wall))
        sent[path] = size
        results.append({'bench': 'page', 'program': name, 'path': path,
                        'bytes': size, 'cpu_ms': cpu, 'wall_ms': wall})
    print('%-14s peak memory %.0f MB' % (name, server.peak_mb()))
    return sent


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--samples', type=int, default=60000)
    parser.add_argument('--times', type=int, default=3)
    parser.add_argument('--build', default=os.path.join(ROOT, 'build'))
    parser.add_argument('--ours', action='store_true')
    parser.add_argument('--results')
    options = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(
            [os.path.join(options.build, 'bench', 'gen-profile'), '-samples',
             str(options.samples), '-o',
             os.path.join(directory, 'profile.pb.gz')],
            check=True, stderr=subprocess.DEVNULL)
        server = Server([os.path.join(options.build, 'pprof')], directory)
        ours = measure('pprof', server, OURS, options.times, results)
        server.stop()
        if not options.ours:
            server = Server(['go', 'tool', 'pprof'], directory)
            peer = measure('go tool pprof', server, PEERS, 1, results)
            server.stop()
            print('flame graph: %.0f times fewer bytes'
                  % (peer['flamegraph'] / ours['data/flame']))
    if options.results:
        with open(options.results, 'a', encoding='utf-8') as f:
            f.writelines(json.dumps(row) + '\n' for row in results)


if __name__ == '__main__':
    main()
