#!/usr/bin/env python3
"""Builds and runs every suite, one line each, details only for failures.

usage: tests/run.py [SUITE ...]     (names as printed on the left)

The last line is "N passed, N failed, N skipped": the sum over the single
cases of all suites.  The exit code is 0 when none failed.

A test program that fails beside others is run once more alone.  If it passes
then, its cases count as passed, and the first failure is shown as "unsteady":
many tests here watch threads, timers and samples of programs that share two
cores with other tests.  An unsteady test is a defect of the test or of the
program and has to be fixed, but it does not stop an unrelated change.
"""
import json
import os
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ASAN = ['-Db_sanitize=address,undefined', '-Db_lundef=false']
TSAN = ['-Db_sanitize=thread', '-Db_lundef=false']
FUZZ_RUNS = 20000  # of each target

# Tests have a limit of their own, which ends those that hang.  A busy machine
# may be this many times slower than an idle one.
TIMEOUT_FACTOR = '4'

# What `meson setup` is told for each build directory.  That of the fuzz
# targets is compiled by clang, all of it: the second compiler's warnings.
SETUP = {
    'build': [],
    'build-asan': ASAN,
    'build-tsan': TSAN,
    'build-fuzz': [*ASAN, '-Dfuzzing=true', '-Doptimization=1'],
}
COMPILERS = {
    'build-fuzz': {'CC': 'clang', 'CXX': 'clang++'},
}
# What is built there when it is not all.
TARGETS = {
    'build-tsan': ['examples/service', 'tests/e2e/programs/hostile',
                   'tests/e2e/programs/truth'],
}

# (name, build directory, its Meson suite or a command, environment)
SUITES = [
    ('lint', 'build', 'lint', {}),
    ('unit', 'build', 'unit', {}),
    ('replay', 'build', 'fuzz', {}),
    ('golden', 'build', 'golden', {}),
    ('asan unit', 'build-asan', 'unit', {}),
    ('asan replay', 'build-asan', 'fuzz', {}),
    ('asan golden', 'build-asan', 'golden', {'GOLDEN_EVERY': '8'}),
    ('fuzz', 'build-fuzz', ['tests/fuzz/campaign.py', '--runs',
                            str(FUZZ_RUNS)], {}),
    ('aarch64', 'build', 'cross', {}),
    ('waiting', 'build', 'waiting', {}),
    ('end-to-end', 'build', 'e2e', {}),
    ('asan hostile', 'build-asan', 'hostile', {'PPROF_SOAK_SECONDS': '2'}),
    ('tsan hostile', 'build-tsan', 'hostile', {'PPROF_SOAK_SECONDS': '2'}),
    ('browser', 'build', 'browser', {}),
]

# These mostly wait: the suites that follow need not wait for them.
BESIDE = {'waiting', 'asan hostile'}
# These compute, their builds included: one after the other, with the CPU time
# that the suites that follow leave, which wait a lot.
BEHIND = {'asan unit', 'asan replay', 'asan golden', 'fuzz', 'aarch64'}
BEHIND_NICE = 10
# How many programs of a suite run at a time, if not one for each core.  The
# end-to-end tests wait for more than half of their time.
PROCESSES = {'waiting': 2, 'end-to-end': (os.cpu_count() or 1) + 1,
             'asan hostile': 1}
# Tests of a suite that run in another one.
WITHOUT = {'e2e': 'waiting'}

SAID_LINES = 25  # of what is said about a failure
MAX_AGAIN = 5  # more test programs than that do not fail by chance
CASE = re.compile(r'^(not )?ok\b[ \d]*-? ?(.*)$')


def paint(code, text):
    if not sys.stdout.isatty() or os.environ.get('NO_COLOR'):
        return text
    return '\033[%sm%s\033[0m' % (code, text)


class Tally:
    """Cases of one suite: how many passed and were skipped, which failed."""

    def __init__(self):
        self.passed = 0
        self.skipped = 0
        self.failures = []  # (name, lines of what was said about it)
        self.unsteady = []  # the same, of programs that passed the second time

    def add(self, other):
        self.passed += other.passed
        self.skipped += other.skipped
        self.failures += other.failures
        self.unsteady += other.unsteady

    def fail(self, name, said):
        self.failures.append((name, said[-SAID_LINES:]))

    def add_tap(self, output):
        """Diagnostics of a case come before it, or in a block after it:
        between "---" and "..."."""
        said = []
        failed = False  # the last case
        for line in output.splitlines():
            case = CASE.match(line)
            if not case:
                if line.strip() == '...' and failed:
                    self.failures[-1][1].extend(said[:SAID_LINES])
                if line.strip() in ('---', '...'):
                    said = []
                else:
                    said.append(line)
                continue
            failed = bool(case.group(1))
            if failed:
                self.fail(case.group(2), said)
            elif re.search(r'# *skip', case.group(2), re.I):
                self.skipped += 1
            else:
                self.passed += 1
            said = []

    def add_program(self, name, output, ended_well, errors=''):
        """A program must also exit with code 0."""
        before = len(self.failures)
        self.add_tap(output)
        if not ended_well and len(self.failures) == before:
            self.fail(name + ' did not end well',
                      (output + errors).splitlines())


def build(directory):
    """Configures when needed and builds; None, or what went wrong."""
    if not os.path.exists(os.path.join(ROOT, directory, 'build.ninja')):
        setup = subprocess.run(
            ['meson', 'setup', '-Dwerror=true', *SETUP[directory], directory],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, **COMPILERS.get(directory, {})}, text=True)
        if setup.returncode != 0:
            return setup.stdout
    made = subprocess.run(['ninja', '-C', directory,
                           *TARGETS.get(directory, [])], cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    return None if made.returncode == 0 else made.stdout


def meson_test(directory, suite, env, names=(), processes=None):
    """Runs the tests of a suite that are named, or all of them; yields the
    full name and the tally of each."""
    choice = ['--suite', suite]
    if suite in WITHOUT:
        choice += ['--no-suite', WITHOUT[suite]]
    if processes:
        choice += ['--num-processes', str(processes)]
    log = 'testlog-' + suite + ('-again' if names else '')
    path = os.path.join(ROOT, directory, 'meson-logs', log + '.json')
    if os.path.exists(path):
        os.unlink(path)
    ran = subprocess.run(
        ['meson', 'test', '-C', directory, *choice, '--no-rebuild',
         '-t', TIMEOUT_FACTOR, '--logbase', log, *names],
        cwd=ROOT, env={**os.environ, **env},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if not os.path.exists(path):
        if 'No suitable tests' not in ran.stdout:
            tally = Tally()
            tally.fail(suite, ran.stdout.splitlines())
            yield suite, tally
        return
    with open(path, encoding='utf-8', errors='replace') as lines:
        for line in lines:
            test = json.loads(line)
            tally = Tally()
            tally.add_program(test['name'], test.get('stdout', ''),
                              test['result'] in ('OK', 'SKIP'),
                              test.get('stderr', ''))
            yield test['name'], tally


def run_meson_suite(directory, suite, env, processes):
    """Runs a suite with `meson test`, and what failed once more, alone."""
    tallies = dict(meson_test(directory, suite, env, processes=processes))
    failed = [name for name, tally in tallies.items() if tally.failures]
    if failed and len(failed) <= MAX_AGAIN and suite not in failed:
        names = [name.split(' / ')[-1] for name in failed]
        for name, again in meson_test(directory, suite, env, names, 1):
            if name in failed and not again.failures:
                again.unsteady = tallies[name].failures
                tallies[name] = again
    total = Tally()
    for tally in tallies.values():
        total.add(tally)
    return total


def run_command(command, env):
    tally = Tally()
    ran = subprocess.run([sys.executable, *command], cwd=ROOT,
                         env={**os.environ, **env}, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    tally.add_program(command[0], ran.stdout, ran.returncode == 0)
    return tally


def show(name, tally, seconds):
    counts = ['%d passed' % tally.passed]
    if tally.failures:
        counts.append(paint('31', '%d failed' % len(tally.failures)))
    if tally.skipped:
        counts.append(paint('33', '%d skipped' % tally.skipped))
    print('%-14s %6.1f s   %s' % (name, seconds, ', '.join(counts)))
    show_cases('not ok', '31', tally.failures)
    show_cases('unsteady', '33', tally.unsteady)
    sys.stdout.flush()


def show_cases(word, colour, cases):
    for case, said in cases[:20]:
        print(paint(colour, '  %s: ' % word) + case)
        for line in said:
            print('      ' + line)
    if len(cases) > 20:
        print('  ... and %d more' % (len(cases) - 20))


def run_suite(suite):
    """Its tally, and how long it took."""
    name, directory, what, env = suite
    start = time.time()
    if isinstance(what, str):
        tally = run_meson_suite(directory, what, env, PROCESSES.get(name))
    else:
        tally = run_command(what, env)
    return tally, time.time() - start


class Run:
    """All suites that are wanted, and the sum of their cases."""

    def __init__(self):
        self.total = Tally()
        self.lock = threading.Lock()  # of the total, and of what is printed
        self.building = {name: threading.Lock() for name in SETUP}
        self.built = {}  # directory: None, or what went wrong

    def add(self, name, tally, seconds):
        with self.lock:
            show(name, tally, seconds)
            self.total.add(tally)

    def build(self, directory):
        """Once; did it work?"""
        with self.building[directory]:
            if directory not in self.built:
                start = time.time()
                problem = self.built[directory] = build(directory)
                tally = Tally()
                if problem:
                    tally.fail(directory, problem.splitlines())
                else:
                    tally.passed = 1
                self.add(directory, tally, time.time() - start)
            return not self.built[directory]

    def suite(self, suite):
        if self.build(suite[1]):
            self.add(suite[0], *run_suite(suite))

    def run(self, suites):
        # On Linux nice() is for the thread that calls it, and its children.
        with ThreadPoolExecutor() as beside, ThreadPoolExecutor(
                1, initializer=os.nice, initargs=(BEHIND_NICE,)) as behind:
            started = []
            for suite in suites:
                if suite[0] in BEHIND:
                    started.append(behind.submit(self.suite, suite))
                elif suite[0] in BESIDE:
                    started.append(beside.submit(self.suite, suite))
                else:
                    self.suite(suite)
            for future in started:
                future.result()


def main():
    names = [suite[0] for suite in SUITES]
    wanted = sys.argv[1:] or names
    if 'end-to-end' in wanted:
        wanted = [*wanted, 'waiting']
    unknown = [name for name in wanted if name not in names]
    if unknown:
        sys.exit('no suite %s; there are: %s' % (unknown[0], ', '.join(names)))
    run = Run()
    run.run([suite for suite in SUITES if suite[0] in wanted])
    total = run.total
    if total.unsteady:
        print('unsteady, passed the second time: '
              + ', '.join(name for name, _ in total.unsteady))
    print('%d passed, %d failed, %d skipped'
          % (total.passed, len(total.failures), total.skipped))
    sys.exit(1 if total.failures else 0)


if __name__ == '__main__':
    main()
