#!/usr/bin/env python3
"""Changes the code at random places and reports the changes that no test
notices.

usage: tests/mutate.py [--room ROOM | --file PATH] [--count N] [--seed N]

A change that survives all unit tests of its room shows a behaviour without a
test, or code that does nothing.  Works on a copy in build-mutate, never on the
tree itself.  Prints a line for each survivor and a summary; the exit code is
always 0, since some changes are equivalent to the original and only a reader
can tell.  The copy is built with AddressSanitizer, so that leaks are noticed.
"""
import argparse
import filecmp
import os
import random
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COPY = os.path.join(ROOT, 'build-mutate', 'tree')
TEST_SECONDS = 60

sys.path.insert(0, os.path.join(ROOT, 'tests', 'lint'))
import tree  # noqa: E402

# The unit tests that are about a room.
TESTS = {
    'profile': ['compatible', 'corpus', 'decode', 'encode', 'filter',
                'fingerprint', 'legacy', 'legacy_java', 'measure',
                'memory_map', 'merge', 'perf', 'read', 'tags', 'wire'],
    'http': ['http_access', 'http_client', 'http_exchange', 'http_guard',
             'http_lanes', 'http_listener', 'http_memory', 'http_message',
             'http_review', 'http_route', 'http_server', 'endpoint', 'tls'],
    'runtime': ['custom', 'endpoint', 'exec_environment', 'heap_limit',
                'heap_live', 'heap_math', 'heap_sampler', 'intervals',
                'labels', 'locks', 'modules', 'prologue', 'run_share',
                'runtime_memory', 'serve_options', 'signal_name',
                'stack_look', 'stacktable', 'threads', 'trace', 'unwind',
                'unwind_self', 'writer', 'written_labels'],
}

# (what is found in code, what it becomes)
CHANGES = [
    (r' < ', ' <= '), (r' <= ', ' < '), (r' > ', ' >= '), (r' >= ', ' > '),
    (r' == ', ' != '), (r' != ', ' == '),
    (r' && ', ' || '), (r' \|\| ', ' && '),
    (r' \+ 1\b', ''), (r' - 1\b', ''), (r' \+= ', ' -= '),
    (r'return true;', 'return false;'), (r'return false;', 'return true;'),
    (r'if \(!', 'if ('), (r'if \((?!!)', 'if (!'),
    # A call whose result nobody looks at is left out.
    (r'^(    +)(\w+\([^;{}]*\);)$', r'\1;'),
]


def places(path):
    """(line number, line, changed line) for every change that fits."""
    lines = tree.read(path).split('\n')
    code = tree.without_comments_and_strings(tree.read(path)).split('\n')
    for number, (line, bare) in enumerate(zip(lines, code)):
        if bare.lstrip().startswith('#') or 'assert(' in bare:
            continue
        for pattern, new in CHANGES:
            if not re.search(pattern, bare):
                continue
            changed = re.sub(pattern, new, line, count=1)
            if changed != line:
                yield number, line, changed


def copy_tree():
    """A copy of the files that git knows, with a build of its own."""
    names = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard'],
                           cwd=ROOT, check=True, text=True,
                           stdout=subprocess.PIPE).stdout.split('\n')
    for name in filter(None, names):
        source, to = os.path.join(ROOT, name), os.path.join(COPY, name)
        if not os.path.exists(source):
            continue
        os.makedirs(os.path.dirname(to), exist_ok=True)
        # By content, and with a new time: an object that was built from a
        # changed file must not look newer than the file.
        if not os.path.exists(to) or not filecmp.cmp(source, to, False):
            shutil.copy(source, to)
    if not os.path.exists(os.path.join(COPY, 'build')):
        subprocess.run(['meson', 'setup', '-Db_sanitize=address',
                        '-Db_lundef=false', 'build'], cwd=COPY, check=True,
                       stdout=subprocess.DEVNULL)


def programs(room):
    with open(os.path.join(COPY, 'build', 'build.ninja'),
              encoding='utf-8') as f:
        known = f.read()
    return [name for name in ('tests/unit/test-' + test
                              for test in TESTS[room])
            if 'build %s:' % name in known]


def builds(targets):
    return subprocess.run(['ninja', '-C', 'build', *targets], cwd=COPY,
                          stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def first_failing(targets):
    """The test that notices, or None."""
    for target in targets:
        try:
            ran = subprocess.run([os.path.join(COPY, 'build', target)],
                                 cwd=COPY, timeout=TEST_SECONDS,
                                 stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return target
        if ran.returncode != 0:
            return target
    return None


def try_change(path, number, changed, targets):
    """'noticed', 'survived' or 'invalid' (it does not compile)."""
    target = os.path.join(COPY, path)
    original = tree.read(path)
    lines = original.split('\n')
    lines[number] = changed
    with open(target, 'w', encoding='utf-8') as f:
        f.write('\n'.join(lines))
    try:
        if not builds(targets):
            return 'invalid'
        return 'noticed' if first_failing(targets) else 'survived'
    finally:
        with open(target, 'w', encoding='utf-8') as f:
            f.write(original)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--room', choices=sorted(TESTS))
    parser.add_argument('--file', help='only this file, below src/')
    parser.add_argument('--count', type=int, default=20)
    parser.add_argument('--seed', type=int, default=1)
    return parser.parse_args()


def main():
    options = arguments()
    rooms = [options.room] if options.room else sorted(TESTS)
    if options.file:
        rooms = [options.file.split('/')[1]]
    copy_tree()
    tree.ROOT = COPY  # the tree itself may change meanwhile
    chosen = []
    for room in rooms:
        files = [options.file] if options.file else tree.files(
            '.c', under='src/' + room)
        chosen += [(room, path, place) for path in files
                   for place in places(path)]
    random.Random(options.seed).shuffle(chosen)
    counts = {'noticed': 0, 'survived': 0, 'invalid': 0}
    for room in rooms:
        targets = programs(room)
        if not builds(targets) or first_failing(targets):
            sys.exit('the tests of %s fail without any change' % room)
    for room, path, (number, line, changed) in chosen[:options.count]:
        result = try_change(path, number, changed, programs(room))
        counts[result] += 1
        if result == 'survived':
            print('%s:%d\n  - %s\n  + %s' % (path, number + 1, line.strip(),
                                             changed.strip()), flush=True)
    print('%(noticed)d noticed, %(survived)d survived, %(invalid)d invalid'
          % counts)


if __name__ == '__main__':
    main()
