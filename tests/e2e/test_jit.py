"""Code that a program generates while it runs: names from perf maps and
jitdumps, and stacks through it, in libpprof's profiles and in perf.data."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import runtime

PROGRAM = os.path.join(runtime.PROGRAMS, 'jit')
SECONDS = '2'

JS = '''
function leafHash(n) { let h = 2166136261; for (let i = 0; i < n; i++)
    h = Math.imul(h ^ (i & 255), 16777619); return h >>> 0; }
function middle(k) { return leafHash(50000) + k; }
function outerLoop(ms) { const end = Date.now() + ms; let s = 0;
    while (Date.now() < end) s += middle(1); return s; }
outerLoop(2000);
'''

JAVA = '''
public class W {
  static int leafHash(int n) { int h = 7; for (int i = 0; i < n; i++)
      h = (h ^ (i & 255)) * 16777619; return h; }
  static int middle(int k) { return leafHash(50000) + k; }
  static long outerLoop(long ms) { long end = System.currentTimeMillis() + ms,
      s = 0; while (System.currentTimeMillis() < end) s += middle(1);
      return s; }
  public static void main(String[] a) { System.out.println(outerLoop(2000)); }
}
'''

PYTHON = '''
import time
def leaf_hash(n):
    h = 7
    for i in range(n):
        h = ((h ^ (i & 255)) * 16777619) & 0xffffffff
    return h
def middle(k):
    return leaf_hash(2000) + k
def outer_loop(s):
    end = time.time() + s
    while time.time() < end:
        middle(1)
outer_loop(2)
'''

PHP = '''<?php
function leafHash($n) { $h = 7; for ($i = 0; $i < $n; $i++)
    $h = (($h ^ ($i & 255)) * 16777619) & 0xffffffff; return $h; }
function outerLoop($s) { $end = microtime(true) + $s; $r = 0;
    while (microtime(true) < $end) $r += leafHash(5000); return $r; }
outerLoop(2.0);
'''


def find_python():
    """A CPython that can write perf maps."""
    for name in ('python3', 'python3.12', 'python3.13', 'python3.14'):
        path = shutil.which(name)
        if path and subprocess.run([path, '-X', 'perf', '-c', ''],
                                   capture_output=True).returncode == 0:
            probe = subprocess.run(
                [path, '-c', 'import sys; '
                 'print(getattr(sys, "is_stack_trampoline_active", None))'],
                capture_output=True, text=True)
            if 'None' not in probe.stdout:
                return path
    return None


def can_record():
    return shutil.which('perf') and subprocess.run(
        ['perf', 'record', '-e', 'cpu-clock', '-o', '/dev/null', 'true'],
        capture_output=True).returncode == 0


class Base(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.dir = directory.name
        self.addCleanup(self.forget_maps)

    def forget_maps(self):
        """What a runtime left in /tmp, if it is of the processes we ran."""
        for pid in self.pids:
            for path in ('/tmp/perf-%d.map' % pid, '/tmp/jit-%d.dump' % pid):
                if os.path.exists(path):
                    os.remove(path)

    pids = ()

    def path(self, name):
        return os.path.join(self.dir, name)

    def run_command(self, command):
        process = subprocess.Popen(command, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True,
                                   cwd=self.dir)
        _, err = process.communicate(timeout=120)
        # pprof-run becomes the program, so its number is the program's.
        self.pids = (*self.pids, process.pid)
        self.assertEqual(process.returncode, 0, err)

    def profile(self, *command):
        path = self.path('cpu')
        self.run_command([os.path.abspath(os.path.join(runtime.BUILD,
                                                       'pprof-run')),
                          '-cpuprofile', path, *command])
        return path

    def rows(self, path):
        """{function: cumulated share in percent}, and "flat" ones."""
        top = runtime.top(path)
        total = sum(flat for flat, _ in top.values())
        self.flat = {name: 100 * flat / total
                     for name, (flat, _) in top.items()}
        return {name: 100 * cum / total for name, (_, cum) in top.items()}

    def unknown(self):
        return sum(share for name, share in self.flat.items()
                   if name in ('<unknown>', '[anon]'))


class Generated(Base):
    def check(self, path):
        rows = self.rows(path)
        for name, share in (('main', 100), ('run_loop', 50),
                            ('generatedLoop', 50), ('run_pass', 50),
                            ('generated_pass', 50), ('burn', 50)):
            self.assertAlmostEqual(rows.get(name, 0), share, delta=6,
                                   msg=name)
        self.assertLess(self.unknown(), 1)
        raw = runtime.pprof('-raw', path)
        self.assertRegex(raw, r'generatedLoop /app/view\.js:')
        self.assertRegex(raw, r'generated_pass /app/view\.py:')

    def test_names_and_callers_from_a_map(self):
        path = self.profile(os.path.abspath(PROGRAM), SECONDS, 'map', self.dir)
        self.check(path)
        ends = runtime.stack_ends(path)
        self.assertGreater(ends[0], 0.98 * sum(ends))

    def test_names_and_callers_from_a_dump(self):
        self.check(self.profile(os.path.abspath(PROGRAM), SECONDS, 'dump',
                                self.dir))

    @unittest.skipUnless(can_record(), 'perf may not record here')
    def test_perf_data(self):
        path = self.path('perf.data')
        for kind in ('map', 'dump'):
            for graph in ('fp', 'dwarf'):
                with self.subTest('%s %s' % (kind, graph)):
                    done = subprocess.run(
                        ['perf', 'record', '-q', '-e', 'cpu-clock', '-F',
                         '199', '--call-graph', graph, '-o', path,
                         os.path.abspath(PROGRAM), '1', kind, self.dir],
                        capture_output=True, text=True, cwd=self.dir)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.pids = (*self.pids, int(done.stdout.split()[0]))
                    rows = self.rows(path)
                    self.assertGreater(rows.get('generatedLoop', 0), 40)
                    if graph == 'dwarf': # burn() has no frame pointer
                        self.assertGreater(rows.get('generated_pass', 0), 40)
                    self.assertLess(self.unknown(), 3)


class Runtimes(Base):
    def check(self, path, names):
        rows = self.rows(path)
        print('# %s: %.1f %% without a name' % (self.id(), self.unknown()))
        for name in names:
            # Compilers inline; some function of the chain is there.
            self.assertGreater(
                max((share for function, share in rows.items()
                     if re.search(name, function)), default=0), 50, name)
        self.assertLess(self.unknown(), 3)

    def write(self, name, text):
        with open(self.path(name), 'w') as f:
            f.write(text)
        return self.path(name)

    @unittest.skipUnless(shutil.which('node'), 'not installed: node')
    def test_node(self):
        script = self.write('w.js', JS)
        for option in ('--perf-basic-prof', '--perf-prof'):
            with self.subTest(option):
                self.check(self.profile(
                    'node', option, '--interpreted-frames-native-stack',
                    script), ('outerLoop', r'w\.js:1:1'))

    @unittest.skipUnless(shutil.which('javac'), 'not installed: javac')
    def test_java(self):
        subprocess.run(['javac', self.write('W.java', JAVA)], check=True)
        self.check(self.profile(
            'java', '-XX:+PreserveFramePointer',
            '-XX:+UnlockDiagnosticVMOptions', '-XX:+DumpPerfMapAtExit',
            '-cp', self.dir, 'W'), (r'W\.(middle|leafHash)', 'Interpreter'))

    @unittest.skipUnless(find_python(), 'not installed: Python 3.12')
    def test_python(self):
        path = self.profile(find_python(), '-X', 'perf',
                            self.write('w.py', PYTHON))
        self.check(path, ('^leaf_hash$', '^middle$', '^outer_loop$',
                          '^<module>$'))

    @unittest.skipUnless(shutil.which('php'), 'not installed: php')
    def test_php(self):
        self.check(self.profile(
            'php', '-d', 'opcache.enable_cli=1', '-d',
            'opcache.jit_buffer_size=16M', '-d', 'opcache.jit=function', '-d',
            'opcache.jit_debug=16', '-d', 'opcache.file_update_protection=0',
            self.write('w.php', PHP)), ('leafHash',))


if __name__ == '__main__':
    unittest.main()
