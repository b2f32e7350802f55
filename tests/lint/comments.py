#!/usr/bin/env python3
"""Every .c file says at its top what it does and why this way.

For a short file, the header of the same name may say it instead, in a block
comment of at least three lines.
"""
import os
import re

import tree

OPENING = re.compile(r'\A/\*.*?\*/', re.S)
LONG_FILE = 150  # lines: has too much in it for its header to explain
LEAST_LINES_OF_HEADER = 3


def words_in(comment):
    return len(re.findall(r'[A-Za-z]{2,}', comment))


def has_opening(path):
    match = OPENING.match(tree.read(path))
    return bool(match) and words_in(match.group()) >= 5


def header_explains(path):
    header = path[:-2] + '.h'
    if tree.read(path).count('\n') >= LONG_FILE:
        return False
    if not os.path.exists(os.path.join(tree.ROOT, header)):
        return False
    return any(comment.count('\n') + 1 >= LEAST_LINES_OF_HEADER
               for comment in re.findall(r'/\*.*?\*/', tree.read(header),
                                         re.S))


def unexplained(paths):
    return ['%s: no opening comment, and no header explains it' % path
            for path in paths
            if not has_opening(path) and not header_explains(path)]


def main():
    tap = tree.Tap()
    tap.case('every .c file is explained, at its top or in its header',
             unexplained(tree.files('.c', under='src')))
    tap.end()


if __name__ == '__main__':
    main()
