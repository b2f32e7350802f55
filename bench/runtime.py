#!/usr/bin/env python3
"""What libpprof costs, each figure with its target and those of other tools.

usage: bench/runtime.py

Walks of stacks, the handler, dumps of threads, the start, and work that is
bound to the scheduler's ticks.  bench/overhead.py measures whole programs and
takes longer; bench/truth.py how right the profiles are.  Wall times need a
quiet machine.
"""
import glob
import json
import os
import shutil
import subprocess
import tempfile

BUILD = os.environ.get('PPROF_BUILD', 'build')

SOURCE = '''#include <functional>
#include <iostream>
#include <map>
#include <regex>
#include <string>
int main(int argc, char **argv)
{
    std::map<std::string, std::regex> m{{"a", std::regex("a+b*")}};
    std::function<bool(char *)> f = [&](char *s) {
        return std::regex_match(s, m["a"]);
    };
    std::cout << f(argv[0]) << argc;
}
'''


def lines(command, env=None):
    """The JSON lines that a benchmark prints, on either stream."""
    done = subprocess.run(command, capture_output=True, text=True,
                          env=dict(os.environ, **(env or {})))
    return [json.loads(line)
            for line in (done.stdout + done.stderr).splitlines()
            if line.startswith('{')]


def say(what, figure, unit, target, peers=''):
    print('%-44s %8s %-9s %-14s %s' % (what, figure, unit, target, peers),
          flush=True)


def bench(name, *arguments, env=None):
    return lines([os.path.join(BUILD, 'bench', name), *arguments], env)


def unwinding():
    found = {line['walker']: line['ns_per_frame']
             for line in bench('bench-unwind')}
    ours = found.pop('pprof')
    say('a frame, warm', ours, 'ns', '<= 10',
        ', '.join('%s %s' % pair for pair in found.items()))


def cold(clang):
    with tempfile.TemporaryDirectory() as directory:
        source = os.path.join(directory, 'big.cc')
        with open(source, 'w') as f:
            f.write(SOURCE)
        for check in (False, True):
            env = {'LD_PRELOAD': os.path.abspath(
                os.path.join(BUILD, 'bench', 'libbench_cold.so'))}
            if check:
                env['BENCH_COLD_CHECK'] = '1'
            found = lines([clang, '-fintegrated-cc1', '-O2', '-c', source,
                           '-o', os.path.join(directory, 'big.o')], env)[-1]
            if check:
                say('stacks equal to libunwind\'s, clang',
                    '%.2f' % (100 * found['exact'] / found['walks']), '%',
                    '>= 99.9')
            else:
                say('a frame, cold, clang', found['ns_per_frame'], 'ns',
                    '<= 350')


def sampler():
    for line in bench('bench-sampler'):
        if line['bench'] == 'handler':
            say('the handler, depth 30, %s' % line['source'],
                line['beyond_ns'], 'ns', '<= 1000',
                'an empty handler %s' % line['empty_ns'])
        elif line['bench'] == 'thread dump':
            say('a dump of %d threads' % line['threads'], line['wall_ms'],
                'ms', '<= 20')
            say('a dump, a thread', line['cpu_us_per_thread'], 'us CPU',
                '<= 20')


def start():
    big = glob.glob('/usr/lib/llvm-*/lib/libclang-cpp.so.[0-9]*') + \
        glob.glob('/usr/lib/llvm-*/lib/libLLVM-*.so.1')
    for what, libraries in (('a small program', []), ('clang', big)):
        if what == 'clang' and not big:
            continue
        line = bench('bench-start', *libraries)[-1]
        say('endpoint starts, %s' % what, line['serve_ms'], 'ms', '<= 5')
        say('first profile starts, %s' % what, line['first_profile_ms'],
            'ms', '<= 5')
        say('tables of %d rows' % line['rows'], line['background_cpu_ms'],
            'ms CPU', '<= 150' if libraries else '')


def bursts():
    found = bench('bench-bursts')
    seen = [line['seen'] for line in found]
    other = [line['itimer_seen'] for line in found]
    say('samples of work bound to the ticks',
        '%.0f..%.0f' % (100 * min(seen), 100 * max(seen)), '%', '>= 90',
        'ITIMER_PROF %.0f..%.0f' % (100 * min(other), 100 * max(other)))


def main():
    clangs = sorted(glob.glob('/usr/lib/llvm-*/bin/clang++'))
    unwinding()
    sampler()
    start()
    if clangs or shutil.which('clang++'):
        cold(clangs[-1] if clangs else 'clang++')
    bursts()


main()
