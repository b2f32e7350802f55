"""What the end-to-end tests of libpprof share."""
import os
import re
import subprocess

BUILD = os.environ.get('PPROF_BUILD', 'build')
PROGRAMS = os.path.join(BUILD, 'tests', 'e2e', 'programs')
SANITIZED = os.environ.get('PPROF_SANITIZED', 'none')
SOURCES = ('perf', 'perf-user', 'timer')
if 'thread' in SANITIZED:
    # ThreadSanitizer holds signals back until the thread is ready for them,
    # but not a SIGTRAP: that one it takes for an error in the code.  Its
    # handler then runs in threads that the sanitizer has not set up yet, or
    # has taken down, and the sanitizer itself crashes.
    SOURCES = ('timer',)


def pprof(*args):
    """Output of our own analyser."""
    done = subprocess.run([os.path.join(BUILD, 'pprof'), *args],
                          capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise AssertionError('pprof %s: %s' % (' '.join(args), done.stderr))
    return done.stdout


def source_works(source):
    """perf events may be forbidden on this machine."""
    done = subprocess.run(
        [os.path.join(PROGRAMS, 'truth'), '0.01', '100', '/dev/null'],
        env=dict(os.environ, PPROF_CPU_SOURCE=source), capture_output=True)
    return done.returncode == 0


def working_sources(sources=SOURCES):
    """Those that this machine allows."""
    for source in sources:
        if source_works(source):
            yield source
        else:
            print('# %s is not allowed here' % source)


def run_profiled(path, command, options=(), env=None, **kwargs):
    """Starts a command under pprof-run, its CPU profile into path."""
    return subprocess.Popen(
        [os.path.join(BUILD, 'pprof-run'), '-cpuprofile', path, *options,
         *command], env=env, **kwargs)


def comments(path):
    return pprof('-comments', path)


def stack_ends(path):
    """How many stacks were (complete, truncated, no data, broken)."""
    found = re.search(r'stacks: (\d+) complete, (\d+) truncated, '
                      r'(\d+) without unwind data, (\d+) broken',
                      comments(path))
    return tuple(int(n) for n in found.groups())


def top(path, *options):
    """{function: (flat, cum)} in nanoseconds."""
    rows = {}
    text = pprof('-top', '-nodecount=100000', '-nodefraction=0', '-unit=ns',
                 *options, path)
    for line in text.splitlines():
        found = re.match(r'\s*([\d.]+)(?:ns)?\s+[\d.]+%\s+[\d.]+%\s+'
                         r'([\d.]+)(?:ns)?\s+[\d.]+%\s+(.*)', line)
        if found:
            flat, cum, name = found.groups()
            rows[name.replace(' (inline)', '')] = (float(flat), float(cum))
    return rows
