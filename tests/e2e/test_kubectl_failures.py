"""What the plugin prints when kubectl fails: messages of six versions of the
real kubectl, replayed by a stub.  One sentence, exit code 1, and the role to
ask for if a permission is missing."""
import glob
import json
import os
import re
import unittest

import cluster
import kube_api
import support

DATA = os.path.join(cluster.HERE, '../../../shared/kube-data/kubectl')
# The kind of recording, and what the plugin is to do when it sees that.
KINDS = (('port-forward-', ['--via=port-forward', '--port=6060']),
         ('get-raw-pod-proxy-', ['--via=proxy', '--port=6060']),
         ('exec-', ['--via=exec', '--port=6060']),
         ('get-pod', None), ('dead-server-', None), ('no-config-', None),
         ('nosuch-', None), ('client-certificate-', None),
         ('server-certificate-', None))
# Mistakes in arguments that the plugin never makes, and programs that were
# started in a container and failed by themselves.
OTHERS = ('bad-port', 'no-port', 'service', 'deploy', 'local-port', 'sigterm',
          'managed-fields', 'watch', 'tty', 'signal-killed', 'exit-code',
          'wrong-container', 'credential-plugin-ok', 'abort-exit')


def recordings():
    """(name, kind, exit code, stdout, stderr) of those that failed."""
    found = []
    for path in sorted(glob.glob(os.path.join(DATA, '*.txt'))):
        name = os.path.basename(path)[:-4]
        kind = next((k for k in KINDS if name.startswith(k[0])), None)
        with open(path, errors='replace') as f:
            text = f.read()
        code = int(re.search(r'(?m)^# exit code (-?\d+)', text)[1])
        if kind and code > 0 and not any(w in name for w in OTHERS):
            out, _, rest = text.partition('# ---- stdout')[2].partition(
                '# ---- stderr')
            parts = [re.sub(r'(?s)^[^\n]*\n', '', p, count=1) for p in
                     (out, rest.partition('# ---- when each')[0])]
            found.append((name, kind, code, *parts))
    return found


class Failures(support.TestCase):
    def stub(self, code, out, err, after_get):
        # Something may listen on the port of a recording.
        out = re.sub(r'(Forwarding from 127\.0\.0\.1:)\d+',
                     r'\g<1>%d' % support.free_port(), out)
        for name, text in (('out', out), ('err', err)):
            with open(self.path(name), 'w') as f:
                f.write(text)
        pod = kube_api.pod('demo', 'web-1', ports=[6060])
        with open(self.path('pod'), 'w') as f:
            json.dump(pod, f)
        path = self.path('kubectl')
        with open(path, 'w') as f:
            f.write('#!/bin/sh\ncd %s\n' % self.dir)
            if after_get:
                f.write('[ "$1 $2" = "get pod/web-1" ] && '
                        'exec cat pod\n')
            f.write('cat out\ncat err >&2\nexit %d\n' % code)
        os.chmod(path, 0o755)
        return path

    def run_plugin(self, stub, *args):
        return cluster.ClusterCase.plugin(self, *args, config='/nonexistent',
                                          env={'KUBECTL': stub})

    def check(self, got, name, err):
        self.assertEqual(got.returncode, 1, got.stderr)
        self.assertEqual(got.stdout, '')
        first, *rest = got.stderr.splitlines()
        self.assertTrue(first.startswith('kubectl pprof: '), first)
        self.assertNotRegex(first, r'[EWI]\d{4} |without a message')
        if 'forbidden: User' in err:
            self.assertIn('Ask an administrator for these RBAC rules',
                          got.stderr)
        else:
            self.assertEqual(rest, [], got.stderr)

    @unittest.skipUnless(os.path.isdir(DATA), 'no recordings of kubectl here')
    def test_recordings(self):
        listed = recordings()
        self.assertGreater(len(listed), 40)
        for name, (_, args), code, out, err in listed:
            with self.subTest(name):
                stub = self.stub(code, out, err, args is not None)
                got = self.run_plugin(stub, 'top', 'web-1', *(args or []))
                self.check(got, name, err)

    def says(self, err, *args, code=1):
        got = self.run_plugin(self.stub(code, '', err, True), 'top', 'web-1',
                              '--port=6060', *args)
        self.check(got, '', err)
        return got.stderr

    def test_words_of_other_runtimes(self):
        """crun, gVisor and Docker have no curl in their own words."""
        for words in (
                'error: Internal error occurred: error executing command in '
                'container: executable file `curl` not found in $PATH: No '
                'such file or directory\n',
                'OCI runtime exec failed: exec failed: exec: "curl": '
                'executable file not found in $PATH: unknown\n'
                'command terminated with exit code 126\n',
                'error: Internal error occurred: error finding executable '
                '"curl" in PATH [/bin]: no such file or directory\n'):
            self.assertIn('the container has neither curl nor wget nor bash',
                          self.says(words, '--via=exec'))

    def test_a_node_that_cannot_be_reached(self):
        said = self.says('error: error upgrading connection: error dialing '
                         'backend: dial tcp 10.0.0.7:10250: connect: '
                         'connection refused\n')
        self.assertIn('error dialing backend', said)

    def test_a_pod_that_has_gone(self):
        """No other port is tried."""
        for words in ('Error from server (NotFound): pods "web-1" not found\n',
                      'error: unable to forward port because pod is not '
                      'running. Current status=Failed\n'):
            stub = self.stub(1, '', words, True)
            got = self.run_plugin(stub, 'top', 'web-1', '-v')
            self.assertEqual(got.stderr.count('port-forward'), 1, got.stderr)
            self.assertEqual(got.returncode, 1)

    def test_a_gateway_without_upgrades(self):
        """The proxy is tried then; what is said is the first failure."""
        stub = self.stub(1, '', 'error: error upgrading connection: Upgrade '
                         'request required\n', True)
        got = self.run_plugin(stub, 'top', 'web-1', '--port=6060', '-v')
        self.assertIn('get --raw /api/v1/namespaces/demo/pods/web-1:6060/'
                      'proxy/debug/pprof/', got.stderr)
        self.assertIn('web-1: error upgrading connection: Upgrade request '
                      'required\n', got.stderr)

    def test_curl_and_wget_that_are_refused(self):
        for words in ('curl: (7) Failed to connect to 127.0.0.1 port 6060 '
                      'after 0 ms: Could not connect to server\n'
                      'command terminated with exit code 7\n',
                      'wget: can\'t connect to remote host (127.0.0.1): '
                      'Connection refused\n'
                      'command terminated with exit code 1\n'):
            self.assertIn('no /debug/pprof/ on port 6060 (connection refused)',
                          self.says(words, '--via=exec'))

    def test_a_proxy_that_does_not_answer(self):
        said = self.says('Unable to connect to the server: context deadline '
                         'exceeded\n', '--via=proxy')
        self.assertRegex(said, r'no answer within \d+ s')


if __name__ == '__main__':
    unittest.main()
