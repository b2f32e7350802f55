"""A redis-server under load, for the measurements beside it."""
import glob
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

BUILD = os.environ.get('PPROF_BUILD', 'build')
RUN = os.path.join(BUILD, 'pprof-run')
PART = 0.5


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def wait_for(port):
    """A connection, as soon as somebody listens."""
    for _ in range(400):
        try:
            return socket.create_connection(('127.0.0.1', port), 5)
        except OSError:
            time.sleep(0.05)
    raise TimeoutError('nobody listens at port %d' % port)


def cpu_ns(pid):
    total = 0
    for path in glob.glob('/proc/%d/task/*/schedstat' % pid):
        try:
            with open(path) as f:
                total += int(f.read().split()[0])
        except OSError:
            pass  # the thread has just ended
    return total


def memory_kb(pid):
    with open('/proc/%d/status' % pid) as f:
        for line in f:
            if line.startswith('VmRSS'):
                return int(line.split()[1])
    return 0


def on_core(n):
    """Server and load each on its own: who runs where changes the cost of a
    command by more than what is measured."""
    if shutil.which('taskset') and (os.cpu_count() or 1) > n:
        return ['taskset', '-c', str(n)]
    return []


class Redis:
    """A server, perhaps under pprof-run with an endpoint."""

    def __init__(self, options=()):
        self.port = free_port()
        self.endpoint = free_port()
        self.directory = tempfile.mkdtemp()
        prefix = []
        if options:
            prefix = [RUN, '-addr', '127.0.0.1:%d' % self.endpoint,
                      *(o for o in options if o)]
        self.process = subprocess.Popen(
            on_core(0) + prefix + [
                'redis-server', '--port', str(self.port), '--save', '',
                '--dir', self.directory],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.control = wait_for(self.port)
        self.load = None

    def commands(self):
        self.control.sendall(b'INFO stats\r\n')
        text = b''
        while b'\r\n\r\n' not in text and not text.endswith(b'\r\n\r\n'):
            text += self.control.recv(65536)
            if b'total_commands_processed' in text and \
                    text.rstrip().count(b'\n') > 20:
                break
        return int(text.split(b'total_commands_processed:')[1].split()[0])

    def start_load(self, test='set'):
        self.load = subprocess.Popen(
            on_core(1) + ['redis-benchmark', '-p', str(self.port),
                          '-n', '1000000000', '-t', test, '-q', '-P', '4'],
            stdout=subprocess.DEVNULL)
        time.sleep(0.3)

    def stop_load(self):
        self.load.kill()  # a stopped one, too
        self.load.wait()

    def pause_load(self):
        self.load.send_signal(signal.SIGSTOP)

    def resume_load(self):
        self.load.send_signal(signal.SIGCONT)

    def count(self, seconds=PART):
        """Commands, CPU nanoseconds and nanoseconds of a part."""
        commands, cpu = self.commands(), cpu_ns(self.process.pid)
        start = time.monotonic_ns()
        time.sleep(seconds)
        cpu = cpu_ns(self.process.pid) - cpu
        ns = time.monotonic_ns() - start
        return self.commands() - commands, cpu, ns

    def part(self):
        """CPU nanoseconds a command, over a part."""
        commands, cpu, _ = self.count()
        return cpu / commands

    def profile(self, seconds):
        return urllib.request.urlopen(
            'http://127.0.0.1:%d/debug/pprof/profile?seconds=%d'
            % (self.endpoint, seconds)).read()

    def close(self):
        self.control.close()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        shutil.rmtree(self.directory)
