#!/usr/bin/env python3
"""Which room may include which.

A room is a directory under src/.  The table is the one of
docs/architecture.md; a room that is not in it may not exist.  Large rooms
have folders, and a table of which folder may use which.
"""
import os
import re

import tree

ALLOWED = {
    'base': [],
    'config': ['base'],
    'regex': ['base'],
    'elf': ['base'],
    'http': ['base'],
    'profile': ['base', 'regex'],
    'runtime': ['base', 'dwarf', 'elf', 'http', 'profile'],
    'dwarf': ['base', 'elf'],
    'symbol': ['base', 'elf', 'dwarf', 'profile'],
    'perf': ['base', 'elf', 'profile'],
    'fetch': ['base', 'perf', 'profile'],
    'report': ['base', 'regex', 'profile', 'symbol'],
    'page': ['base', 'http', 'profile', 'report'],
    'store': ['base', 'profile', 'fetch'],
    'kube': ['base', 'config', 'profile', 'fetch'],
    'collector': ['base', 'config', 'regex', 'http', 'profile', 'symbol',
                  'report', 'fetch', 'store', 'kube'],
}
ALLOWED['cmd'] = list(ALLOWED)

# Headers that a room may use of another one, where that is not all of them.
# libpprof lives in strangers: it takes the encoder and nothing else.
ONLY = {
    ('runtime', 'dwarf'): ['dwarf/library.h'],
    ('runtime', 'profile'): ['profile/proto.h', 'profile/wire.h'],
}

# Folders of a room: which others of it each may use.  "." is the room itself,
# its files outside of any folder.
FOLDERS = {
    'runtime': {
        '.': ['unwind', 'cpu', 'thread', 'write', 'heap', 'lock', 'endpoint',
              'push'],
        'unwind': ['.', 'cpu'],
        'cpu': ['.', 'unwind', 'thread', 'write'],
        'thread': ['.', 'unwind', 'cpu', 'write'],
        'write': ['.', 'unwind', 'cpu', 'thread'],
        'heap': ['.', 'unwind', 'cpu', 'thread', 'write', 'push'],
        'lock': ['.', 'unwind', 'cpu', 'write'],
        'endpoint': ['.', 'cpu', 'thread', 'write', 'heap', 'lock'],
        'push': ['.', 'cpu', 'thread', 'write', 'heap', 'lock'],
        'hook': ['.', 'unwind', 'cpu', 'thread', 'write', 'heap', 'lock',
                 'endpoint', 'push'],
    },
    'http': {
        'tls': [],
        'server': ['tls'],
        'client': ['server', 'tls'],
        'access': ['client', 'server', 'tls'],
    },
    'report': {
        '.': ['stack'],
        'graph': ['.'],
        'stack': ['.', 'graph'],
        'code': ['.', 'graph'],
        'format': ['.', 'graph', 'stack', 'code'],
    },
}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+([<"])([^>"]+)[>"]', re.M)


def complaints_about(room, path):
    """What is wrong with the includes of one file of the room."""
    includes = [m.groups() for m in INCLUDE.finditer(tree.read(path))]
    found = []
    for kind, header in includes:
        if kind == '<':
            continue
        other = header.split('/')[0]
        if '/' not in header or header.startswith('.'):
            found.append('"%s" is not written from src/' % header)
        elif other == 'pprof' or other == room:
            continue
        elif other not in ALLOWED[room]:
            found.append('%s may not use "%s"' % (room, header))
        elif header not in ONLY.get((room, other), [header]):
            found.append('%s may not use "%s" of %s' % (room, header, other))
    own = os.path.splitext(os.path.relpath(path, 'src'))[0] + '.h'
    if (not path.endswith('.h') and ('"', own) in includes
            and includes[0] != ('"', own)):
        found.append('"%s" must be its first include' % own)
    return ['%s: %s' % (path, words) for words in found]


def folder_of(path):
    """The folder of a path below src/, "." if it is in none."""
    parts = path.split('/')
    return parts[1] if len(parts) > 2 else '.'


def folder_complaints(room, path):
    """What is wrong with how one file uses the other folders of its room."""
    folder = folder_of(os.path.relpath(path, 'src'))
    table = FOLDERS[room]
    if folder not in table:
        return ['%s: no such folder in tests/lint/layers.py' % path]
    used = [header for kind, header in INCLUDE.findall(tree.read(path))
            if kind == '"' and header.startswith(room + '/')]
    return ['%s: %s/%s may not use "%s"' % (path, room, folder, header)
            for header in used
            if folder_of(header) not in [folder] + table[folder]]


def main():
    tap = tree.Tap()
    for room in sorted(os.listdir(os.path.join(tree.ROOT, 'src'))):
        if room not in ALLOWED:
            tap.case('src/' + room, ['no such room in tests/lint/layers.py'])
            continue
        sources = tree.files('.c', '.h', '.cc', under='src/' + room)
        tap.case('%s uses only the rooms it may' % room,
                 [words for path in sources
                  for words in complaints_about(room, path)])
        if room in FOLDERS:
            tap.case('the folders of %s use only those they may' % room,
                     [words for path in sources
                      for words in folder_complaints(room, path)])
    tap.end()


if __name__ == '__main__':
    main()
