"""Files, lines and inlined calls in profiles of a running program, with
libpprof-symbol.so and without it."""

import os
import re
import shutil
import subprocess
import unittest
import urllib.request

import support

BUILD = os.path.abspath(support.BUILD)
PROGRAM = r'''
static volatile long sink;
static inline __attribute__((always_inline)) long square(long x)
{
    sink += x;
    return x * x;
}
__attribute__((noinline)) static long leaf(long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += square(i);
    return sum;
}
__attribute__((noinline)) static long outer(long n) { return leaf(n) + 1; }
int main(void)
{
    for (int i = 0; i < 600; i++)
        sink += outer(300000);
    return 0;
}
'''


@support.needs('gcc', 'objcopy', 'readelf')
class SymbolLibrary(support.TestCase):

    def build(self, source=PROGRAM, *flags):
        with open(self.path('work.c'), 'w') as f:
            f.write(source)
        program = self.path('work')
        subprocess.run(['gcc', '-g', '-O1', *flags, self.path('work.c'),
                        '-o', program], check=True)
        return program

    def record(self, program, tools=BUILD, **env):
        out = self.path('cpu.pb.gz')
        full = {k: v for k, v in os.environ.items()
                if not k.startswith('PPROF_')}
        subprocess.run([os.path.join(tools, 'pprof-run'), program],
                       env=dict(full, PPROF_CPUPROFILE=out,
                                PPROF_CPU_RATE='500', **env),
                       check=True, cwd=self.dir)
        return out

    def raw(self, profile):
        """What the profile itself says."""
        return self.pprof('-symbolize=none', '-raw', profile).stdout

    def flags(self, raw):
        """Of the program's mapping: [FN][FL][LN][IN] as far as set."""
        return re.search(r'^1: 0x.*?((\[\w\w\])*)$', raw, re.M).group(1)

    def test_lines_and_inlined_calls(self):
        raw = self.raw(self.record(self.build()))
        self.assertRegex(raw, r'square \S+/work.c:[56]:\d+ s=3\n'
                              r' +leaf \S+/work.c:12:\d+ s=8')
        self.assertRegex(raw, r'main \S+/work.c:1[89]:\d+ s=16')
        self.assertEqual(self.flags(raw), '[FN][FL][LN][IN]')

    def test_debug_information_is_read_once(self):
        """The second dump has its lines although the file is gone."""
        program = self.build(r'''
            #include <unistd.h>
            __attribute__((noinline)) static int rest(void)
            {
                return pause() + 1;
            }
            int main(void) { return rest() + 1; }''')
        server = subprocess.Popen(
            [os.path.join(BUILD, 'pprof-run'), '-addr', '127.0.0.1:0',
             program], stderr=subprocess.PIPE, text=True)
        self.addCleanup(server.stderr.close)
        self.addCleanup(support.stop, server)
        url = re.search(r'http://\S+', server.stderr.readline()).group(0)

        def dump():
            with urllib.request.urlopen(url + 'threads?debug=2') as reply:
                return reply.read().decode()
        self.assertRegex(dump(), r'rest\(...\)\n\t\S+work.c:5')
        shutil.copy('/bin/true', self.path('other'))
        os.rename(self.path('other'), program)
        self.assertRegex(dump(), r'rest\(...\)\n\t\S+work.c:5')

    def test_switched_off_there_are_names(self):
        raw = self.raw(self.record(self.build(), PPROF_SYMBOL_MEMORY='0'))
        self.assertRegex(raw, r'M=1 leaf :0:0 s=0')
        self.assertNotIn('work.c', raw)
        self.assertNotIn('libpprof-symbol', raw)
        self.assertEqual(self.flags(raw), '[FN]')

    def test_not_installed_there_are_names(self):
        tools = self.path('tools')
        os.mkdir(tools)
        for name in ('pprof-run', 'libpprof-preload.so'):
            shutil.copy(os.path.join(BUILD, name), tools)
        raw = self.raw(self.record(self.build(), tools=tools))
        self.assertRegex(raw, r'M=1 leaf :0:0 s=0')
        self.assertNotIn('work.c', raw)

    def test_names_without_lines_are_completed_where_the_binary_is(self):
        profile = self.record(self.build(), PPROF_SYMBOL_MEMORY='0')
        result = self.pprof('-lines', '-top', profile)
        self.assertRegex(result.stdout, r'square \S*work.c:[56]')
        os.rename(self.path('work'), self.path('moved'))
        result = self.pprof('-lines', '-top', profile)
        self.assertRegex(result.stdout, r'100%  leaf')
        self.assertEqual(result.stderr, '')

    def test_what_does_not_fit_stays_for_the_analyser(self):
        many = ''.join('struct s%d { int a, b; long c; } v%d; int f%d(int x) '
                       '{ struct s%d *p = &v%d; return p->a + x; }\n' % (
                           (i,) * 5) for i in range(9000))
        program = self.build(PROGRAM + many, '-O0',
                             '-fno-eliminate-unused-debug-types')
        with open(program, 'rb') as f:
            self.assertGreater(len(f.read()), 2 << 20)
        profile = self.record(program, PPROF_SYMBOL_MEMORY='1')
        raw = self.raw(profile)
        self.assertEqual(self.flags(raw), '[FN]')
        result = self.pprof('-lines', '-top', profile)
        self.assertRegex(result.stdout, r'leaf \S*work.c:1[012]')

    def test_a_stripped_program_and_its_debug_file_elsewhere(self):
        """Production has the stripped one, the developer the debug file."""
        program = self.build()
        notes = subprocess.run(['readelf', '-n', program], text=True,
                               capture_output=True).stdout
        build_id = re.search(r'Build ID: (\w+)', notes).group(1)
        place = self.path('debug', build_id[:2])
        os.makedirs(place)
        subprocess.run(['objcopy', '--only-keep-debug', program, os.path.join(
            place, build_id[2:] + '.debug')], check=True)
        subprocess.run(['strip', program], check=True)
        profile = self.record(program)
        self.assertNotIn('leaf', self.raw(profile))
        os.unlink(program)
        result = self.pprof('-lines', '-top', profile,
                            env={'PPROF_BINARY_PATH': self.path('debug')})
        self.assertRegex(result.stdout, r'square \S*work.c:[56]')
        self.assertRegex(result.stdout, r'outer \S*work.c:15')

    def test_it_needs_libc_and_zlib_and_shows_one_name(self):
        library = os.path.join(BUILD, 'libpprof-symbol.so')
        shown = subprocess.run(['nm', '-D', '--defined-only', library],
                               capture_output=True, text=True).stdout
        self.assertEqual([line.split()[-1] for line in shown.splitlines()],
                         ['pprof_symbol_resolve'])
        needed = subprocess.run(['objdump', '-p', library],
                                capture_output=True, text=True).stdout
        self.assertLessEqual(set(re.findall(r'NEEDED +(\S+)', needed)),
                             {'libc.so.6', 'libz.so.1',
                              'ld-linux-x86-64.so.2', 'libasan.so.8',
                              'libubsan.so.1'})


if __name__ == '__main__':
    unittest.main()
