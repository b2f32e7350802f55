#!/usr/bin/env python3
"""Runs clang-tidy over the C files of src/ and examples/, with .clang-tidy's
checks.  Tests and benchmarks leak, fork and crash on purpose.

usage: tests/lint/tidy.py BUILD [PATH-SUBSTRING]

Remembers in BUILD/tidy.json which files were clean, by the contents of the
file and of all headers, so that the second run is quick.  Prints TAP.
"""
import hashlib
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import tree


def commands(build, part):
    """(source, compiler arguments) of every C file of the build, once."""
    with open(os.path.join(build, 'compile_commands.json'),
              encoding='utf-8') as f:
        entries = json.load(f)
    found = {}
    for entry in entries:
        path = os.path.relpath(os.path.join(entry['directory'],
                                            entry['file']), tree.ROOT)
        if path.endswith('.c') and part in path and \
                path.startswith(('src' + os.sep, 'examples' + os.sep)):
            found.setdefault(path, entry)
    return sorted(found)


def fingerprint(path, headers):
    return hashlib.sha256((headers + tree.read(path)).encode()).hexdigest()


def complaints(build, path):
    ran = subprocess.run(
        ['clang-tidy', '--quiet', '-p', build,
         '--extra-arg=-Wno-unknown-warning-option', path],
        cwd=tree.ROOT, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL)
    found = [line for line in ran.stdout.splitlines()
             if re.search(r': (warning|error): ', line)]
    return found or ([ran.stdout] if ran.returncode else [])


def main():
    build = os.path.abspath(sys.argv[1])
    part = sys.argv[2] if len(sys.argv) > 2 else ''
    memory = os.path.join(build, 'tidy.json')
    clean = {}
    if os.path.exists(memory):
        with open(memory, encoding='utf-8') as f:
            clean = json.load(f)
    headers = ''.join(tree.read(path) for path in
                      tree.files('.h') + ['.clang-tidy'])

    tap = tree.Tap()
    sources = commands(build, part)
    marks = {path: fingerprint(path, headers) for path in sources}

    def check(path):
        return [] if clean.get(path) == marks[path] else complaints(build,
                                                                    path)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, found in zip(sources, pool.map(check, sources)):
            tap.case(path + ' passes clang-tidy', found)
            if not found:
                clean[path] = marks[path]
                with open(memory, 'w', encoding='utf-8') as f:
                    json.dump(clean, f)
    tap.end()


if __name__ == '__main__':
    main()
