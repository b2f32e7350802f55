#!/usr/bin/env python3
"""CPython's own regression tests, with the preload library and without: each
test must have the same result.

usage: tests/foreign/cpython.py BUILD [--quick] [--first N] [--count N]
                                [MODULE ...]

Sampling is aggressive: memory at one allocation in 1 KiB, CPU at 1000 Hz, all
waits.  A module that does not give the same result twice by itself is run
again on both sides before it counts as different.  Needs Debian's
libpython3.11-testsuite; prints TAP.
"""
import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile

PYTHON = '/usr/bin/python3'

# Quick, and near to what we touch: memory, threads, signals, processes.
QUICK = ['test_atexit', 'test_bytes', 'test_context', 'test_ctypes',
         'test_fork1', 'test_list', 'test_queue', 'test_struct',
         'test_threadsignals', 'test_wait3']

# What they need is not here (network, displays), or they take minutes each.
LEFT_OUT = {
    'test_asyncio', 'test_concurrent_futures', 'test_idle', 'test_tcl',
    'test_tk', 'test_ttk_guionly', 'test_ttk_textonly', 'test_tools',
    'test_venv', 'test_distutils', 'test_gdb', 'test_ensurepip',
    'test_multiprocessing_fork', 'test_multiprocessing_forkserver',
    'test_multiprocessing_spawn', 'test_peg_generator', 'test_nntplib',
    'test_urllib2net', 'test_urllibnet', 'test_lib2to3', 'test_regrtest',
    'test_tokenize', 'test_unparse', 'test_pydoc', 'test_zipfile64',
    'test_largefile', 'test_bigmem', 'test_bigaddrspace', 'test_dtrace',
}


def modules():
    """All modules that `python3 -m test` knows."""
    done = subprocess.run([PYTHON, '-m', 'test', '--list-tests'],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, check=False)
    names = [line.strip() for line in done.stdout.splitlines()]
    return [n for n in names if n.startswith('test_') and n not in LEFT_OUT]


def profiled(build, directory):
    """The environment of a run with everything on."""
    return dict(os.environ,
                LD_PRELOAD=os.path.join(os.path.abspath(build),
                                        'libpprof-preload.so'),
                PPROF_MEM_RATE='1024', PPROF_CPU_RATE='1000',
                PPROF_BLOCK_RATE='1', PPROF_MUTEX_FRACTION='1',
                PPROF_CPUPROFILE=os.path.join(directory, 'cpu.%p'),
                PPROF_HEAPPROFILE=os.path.join(directory, 'heap.%p'))


def run(module, env, seconds=300):
    """{test: result} of a module; and how it ended as a whole."""
    with tempfile.TemporaryDirectory() as directory:
        process = subprocess.Popen(
            [PYTHON, '-m', 'test', '-v', '--tempdir', directory, module],
            env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, cwd=directory, start_new_session=True)
        try:
            text = process.communicate(timeout=seconds)[0]
            end = 'exit %d' % process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            text = process.communicate()[0]
            end = 'timeout'
    text = text.decode('utf-8', 'replace')
    results = {'whole': end}
    name = None
    for line in text.splitlines():
        found = re.match(r'(test\w* \([\w.]+\))', line)
        name = found.group(1) if found else name
        found = re.search(r'\.\.\. .*?(ok|FAIL|ERROR|skipped|expected failure)'
                          r'(?: |$)', line)
        if found and name:
            results[name] = found.group(1)
    return results


def differences(plain, ours):
    found = []
    for name in sorted(set(plain) | set(ours)):
        if plain.get(name) != ours.get(name):
            found.append('%s: %s without, %s with' %
                         (name, plain.get(name), ours.get(name)))
    return found


def compare(module, build):
    """(differences, number of tests), after at most three tries."""
    for attempt in range(3):
        with tempfile.TemporaryDirectory() as directory:
            plain = run(module, dict(os.environ))
            ours = run(module, profiled(build, directory))
        found = differences(plain, ours)
        if not found:
            break
    return found, len(ours) - 1, attempt


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('build')
    parser.add_argument('--quick', action='store_true')
    parser.add_argument('--first', type=int, default=0)
    parser.add_argument('--count', type=int, default=10 ** 6)
    parser.add_argument('module', nargs='*')
    args = parser.parse_args()
    if not os.path.exists('/usr/lib/python3.11/test/regrtest.py'):
        print('1..0 # SKIP no libpython3.11-testsuite here')
        return
    names = args.module or (QUICK if args.quick else modules())
    names = names[args.first:args.first + args.count]
    failed = tests = 0
    for i, name in enumerate(names):
        found, n, again = compare(name, args.build)
        tests += n
        for line in found[:20]:
            print('# ' + line)
        failed += bool(found)
        print('%s %d - %s: the same %d results%s' %
              ('not ok' if found else 'ok', i + 1, name, n,
               ' # after %d more' % again if again else ''), flush=True)
    print('1..%d' % len(names))
    print('# %d tests of %d modules' % (tests, len(names)))
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
