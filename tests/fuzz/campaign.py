#!/usr/bin/env python3
"""Runs the fuzz targets with libFuzzer and prints TAP, a case a target.

usage: tests/fuzz/campaign.py [--seconds N | --runs N] [TARGET ...]

--seconds is CPU time for each target.  What is learned is kept in
build-fuzz/corpus, so that the next campaign goes on from there.

--runs is the number of inputs for each target, made from the seeds alone and
with a fixed random seed: the same commit gives the same result everywhere.
scripts/test uses it, because a change must not fail for what an unlucky input
finds in another part of the tree.  New findings are the business of campaigns
with --seconds.

Findings are written to build-fuzz/findings; the seeds in tests/fuzz/corpus are
only read.
"""
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, 'build-fuzz')

sys.path.insert(0, os.path.join(ROOT, 'tests'))
import run as suites  # noqa: E402


# A target that is slower ends here, with fewer runs.  It takes some seconds of
# CPU time, but a busy machine must not make the pass shorter.
RUNS_SECONDS = 600


def how_long(arguments):
    if arguments.runs:
        return ['-runs=%d' % arguments.runs, '-seed=1',
                '-max_total_time=%d' % RUNS_SECONDS]
    return ['-max_total_time=%d' % arguments.seconds]


def fuzz(name, learned, limits):
    """One target; (ended without a finding?, what was seen, its output)."""
    findings = os.path.join(BUILD, 'findings', name)
    seeds = os.path.join(ROOT, 'tests', 'fuzz', 'corpus', name)
    os.makedirs(findings, exist_ok=True)
    command = [os.path.join(BUILD, 'tests', 'fuzz', 'fuzz-' + name),
               *limits, '-timeout=20', '-rss_limit_mb=2048',
               '-print_final_stats=1', '-verbosity=0',
               '-artifact_prefix=' + findings + '/', learned]
    if os.path.isdir(seeds):
        command.append(seeds)
    start = time.time()
    ran = subprocess.run(command, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, errors='replace')
    runs = re.search(r'number_of_executed_units: *(\d+)', ran.stdout)
    return ran.returncode == 0, '%s: %s runs in %d s' % (
        name, runs.group(1) if runs else '?', time.time() - start), ran.stdout


def fuzz_one(name, arguments):
    limits = how_long(arguments)
    if arguments.runs:
        with tempfile.TemporaryDirectory(prefix='pprof-fuzz-') as learned:
            return fuzz(name, learned, limits)
    learned = os.path.join(BUILD, 'corpus', name)
    os.makedirs(learned, exist_ok=True)
    return fuzz(name, learned, limits)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--seconds', type=int, default=600)
    parser.add_argument('--runs', type=int)
    parser.add_argument('targets', nargs='*')
    arguments = parser.parse_args()

    problem = suites.build('build-fuzz')
    if problem:
        sys.exit(problem)
    programs = glob.glob(os.path.join(BUILD, 'tests', 'fuzz', 'fuzz-*'))
    targets = arguments.targets or sorted(
        os.path.basename(path)[len('fuzz-'):] for path in programs
        if os.access(path, os.X_OK) and not os.path.isdir(path))
    jobs = os.cpu_count() or 1

    failed = False
    with ThreadPoolExecutor(jobs) as pool:
        results = pool.map(lambda name: fuzz_one(name, arguments), targets)
        for i, (fine, seen, output) in enumerate(results):
            if not fine:
                failed = True
                print('\n'.join('# ' + line
                                for line in output.splitlines()[-40:]))
            print('%s %d - %s' % ('ok' if fine else 'not ok', i + 1, seen),
                  flush=True)
    print('1..%d' % len(targets))
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
