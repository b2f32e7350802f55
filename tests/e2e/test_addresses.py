"""Errors about addresses and files say what to do, and the URL that is printed
can be fetched."""
import os
import subprocess
import threading
import time
import unittest

import certificates
import secure
import support


class Addresses(secure.TestCase):
    def run_with(self, address, *options):
        return subprocess.run(
            [os.path.abspath(secure.RUN), '-addr', address, *options,
             '/bin/true'],
            capture_output=True, text=True, timeout=60, cwd=self.dir,
            env={k: v for k, v in os.environ.items()
                 if not k.startswith('PPROF_')})

    def test_each_mistake_has_its_words(self):
        for address, words in (
                ('127.0.0.1', 'no port: write 127.0.0.1:6060'),
                ('localhost', 'no port: write localhost:6060'),
                ('127.0.0.1:99999', 'port 99999 is outside 0..65535'),
                ('127.0.0.1:http', 'not a port: "http"'),
                ('unix:', 'no path: write unix:/path'),
                ('8081', 'a port alone: write 127.0.0.1:8081, or :8081'),
                ('::1:6060', 'not an address: write host:port, [IPv6]:port or unix:/path')):
            with self.subTest(address):
                run = self.run_with(address)
                self.assertEqual(run.returncode, 2)
                self.assertIn('listen %s: %s' % (address, words), run.stderr)
                self.assertNotIn('other machines', run.stderr)

    def test_0_and_nothing_mean_off(self):
        for address in '0', '':
            run = self.run_with(address)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertNotIn('endpoint at', run.stderr)
            self.assertNotIn('no profiling endpoint', run.stderr)
        run = self.run_with('0', '-cpuprofile', self.path('cpu'))
        self.assertEqual(run.returncode, 0)
        self.assertNotIn('endpoint', run.stderr)
        self.assertTrue(os.path.exists(self.path('cpu')))

    def test_a_file_that_is_missing(self):
        with open(self.path('there'), 'w', encoding='utf-8'):
            pass
        for cert, key in ('nix', 'there'), ('there', 'nix'):
            run = self.run_with('127.0.0.1:0', '-tls-cert', self.path(cert),
                                '-tls-key', self.path(key))
            self.assertEqual(run.returncode, 2)
            self.assertIn('open %s: no such file or directory'
                          % self.path('nix'), run.stderr)

    def test_a_relative_socket_is_printed_as_a_url_to_fetch(self):
        there = os.getcwd()
        self.addCleanup(os.chdir, there)
        build = os.path.abspath(support.BUILD)
        os.chdir(self.dir)
        preload = os.path.join(build, 'libpprof-preload.so')
        for command, env in (
                ([os.path.join(build, 'pprof-run'), '/bin/sleep', '1000'], {}),
                (['/bin/sleep', '1000'], {'LD_PRELOAD': preload})):
            program = self.serve(command, PPROF_ADDR='unix:rel.sock', **env)
            self.assertEqual(program.url,
                             'unix://' + self.path('rel.sock'))
            os.chdir('/')
            run = self.pprof('-raw', '-no_save',
                             program.url + '/debug/pprof/threads')
            self.assertEqual(run.returncode, 0, run.stderr)
            os.chdir(self.dir)
            program.stop()


@support.needs('openssl')
class ServerNames(secure.TestCase):
    """Behind a port-forward, the name in a server's certificate is not its
    address."""

    def test_the_name_can_be_said(self):
        ca = certificates.Authority(self.certs)
        cert, key = ca.sign('server', usage='serverAuth',
                            alternatives='DNS:service.example')
        program = self.serve(PPROF_TLS_CERT=cert, PPROF_TLS_KEY=key)
        url = program.url + '/debug/pprof/threads'
        run = self.pprof('-top', '-tls_ca', ca.cert, url)
        self.assert_fails(run, 'certificate is not for the name 127.0.0.1',
                          '-tls_server_name')
        run = self.pprof('-raw', '-no_save', '-tls_ca', ca.cert,
                         '-tls_server_name', 'service.example', url)
        self.assertEqual(run.returncode, 0, run.stderr)
        run = self.pprof('-top', '-tls_ca', ca.cert, '-tls_server_name',
                         'other.example', url)
        self.assert_fails(run, 'is not for the name other.example')
        run = self.pprof('-top', '-tls_server_name', 'service.example', url)
        self.assert_fails(run, 'certificate is not trusted')

    def test_files_that_are_missing(self):
        url = 'https://127.0.0.1:1/x'
        for flag, what in (('-tls_cert', 'certificate/key pair'),
                           ('-tls_key', 'certificate/key pair'),
                           ('-tls_ca', 'CA specified by -tls_ca')):
            run = self.pprof('-top', flag, 'nix', url)
            self.assert_fails(run, 'could not load ' + what,
                              'open nix: no such file or directory')


class Patience(support.TestCase):
    def test_a_port_forward_that_starts_late_is_waited_for(self):
        port = support.free_port()
        late = []

        def start():
            time.sleep(0.7)
            late.append(subprocess.Popen(
                [os.path.abspath(secure.RUN), '-addr', '127.0.0.1:%d' % port,
                 '/bin/sleep', '1000'], stderr=subprocess.DEVNULL))

        starter = threading.Thread(target=start)
        starter.start()
        run = self.pprof('-raw', '-no_save',
                         'http://127.0.0.1:%d/debug/pprof/threads' % port)
        starter.join()
        support.stop(late[0])
        self.assertEqual(run.returncode, 0, run.stderr)


if __name__ == '__main__':
    unittest.main()
