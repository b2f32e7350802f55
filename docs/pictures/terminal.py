#!/usr/bin/env python3
"""Runs a command at a terminal of its own and draws what it shows, as SVG.

usage: docs/pictures/terminal.py [--columns N] [--cast FILE.cast] OUT.svg
           PROGRAM [ARGUMENT ...]

The first line of the picture is the command.  Colours are those that the
program asks for; it is told that the terminal can show all of them.  With
--cast all that was written, and when, is added to a recording that asciinema
plays.
"""
import argparse
import codecs
import fcntl
import html
import json
import os
import pty
import re
import struct
import sys
import termios
import time

CELL_WIDTH, CELL_HEIGHT, MARGIN = 8.0, 18, 12
ROWS = 50
PAPER, INK = '#1e2127', '#d7dae0'
EIGHTHS = '\u258f\u258e\u258d\u258c\u258b\u258a\u2589\u2588'


def run(command, columns):
    """All that the command writes to its terminal: seconds and bytes."""
    pid, fd = pty.fork()
    if pid == 0:
        os.read(0, 1)  # until the window has its size
        os.environ.update(TERM='xterm-256color', COLORTERM='truecolor')
        for name in ('NO_COLOR', 'COLUMNS'):
            os.environ.pop(name, None)
        os.execvp(command[0], command)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('4H', ROWS, columns, 0, 0))
    attributes = termios.tcgetattr(fd)
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(fd, termios.TCSANOW, attributes)
    os.write(fd, b'\n')
    output, start = [], time.monotonic()
    while True:
        try:
            block = os.read(fd, 65536)
        except OSError:
            break
        if not block:
            break
        output.append((time.monotonic() - start, block))
    os.waitpid(pid, 0)
    return output


def record(path, shown, output, columns):
    """Adds the command to an asciicast (version 2): a line for the terminal,
    then one an event."""
    at = 0.0
    if os.path.exists(path):
        with open(path, encoding='utf-8') as f:
            at = json.loads(f.readlines()[-1])[0] + 2
    decoder = codecs.getincrementaldecoder('utf-8')('replace')
    with open(path, 'a', encoding='utf-8') as f:
        def event(after, text):
            f.write(json.dumps([round(at + after, 6), 'o', text],
                               ensure_ascii=False) + '\n')
        if at == 0:
            f.write(json.dumps({'version': 2, 'width': columns, 'height': ROWS,
                                'idle_time_limit': 2.0}) + '\n')
        event(0, '$ %s\r\n' % shown)
        for seconds, block in output:
            event(seconds + 1, decoder.decode(block))
        event(seconds + 1 if output else 1, '\r\n')


def cells(line, style):
    """(character, ink, paper) of a line; style goes on to the next."""
    out = []
    for part in re.split(r'(\033\[[0-9;]*m)', line):
        if not part.startswith('\033['):
            ink, paper = style['ink'], style['paper']
            if style['swapped']:
                ink, paper = paper or PAPER, ink or INK
            out += [(c, ink or INK, paper) for c in part]
            continue
        codes = [int(c or 0) for c in part[2:-1].split(';')]
        while codes:
            code = codes.pop(0)
            if code == 0:
                style.update(ink=None, paper=None, swapped=False)
            elif code == 7:
                style['swapped'] = True
            elif code in (38, 48) and codes[:1] == [2]:
                style['ink' if code == 38 else 'paper'] = '#%02x%02x%02x' % (
                    tuple(codes[1:4]))
                codes = codes[4:]
    return out


def runs(row, key):
    """(start, cells) of the longest stretches with an equal key."""
    start = 0
    for i in range(1, len(row) + 1):
        if i == len(row) or key(row[i]) != key(row[start]):
            yield start, row[start:i]
            start = i


def draw(row, y):
    parts = []
    for start, stretch in runs(row, lambda c: c[2]):
        if stretch[0][2]:
            parts.append('<rect x="%.1f" y="%d" width="%.1f" height="%d" '
                         'fill="%s"/>' % (start * CELL_WIDTH, y,
                                          len(stretch) * CELL_WIDTH,
                                          CELL_HEIGHT, stretch[0][2]))
    for x, (c, ink, _) in enumerate(row):
        if c in EIGHTHS:  # drawn, since fonts differ
            width = CELL_WIDTH * (EIGHTHS.index(c) + 1) / 8
            parts.append('<rect x="%.1f" y="%d" width="%.1f" height="%d" '
                         'fill="%s"/>' % (x * CELL_WIDTH, y, width,
                                          CELL_HEIGHT, ink))
    text = [(' ' if c in EIGHTHS else c, ink) for c, ink, _ in row]
    for start, stretch in runs(text, lambda c: c[1]):
        words = ''.join(c for c, _ in stretch)
        if words.strip():
            parts.append('<text x="%.1f" y="%d" fill="%s" textLength="%.1f" '
                         'xml:space="preserve">%s</text>' % (
                             start * CELL_WIDTH, y + 13, stretch[0][1],
                             len(words) * CELL_WIDTH, html.escape(words)))
    return parts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--columns', type=int, default=100)
    parser.add_argument('--cast')
    parser.add_argument('out')
    parser.add_argument('command', nargs=argparse.REMAINDER)
    options = parser.parse_args()
    shown = ' '.join(os.path.basename(word) if os.path.isabs(word) else word
                     for word in options.command)
    output = run(options.command, options.columns)
    if options.cast:
        record(options.cast, shown, output, options.columns)
    text = b''.join(block for _, block in output).decode('utf-8', 'replace')
    lines = ['$ ' + shown] + text.replace('\r', '').strip('\n').split('\n')
    style = {'ink': None, 'paper': None, 'swapped': False}
    parts = []
    for y, line in enumerate(lines):
        parts += draw(cells(line, style), y * CELL_HEIGHT)
    width = options.columns * CELL_WIDTH + 2 * MARGIN
    height = len(lines) * CELL_HEIGHT + 2 * MARGIN
    with open(options.out, 'w', encoding='utf-8') as f:
        f.write('<svg xmlns="http://www.w3.org/2000/svg" width="%d" '
                'height="%d" viewBox="0 0 %d %d" font-family="DejaVu Sans '
                'Mono,Menlo,Consolas,monospace" font-size="13">\n'
                '<rect width="100%%" height="100%%" rx="6" fill="%s"/>\n'
                '<g transform="translate(%d %d)">\n%s\n</g>\n</svg>\n'
                % (width, height, width, height, PAPER, MARGIN, MARGIN,
                   '\n'.join(parts)))


if __name__ == '__main__':
    sys.exit(main())
