#!/usr/bin/env python3
"""embed.py OUT DEPFILE DIR: the files of DIR as C, for src/page/assets.h.

Files of directories below are named by their path ("lib/flame.js").  What is
not for the browser (types, configuration of tools) stays outside.
"""
import hashlib
import os
import sys

TYPES = {
    '.css': 'text/css; charset=utf-8',
    '.html': 'text/html; charset=utf-8',
    '.js': 'text/javascript; charset=utf-8',
    '.png': 'image/png',
    '.svg': 'image/svg+xml',
}
LINE = 60


def files_of(directory):
    found = []
    for parent, directories, names in os.walk(directory):
        directories[:] = [d for d in directories
                          if d not in ('node_modules', 'types')]
        found += [os.path.join(parent, name) for name in names
                  if os.path.splitext(name)[1] in TYPES]
    return sorted(found, key=lambda path: os.path.relpath(path, directory))


def literal(data):
    """Octal escapes of three digits: no byte changes the meaning of the
    next."""
    plain = {ord(c) for c in ' !#$%&()*+,-./:;<=>@[]^_`{|}~'}
    plain |= {c for c in range(128) if chr(c).isalnum()}
    text = [chr(byte) if byte in plain else '\\%03o' % byte for byte in data]
    rows = [''.join(text[i:i + LINE]) for i in range(0, len(text), LINE)]
    return '\n'.join('        "%s"' % row for row in rows) or '        ""'


def main(out, depfile, directory):
    paths = files_of(directory)
    with open(out, 'w', encoding='ascii') as f:
        f.write('#include "page/assets.h"\n\n'
                'const struct asset assets[] = {\n')
        for path in paths:
            with open(path, 'rb') as source:
                data = source.read()
            digest = hashlib.sha256(data).hexdigest()[:20]
            f.write('    {STR_INIT("%s"),\n     STR_INIT("%s"),\n'
                    '     STR_INIT("\\"%s\\""),\n     STR_INIT(\n%s)},\n'
                    % (os.path.relpath(path, directory),
                       TYPES[os.path.splitext(path)[1]], digest,
                       literal(data)))
        f.write('};\n\nconst size_t n_assets = %d;\n' % len(paths))
    with open(depfile, 'w', encoding='utf-8') as f:
        f.write('%s: %s\n' % (out, ' '.join(
            path.replace(' ', '\\ ') for path in paths + [directory])))


if __name__ == '__main__':
    main(*sys.argv[1:])
