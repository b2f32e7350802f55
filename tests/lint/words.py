#!/usr/bin/env python3
"""Words that must not be in the tree, and sizes of files."""
import os
import re

import tree

# strtok has no length, sprintf no limit, atoi no error, localtime one buffer
# for all threads: each has a better sister in src/base or in libc.
BANNED = ['strcpy', 'strcat', 'sprintf', 'vsprintf', 'strtok', 'atoi', 'gets',
          'alloca', 'localtime', 'gmtime']
BANNED_CALL = re.compile(r'(?<![\w.>])(%s)\s*\(' % '|'.join(BANNED))
# Spelt so that this file does not find itself.
MACHINE_PATH = re.compile(r'(?<![\w.$}])/(work|root)' + r'/\w')
UNFINISHED = re.compile(r'\b(TO' r'DO|FIX' r'ME|XX' r'X)\b')
LONGEST_FILE = 1000
LONG_FILE = 600
BIG_BLOB = 256 * 1024

C_FILES = ('.c', '.h', '.cc')


def lines_with(pattern, paths, text_of=tree.read):
    return ['%s:%d: %s' % (path, number, match.group().strip())
            for path in paths
            for number, line in enumerate(text_of(path).split('\n'), 1)
            for match in [pattern.search(line)] if match]


def code_of(path):
    return tree.without_comments_and_strings(tree.read(path))


def is_text(path):
    with open(os.path.join(tree.ROOT, path), 'rb') as f:
        return b'\0' not in f.read(8192)


def too_wide(paths):
    return ['%s:%d: %d columns' % (path, number, len(line))
            for path in paths
            for number, line in enumerate(tree.read(path).split('\n'), 1)
            if len(line) > 80]


def main():
    tap = tree.Tap()
    everything = [path for path in tree.files()
                  if '/corpus/' not in path and is_text(path)]
    sources = tree.files(*C_FILES)
    lengths = {path: tree.read(path).count('\n') for path in sources}

    tap.case('no banned functions', lines_with(BANNED_CALL, sources, code_of))
    tap.case('no paths of one machine', lines_with(MACHINE_PATH, everything))
    tap.case('nothing unfinished is marked and left',
             lines_with(UNFINISHED, everything))
    tap.case('no line of C is wider than 80 columns', too_wide(sources))
    tap.case('no file of C is longer than %d lines' % LONGEST_FILE,
             ['%s: %d lines' % item for item in lengths.items()
              if item[1] > LONGEST_FILE])
    tap.case('no big files', [path for path in tree.files() if os.path.getsize(
        os.path.join(tree.ROOT, path)) > BIG_BLOB])
    for path, length in lengths.items():
        if length > LONG_FILE:
            print('# long: %s has %d lines; is there a second thing in it?'
                  % (path, length))
    tap.end()


if __name__ == '__main__':
    main()
