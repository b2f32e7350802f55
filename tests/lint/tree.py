"""What the lint scripts share: the files of the tree, and TAP."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
SKIPPED = re.compile(r'^(build.*|\.git|__pycache__|node_modules)$')


def files(*suffixes, under=''):
    """Paths relative to the root, sorted; all files without suffixes."""
    found = []
    for directory, subdirs, names in os.walk(os.path.join(ROOT, under)):
        subdirs[:] = [d for d in subdirs if not SKIPPED.match(d)]
        for name in names:
            path = os.path.relpath(os.path.join(directory, name), ROOT)
            if name != '.git' and (not suffixes or name.endswith(suffixes)):
                found.append(path)
    return sorted(found)


def read(path):
    with open(os.path.join(ROOT, path), encoding='utf-8',
              errors='replace') as f:
        return f.read()


def without_comments_and_strings(text):
    """C source of the same number of lines, with only the code left."""
    def blank(match):
        return '\n' * match.group().count('\n') or ' '

    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"'
                  r"|'(?:\\.|[^'\\\n])*'", blank, text, flags=re.S)


class Tap:
    """Prints a case for each rule; end() gives the exit code."""

    def __init__(self):
        self.cases = 0
        self.failed = False

    def case(self, name, complaints):
        self.cases += 1
        for complaint in complaints:
            print('# ' + complaint)
        print('%sok %d - %s' % ('not ' if complaints else '', self.cases,
                                name))
        self.failed |= bool(complaints)

    def skip(self, name, reason):
        self.cases += 1
        print('ok %d - %s # SKIP %s' % (self.cases, name, reason))

    def end(self):
        print('1..%d' % self.cases)
        sys.exit(1 if self.failed else 0)
