"""pprof from the command line: sources, outputs, exit codes."""
import ctypes
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
from profilepb import Profile  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
PPROF = os.path.abspath(os.path.join(
    os.environ.get('PPROF_BUILD', 'build'), 'pprof'))
MS = 1000000


def make_profile(path, costs, mapping='/bin/app', build_id=''):
    """A flat profile: function name -> milliseconds."""
    p = Profile([('samples', 'count'), ('cpu', 'nanoseconds')])
    where = p.mapping(0x1000, 0x9000, 0, mapping, build_id)
    main = p.location(p.function('main', 'main.c'), 3, 0x1100, where)
    for i, (name, cost) in enumerate(costs.items()):
        leaf = p.location(p.function(name, 'work.c'), i, 0x2000 + i, where)
        p.sample([leaf, main], [1, cost * MS])
    p.write(path)


class WithDirectory(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = directory.name
        make_profile(self.file('a.pb.gz'), {'parse': 30, 'print': 70})

    def file(self, name):
        return os.path.join(self.path, name)

    def write(self, name, text, mode=0o644):
        with open(self.file(name), 'w') as f:
            f.write(text)
        os.chmod(self.file(name), mode)

    def read(self, name):
        with open(self.file(name)) as f:
            return f.read()

    def pprof(self, *words, **options):
        env = {'PATH': '/usr/bin:/bin', 'HOME': self.path,
               **options.pop('env', {})}
        options.setdefault('stdin', subprocess.DEVNULL)
        return subprocess.run([PPROF, *words], cwd=self.path, env=env,
                              capture_output=True, text=True, timeout=60,
                              **options)

    def fails(self, run, words, code=2):
        self.assertEqual(run.returncode, code, run.stderr)
        self.assertEqual(run.stdout, '')
        self.assertIn(words, run.stderr)


class SourceTest(WithDirectory):
    def test_standard_input_is_a_source(self):
        with open(self.file('a.pb.gz'), 'rb') as f:
            run = self.pprof('-top', '-', stdin=f)
        self.assertEqual(run.returncode, 0)
        self.assertIn('print', run.stdout)

    def test_a_named_pipe_is_a_source(self):
        os.mkfifo(self.file('pipe'))
        with subprocess.Popen('cat a.pb.gz >pipe', shell=True,
                              cwd=self.path) as writer:
            run = self.pprof('-top', 'pipe')
        self.assertEqual(writer.returncode, 0)
        self.assertIn('print', run.stdout)

    def test_more_files_than_are_held_at_a_time_add_up(self):
        for i in range(150):
            shutil.copy(self.file('a.pb.gz'), self.file('%d.pb.gz' % i))
        run = self.pprof('-top', *('%d.pb.gz' % i for i in range(150)))
        self.assertIn('of 15s total', run.stdout)

    def test_what_cannot_be_read_is_told_and_left_out(self):
        run = self.pprof('-top', 'a.pb.gz', 'missing', 'a.pb.gz')
        self.assertEqual(run.returncode, 0)
        self.assertIn('of 200ms total', run.stdout)
        self.assertEqual(
            run.stderr,
            'missing: stat missing: no such file or directory\n'
            'Fetched 2 source profiles out of 3\n')

    def test_an_unreadable_file_is_told(self):
        if os.geteuid() == 0:
            self.skipTest('root can read everything')
        os.chmod(self.file('a.pb.gz'), 0)
        self.fails(self.pprof('-top', 'a.pb.gz'),
                   'a.pb.gz: open a.pb.gz: permission denied')

    def test_a_web_page_is_no_profile(self):
        self.write('page', '<!doctype html><html><body>no</body></html>\n')
        self.fails(self.pprof('-top', 'page'), 'page: parsing profile: ')

    def test_a_file_of_perf_that_is_cut_short(self):
        self.write('perf.data', 'PERFILE2 and more')
        self.fails(self.pprof('-top', 'perf.data'),
                   'perf.data: perf.data: the header is cut short\n')

    def test_a_file_is_opened_once(self):
        libc = ctypes.CDLL(None, use_errno=True)
        watch = libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        self.assertGreaterEqual(watch, 0)
        self.addCleanup(os.close, watch)
        in_open = 0x20
        libc.inotify_add_watch(watch, self.file('a.pb.gz').encode(), in_open)
        self.assertEqual(self.pprof('-top', 'a.pb.gz').returncode, 0)
        event = struct.Struct('iIII')
        masks = [mask for _, mask, _, _ in
                 event.iter_unpack(os.read(watch, 65536))]
        self.assertEqual(masks, [in_open])

    def test_the_first_word_may_be_the_program(self):
        shutil.copy('/bin/true', self.file('true'))
        make_profile(self.file('m.pb.gz'), {'f': 1}, '/gone')
        run = self.pprof('-top', '-symbolize=none', 'true', 'm.pb.gz')
        self.assertIn('File: true', run.stdout)
        run = self.pprof('-top', '-symbolize=none', 'true')
        self.fails(run, 'true: parsing profile: ')

    def test_binaries_are_found_by_build_id_or_name(self):
        shutil.copy('/bin/true', self.file('true'))
        os.makedirs(self.file('bin/usr/lib'))
        shutil.copy('/bin/true', self.file('bin/usr/lib/lib.so'))
        env = {'PPROF_BINARY_PATH': self.file('bin')}
        make_profile(self.file('m.pb.gz'), {'f': 1}, '/usr/lib/lib.so')
        run = self.pprof('-raw', '-symbolize=none', 'm.pb.gz', env=env)
        self.assertIn(self.file('bin/usr/lib/lib.so'), run.stdout)
        make_profile(self.file('m.pb.gz'), {'f': 1}, '/usr/lib/lib.so',
                     'abcdef')
        run = self.pprof('-raw', '-symbolize=none', 'm.pb.gz', env=env)
        self.assertIn('Ignoring local file ' + self.file('bin/usr/lib/lib.so')
                      + ': build-id mismatch (abcdef != ', run.stderr)
        self.assertNotIn(self.path, run.stdout)


class OutputTest(WithDirectory):
    def test_a_file_is_written_whole_or_not_at_all(self):
        self.write('out', 'precious')
        self.fails(self.pprof('-top', '-output=out', '-focus=(', 'a.pb.gz'),
                   'pprof: parsing focus regexp')
        self.assertEqual(self.read('out'), 'precious')
        run = self.pprof('-top', '-output=out', 'a.pb.gz')
        self.assertEqual(run.stderr, 'Generating report in out\n')
        self.assertIn('parse', self.read('out'))
        self.assertEqual(sorted(os.listdir(self.path)), ['a.pb.gz', 'out'])

    def test_a_directory_that_is_not_there_is_told(self):
        self.fails(self.pprof('-top', '-output=no/out', 'a.pb.gz'),
                   'pprof: open no/out: no such file or directory')

    def test_a_full_disk_is_told(self):
        with open('/dev/full', 'w') as full:
            run = subprocess.run([PPROF, '-top', 'a.pb.gz'], stdout=full,
                                 stderr=subprocess.PIPE, cwd=self.path,
                                 text=True)
        self.assertEqual(run.returncode, 2)
        self.assertIn('no space left on device', run.stderr)

    def test_a_reader_that_leaves_is_no_drama(self):
        run = subprocess.run(
            '%s -raw a.pb.gz | true' % PPROF, shell=True, cwd=self.path,
            stderr=subprocess.PIPE, text=True)
        self.assertEqual(run.stderr, '')

    def test_bytes_for_machines_go_to_a_pipe_but_not_to_a_terminal(self):
        run = subprocess.run([PPROF, '-proto', 'a.pb.gz'], cwd=self.path,
                             capture_output=True)
        self.assertEqual(run.stdout[:2], b'\x1f\x8b')
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        run = subprocess.run([PPROF, '-proto', 'a.pb.gz'], cwd=self.path,
                             stdout=theirs, stderr=subprocess.PIPE, text=True)
        os.close(theirs)
        self.assertEqual(run.stderr, 'Generating report in profile001.pb.gz\n')


class MemoryTest(WithDirectory):
    """Texts that are much larger than the profile are not kept in memory."""

    def check(self, report, most):
        subprocess.run([os.path.join(os.path.dirname(PPROF), 'bench',
                                     'gen-profile'), '-samples', '100000',
                        '-o', self.file('big')], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(self.file('text'), 'wb') as out:
            process = subprocess.Popen([PPROF, '-symbolize=none', report,
                                        self.file('big')], stdout=out)
            _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        size = os.path.getsize(self.file('text'))
        print('# %s: %d MB of text, %d MB of memory'
              % (report, size >> 20, used.ru_maxrss >> 10))
        self.assertLess(used.ru_maxrss * 1024, most * size)

    def test_traces_are_written_as_they_are_made(self):
        self.check('-traces', 0.5)

    def test_folded_stacks_are_written_as_they_are_made(self):
        self.check('-folded', 1)


class PictureTest(WithDirectory):
    DOT = ('#!/bin/sh\ntest "$1" = -Tsvg || exec cat\ncat >/dev/null\n'
           'echo \'<svg width="9pt" height="9pt" viewBox="0 0 9 9">\'\n'
           'echo \'<g id="graph0">&;</g>\'\necho \'</svg>\'\n')

    def tools(self, **programs):
        os.mkdir(self.file('tools'))
        for name, text in programs.items():
            self.write('tools/' + name, text, 0o755)
        return {'PATH': self.file('tools') + ':/usr/bin:/bin',
                'TMPDIR': self.path}

    def test_a_picture_needs_graphviz(self):
        self.fails(self.pprof('-svg', 'a.pb.gz', env={'PATH': '/none'}),
                   'pprof: failed to execute dot. Is Graphviz installed? '
                   'Error: exec: "dot": executable file not found in $PATH')

    def test_what_graphviz_says_no_to_fails(self):
        env = self.tools(dot='#!/bin/sh\nexit 7\n')
        self.fails(self.pprof('-png', '-output=x.png', 'a.pb.gz', env=env),
                   'Error: exit status 7')
        self.assertFalse(os.path.exists(self.file('x.png')))

    def test_an_svg_fills_the_window_and_can_be_moved(self):
        env = self.tools(dot=self.DOT)
        run = self.pprof('-svg', 'a.pb.gz', env=env)
        self.assertIn('<svg width="100%" height="100%">', run.stdout)
        self.assertIn('<g id="viewport" transform="scale(0.5,0.5) '
                      'translate(0,0)"><g id="graph0">&amp;;</g>\n</g></svg>',
                      run.stdout)

    def test_other_pictures_are_as_graphviz_makes_them(self):
        env = self.tools(dot=self.DOT)
        run = self.pprof('-pdf', 'a.pb.gz', env=env)
        self.assertTrue(run.stdout.startswith('digraph'))

    def test_a_viewer_gets_a_file_that_is_gone_afterwards(self):
        env = self.tools(dot=self.DOT,
                         show='#!/bin/sh\ncp "$2" "$HOME/seen"\n'
                              'echo "$1 $2" >"$HOME/words"\n')
        env['BROWSER'] = 'show new-window'
        run = self.pprof('-web', 'a.pb.gz', env=env)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.read('words'), 'new-window %s\n'
                         % self.file('pprof001.svg'))
        self.assertIn('viewport', self.read('seen'))
        self.assertFalse(os.path.exists(self.file('pprof001.svg')))

    def test_no_viewer_is_an_error(self):
        env = self.tools(dot=self.DOT)
        env['PATH'] = self.file('tools')
        self.write('tools/cat', '#!/bin/sh\n', 0o755)
        self.fails(self.pprof('-evince', 'a.pb.gz', env=env),
                   'exec: "evince": executable file not found in $PATH')


class GateTest(WithDirectory):
    def setUp(self):
        super().setUp()
        make_profile(self.file('b.pb.gz'), {'parse': 40, 'print': 61})

    def test_growth_beyond_the_limit_ends_with_3(self):
        for base in ('-base', '-diff_base'):
            run = self.pprof('-fail_above=5%', base + '=a.pb.gz', 'b.pb.gz')
            self.fails(run, 'cost of parse', 3)
            run = self.pprof('-fail_above_share=5%', base + '=a.pb.gz',
                             'b.pb.gz')
            self.fails(run, 'share of parse', 3)

    def test_an_improvement_passes(self):
        make_profile(self.file('better.pb.gz'), {'parse': 30, 'print': 10})
        run = self.pprof('-fail_above=5%', '-base=a.pb.gz', 'better.pb.gz')
        self.assertEqual((run.returncode, run.stderr), (0, ''))
        run = self.pprof('-fail_above_share=5%', '-base=a.pb.gz',
                         'better.pb.gz')
        self.fails(run, 'share of parse', 3)

    def test_growth_within_the_limit_ends_with_0(self):
        run = self.pprof('-fail_above=20', '-base=a.pb.gz', 'b.pb.gz')
        self.assertEqual((run.returncode, run.stdout, run.stderr),
                         (0, '', ''))

    def test_the_total_counts_too(self):
        make_profile(self.file('c.pb.gz'), {'parse': 60, 'print': 140})
        run = self.pprof('-fail_above=5%', '-base=a.pb.gz', 'c.pb.gz')
        self.fails(run, 'total grew by 100.00%', 3)

    def test_a_report_is_made_as_well_and_is_the_usual_one(self):
        for base in ('-base', '-diff_base'):
            for report in ('-top', '-raw', '-traces'):
                words = [report, base + '=a.pb.gz', 'b.pb.gz']
                with_gate = self.pprof('-fail_above=5%', *words)
                self.assertEqual(with_gate.returncode, 3)
                self.assertEqual(with_gate.stdout, self.pprof(*words).stdout)

    def test_it_needs_a_base_and_a_number(self):
        self.fails(self.pprof('-fail_above=5%', 'a.pb.gz'),
                   'pprof: -fail_above needs -base or -diff_base')
        self.fails(self.pprof('-fail_above=much', '-base=a.pb.gz', 'b.pb.gz'),
                   'pprof: -fail_above needs a percentage')
        self.fails(self.pprof('-fail_above_share=5%', 'a.pb.gz'),
                   'pprof: -fail_above_share needs -base or -diff_base')


class HelpTest(WithDirectory):
    def test_help_has_our_own_flags_where_nobody_compares_bytes(self):
        self.assertNotIn('-fail_above', self.pprof('-h').stderr)
        self.assertIn('-fail_above', self.pprof('-help_all').stderr)
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        with subprocess.Popen([PPROF, '-h'], stderr=theirs) as process:
            os.close(theirs)
            seen = b''
            while b'-help_all ' not in seen:
                seen += os.read(ours, 4096)
        self.assertEqual(process.returncode, 0)


    def test_help_through_a_pipe_says_how_to_see_the_rest(self):
        plain = self.pprof('-h').stderr
        self.assertEqual(self.pprof('--help').stderr, plain)
        hinted = self.pprof('-help').stderr
        self.assertTrue(hinted.startswith(plain))
        self.assertIn('pprof -help_all', hinted.splitlines()[-1])

    def test_version(self):
        run = self.pprof('-version')
        self.assertEqual((run.returncode, run.stderr), (0, ''))
        self.assertRegex(run.stdout, r'^pprof \d+\.\d+\.\d+\n$')
        self.assertEqual(self.pprof('--version').stdout, run.stdout)


class DocumentedTest(WithDirectory):
    """Every flag is in the manual and in the completions."""

    def flags(self):
        usage = self.pprof('-help_all').stderr
        found = set(re.findall(r'^ +-([a-z_]+)', usage, re.M))
        self.assertGreater(len(found), 80)
        return sorted(found)

    def missing(self, path, form):
        with open(os.path.join(ROOT, path), encoding='utf-8') as f:
            text = f.read()
        return [flag for flag in self.flags()
                if not re.search(form % flag, text)]

    def test_every_flag_is_in_the_manual(self):
        self.assertEqual(self.missing('docs/man/pprof.1',
                                      r'\\-%s\b'), [])

    def test_every_flag_is_completed_by_the_shells(self):
        for name, form in (('pprof.bash', r'-%s=?[\s\']'),
                           ('_pprof', r"'-%s=?\["),
                           ('pprof.fish', r'-o %s ')):
            self.assertEqual(self.missing('completions/' + name, form), [])

    def complete(self, *words):
        script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1));'
                  'compopt() { :; }; _pprof; printf "%s\\n" "${COMPREPLY[@]}"')
        run = subprocess.run(
            ['bash', '-c', script, 'bash',
             os.path.join(ROOT, 'completions/pprof.bash'), *words],
            cwd=self.path, capture_output=True, text=True)
        self.assertEqual(run.stderr, '')
        return run.stdout.split()

    def test_bash_completes_flags_values_and_files(self):
        self.assertEqual(self.complete('pprof', '-topp'), ['-topproto'])
        self.assertEqual(self.complete('pprof', '--tls_k'), ['-tls_key='])
        self.assertEqual(self.complete('pprof', '-symbolize', '=', 'fa'),
                         ['fastlocal'])
        self.assertEqual(self.complete('pprof', '-top', 'a.'), ['a.pb.gz'])
        self.assertEqual(self.complete('pprof', '-diff_base', '=', 'a'),
                         ['a.pb.gz'])
        self.assertEqual(self.complete('pprof', '-focus', '=', 'a'), [])


if __name__ == '__main__':
    unittest.main()
