#!/usr/bin/env python3
"""Compares two builds: bodies, reports, page, endpoint, sampling, waits, sizes.

usage: bench/compare.py --before TREE [--build DIR] [--only SECTION,...]
                        [--times N] [--samples N] [--seconds N] [--peer]
                        [--match REGEXP] [--small FILE]

TREE is a checkout of another version with a finished build in TREE/build.
Both builds run in turn, so that a busy machine hurts both.  Sections:

bodies    what request bodies cost the HTTP server, in ms of CPU time, and how
          long /healthz takes while eight clients send chunks of one byte
reports   instructions (valgrind) that each report format needs
page      instructions that each data request of the page needs
endpoint  CPU time of each request to the endpoint of an idle program that has
          answered the same request before
lockstep  largest error of a share, in percentage points, for loops in step
          with the sampling interval
waits     waiting calls that a profile changes, of those that waiting_calls
          makes, and rounds of a loop with sleep(1) under -wallprofile
large     CPU time and memory of reports on --samples samples, beside gzip -dc,
          and with --peer beside `go tool pprof`
small     CPU time for reading a profile of 197 samples, and how often
          `pprof -top FILE` opens the file and asks for its status
"""
import argparse
import contextlib
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Side:
    """One of the two versions."""

    def __init__(self, name, tree, build):
        self.name, self.tree, self.build = name, tree, build

    def path(self, *names):
        return os.path.join(self.build, *names)

    def compile(self, source, out, *libraries):
        """A benchmark of this tree, with the other's libraries."""
        subprocess.run(
            ['cc', '-O2', '-o', out, source, '-I',
             os.path.join(self.tree, 'src'), '-Wl,--start-group',
             *(self.path('src', name, 'lib%s.a' % name)
               for name in libraries), '-Wl,--end-group',
             '-pthread', '-ldl', '-lm', '-lz', '-ldeflate', '-lre2', '-lstdc++'], check=True)
        return out


class Compare:
    def __init__(self, options, directory):
        self.options, self.directory = options, directory
        self.sides = [
            Side('before', options.before,
                 os.path.join(options.before, 'build')),
            Side('after', ROOT, options.build)]

    def file(self, name):
        return os.path.join(self.directory, name)

    def profile(self, samples, run=1):
        path = self.file('%d-%d.pb.gz' % (samples, run))
        if not os.path.exists(path):
            subprocess.run(
                [self.sides[1].path('bench', 'gen-profile'), '-samples',
                 str(samples), '-run', str(run), '-o', path], check=True,
                stderr=subprocess.DEVNULL)
        return path

    def alternate(self, measure, times=None):
        """[the least of several numbers] for each side."""
        best = {}
        for _ in range(times or self.options.times):
            for side in self.sides:
                got = measure(side)
                best[side.name] = min(got, best.get(side.name, got))
        return [best[side.name] for side in self.sides]


def heading(title, columns=('before', 'after', 'after/before')):
    print('\n%-44s' % title + ''.join('%14s' % c for c in columns))


def row(name, before, after, form='%.2f'):
    ratio = after / before if before else float('nan')
    print('%-44s%14s%14s%13.2fx' % (name, form % before, form % after, ratio),
          flush=True)


# --- bodies ------------------------------------------------------------------

def bodies(c):
    programs = {}
    for side in c.sides:
        programs[side.name] = side.compile(
            os.path.join(ROOT, 'bench', 'bench_http.c'),
            c.file('http-' + side.name), 'http', 'base')
    best = {side.name: {} for side in c.sides}
    for _ in range(c.options.times):
        for name, program in programs.items():
            lines = subprocess.run([program], check=True, text=True,
                                   stdout=subprocess.PIPE).stdout
            for got in map(json.loads, lines.splitlines()):
                for key in ('server_cpu_ms', 'median_ms', 'worst_ms'):
                    if key in got:
                        what = '%s, %s' % (got['case'], key)
                        best[name][what] = min(
                            got[key], best[name].get(what, got[key]))
    heading('request bodies')
    for what, value in best['before'].items():
        row(what, value, best['after'][what], '%.1f')


# --- reports -------------------------------------------------------------------

VALGRIND = ['valgrind', '--tool=cachegrind', '--cache-sim=no',
            '--cachegrind-out-file=/dev/null']


def count_of(said):
    """The instructions that valgrind has counted."""
    found = re.search(r'I +refs: +([\d,]+)', said)
    if not found:
        sys.exit('valgrind says\n' + said)
    return int(found.group(1).replace(',', ''))


def instructions(command, env):
    done = subprocess.run(
        [*VALGRIND, *command], text=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, env=env)
    if done.returncode != 0:
        sys.exit(' '.join(command) + '\n' + done.stderr)
    return count_of(done.stderr)


def own_profile(c):
    """A CPU profile of a program with debug information: our pprof."""
    path = c.file('own.pb.gz')
    if not os.path.exists(path):
        subprocess.run(
            [c.sides[1].path('pprof-run'), '-cpuprofile', path, '-rate',
             '1000', c.sides[1].path('pprof'), '-traces',
             c.profile(100000)], check=True, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
    return path


REPORTS = [
    ['-top'], ['-text', '-lines'], ['-tree'], ['-peek=.'], ['-dot'],
    ['-callgrind'], ['-traces'], ['-raw'], ['-tags'], ['-proto'],
    ['-topproto'], ['-comments'], ['-folded'], ['-explain', 'BASE'],
    ['-top', 'BASE'], ['-top', '-focus=a'], ['-top', '-tagfocus=a'],
    ['-dot', '-call_tree'], ['-top', 'small'], ['-top', 'two'],
    ['-list=main', 'own'], ['-weblist=main', 'own'], ['-disasm=main', 'own'],
    ['-top', 'own'],
]


def report_arguments(c, words):
    inputs = {'BASE': ['-diff_base=' + c.profile(20000, 2),
                       c.profile(20000)],
              'small': [c.profile(10)],
              'two': [c.profile(20000), c.profile(20000, 2)]}
    if words[-1] == 'own':
        return words[:-1] + [own_profile(c)]
    if words[-1] in inputs:
        return words[:-1] + inputs[words[-1]]
    return words + [c.profile(20000)]


def reports(c):
    env = dict(os.environ, HOME=c.directory, PPROF_TMPDIR=c.directory)
    heading('reports, millions of instructions')
    for words in REPORTS:
        if not re.search(c.options.match, ' '.join(words)):
            continue
        arguments = report_arguments(c, words)
        if words[0].split('=')[0] in ('-weblist', '-proto', '-topproto',
                                      '-callgrind'):
            arguments = ['-output=' + c.file('out')] + arguments
        got = [instructions([side.path('pprof'), *arguments], env) / 1e6
               for side in c.sides]
        row(' '.join(words), *got)


# --- page and endpoint ---------------------------------------------------------

def cpu_ms(pid):
    """CPU time of a process with all its threads, also those that ended."""
    return time.clock_gettime(~pid << 3 | 2) * 1000


class Server:
    """A process that prints its address, and what requests cost it."""

    def __init__(self, command, pattern, **env):
        self.process = subprocess.Popen(
            command, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env=dict(os.environ, **env))
        for line in self.process.stderr:
            found = re.search(pattern, line)
            if found:
                break
        else:
            sys.exit('%s says no address' % command[0])
        self.port = int(found.group(1))

    def ask(self, path):
        """Milliseconds of CPU time; None if there is no such page."""
        start = cpu_ms(self.process.pid)
        connection = http.client.HTTPConnection('127.0.0.1', self.port, 120)
        connection.request('GET', path, headers={'Accept-Encoding': 'gzip',
                                                 'Host': 'localhost'})
        reply = connection.getresponse()
        reply.read()
        connection.close()
        if reply.status != 200:
            return None
        return cpu_ms(self.process.pid) - start

    def stop(self):
        self.process.kill()
        self.process.stderr.close()
        self.process.wait()


WARM_UP = 3      # requests before the first that counts
BATCH_MS = 30    # of CPU time: what is cheap is asked for many times
MAX_BATCH = 100  # requests


def batch_ms(server, path, n):
    """Milliseconds of CPU time for a request, of n in a row."""
    start = cpu_ms(server.process.pid)
    for _ in range(n):
        server.ask(path)
    time.sleep(0.005)  # the server closes the last connection after we do
    return (cpu_ms(server.process.pid) - start) / n


def requests(title, servers, paths, times):
    """Both servers in turn, each warmed up by the same requests."""
    heading(title)
    for path in paths:
        warm = [server.ask(path) for _ in range(WARM_UP)
                for server in servers]
        if None in warm:
            print('%-44s%14s' % (path, 'not in both'))
            continue
        n = 1
        if 'seconds=' not in path:
            n = max(1, min(MAX_BATCH, int(BATCH_MS / max(warm[-2:]))))
        got = [batch_ms(server, path, n) for _ in range(times)
               for server in servers]
        row(path, min(got[::2]), min(got[1::2]), '%.3f')


PAGES = ['/ui/data/' + name for name in (
    'meta', 'flame', 'top', 'graph', 'peek?f=a', 'stacks', 'raw', 'tags',
    'traces', 'top?f=a')]


def page_instructions(c, side, path, times):
    """Of a page server that is asked for a path so many times."""
    server = Server(
        [*VALGRIND, side.path('pprof'), '-http', '127.0.0.1:0',
         '-no_browser', c.profile(5000)], r'http://[\w.]+:(\d+)',
        HOME=c.directory, PPROF_TMPDIR=c.directory)
    for i in range(times):
        # Another word each time, or the page gives what it has.
        server.ask(path + ('&' if '?' in path else '?') + '_=%d' % i)
    server.process.terminate()
    return count_of(server.process.stderr.read())


def page(c):
    heading('page, millions of instructions')
    for path in PAGES:
        if not re.search(c.options.match, path):
            continue
        row(path, *((page_instructions(c, side, path, 3) -
                     page_instructions(c, side, path, 1)) / 2e6
                    for side in c.sides))


IDLE_PROGRAM = '''
import threading, time
kept = [{i: str(i) * 10} for i in range(200000)]
lock = threading.Lock()
lock.acquire()
for _ in range(20): threading.Thread(target=lock.acquire, daemon=True).start()
time.sleep(1000)
'''


def endpoint(c):
    with contextlib.ExitStack() as stack:
        servers = []
        for side in c.sides:
            servers.append(Server(
                [side.path('pprof-run'), '-addr', '127.0.0.1:0',
                 '/usr/bin/python3', '-c', IDLE_PROGRAM],
                r'127\.0\.0\.1:(\d+)/debug', PPROF_MAX_CPU='0',
                PPROF_MAX_REQUESTS='0', PPROF_AUDIT='off'))
            stack.callback(servers[-1].stop)
        time.sleep(3)
        base = '/debug/pprof/'
        requests('endpoint, ms of CPU time', servers, [
            '/healthz', base, base + 'cmdline', base + 'heap',
            base + 'heap?debug=1', base + 'allocs', base + 'threads',
            base + 'threads?debug=1', base + 'threads?debug=2',
            base + 'goroutine', base + 'threadcreate', base + 'block',
            base + 'mutex', base + 'symbol', base + 'leak',
            base + 'heap?seconds=1', base + 'profile?seconds=1',
            base + 'wall?seconds=1'], c.options.times * 3)


# --- true: lockstep and waits ---------------------------------------------------

def test_modules(c):
    os.environ['PPROF_BUILD'] = c.sides[1].build
    sys.path.insert(0, os.path.join(ROOT, 'tests', 'e2e'))


def lockstep(c):
    test_modules(c)
    import lockstep as loops
    from runtime import SOURCES, source_works
    heading('error in points; loops in step; %g s'
            % c.options.seconds)
    for source in SOURCES:
        if not source_works(source):
            print('# %s is not allowed here' % source)
            continue
        for hz in (100, 1000):
            for ratio in loops.PERIODS:
                worst = []
                for side in c.sides:
                    got = loops.measure(source, hz, ratio, c.options.seconds,
                                        side.build)
                    worst.append(max(
                        abs(100 * (seen - share)) for seen, share in
                        zip(got['seen'], got['true'])))
                row('%s, %d Hz, period %.2f' % (source, hz, ratio), *worst,
                    '%.1f')
            print('%-44s%14.1f' % ('  4 standard errors of 50 %', 400 *
                                   loops.standard_error(
                                       0.5, hz * c.options.seconds)))


SLEEPER = '''
#include <stdio.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
    int rounds = 0;
    for (time_t end = time(NULL) + 5; time(NULL) < end; rounds++) {
        for (volatile int i = 0; i < 1000000; i++) ;
        sleep(1);
    }
    printf("%d\\n", rounds);
}
'''


def sleeper_rounds(c, side, program):
    return int(subprocess.run(
        [side.path('pprof-run'), '-wallprofile', c.file('wall'), program],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        check=True).stdout)


def changed_calls(side, how, source, rounds):
    """How many of the calls return early or differently, of how many.
    Calls that hang or kill the program count, too."""
    program = os.path.join(os.environ['PPROF_BUILD'], 'tests', 'e2e',
                           'programs', 'waiting_calls')
    alone, seen = (subprocess.run(
        [program, kind, str(rounds)], stdout=subprocess.PIPE, timeout=300,
        stderr=subprocess.DEVNULL, text=True,
        env=dict(os.environ, PPROF_CPU_SOURCE=source,
                 LD_LIBRARY_PATH=side.build)).stdout.splitlines()
        for kind in ('none', how))
    return len(alone) - len(set(alone) & set(seen)), len(alone)


def waits(c):
    test_modules(c)
    from runtime import working_sources
    heading('waiting calls that a profile changes')
    for how in ('wall', 'dump', 'leak'):
        for source in working_sources(('perf', 'timer')):
            got = [changed_calls(side, how, source, 10) for side in c.sides]
            row('%s, %s, of %d' % (how, source, got[1][1]), got[0][0],
                got[1][0], '%d')
    program = c.file('sleeper')
    with open(program + '.c', 'w', encoding='utf-8') as f:
        f.write(SLEEPER)
    subprocess.run(['cc', '-O1', '-o', program, program + '.c'], check=True)
    row('rounds with sleep(1) in 5 s', *(sleeper_rounds(c, side, program)
                                         for side in c.sides), '%d')


# --- fast: large and small -------------------------------------------------------

def cost(c, command):
    """(CPU seconds, peak in MB) of a command."""
    result = c.file('cost.json')
    subprocess.run(
        [c.sides[1].path('bench', 'measure'), result, *command],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=dict(os.environ, HOME=c.directory, PPROF_TMPDIR=c.directory))
    with open(result, encoding='utf-8') as f:
        got = json.load(f)
    if got['exit'] != 0:
        sys.exit('%s: exit code %d' % (' '.join(command), got['exit']))
    return got['cpu_s'], got['peak_kb'] / 1024


def large(c):
    n = c.options.samples
    profile, base = c.profile(n), c.profile(n, 2)
    columns = ['before s', 'after s', 'before MB', 'after MB']
    peers = [['go', 'tool', 'pprof']] if c.options.peer else []
    heading('%d samples' % n, columns + ['peer s', 'peer MB'] * len(peers))
    gzip_s = min(cost(c, ['gzip', '-dc', profile])[0]
                 for _ in range(2 * c.options.times))
    print('%-44s%14s%14.3f' % ('gzip -dc', '', gzip_s))
    for words in (['-top'], ['-proto', '-output=' + c.file('out')],
                  ['-traces'], ['-folded'],
                  ['-top', '-diff_base=' + base]):
        programs = [[side.path('pprof')] for side in c.sides]
        if '-folded' not in words:
            programs += peers
        runs = [[] for _ in programs]
        for i in range(c.options.times):
            for program, got in zip(programs, runs):
                if program not in peers or i == 0:
                    got.append(cost(c, [*program, *words, profile]))
        best = [[min(run[k] for run in got) for got in runs] for k in (0, 1)]
        name = words[0] + (' -diff_base' if len(words) > 1 and
                           'diff' in words[1] else '')
        print('%-44s' % name + ''.join(
            '%14.3f' % s for s in best[0][:2]) + ''.join(
            '%14.0f' % mb for mb in best[1][:2]) + ''.join(
            '%14.2f%14.0f' % pair for pair in zip(best[0][2:], best[1][2:])),
            flush=True)
        if words == ['-top']:
            print('%-44s%13.2fx%13.2fx' % (
                '  of gzip -dc', best[0][0] / gzip_s, best[0][1] / gzip_s))


def opened(c, side, profile):
    """(opens, stats) of the file by `pprof -top`."""
    log = c.file('strace')
    subprocess.run(
        ['strace', '-f', '-y', '-o', log, side.path('pprof'), '-top',
         profile], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        check=True, env=dict(os.environ, HOME=c.directory))
    with open(log, encoding='utf-8', errors='replace') as f:
        lines = [line for line in f if os.path.basename(profile) in line]
    return (sum('open' in line.split('(')[0] for line in lines),
            sum('stat' in line.split('(')[0] for line in lines))


def small(c):
    profile = c.options.small or c.profile(197)
    programs = {side.name: side.compile(
        os.path.join(ROOT, 'bench', 'bench_read.c'),
        c.file('read-' + side.name), 'profile', 'regex', 'base')
        for side in c.sides}
    heading('a small profile, %d bytes' % os.path.getsize(profile))

    def read_ms(side, key):
        return json.loads(subprocess.run(
            [programs[side.name], profile], check=True, text=True,
            stdout=subprocess.PIPE).stdout)[key] / 1e6

    for key in ('read_ns', 'gunzip_ns'):
        row(key.split('_')[0] + ', ms', *c.alternate(
            lambda side: read_ms(side, key)), '%.4f')
    counts = [opened(c, side, profile) for side in c.sides]
    for i, what in enumerate(('opened, times', 'status asked, times')):
        row(what, counts[0][i], counts[1][i], '%d')


SECTIONS = {f.__name__: f for f in (bodies, reports, page, endpoint, lockstep,
                                    waits, large, small)}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument('--before', required=True)
    parser.add_argument('--build', default=os.path.join(ROOT, 'build'))
    parser.add_argument('--only', default=','.join(SECTIONS))
    parser.add_argument('--times', type=int, default=3)
    parser.add_argument('--samples', type=int, default=1000000)
    parser.add_argument('--seconds', type=float, default=5,
                        help='of a run of lockstep')
    parser.add_argument('--small', help='the profile for `small`')
    parser.add_argument('--match', default='',
                        help='rows of `reports` and `page`: a regexp')
    parser.add_argument('--peer', action='store_true')
    options = parser.parse_args()
    options.before = os.path.abspath(options.before)
    with tempfile.TemporaryDirectory() as directory:
        c = Compare(options, directory)
        for name in options.only.split(','):
            SECTIONS[name](c)


if __name__ == '__main__':
    main()
