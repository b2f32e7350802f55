#!/usr/bin/env python3
"""embed.py OUT DEPFILE DIR: the files of DIR as C, for src/page/assets.h.

Files of directories below are named by their path ("lib/flame.js").  What is
not for the browser (types, configuration of tools) stays outside.  From the
same files comes the frame of the page that is saved as one file.
"""
import base64
import gzip
import hashlib
import os
import re
import sys

sys.dont_write_bytecode = True
import bundle

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


STYLE = re.compile(r'<link rel="stylesheet" href="assets/([^"]+)">\n?')
SCRIPT = re.compile(
    r'<script type="module" src="assets/([^"]+)"></script>\n?')
PRELOAD = re.compile(r'<link rel="modulepreload"[^>]*>\n?')
POLICY = ("default-src 'none'; script-src %s; style-src %s; "
          "img-src data: blob:; base-uri 'none'; form-action 'none'")


def hash_of(text):
    digest = hashlib.sha256(text.encode()).digest()
    return "'sha256-%s'" % base64.b64encode(digest).decode()


def read(directory, name):
    with open(os.path.join(directory, name), encoding='utf-8') as f:
        return f.read()


def parts_of(directory):
    """index.html without its styles and scripts, and each of them as one."""
    page = PRELOAD.sub('', read(directory, 'index.html'))
    style = '\n'.join(read(directory, name) for name in STYLE.findall(page))
    script = '\n'.join(bundle.bundle(directory, name)
                       for name in SCRIPT.findall(page))
    return SCRIPT.sub('', STYLE.sub('', page)), style, script


def offline_page(directory):
    """index.html with its styles and scripts inside: what comes before and
    after the data."""
    page, style, script = parts_of(directory)
    # Inside a string or a regexp, where alone they can be, these mean the
    # same.
    script = script.replace('</script', '<\\/script').replace(
        '<!--', '<\\!--')
    assert '</style' not in style
    policy = POLICY % (hash_of(script), hash_of(style))
    page = page.replace(
        '<meta charset="utf-8">\n',
        '<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" '
        'content="%s">\n' % policy)
    head, body = page.split('</head>', 1)
    before, after = body.split('</body>', 1)
    return ('%s<style>%s</style>\n<script type="module">%s</script>\n'
            '</head>%s' % (head, style, script, before),
            '</body>%s' % after)


def served_page(directory):
    """The same with one style and one script beside it: fifty requests
    would take longer than everything else together."""
    page, style, script = parts_of(directory)
    page = page.replace(
        '</head>', '<link rel="stylesheet" href="assets/page.css">\n'
        '<script type="module" src="assets/page.js"></script>\n</head>')
    return {'index.html': page, 'page.css': style, 'page.js': script}


def main(out, depfile, directory):
    paths = files_of(directory)
    contents = {}
    for path in paths:
        with open(path, 'rb') as source:
            contents[os.path.relpath(path, directory)] = source.read()
    contents.update((name, text.encode())
                    for name, text in served_page(directory).items())
    with open(out, 'w', encoding='ascii') as f:
        f.write('#include "page/assets.h"\n\n'
                'const struct asset assets[] = {\n')
        for name, data in sorted(contents.items()):
            digest = hashlib.sha256(data).hexdigest()[:20]
            f.write('    {STR_INIT("%s"),\n     STR_INIT("%s"),\n'
                    '     STR_INIT("\\"%s\\""),\n     STR_INIT(\n%s),\n'
                    '     STR_INIT(\n%s)},\n'
                    % (name, TYPES[os.path.splitext(name)[1]], digest,
                       literal(data), literal(gzip.compress(data, 9, mtime=0))))
        f.write('};\n\nconst size_t n_assets = %d;\n' % len(contents))
        for name, text in zip(('start', 'end'), offline_page(directory)):
            f.write('\nconst struct str offline_%s = STR_INIT(\n%s);\n'
                    % (name, literal(text.encode())))
    with open(depfile, 'w', encoding='utf-8') as f:
        f.write('%s: %s\n' % (out, ' '.join(
            path.replace(' ', '\\ ') for path in paths + [directory])))


if __name__ == '__main__':
    main(*sys.argv[1:])
