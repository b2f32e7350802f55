"""Scripts and styles without comments and without most white space.

The browser reads every byte of the page before it shows anything.  Only white
space that cannot matter goes: names stay, and so does a line's end wherever a
statement may end there.  Strings, templates and regular expressions are
copied as they are.
"""
import re

TOKEN = re.compile(r'''(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<space>\s+)
    |(?P<string>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")
    |(?P<word>[\w$#]+)
    |(?P<sign>.)''', re.S | re.X)
# To its end, or to the code inside of it.
TEMPLATE = re.compile(r'(?:\\.|(?!\$\{)[^`\\])*(?:`|(?P<code>\$\{))', re.S)
REGEXP = re.compile(r'/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/\w*')

# A slash after one of these starts a regular expression.
BEFORE_REGEXP = set('(,=:[!&|?{};+-*%<>~^') | {
    '', 'case', 'delete', 'do', 'else', 'in', 'instanceof', 'new', 'of',
    'return', 'throw', 'typeof', 'void', 'yield', 'await'}
# Signs that need no white space after them, not even a line's end, and signs
# that need none before them.
OPEN_AFTER = set('{([,;:=&|?') | {''}
OPEN_BEFORE = set('{}()[],;:=&|?')


class Script:
    def __init__(self, text):
        self.text = text
        self.out = []
        self.last = ''      # the last token that is no space
        self.space = ''     # white space that has not been written yet
        self.braces = []    # open ones inside each template around this

    def put(self, token):
        before, after = self.last in OPEN_AFTER, token[0] in OPEN_BEFORE
        if self.space and not before and (self.space == '\n' or not after):
            self.out.append(self.space)
        self.out.append(token)
        self.last, self.space = token, ''

    def template(self, start, at):
        """From its start, or from where code in it ended."""
        found = TEMPLATE.match(self.text, at)
        if not found:
            raise SystemExit('a template has no end: %s'
                             % self.text[start:start + 60])
        self.put(self.text[start:found.end()])
        if found.group('code'):
            self.braces.append(0)
            self.last = '{'
        else:
            self.last = '`'
        return found.end()

    def sign(self, sign, at):
        """Where to read on."""
        if sign == '`':
            return self.template(at, at + 1)
        if sign == '/' and self.last in BEFORE_REGEXP:
            found = REGEXP.match(self.text, at)
            if found:
                self.put(found.group())
                self.last = '/'
                return found.end()
        if self.braces and sign == '}' and self.braces[-1] == 0:
            self.braces.pop()
            self.space = ''
            return self.template(at, at + 1)
        if self.braces and sign in '{}':
            self.braces[-1] += 1 if sign == '{' else -1
        self.put(sign)
        return at + 1

    def shrunk(self):
        at = 0
        while at < len(self.text):
            token = TOKEN.match(self.text, at)
            kind, text = token.lastgroup, token.group()
            if kind in ('comment', 'space'):
                self.space = '\n' if '\n' in self.space + text else ' '
                at = token.end()
            elif kind == 'sign':
                at = self.sign(text, at)
            else:
                self.put(text)
                at = token.end()
        return ''.join(self.out)


def script(text):
    return Script(text).shrunk()


STYLE = re.compile(r'''("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
    |/\*.*?\*/|\s*([{};,])\s*|\s+''', re.S | re.X)


def style(text):
    def put(found):
        kept, sign = found.groups()
        return kept or sign or (' ' if found.group().isspace() else '')
    return STYLE.sub(put, text).strip()
