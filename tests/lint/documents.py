#!/usr/bin/env python3
"""Documents agree with the code, and with each other.

Man pages and completions have every option of a program, and man pages no
other.  Links between pages lead somewhere.  Files that comments name exist.
(tests/e2e/test_command_line.py checks the flags of pprof, whose table is
built at run time.)
"""
import os
import re

import tree

RUN = re.compile(r'\{"([\w-]+)", "PPROF_\w+", (?:true|false)\}')
SETTING = re.compile(r'\{"\w+",\s*"\w+",\s*"([\w.-]+)"')
SCRAPE = re.compile(r'\{STR\("([\w-]+)"\), FLAG_\w+, &f->(?!ignored)')
KUBECTL = re.compile(r'\{"([\w-]+)", (?:0|\'\w\'), (\w+)')

# Other names of options, for users of other programs.
ALIASES = {'profefe-hostport', 'output-dir', 'profile-type'}
# Options of kubectl, which the man page of kubectl describes.
PASSED_ON = {'FOR_KUBECTL', 'SWITCH_FOR_KUBECTL'}

LINK = re.compile(r'\]\(([^)\s]+)\)')
HEADING = re.compile(r'^#+ (.*)$', re.M)
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.S)
FILE = re.compile(r'(?<![\w./<*{-])((?:\w[\w.-]*/)*[a-z][\w-]*\.[ch])\b(?![\w(])')
# Names in comments that stand for files of other programs.
EXAMPLES = {'a.c', 'f.c', 'add.h', 'io.c', 'main.c'}


def manual(name):
    return tree.read('docs/man/' + name).replace('\\-', '-').replace(
        '\\fR', '').replace('\\fB', '')


def lacking(text, options, dashes):
    return [o for o in options
            if not re.search(r'(?<![\w-])%s%s(?![\w-])'
                             % (dashes, re.escape(o)), text)]


def run_complaints():
    options = RUN.findall(tree.read('src/cmd/pprof-run/options.c')) + [
        'merge', 'version']
    page = manual('pprof-run.1')
    known = set(options) | {'option'}
    return (['pprof-run.1 lacks -%s' % o for o in lacking(page, options, '-')]
            + ['pprof-run.1 has -%s' % o for o in
               sorted(set(re.findall(r'^\.BI? "?-([a-z][\w-]*)', page, re.M))
                      - known)])


def pprofd_complaints():
    options = SETTING.findall(tree.read('src/cmd/pprofd/settings_table.c')) + [
        'config']
    scrape = {o for o in SCRAPE.findall(
        tree.read('src/cmd/pprofd/scrape_command.c')) if len(o) > 1}
    page = manual('pprofd.1')
    known = set(options) | scrape | {'flag', 'json', 'plain', 'data-binary'}
    found = ['pprofd.1 lacks --%s' % o for o in lacking(page, options, '--')]
    found += ['pprofd.1 has --%s' % o for o in
              sorted(set(re.findall(r'(?<![\w-])--([a-z][\w.-]*\w)', page))
                     - known)]
    for name, form in (('_pprofd', "'--%s["), ('pprofd.bash', '--%s'),
                       ('pprofd.fish', '-l %s ')):
        text = tree.read('completions/' + name)
        found += ['%s lacks --%s' % (name, o) for o in options
                  if form % o not in text]
    return found


def kubectl_complaints():
    rows = KUBECTL.findall(tree.read('src/cmd/kubectl-pprof/arguments.c'))
    options = [o for o, kind in rows
               if kind not in PASSED_ON and o not in ALIASES]
    page = manual('kubectl-pprof.1')
    complete = tree.read('completions/kubectl_complete-pprof')
    known = {o for o, _ in rows} | {'pprof-arguments'}
    return (['kubectl-pprof.1 lacks --%s' % o
             for o in lacking(page, options, '--')]
            + ['kubectl-pprof.1 has --%s' % o for o in
               sorted(set(re.findall(r'(?<![\w-])--([a-z][\w-]*)', page))
                      - known)]
            + ['kubectl_complete-pprof lacks --%s' % o
               for o in lacking(complete, options, '--')])


def anchors(path):
    return {re.sub(r'[^\w\- ]', '', h.lower()).strip().replace(' ', '-')
            for h in HEADING.findall(tree.read(path))}


def link_complaints():
    found = []
    for page in tree.files('.md'):
        for link in LINK.findall(tree.read(page)):
            if re.match(r'\w+:', link):
                continue
            path, _, anchor = link.partition('#')
            path = os.path.normpath(os.path.join(os.path.dirname(page), path)
                                    ) if path else page
            if not os.path.exists(os.path.join(tree.ROOT, path)):
                found.append('%s: %s does not exist' % (page, link))
            elif anchor and path.endswith('.md') \
                    and anchor not in anchors(path):
                found.append('%s: no heading for %s' % (page, link))
    return found


def comment_complaints():
    """A name without a folder may be any file of that name."""
    there = tree.files('.c', '.h')
    names = {os.path.basename(path) for path in there}
    found = []
    for path in there:
        folder = os.path.dirname(path)
        for comment in COMMENT.findall(tree.read(path)):
            for name in FILE.findall(comment):
                places = [name, 'src/' + name, 'include/' + name,
                          os.path.normpath(os.path.join(folder, name)),
                          'src/runtime/' + name]
                if name in EXAMPLES or (
                        name in names if '/' not in name
                        else any(place in there for place in places)):
                    continue
                found.append('%s: a comment names %s' % (path, name))
    return found


def main():
    tap = tree.Tap()
    tap.case('man pages and completions have the options', run_complaints()
             + pprofd_complaints() + kubectl_complaints())
    tap.case('links between pages lead somewhere', link_complaints())
    tap.case('files that comments name exist', comment_complaints())
    tap.end()


if __name__ == '__main__':
    main()
