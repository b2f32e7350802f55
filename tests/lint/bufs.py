#!/usr/bin/env python3
"""Every growing buffer has a limit, or says why it needs none.

A buf with BUF_NO_LIMIT needs a comment "no limit: REASON" on its line or on
the one above.  BUF_OF_TOOL, which gives the reason for command-line tools, is
for src/cmd alone.  Buffers in an arena are limited by its budget.
"""
import re

import tree

UNLIMITED = re.compile(r'\bBUF_NO_LIMIT\b'
                       r'|\bBUF_INIT\s*\(\s*(SIZE_MAX|\(size_t\)\s*-1)')
REASON = re.compile(r'no limit:\s+\w')
OF_TOOL = re.compile(r'\bBUF_OF_TOOL\b')
DEFINITION = 'src/base/buf.h'



def unexplained(path):
    lines = tree.read(path).split('\n')
    code = tree.without_comments_and_strings(tree.read(path)).split('\n')
    return ['%s:%d: an unlimited buf without a reason' % (path, i + 1)
            for i, line in enumerate(code)
            if UNLIMITED.search(line)
            and not REASON.search(' '.join(lines[max(i - 1, 0):i + 1]))]


def misplaced(path):
    if path.startswith('src/cmd/'):
        return []
    code = tree.without_comments_and_strings(tree.read(path)).split('\n')
    return ['%s:%d: BUF_OF_TOOL is for src/cmd' % (path, i + 1)
            for i, line in enumerate(code) if OF_TOOL.search(line)]


def main():
    tap = tree.Tap()
    sources = [path for path in tree.files('.c', '.h', under='src')
               if path != DEFINITION]
    tap.case('every unlimited buf says why',
             [words for path in sources for words in unexplained(path)])
    tap.case('only tools have bufs as large as their user asks for',
             [words for path in sources for words in misplaced(path)])
    tap.end()


if __name__ == '__main__':
    main()
