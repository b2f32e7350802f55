"""ES modules as one script, for the page that is saved as a single file.

Each module becomes a function that runs once, in the order in which a
browser would run them; what it exports is kept under its name.  Understood
is what web/ is written in:

    import { a, b as c } from './x.js';
    export function f … / export class C … / export const x …

Anything else with import or export ends the build with a sentence.  Lines
that are comments and nothing else are left out: a quarter of all bytes.
"""
import os
import re

IMPORT = re.compile(
    r"^import\s+\{([^}]*)\}\s+from\s+'\./([\w./-]+)';[ \t]*$", re.M)
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
        self.imports = [(self.names_of(names), path)
                        for names, path in IMPORT.findall(text)]
        self.exports = {name: kind for kind, name in EXPORT.findall(text)}
        self.text = EXPORT.sub(lambda m: '%s %s' % m.groups(),
                               IMPORT.sub('', text))
        other = OTHER.search(self.text)
        if other:
            raise SystemExit('%s: cannot be put in one file: %s'
                             % (name, other.group()))

    @staticmethod
    def names_of(text):
        """[(name there, name here)]"""
        pairs = [part.split(' as ') for part in text.split(',')
                 if part.strip()]
        return [(p[0].strip(), p[-1].strip()) for p in pairs]

    def key(self):
        return "M['%s']" % self.name


class Bundle:
    def __init__(self, directory):
        self.directory = directory
        self.modules = {}
        self.out = ["'use strict';\nconst M = {};\n"]

    def add(self, name):
        if name in self.modules:
            return
        module = self.modules[name] = Module(self.directory, name)
        for _, other in module.imports:
            self.add(other)
        heads = [self.binding(module, there, here, self.modules[other])
                 for names, other in module.imports for there, here in names]
        self.out.append('%s = (() => {\n%s%s\nreturn { %s };\n})();\n' % (
            module.key(), ''.join(heads), module.text,
            ', '.join(sorted(module.exports))))
        module.done = True

    def binding(self, module, there, here, other):
        kind = other.exports.get(there)
        if not kind:
            raise SystemExit('%s: %s exports no %s'
                             % (module.name, other.name, there))
        if hasattr(other, 'done'):
            return 'const %s = %s.%s;\n' % (here, other.key(), there)
        # The two import each other: only what is called later can be had.
        if 'function' not in kind:
            raise SystemExit('%s and %s import each other: %s is no function'
                             % (module.name, other.name, there))
        return 'const %s = (...args) => %s.%s(...args);\n' % (
            here, other.key(), there)


def bundle(directory, main):
    b = Bundle(directory)
    b.add(main)
    return ''.join(b.out)
