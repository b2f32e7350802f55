"""What the tests of the endpoint's security share."""
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time

import support

SERVICE = os.path.join(support.BUILD, 'examples', 'service')
RUN = os.path.join(support.BUILD, 'pprof-run')
# Has an endpoint and leaves the CPUs to the test.
QUIET = [RUN, '/bin/sleep', '1000']


class Program:
    """A program with an endpoint, and what it says on stderr."""

    def __init__(self, command, **env):
        full = {k: v for k, v in os.environ.items()
                if not k.startswith('PPROF_')}
        full.update(PPROF_ADDR='127.0.0.1:0', PPROF_MAX_CPU='0')
        full.update(env)
        self.process = subprocess.Popen(command, env=full, text=True,
                                        stderr=subprocess.PIPE)
        self.said = []
        self.url = None
        self.up = threading.Event()
        self.reader = threading.Thread(target=self.listen, daemon=True)
        self.reader.start()
        if not self.up.wait(60):
            raise AssertionError('no endpoint')

    def listen(self):
        for line in self.process.stderr:
            self.said.append(line)
            found = re.search(r'endpoint at (\S+)/debug/pprof/', line)
            if found:
                self.url = found.group(1)
                self.up.set()
        self.up.set()

    def wait_for_words(self, words, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = [line for line in self.said if words in line]
            if found:
                return found[0]
            time.sleep(0.05)
        raise AssertionError('%r was not said, but: %s'
                             % (words, ''.join(self.said)))

    @property
    def port(self):
        return int(self.url.rsplit(':', 1)[1])

    def stop(self):
        support.stop(self.process)
        self.reader.join()
        self.process.stderr.close()


class TestCase(support.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.certs = tempfile.mkdtemp(prefix='pprof-certs-')
        cls.addClassCleanup(shutil.rmtree, cls.certs, ignore_errors=True)

    def serve(self, command=None, **env):
        program = Program(command or QUIET, **env)
        self.addCleanup(program.stop)
        return program

    def curl(self, url, *options):
        """(status, body); status 0: curl could not even talk."""
        done = subprocess.run(
            ['curl', '-s', '-m', '30', '-w', '\n%{http_code}', *options, url],
            capture_output=True)
        body, _, status = done.stdout.rpartition(b'\n')
        return int(status), body

    def status(self, url, *options):
        return self.curl(url, *options)[0]

    def assert_profile(self, reply):
        self.assertEqual(reply[0], 200, reply[1][:200])
        self.assertEqual(reply[1][:2], b'\x1f\x8b')
        with open(self.path('got'), 'wb') as f:
            f.write(reply[1])
        done = self.pprof('-raw', self.path('got'))
        self.assertEqual(done.returncode, 0, done.stderr)
