#!/usr/bin/env python3
"""bench/scrape.py [TARGETS [INTERVAL [SECONDS]]]: one pprofd that scrapes
many targets (10000, every 60 s, for 180 s), a CPU profile of 10 s and a heap
profile of each.

The targets are build/bench/scrape-targets, one process on as many loopback
addresses.  Prints one line of JSON: scrapes made and missed, how late they
began, the time between two scrapes of a target as the targets saw it, and
pprofd's memory and CPU time, by thread: `scrape` is the scraper's, which also
reads the profiles (ingest); the store's threads write them.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

BUILD = os.environ.get('PPROF_BUILD', 'build')


def start(*words):
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True,
                            stderr=subprocess.DEVNULL)


def address(i):
    i += 1
    return '127.%d.%d.%d' % (1 + i // 65536, i // 256 % 256, i % 256)


def write_config(path, port, targets, interval):
    with open(path, 'w') as f:
        f.write('scrape: {self: false}\n'
                'scrape_configs:\n'
                '- job_name: many\n'
                '  scrape_interval: %ds\n'
                '  profiles: [cpu, heap]\n'
                '  seconds: %ds\n'
                '  file_sd_configs: [{files: [targets.json]}]\n'
                '  relabel_configs:\n'
                '  - {source_labels: [__address__], regex: '
                "'127\\.\\d+\\.(\\d+)\\..*', target_label: service, "
                "replacement: 'service-$1'}\n"
                % (interval, min(10, max(1, interval // 6))))
    with open(os.path.join(os.path.dirname(path), 'targets.json'), 'w') as f:
        json.dump([{'targets': ['%s:%d' % (address(i), port)
                                for i in range(targets)]}], f)


def cpu_by_thread(pid):
    tick = os.sysconf('SC_CLK_TCK')
    used = {}
    for tid in os.listdir('/proc/%d/task' % pid):
        try:
            with open('/proc/%d/task/%s/stat' % (pid, tid)) as f:
                text = f.read()
        except OSError:
            continue
        name = text[text.index('(') + 1:text.rindex(')')]
        fields = text[text.rindex(')') + 2:].split()
        used[name] = used.get(name, 0) + (int(fields[11]) +
                                          int(fields[12])) / tick
    return used


def memory_kb(pid, key):
    with open('/proc/%d/status' % pid) as f:
        return int(re.search(key + r':\s+(\d+)', f.read()).group(1))


def metrics(port):
    with urllib.request.urlopen('http://127.0.0.1:%d/metrics' % port) as r:
        return dict(line.rsplit(' ', 1) for line in r.read().decode()
                    .splitlines() if line and line[0] != '#')


def run(directory, targets, interval, seconds):
    profile = os.path.join(directory, 'small.pb.gz')
    subprocess.run([BUILD + '/bench/gen-profile', '-samples', '60', '-o',
                    profile], check=True, stderr=subprocess.DEVNULL)
    simulator = start(BUILD + '/bench/scrape-targets', profile)
    config = os.path.join(directory, 'pprofd.yaml')
    write_config(config, int(simulator.stdout.readline()), targets, interval)
    pprofd = start(BUILD + '/pprofd', 'serve', '--addr', '127.0.0.1:0',
                   '--data', os.path.join(directory, 'data'), '--config',
                   config)
    try:
        port = int(re.search(r':(\d+)', pprofd.stdout.readline().split(
            '//')[1]).group(1))
        time.sleep(interval)  # the first scrapes of all
        before, begin = cpu_by_thread(pprofd.pid), time.monotonic()
        time.sleep(seconds - interval)
        passed = time.monotonic() - begin
        after = cpu_by_thread(pprofd.pid)
        m = metrics(port)
        result = {
            'targets': targets, 'interval_seconds': interval,
            'seconds': seconds,
            'peak_memory_mb': memory_kb(pprofd.pid, 'VmHWM') // 1024,
            'cores': {name: round((after[name] - before.get(name, 0)) / passed,
                                  3) for name in sorted(after)},
            'ok': int(m['pprofd_scrapes_total{result="ok"}']),
            'missed': int(m['pprofd_scrapes_missed_total']),
            'failed': sum(int(v) for k, v in m.items()
                          if k.startswith('pprofd_scrapes_total')
                          and 'ok' not in k),
            'late_max_seconds':
                float(m['pprofd_scrape_late_max_seconds']),
            'stored': int(m['pprofd_store_profiles_total'])}
    finally:
        pprofd.send_signal(signal.SIGTERM)
        pprofd.wait(60)
        simulator.send_signal(signal.SIGTERM)
        seen = json.loads(simulator.stdout.read())
        simulator.wait(10)
    result['seen'] = seen
    print(json.dumps(result))


def main():
    numbers = [int(word) for word in sys.argv[1:]]
    targets, interval, seconds = (numbers + [10000, 60, 180][len(numbers):])
    with tempfile.TemporaryDirectory(prefix='pprof-bench-') as directory:
        run(directory, targets, interval, seconds)


if __name__ == '__main__':
    main()
