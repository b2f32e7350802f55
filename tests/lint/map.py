#!/usr/bin/env python3
"""Compares docs/architecture.md with the tree.

The page is the first thing that a newcomer reads, so what it names must
exist: folders (and every folder is named), rooms and their dependencies,
functions to set breakpoints on, and files.
"""
import os
import re

import layers
import tree

PAGE = 'docs/architecture.md'
FOLDER = re.compile(r'^([\w./-]+)/ ', re.M)
ROW = re.compile(r'^\| `(\w+)` \| (.*) \|$', re.M)
CALL = re.compile(r'`(\w+)\(\)`')
PATH = re.compile(r'`([\w.-]+(?:/[\w.-]+)+)`')
# At the beginning of a line, where calls never are.
DEFINITION = re.compile(r'^(?:[A-Za-z][\w *]*?)?\b(\w+)\(', re.M)

# Functions of libc that the page mentions.
LIBC = {'exit', 'free', 'longjmp', 'pause', 'poll', 'sleep', 'wait'}


def section(text, title):
    """The part of the page under a heading of the second level."""
    parts = re.split(r'^## ', text, flags=re.M)
    return next((p for p in parts if p.startswith(title + '\n')), '')


def folders_below(root):
    """Folders that have files of their own."""
    return {os.path.dirname(path) for path in tree.files(under=root)}


def map_complaints(text):
    named = set(FOLDER.findall(section(text, 'The map')))
    there = folders_below('src') | folders_below('web')
    return (['%s/ is not in the map' % f for f in sorted(there - named)]
            + ['%s/ is in the map and does not exist' % f
               for f in sorted(named)
               if not os.path.isdir(os.path.join(tree.ROOT, f))])


def allowed(room):
    return 'everything' if room == 'cmd' else ', '.join(
        sorted(layers.ALLOWED[room])) or 'nothing'


def uses_complaints(text):
    rows = dict(ROW.findall(section(text, 'Dependencies between rooms')))
    rooms = sorted(os.listdir(os.path.join(tree.ROOT, 'src')))
    found = ['%s has no row' % r for r in rooms if r not in rows]
    found += ['%s has a row and does not exist' % r
              for r in rows if r not in rooms]
    for room, words in rows.items():
        names = re.findall(r'`(\w+)`', words)
        said = ', '.join(sorted(names)) if names else words
        if room in rooms and said != allowed(room):
            found.append('%s: the page says %s, layers.py %s'
                         % (room, said, allowed(room)))
    return found


def function_complaints(text):
    defined = {name for path in tree.files('.c', '.h', under='src')
               for name in DEFINITION.findall(tree.read(path))}
    defined |= set(DEFINITION.findall(tree.read('include/pprof/pprof.h')))
    return ['%s() does not exist' % name
            for name in sorted(set(CALL.findall(text)) - defined - LIBC)]


def path_complaints(text):
    places = ['', 'src', 'include']
    return ['%s does not exist' % path
            for path in sorted(set(PATH.findall(text)))
            if not any(os.path.exists(os.path.join(tree.ROOT, place, path))
                       for place in places)]


def main():
    text = tree.read(PAGE)
    tap = tree.Tap()
    tap.case('the map has every folder and no other', map_complaints(text))
    tap.case('the table of rooms is that of layers.py', uses_complaints(text))
    tap.case('functions that are named exist', function_complaints(text))
    tap.case('files that are named exist', path_complaints(text))
    tap.end()


if __name__ == '__main__':
    main()
