"""ES modules as a few scripts, for a page that is a single file.

Each module becomes a function that runs once, in the order in which a
browser would run them; what it exports is kept under its name.  Understood
is what web/ is written in:

    import { a, b as c } from './x.js';     (or '../folder/x.js')
    import { d } from './y.js'; // later
    export function f … / export class C … / export const x …

Anything else with import or export ends the build with a sentence.

The first script has what is needed to show the first view.  What is only
reached through imports that are marked "later" is in the next, which the page
contains as text: it is compiled and run at the first call of something in it.
Imports marked "later" in that one lead to the next again; the last script has
everything that is left.  An inline script runs as soon as it is inserted, so a
call into a later script is a plain call; it never has to wait.
"""
import os
import re

import shrink

IMPORT = re.compile(r"^import\s+\{([^}]*)\}\s+from\s+"
                    r"'(\.{1,2}/[\w./-]+)';[ \t]*(// later)?[ \t]*$", re.M)
EXPORT = re.compile(
    r'^export\s+(async\s+function|function|class|const)\s+(\w+)', re.M)
COMMENT = re.compile(
    r'^[ \t]*(?://[^\n]*|/\*(?:(?!\*/).)*\*/[ \t]*)\n', re.M | re.S)
OTHER = re.compile(r'^(?:import|export)\b.*$', re.M)


class Module:
    def __init__(self, directory, name):
        self.name = name
        with open(os.path.join(directory, name), encoding='utf-8') as f:
            text = COMMENT.sub('', f.read())
        self.imports = [
            (self.names_of(names), self.resolve(path), bool(later))
            for names, path, later in IMPORT.findall(text)]
        self.exports = {name: kind for kind, name in EXPORT.findall(text)}
        self.text = EXPORT.sub(lambda m: '%s %s' % m.groups(),
                               IMPORT.sub('', text))
        other = OTHER.search(self.text)
        if other:
            raise SystemExit('%s: cannot be put in one file: %s'
                             % (name, other.group()))

    def resolve(self, path):
        """The other module's name: its path from the top directory."""
        folder = os.path.dirname(self.name)
        found = os.path.normpath(os.path.join(folder, path))
        if found.startswith('..'):
            raise SystemExit('%s: %s is outside of the page'
                             % (self.name, path))
        return found

    @staticmethod
    def names_of(text):
        """[(name there, name here)]"""
        pairs = [part.split(' as ') for part in text.split(',')
                 if part.strip()]
        return [(p[0].strip(), p[-1].strip()) for p in pairs]

    def key(self):
        return "M['%s']" % self.name


FIRST = """'use strict';
const M = {};
const later = (name) => {
  while (!M[name]) {
    const text = document.querySelector('script.rest');
    const script = document.createElement('script');
    script.shared = { M, later };
    script.textContent = text.textContent;
    text.replaceWith(script);
  }
  return M[name];
};
"""
REST = """'use strict';
{
const { M, later } = document.currentScript.shared;
%s}
"""


class Bundle:
    def __init__(self, directory, main, count):
        self.directory = directory
        self.modules = {}
        self.written = set()
        self.marked = [main]    # for the next script
        self.scripts = []
        for i in range(count):
            self.scripts.append(self.write_marked(i == count - 1))

    def write_marked(self, is_last):
        """What was marked so far; in the end, what this marks as well."""
        out = []
        marked, self.marked = self.marked, []
        while marked:
            out += self.write(marked.pop(0))
            if is_last:
                marked, self.marked = marked + self.marked, []
        return out

    def module(self, name):
        if name not in self.modules:
            self.modules[name] = Module(self.directory, name)
        return self.modules[name]

    def write(self, name):
        """The text of a module and of those that it imports, unless they
        have been written."""
        if name in self.written:
            return []
        module = self.module(name)
        self.written.add(name)
        out = []
        for _, other, is_later in module.imports:
            if is_later:
                self.marked.append(other)
            else:
                out += self.write(other)
        heads = [self.binding(module, there, here, self.module(other),
                              is_later)
                 for names, other, is_later in module.imports
                 for there, here in names]
        out.append('%s = (() => {\n%s%s\nreturn { %s };\n})();\n' % (
            module.key(), ''.join(heads), module.text,
            ', '.join(sorted(module.exports))))
        module.done = True
        return out

    def binding(self, module, there, here, other, is_later):
        kind = other.exports.get(there)
        if not kind:
            raise SystemExit('%s: %s exports no %s'
                             % (module.name, other.name, there))
        if is_later:
            return self.later(module, there, here, other, kind)
        if hasattr(other, 'done'):
            return 'const %s = %s.%s;\n' % (here, other.key(), there)
        # The two import each other: only what is called later can be had.
        if 'function' not in kind:
            raise SystemExit('%s and %s import each other: %s is no function'
                             % (module.name, other.name, there))
        return 'const %s = (...args) => %s.%s(...args);\n' % (
            here, other.key(), there)

    def later(self, module, there, here, other, kind):
        found = "later('%s').%s" % (other.name, there)
        if 'function' in kind:
            return 'const %s = (...args) => %s(...args);\n' % (here, found)
        uses = re.findall(r'(\bnew )?\b%s\b' % re.escape(here), module.text)
        if kind != 'class' or not all(uses):
            raise SystemExit('%s: %s cannot come later: it is neither called '
                             'nor made with new' % (module.name, here))
        return ('const %s = function (...args) {\nreturn new (%s)(...args);'
                '\n};\n' % (here, found))


def bundle(directory, main, count=2):
    """This many scripts."""
    first, *rest = Bundle(directory, main, count).scripts
    return [shrink.script(FIRST + ''.join(first))] + [
        shrink.script(REST % ''.join(script)) for script in rest]
