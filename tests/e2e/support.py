"""What the end-to-end tests share: finding the programs under test, running
them, starting servers on loopback and ending them."""

import os
import random
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

BUILD = os.environ.get('PPROF_BUILD', 'build')
PPROF = os.path.abspath(os.path.join(BUILD, 'pprof'))

# For static programs: half of the time for gcc, and nothing that a test sees.
STATIC_OPTIONS = '-Doptimization=1 -Ddebug=false'


def needs(*programs):
    """Skips a test class where a program is not installed."""
    missing = [p for p in programs if not shutil.which(p)]
    return unittest.skipIf(missing, 'not installed: ' + ' '.join(missing))


def free_port():
    """A port for a server that is started next.  It is not one of those that
    the kernel chooses from for connections and for port 0: another test may
    have that before the server listens, or while it is restarted."""
    while True:
        port = random.randrange(12000, 32000)
        with socket.socket() as s:
            try:
                s.bind(('127.0.0.1', port))
                return port
            except OSError:
                continue


def wait_for(condition, seconds=60, pause=0.05):
    """What the condition returns as soon as that is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(pause)
    raise AssertionError('it did not happen in %d s' % seconds)


def wait_for_port(port, process=None, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process and process.poll() is not None:
            raise AssertionError('the server ended with %d' % process.returncode)
        with socket.socket() as s:
            if s.connect_ex(('127.0.0.1', port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError('nothing listens on port %d' % port)


def stop(process):
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class TestCase(unittest.TestCase):
    """Each test has a directory of its own, which is also its home."""

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix='pprof-e2e-')
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def pprof(self, *args, env=None, stdin='', timeout=60):
        """Runs pprof; the result has returncode, stdout and stderr."""
        full = dict(PATH=os.environ['PATH'], HOME=self.dir, TZ='UTC')
        full.update({k: v for k, v in os.environ.items()
                     if k.startswith(('ASAN', 'UBSAN', 'LSAN'))})
        full.update(env or {})
        return subprocess.run([PPROF, *args], env=full, input=stdin,
                              capture_output=True, text=True, cwd=self.dir,
                              timeout=timeout)

    def assert_fails(self, result, *words):
        """Checks for exit code 2 and one sentence that contains all the
        words."""
        self.assertEqual(result.returncode, 2, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)
        self.assertEqual(result.stdout, '')
