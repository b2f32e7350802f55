"""list, weblist and disasm of real programs are those of `go tool pprof`.

That tool has a disassembler of its own, with Go's syntax, for everything: of
its disasm the addresses, costs and places are compared, and the instructions
with objdump's.  It ends a function at its symbol's size, we do at the next
symbol as google/pprof does with objdump: the padding is ours alone.  Its
weblist is of before google/pprof showed inlined calls where they are called:
it is compared for a function without any, and else with list."""

import html
import os
import re
import shutil
import subprocess
import unittest

import support
from symbols import SOURCES, run

BUILD = os.path.abspath(support.BUILD)


class Code(support.TestCase):

    def peer(self, *args):
        result = subprocess.run(
            ['go', 'tool', 'pprof', *args], capture_output=True, text=True,
            env=dict(os.environ, HOME=self.dir, PPROF_TMPDIR=self.dir),
            cwd=self.dir)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def ours(self, *args):
        result = self.pprof(*args)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def check_list(self, function):
        args = ('-list=' + function, self.program, self.profile)
        self.assertEqual(self.ours(*args), self.peer(*args))

    @staticmethod
    def instructions(text):
        """address -> (flat, cum, text, place); a place holds until the
        next."""
        found, place = {}, ''
        for line in text.split('\n'):
            m = re.match(r' *(\S+) +(\S+) +([0-9a-f]+): (.*)', line)
            if not m:
                continue
            code, _, note = m.group(4).partition(';')
            place = note.split(' ')[-1] or place
            found[m.group(3)] = (m.group(1), m.group(2), code.strip(), place)
        return found

    def disassembly(self, syntax):
        """address -> text, from objdump itself."""
        tool = shutil.which('llvm-objdump')
        if tool:
            flags = ['--x86-asm-syntax=intel'] if syntax else []
        else:
            tool = shutil.which('objdump')
            flags = ['-M', 'intel'] if syntax else []
        text = subprocess.run(
            [tool, '--disassemble', '--demangle', '--no-show-raw-insn',
             *flags, self.program], capture_output=True, text=True).stdout
        return {m.group(1): ' '.join(m.group(2).split()) for m in re.finditer(
            r'^ *([0-9a-f]+):\s+(.*)$', text, re.M)}

    def check_disasm(self, function, is_go):
        args = ('-disasm=' + function, self.program, self.profile)
        ours = self.instructions(self.ours(*args))
        peer = self.instructions(self.peer(*args))
        self.assertGreater(len(peer), 5)
        for address, (flat, cum, _, place) in peer.items():
            self.assertIn(address, ours)
            self.assertEqual(ours[address][:2], (flat, cum), address)
            if is_go:  # of C it knows places only from the samples
                self.assertEqual(ours[address][3], place, address)
        # Behind its end there is only padding.
        for address in set(ours) - set(peer):
            self.assertEqual(ours[address][:2], ('.', '.'))
        for intel in (False, True):
            flags = ('-intel_syntax',) if intel else ()
            ours = self.instructions(self.ours(*flags, *args))
            expected = self.disassembly(intel)
            for address, (_, _, text, _) in ours.items():
                self.assertEqual(' '.join(text.split()), expected[address])

    @staticmethod
    def source_rows(page):
        """(line, flat, cum, source) of lines that cost something."""
        rows = set()
        for m in re.finditer(r'<span class=line> *(\d+)</span> <span class=\w+>'
                             r' *(\S+) +(\S+) (.*?)</span>', page):
            if m.group(2) != '.' or m.group(3) != '.':
                rows.add((m.group(1), m.group(2), m.group(3),
                          html.unescape(m.group(4)).strip()))
        return rows

    def weblist(self, which, function):
        out = self.path('weblist.html')
        which('-weblist=' + function, '-output=' + out, self.program,
              self.profile)
        with open(out) as f:
            return self.source_rows(f.read())

    def check_weblist(self, function):
        """The costs of lines are those of list, where an inlined call's own
        cost is not the line's."""
        listed = set()
        for m in re.finditer(r'^ +(\S+) +(\S+) +(\d+):(.*)$', self.ours(
                '-list=' + function, self.program, self.profile), re.M):
            if m.group(1) != '.' or m.group(2) != '.':
                listed.add((m.group(3), m.group(2), m.group(4).strip()))
        self.assertGreater(len(listed), 0)
        self.assertEqual({row[:1] + row[2:] for row in self.weblist(
            self.ours, function)}, listed)


@support.needs('go')
class GoProgram(Code):

    def setUp(self):
        super().setUp()
        self.program = self.path('program')
        self.profile = self.path('cpu.pb.gz')
        run('go', 'build', '-o', self.program, os.path.join(SOURCES, 'cpu.go'),
            env=dict(os.environ, GOCACHE=self.path('cache'), HOME=self.dir,
                     GO111MODULE='off', GOFLAGS=''))
        run(self.program, self.profile)

    def test_reports(self):
        self.check_list('main.words')
        self.check_list('strings.Fields')
        self.check_weblist('main.words')
        self.assertEqual(self.weblist(self.ours, 'main.sum'),
                         self.weblist(self.peer, 'main.sum'))
        self.check_disasm('main.words', True)


@support.needs('go', 'gcc', 'g++')
class NativeProgram(Code):

    def setUp(self):
        super().setUp()
        source = self.path('work.c')
        with open(source, 'w') as f:
            f.write('''
static volatile long sink;
static inline long square(long x)
{
    sink += x;
    return x * x;
}
__attribute__((noipa)) long leaf(long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += square(i);
    return sum;
}
int main(void)
{
    for (int i = 0; i < 600; i++)
        sink += leaf(300000);
    return 0;
}
''')
        self.program = self.path('program')
        self.profile = self.path('cpu.pb.gz')
        run('gcc', '-g', '-O2', '-no-pie', source, '-o', self.program)
        run(os.path.join(BUILD, 'pprof-run'), self.program,
            env=dict(os.environ, PPROF_CPUPROFILE=self.profile,
                     PPROF_CPU_RATE='500'))

    def test_reports(self):
        self.check_list('leaf')
        self.check_list('main')
        self.check_weblist('leaf')
        self.check_disasm('leaf', False)


if __name__ == '__main__':
    unittest.main()
