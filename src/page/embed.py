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
POLICY = ("default-src 'none'; script-src %s; style-src %s; "
          "img-src data: blob:; base-uri 'none'; form-action 'none'")


def hash_of(text):
    digest = hashlib.sha256(text.encode()).digest()
    return "'sha256-%s'" % base64.b64encode(digest).decode()


def read(directory, name):
    with open(os.path.join(directory, name), encoding='utf-8') as f:
        return f.read()


# Starts the page's script, which is a text until then, when the browser has
# shown what the HTML says: compiling it would hold that up.
EARLY = 'early.js'


class Shell:
    """index.html with its styles and scripts inside: each request more is
    time in which nothing can be seen."""

    def __init__(self, directory):
        page = read(directory, 'index.html')
        style = '\n'.join(read(directory, name)
                          for name in STYLE.findall(page))
        script = '\n'.join(bundle.bundle(directory, name)
                           for name in SCRIPT.findall(page))
        # Inside a string or a regexp, where alone they can be, these mean
        # the same.
        script = script.replace('</script', '<\\/script').replace(
            '<!--', '<\\!--')
        assert '</style' not in style
        early = read(directory, EARLY)
        self.script_hash, self.style_hash = hash_of(script), hash_of(style)
        self.script_hashes = '%s %s' % (hash_of(early), self.script_hash)
        # What can be seen without the script comes before it.
        page = SCRIPT.sub('', STYLE.sub('', page)).replace(
            '</head>', '<style>%s</style>\n</head>' % style)
        self.body, end = page.split('</body>', 1)
        self.end = '</body>' + end
        self.at_once = '<script type="module">%s</script>\n' % script
        self.later = (
            '<script type="module">%s</script>\n'
            '<script type="text/plain" id="program">%s</script>\n'
            % (early, script))

    def served(self):
        return self.body + self.later + self.end

    def saved(self):
        """What comes before and after the data of a saved page."""
        policy = ('<meta http-equiv="Content-Security-Policy" content="%s">\n'
                  % (POLICY % (self.script_hash, self.style_hash)))
        charset = '<meta charset="utf-8">\n'
        return (self.body.replace(charset, charset + policy) + self.at_once,
                self.end)


def main(out, depfile, directory):
    shell = Shell(directory)
    paths = files_of(directory)
    contents = {}
    for path in paths:
        with open(path, 'rb') as source:
            contents[os.path.relpath(path, directory)] = source.read()
    contents['index.html'] = shell.served().encode()
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
        texts = zip(('offline_start', 'offline_end', 'shell_script_hashes',
                     'shell_style_hash'),
                    [*shell.saved(), shell.script_hashes, shell.style_hash])
        for name, text in texts:
            f.write('\nconst struct str %s = STR_INIT(\n%s);\n'
                    % (name, literal(text.encode())))
    with open(depfile, 'w', encoding='utf-8') as f:
        f.write('%s: %s\n' % (out, ' '.join(
            path.replace(' ', '\\ ') for path in paths + [directory])))


if __name__ == '__main__':
    main(*sys.argv[1:])
