#!/usr/bin/env python3
"""Every header compiles alone; the public one as C99 and C++11 too.

usage: tests/lint/headers.py CC CXX
"""
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import tree

STRICT = ['-Wall', '-Wextra', '-Werror', '-fsyntax-only', '-Isrc', '-Iinclude']


def complaint(compiler, language, header):
    ran = subprocess.run(
        compiler + STRICT + ['-x', language, '-include', header, '/dev/null'],
        cwd=tree.ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True)
    return ran.stdout.splitlines()[:5] if ran.returncode else []


def main():
    cc, cxx = sys.argv[1].split(), sys.argv[2].split()
    public = tree.files('.h', under='include')
    jobs = [(cc + ['-std=c11', '-D_GNU_SOURCE'], 'c', header)
            for header in tree.files('.h', under='src')]
    jobs += [(cc + ['-std=c99', '-pedantic'], 'c', header)
             for header in public]
    jobs += [(cxx + ['-std=c++11', '-pedantic'], 'c++', header)
             for header in public]

    tap = tree.Tap()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda job: complaint(*job), jobs)
        for (compiler, _, header), complaints in zip(jobs, results):
            standard = [a for a in compiler if a.startswith('-std=')][0][5:]
            tap.case('%s compiles alone as %s' % (header, standard),
                     complaints)
    tap.end()


if __name__ == '__main__':
    main()
