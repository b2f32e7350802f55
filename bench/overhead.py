#!/usr/bin/env python3
"""What a running CPU profile costs the program it lives in.

usage: bench/overhead.py [ROUNDS]

Rounds of the same work without and with libpprof, interleaved, measured in
the program's own CPU time (load on the machine is no matter then): a compute
loop at the end of a 30-frame stack, and redis-server under redis-benchmark.
"idle" is the library preloaded and not asked for anything.  Prints one JSON
line each: the median ratio to the unprofiled run of the same round and the
spread of unprofiled runs, below which a ratio means nothing.
"""
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = os.environ.get('PPROF_BUILD', 'build')
RUN = os.path.join(BUILD, 'pprof-run')
VARIANTS = {
    'plain': [],
    'idle': [RUN],
    'perf 100 Hz': [RUN, '-source', 'perf', '-cpuprofile', 'OUT'],
    'timer 100 Hz': [RUN, '-source', 'timer', '-cpuprofile', 'OUT'],
    'perf 1000 Hz': [RUN, '-rate', '1000', '-source', 'perf', '-cpuprofile',
                     'OUT'],
}


def command(variant, out):
    return [out if word == 'OUT' else word for word in VARIANTS[variant]]


def loop(prefix):
    done = subprocess.run(prefix + [os.path.join(BUILD, 'bench', 'loop'),
                                    '2000'], capture_output=True, text=True)
    return float(done.stdout.split()[0])


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def cpu_of(pid):
    with open('/proc/%d/stat' % pid) as f:
        fields = f.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def peak_memory(pid):
    with open('/proc/%d/status' % pid) as f:
        for line in f:
            if line.startswith('VmRSS'):
                return int(line.split()[1])
    return 0


def redis(prefix, memory):
    port = free_port()
    directory = tempfile.mkdtemp()
    server = subprocess.Popen(
        prefix + ['redis-server', '--port', str(port), '--save', '', '--dir',
                  directory], stdout=subprocess.DEVNULL)
    try:
        for _ in range(200):
            try:
                socket.create_connection(('127.0.0.1', port), 1).close()
                break
            except OSError:
                time.sleep(0.05)
        before = cpu_of(server.pid)
        subprocess.run(['redis-benchmark', '-p', str(port), '-n', '200000',
                        '-t', 'set,get', '-q', '-P', '4'],
                       stdout=subprocess.DEVNULL, check=True)
        used = cpu_of(server.pid) - before
        memory.append(peak_memory(server.pid))
        return used
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()
        shutil.rmtree(directory)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    out = os.path.join(tempfile.mkdtemp(), 'cpu.pb.gz')
    memory = {name: [] for name in VARIANTS}
    loads = {'loop': lambda name, prefix: loop(prefix)}
    if shutil.which('redis-benchmark'):
        loads['redis'] = lambda name, prefix: redis(prefix, memory[name])
    for load, run in loads.items():
        times = {name: [] for name in VARIANTS}
        for _ in range(rounds):
            for name in VARIANTS:
                times[name].append(run(name, command(name, out)))
        plain = times['plain']
        for name in VARIANTS:
            ratios = [a / b for a, b in zip(times[name], plain)]
            print(json.dumps({
                'bench': 'overhead', 'load': load, 'variant': name,
                'median_ratio': round(statistics.median(ratios), 4),
                'best_ratio': round(min(times[name]) / min(plain), 4),
                'plain_spread': round(max(plain) / min(plain) - 1, 3),
                'memory_kb': (max(memory[name]) - max(memory['plain'])
                              if load == 'redis' else None),
            }), flush=True)


main()
