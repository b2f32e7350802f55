"""The interactive shell, with a person at a terminal."""
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
from profilepb import Profile  # noqa: E402

PPROF = os.path.abspath(os.path.join(
    os.environ.get('PPROF_BUILD', 'build'), 'pprof'))
PROMPT = '(pprof) '
PATIENCE = 60  # seconds, for a busy machine
ESCAPES = re.compile(r'\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r')


def make_profile(path, samples=1):
    p = Profile([('samples', 'count'), ('cpu', 'nanoseconds')])
    main = p.location(p.function('main', 'main.c'), line=3)
    for i in range(samples):
        work = p.location(p.function('work%d' % i, 'work.c'), line=i)
        p.sample([work, main], [1, 1000000 * (i + 1)],
                 {'thread': 'worker', 'size': 64})
    odd = p.location(p.function('(*Table).Look Up', 'table.go'), line=9)
    p.sample([odd, main], [1, 5000000])
    p.write(path)


class Terminal:
    """A pprof at a terminal of its own."""

    def __init__(self, directory, words, term='xterm', program=PPROF, **env):
        self.home = directory
        environment = {'PATH': os.environ['PATH'], 'HOME': directory,
                       'TERM': term, 'LANG': 'C.UTF-8', **env}
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(directory)
                os.execve(program, [program, *words], environment)
            finally:
                os._exit(127)
        termios.tcsetwinsize(self.fd, (24, 100))
        self.seen = ''  # and not yet asked for
        self.raw = ''   # everything, escapes too

    def read(self, until, patience=PATIENCE):
        """What appears up to and including the text."""
        deadline = time.monotonic() + patience
        while until not in ESCAPES.sub('', self.seen):
            left = deadline - time.monotonic()
            ready, _, _ = select.select([self.fd], [], [], max(left, 0))
            if not ready:
                raise AssertionError('no %r in %r' % (until, self.seen))
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                data = b''
            if not data:
                raise AssertionError('ended without %r: %r'
                                     % (until, self.seen))
            self.raw += data.decode('utf-8', 'replace')
            self.seen += data.decode('utf-8', 'replace')
        text = ESCAPES.sub('', self.seen)
        end = text.index(until) + len(until)
        self.seen = text[end:]
        return text[:end]

    def type(self, text):
        os.write(self.fd, text.encode())

    def ask(self, line):
        """Types a line; gives what is shown before the next prompt."""
        self.type(line + '\n')
        return self.read('\n') and self.read(PROMPT)

    def end(self):
        """Waits for the end; the exit code."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            ready, _, _ = select.select([self.fd], [], [], 0.05)
            if ready:
                try:
                    os.read(self.fd, 65536)
                except OSError:
                    pass
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
        raise AssertionError('does not end')

    def close(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


class WithProfile(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = self.directory.name
        make_profile(os.path.join(self.path, 'cpu.pb.gz'), samples=3)

    def start(self, *words, greeting=True, **env):
        t = Terminal(self.path, words or ['cpu.pb.gz'], **env)
        self.addCleanup(t.close)
        if greeting:
            t.read('Entering interactive mode')
            t.read(PROMPT)
        return t


class ShellTest(WithProfile):
    def test_greets_and_makes_a_report(self):
        t = Terminal(self.path, ['cpu.pb.gz'])
        self.addCleanup(t.close)
        self.assertIn('Type: cpu', t.read('Entering interactive mode'))
        t.read(PROMPT)
        self.assertIn('work2', t.ask('top'))

    def test_quits_with_0(self):
        for word in ('q', 'quit', 'exit'):
            t = self.start()
            t.type(word + '\n')
            self.assertEqual(t.end(), 0)

    def test_the_end_of_input_quits(self):
        t = self.start()
        t.type('\x04')
        self.assertEqual(t.end(), 0)

    def test_options_stay_and_words_of_a_command_do_not(self):
        t = self.start()
        self.assertNotIn('work1', t.ask('top work2'))
        self.assertIn('work1', t.ask('top'))
        t.ask('focus=work2')
        self.assertNotIn('work1', t.ask('top'))

    def test_a_wrong_line_is_told_in_red_and_forgiven(self):
        t = self.start()
        t.ask('nonsense')
        self.assertIn('\x1b[0;31munrecognized command: "nonsense"\x1b[0m',
                      t.raw)
        self.assertIn('work2', t.ask('top'))

    def test_no_color_is_respected(self):
        t = self.start(NO_COLOR='1')
        self.assertIn('unrecognized command', t.ask('nonsense'))
        self.assertNotIn('\x1b[0;31m', t.raw)

    def test_help_names_our_own_commands(self):
        t = self.start()
        self.assertIn('flame', t.ask('help'))

    def test_reads_the_terminal_when_the_profile_came_through_stdin(self):
        t = Terminal(self.path, ['-c', 'cat cpu.pb.gz | %s -' % PPROF],
                     program='/bin/sh')
        self.addCleanup(t.close)
        t.read(PROMPT)
        self.assertIn('work2', t.ask('top'))

    def test_a_report_goes_to_a_file(self):
        t = self.start()
        self.assertIn('Generating report in out.txt', t.ask('top >out.txt'))
        with open(os.path.join(self.path, 'out.txt')) as f:
            self.assertIn('work2', f.read())

    def test_a_report_goes_through_a_pipe(self):
        t = self.start()
        shown = t.ask('top | grep work2 | sed s/work/WORK/')
        self.assertIn('WORK2', shown)
        self.assertNotIn('main', shown)

    def test_a_program_that_stops_reading_ends_the_report_quietly(self):
        t = self.start()
        shown = t.ask('traces | head -1')
        self.assertNotIn('signal', shown)
        self.assertNotIn('broken', shown)

    def test_bytes_for_machines_go_to_a_file_at_a_terminal(self):
        t = self.start()
        self.assertIn('profile001.pb.gz', t.ask('proto'))
        self.assertIn('profile002.pb.gz', t.ask('proto'))
        shown = t.ask('proto | wc -c')
        self.assertNotIn('profile003', shown)

    def test_a_viewer_gets_a_file_that_is_removed_at_the_end(self):
        viewer = os.path.join(self.path, 'viewer')
        with open(viewer, 'w') as f:
            f.write('#!/bin/sh\ncp "$1" "$HOME/seen.grind"\n')
        os.chmod(viewer, 0o755)
        os.symlink(viewer, os.path.join(self.path, 'kcachegrind'))
        t = self.start(PATH=self.path + ':' + os.environ['PATH'],
                       TMPDIR=self.path)
        t.ask('kcachegrind')
        self.assertTrue(os.path.exists(self.path + '/pprof001.grind'))
        t.type('q\n')
        self.assertEqual(t.end(), 0)
        self.assertFalse(os.path.exists(self.path + '/pprof001.grind'))
        with open(self.path + '/seen.grind') as f:
            self.assertIn('positions: instr line', f.read())

    def test_ctrl_c_at_the_prompt_drops_the_line(self):
        t = self.start()
        t.type('half a li')
        t.read('half a li')
        t.type('\x03')
        t.read(PROMPT)
        self.assertIn('work2', t.ask('top'))

    def test_ctrl_c_ends_a_report_and_not_the_shell(self):
        os.mkfifo(os.path.join(self.path, 'nobody-reads'))
        t = self.start()
        t.type('top >nobody-reads\n')
        t.read('Generating report')
        t.type('\x03')
        t.read(PROMPT)
        self.assertIn('work2', t.ask('top'))

    def test_ctrl_c_ends_the_program_that_takes_the_report(self):
        t = self.start()
        t.type('top | (echo ta""ken; exec sleep 1000)\n')
        t.read('taken')
        t.type('\x03')
        t.read(PROMPT)
        self.assertIn('work2', t.ask('top'))


class CompletionTest(WithProfile):
    def test_completes_commands_and_options(self):
        t = self.start()
        t.type('topp\t')
        t.read('topproto ')
        t.type('\x15relat\t')
        t.read('relative_percentages=')

    def test_completes_values_of_options(self):
        t = self.start()
        t.type('granularity=addr\t')
        t.read('granularity=addresses')
        t.type('\x15sample_index=s\t')
        t.read('sample_index=samples')
        t.type('\x15tagroot=thr\t')
        t.read('tagroot=thread')

    def test_completes_functions_by_any_part_of_their_name(self):
        t = self.start()
        t.type('peek ork2\t')
        t.read('work2')
        t.type('\x15top -ork1\t')
        t.read('work1')

    def test_completed_functions_are_regular_expressions(self):
        t = self.start()
        t.type('peek Table\t')
        t.read('\\).Look.Up')
        t.type('\n')
        self.assertIn('(*Table).Look Up', t.read(PROMPT))

    def test_lists_what_is_possible(self):
        t = self.start()
        t.type('peek work\t')
        shown = t.read('work2')
        self.assertIn('work0', shown)
        self.assertIn('work1', shown)

    def test_completes_files_after_a_redirection(self):
        open(os.path.join(self.path, 'result.txt'), 'w').close()
        t = self.start()
        t.type('top >res\t')
        t.read('top >result.txt')


class HistoryTest(WithProfile):
    def test_lines_are_remembered_for_the_next_time(self):
        t = self.start()
        t.ask('top 1')
        t.type('q\n')
        t.end()
        t = self.start()
        t.type('\x1b[A\x1b[A')
        t.read('top 1')
        t.type('\n')
        self.assertIn('Showing top 1 nodes', t.read(PROMPT))

    def test_the_file_is_where_xdg_says_and_private(self):
        state = os.path.join(self.path, 'state')
        os.mkdir(state)
        t = self.start(XDG_STATE_HOME=state)
        t.ask('top 1')
        path = os.path.join(state, 'pprof', 'history')
        with open(path) as f:
            self.assertEqual(f.read(), 'top 1\n')
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)

    def test_no_home_is_no_trouble(self):
        t = self.start(HOME='/nonexistent')
        self.assertIn('work2', t.ask('top'))


class DumbTerminalTest(WithProfile):
    def test_a_dumb_terminal_gets_no_escapes(self):
        t = self.start(term='dumb')
        t.type('top\n')
        t.read('work2')
        t.type('nonsense\n')
        t.read('unrecognized')
        t.read(PROMPT)
        self.assertNotIn('\x1b', t.raw)
        t.type('\x03')
        t.read(PROMPT)
        t.type('q\n')
        self.assertEqual(t.end(), 0)


class PipeTest(WithProfile):
    def run_script(self, script, *words):
        return subprocess.run(
            [PPROF, *words, 'cpu.pb.gz'], input=script,
            capture_output=True, text=True, cwd=self.path, timeout=PATIENCE,
            env={'PATH': os.environ['PATH'], 'HOME': self.path})

    def test_a_pipe_sign_in_a_script_is_a_word(self):
        run = self.run_script('top | cat\n')
        self.assertIn('focus=||cat', run.stdout)

    def test_no_prompt_and_no_history_from_a_pipe(self):
        run = self.run_script('top\n')
        self.assertNotIn('(pprof)', run.stdout + run.stderr)
        self.assertFalse(os.path.exists(self.path + '/.local'))
        self.assertEqual(run.returncode, 0)

    def test_a_profile_from_stdin_leaves_no_shell_input(self):
        with open(os.path.join(self.path, 'cpu.pb.gz'), 'rb') as f:
            run = subprocess.run([PPROF, '-top', '-'],
                                 stdin=f, capture_output=True, text=True)
        self.assertEqual(run.returncode, 0)
        self.assertIn('work2', run.stdout)


if __name__ == '__main__':
    unittest.main()
