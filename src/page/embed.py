#!/usr/bin/env python3
"""embed.py OUT DEPFILE DIR SET: the files of DIR as C, for src/page/assets.h.

SET is "page", the page of one profile, or "fleet", what a collector's page has
besides: neither contains a byte of the other.

Files of directories below are named by their path ("flame/tree.js").  What is
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
import shrink

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
MODULE = '<script type="module">%s</script>\n'
TEXT = '<script type="text/plain" %s>%s</script>\n'
POLICY = ("default-src 'none'; script-src %s; style-src %s; "
          "img-src data: blob:; base-uri 'none'; form-action 'none'")


def hash_of(text):
    digest = hashlib.sha256(text.encode()).digest()
    return "'sha256-%s'" % base64.b64encode(digest).decode()


def digest_of(data):
    return hashlib.sha256(data).hexdigest()[:20]


def read(directory, name):
    with open(os.path.join(directory, name), encoding='utf-8') as f:
        return f.read()


def inside(script):
    """A script as it can stand inside of HTML."""
    # Inside a string or a regexp, where alone they can be, these mean the
    # same.
    return escaped(script, '\\u%04x').replace('</script', '<\\/script').replace(
        '<!--', '<\\!--')


def escaped(text, form):
    """The same in ASCII: a browser then keeps the page, and compiles its
    scripts, as one byte for each letter."""
    def escape(match):
        units = match.group().encode('utf-16-be')
        return ''.join(form % int.from_bytes(units[i:i + 2], 'big')
                       for i in range(0, len(units), 2))
    return re.sub(r'[^\x00-\x7f]', escape, text)


# Starts the page's script, which is a text until then, when the browser has
# shown what the HTML says: compiling it would hold that up.
EARLY = 'early.js'


# What belongs to the collector's page alone.
FLEET = re.compile(r'fleet\.html$|fleet/|style/fleet\.css$')
# The HTML file of each set, how many scripts it has, and the HTML file whose
# first view needs only the first of them.
SHELLS = {'page': ('index.html', 2, ''),
          'fleet': ('fleet.html', 3, 'services.html')}


class Shell:
    """The HTML file with its styles and scripts inside: each request more is
    time in which nothing can be seen."""

    def __init__(self, directory, name, scripts):
        page = read(directory, name)
        style = shrink.style('\n'.join(read(directory, name)
                                       for name in STYLE.findall(page)))
        [main] = SCRIPT.findall(page)
        first, *rest = map(inside, bundle.bundle(directory, main, scripts))
        style = escaped(style, '\\%06x')
        assert '</style' not in style
        early = inside(shrink.script(read(directory, EARLY)))
        self.saved_hashes = ' '.join(map(hash_of, [first] + rest))
        self.script_hashes = '%s %s' % (hash_of(early), self.saved_hashes)
        self.style_hash = hash_of(style)
        assert page.isascii(), name
        # What can be seen without the script comes before it.
        page = SCRIPT.sub('', STYLE.sub('', page)).replace(
            '</head>', '<style>%s</style>\n</head>' % style)
        self.body, end = page.split('</body>', 1)
        self.end = '</body>' + end
        texts = ''.join(TEXT % ('class="rest"', text) for text in rest)
        self.at_once = MODULE % first + texts
        self.later = MODULE % early + TEXT % ('id="program"', first) + texts
        # Named by their content: a browser may keep them for good.
        self.rest = {'later-%s.js' % digest_of(text.encode()): text.encode()
                     for text in rest}
        self.alone = MODULE % first + ''.join(
            TEXT % ('class="rest" data-from="assets/%s"' % name, '')
            for name in self.rest)

    def served(self):
        return self.body + self.later + self.end

    def served_alone(self):
        """With the first script alone; the browser fetches the others when
        it has shown the view.  Ends inside of the body, where data follow."""
        return self.body + self.alone

    def saved(self):
        """What comes before and after the data of a saved page."""
        policy = ('<meta http-equiv="Content-Security-Policy" content="%s">\n'
                  % (POLICY % (self.saved_hashes, self.style_hash)))
        charset = '<meta charset="utf-8">\n'
        return (self.body.replace(charset, charset + policy) + self.at_once,
                self.end)


def write_set(f, name, shell, contents):
    f.write('#include "page/assets.h"\n\n'
            'static const struct asset files[] = {\n')
    for path, data in sorted(contents.items()):
        f.write('    {STR_INIT("%s"),\n     STR_INIT("%s"),\n'
                '     STR_INIT("\\"%s\\""),\n     STR_INIT(\n%s),\n'
                '     STR_INIT(\n%s)},\n'
                % (path, TYPES[os.path.splitext(path)[1]], digest_of(data),
                   literal(data), literal(gzip.compress(data, 9, mtime=0))))
    f.write('};\n\nconst struct asset_set %s_assets = {\n'
            '    files,\n    %d,\n    STR_INIT("%s"),\n    STR_INIT("%s"),\n'
            '    STR_INIT(\n%s),\n    STR_INIT(\n%s)};\n'
            % (name, len(contents), SHELLS[name][0], SHELLS[name][2],
               literal(shell.script_hashes.encode()),
               literal(shell.style_hash.encode())))


def main(out, depfile, directory, name):
    file, scripts, alone = SHELLS[name]
    shell = Shell(directory, file, scripts)
    paths = files_of(directory)
    # A file that is added or removed changes its directory.
    folders = sorted({os.path.dirname(path) for path in paths})
    contents = {}
    for path in paths:
        relative = os.path.relpath(path, directory)
        if bool(FLEET.match(relative)) == (name == 'fleet'):
            with open(path, 'rb') as source:
                contents[relative] = source.read()
    contents[file] = shell.served().encode()
    if alone:
        contents[alone] = shell.served_alone().encode()
        contents.update(shell.rest)
    with open(out, 'w', encoding='ascii') as f:
        write_set(f, name, shell, contents)
        if name == 'page':
            for variable, text in zip(('offline_start', 'offline_end'),
                                      shell.saved()):
                f.write('\nconst struct str %s = STR_INIT(\n%s);\n'
                        % (variable, literal(text.encode())))
    with open(depfile, 'w', encoding='utf-8') as f:
        f.write('%s: %s\n' % (out, ' '.join(
            path.replace(' ', '\\ ') for path in paths + folders)))


if __name__ == '__main__':
    main(*sys.argv[1:])
