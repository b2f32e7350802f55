#!/usr/bin/env python3
"""No modules include each other in a circle.

A module is a header and the .c file of the same name.  Modules in a circle
can only be understood, tested and changed together.  The usual way out is a
header of its own for the types that both need.
"""
import os
import re

import tree

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.M)

# The sampler tells the peak about every block, and the peak reads the
# sampler's state: one thing in two files, each of which fits a screen or two.
KNOWN = [frozenset(['runtime/heap/heap', 'runtime/heap/heap_peak'])]


def modules():
    """{module: modules that it includes}, both as paths below src/."""
    uses = {}
    for path in tree.files('.c', '.h', '.cc', under='src'):
        module = os.path.splitext(os.path.relpath(path, 'src'))[0]
        included = {os.path.splitext(header)[0]
                    for header in INCLUDE.findall(tree.read(path))}
        uses.setdefault(module, set()).update(included - {module})
    return {module: included & uses.keys()
            for module, included in uses.items()}


def reachable(uses, start):
    """All modules that `start` includes, directly or not."""
    found, open_ends = set(), [start]
    while open_ends:
        for module in uses[open_ends.pop()] - found:
            found.add(module)
            open_ends.append(module)
    return found


def circles(uses):
    """Sets of modules that reach each other."""
    reach = {module: reachable(uses, module) for module in uses}
    found = {frozenset(other for other in reach[module]
                       if module in reach[other])
             for module in uses if module in reach[module]}
    return sorted(sorted(circle) for circle in found)


def main():
    tap = tree.Tap()
    uses = modules()
    tap.case('no modules include each other in a circle',
             ['%s includes %s' % (module, ' and '.join(
                 sorted(uses[module] & set(circle))))
              for circle in circles(uses)
              if frozenset(circle) not in KNOWN
              for module in circle])
    tap.end()


if __name__ == '__main__':
    main()
