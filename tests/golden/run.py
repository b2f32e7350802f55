#!/usr/bin/env python3
"""Compares a pprof binary with the recorded outputs of google/pprof.

usage: tests/golden/run.py BINARY [CASE-PREFIX]

The recordings are not part of this repository: they lie in ../shared/golden
beside it, or where $PPROF_SHARED says.  Without them the test is skipped.
GOLDEN_EVERY=8 compares every eighth row only (for slow builds).  Prints TAP.
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
SHARED = os.environ.get('PPROF_SHARED',
                        os.path.join(os.path.dirname(ROOT), 'shared'))
GOLDEN = os.path.join(SHARED, 'golden')


def rows(prefix, every):
    with open(os.path.join(GOLDEN, 'manifest.tsv'), encoding='utf-8') as f:
        lines = [line for line in f.read().splitlines()
                 if line and not line.startswith('#')]
    lines = [line for line in lines if line.startswith(prefix)]
    return lines[::every]


def main():
    binary = sys.argv[1]
    prefix = sys.argv[2] if len(sys.argv) > 2 else ''
    if not os.path.exists(os.path.join(GOLDEN, 'check')):
        print('1..0 # SKIP no recorded outputs at ../shared/golden')
        return 0

    chosen = rows(prefix, int(os.environ.get('GOLDEN_EVERY', '1')))
    with tempfile.TemporaryDirectory() as directory:
        for name in os.listdir(GOLDEN):
            if name != 'manifest.tsv':
                os.symlink(os.path.join(GOLDEN, name),
                           os.path.join(directory, name))
        with open(os.path.join(directory, 'manifest.tsv'), 'w',
                  encoding='utf-8') as f:
            f.write('\n'.join(chosen) + '\n')
        ran = subprocess.run(
            [sys.executable, os.path.join(GOLDEN, 'check'), binary, directory,
             '-v', '-j', str(os.cpu_count() or 1)],
            stdout=subprocess.PIPE, text=True, errors='replace')

    failures, said = {}, []
    for line in ran.stdout.splitlines():
        failure = re.match(r'FAIL (\S+) (.*)', line)
        if failure:
            said = failures[failure.group(1)] = [failure.group(2)]
        elif line.startswith('    '):
            said.append(line)
    for i, row in enumerate(chosen):
        case = row.split('\t')[0]
        for line in failures.get(case, [])[:20]:
            print('# ' + line)
        print('%sok %d - %s' % ('not ' if case in failures else '', i + 1,
                                case))
    print('1..%d' % len(chosen))
    return 1 if failures or ran.returncode not in (0, 1) else 0


if __name__ == '__main__':
    sys.exit(main())
