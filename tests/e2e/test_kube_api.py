"""The stand-in API server, used by every installed version of the real
kubectl."""
import glob
import http.server
import json
import os
import shutil
import subprocess
import threading
import unittest
import urllib.request

import cluster
import kube_api
import support


def kubectls():
    """Every kubectl: the one of PATH and others beside it (kubectl.1.31)."""
    first = shutil.which('kubectl')
    if not first:
        return []
    beside = os.path.dirname(os.path.realpath(first))
    return [first] + sorted(glob.glob(os.path.join(beside, 'kubectl.1.*')))


class Hello(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *_):
        pass

    def do_GET(self):
        body = b'hello from ' + self.path.encode() * 20000
        self.send_response(404 if 'missing' in self.path else 200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@support.needs('kubectl', 'openssl')
class KubeApi(support.TestCase):
    def setUp(self):
        super().setUp()
        self.api = kube_api.Server()
        self.addCleanup(self.api.close)
        self.backend = http.server.ThreadingHTTPServer(('127.0.0.1', 0),
                                                       Hello)
        self.addCleanup(self.backend.server_close)
        self.addCleanup(self.backend.shutdown)
        threading.Thread(target=self.backend.serve_forever, args=(0.05,),
                         daemon=True).start()
        there = ('127.0.0.1', self.backend.server_address[1])
        self.api.pod('demo', 'web-1', labels={'app': 'web'}, ports=[6060],
                     backends={6060: there, 1: None},
                     exec_env={'PATH': os.environ['PATH']})
        self.api.kubeconfig(self.path('config'), namespace='demo')
        self.api.user('bob', [{'apiGroups': [''], 'resources': ['pods'],
                               'verbs': ['get', 'list']}])
        self.api.kubeconfig(self.path('bob'), 'bob', namespace='demo')

    def kubectl(self, *args, config='config', program='kubectl', env=None):
        full = dict(PATH=os.environ['PATH'], HOME=self.dir,
                    KUBECONFIG=self.path(config), **(env or {}))
        return subprocess.run([program, *args], env=full, text=True,
                              capture_output=True, timeout=60)

    def test_get(self):
        for program in kubectls():
            with self.subTest(os.path.basename(program)):
                got = self.kubectl('get', 'pods', '-o', 'json',
                                   program=program)
                self.assertEqual(got.returncode, 0, got.stderr)
                names = [i['metadata']['name']
                         for i in json.loads(got.stdout)['items']]
                self.assertEqual(names, ['web-1'])
                got = self.kubectl('get', 'pods', program=program)
                self.assertIn('web-1   1/1     Running', got.stdout)

    def test_chunks(self):
        for i in range(7):
            self.api.pod('demo', 'more-%d' % i)
        got = self.kubectl('get', 'pods', '--chunk-size=3', '-o', 'name')
        self.assertEqual(len(got.stdout.split()), 8, got.stderr)
        asked = [c for c in self.api.calls if c[1] == 'list']
        self.assertEqual(len(asked), 3)

    def test_errors(self):
        got = self.kubectl('get', 'pod', 'nosuch')
        self.assertEqual(got.stderr, 'Error from server (NotFound): pods '
                         '"nosuch" not found\n')
        got = self.kubectl('get', 'secret', 'x', config='bob')
        self.assertEqual(
            got.stderr, 'Error from server (Forbidden): secrets "x" is '
            'forbidden: User "bob" cannot get resource "secrets" in API '
            'group "" in the namespace "demo"\n')
        self.api.kubeconfig(self.path('bad'), token='nobody')
        got = self.kubectl('get', 'pods', config='bad')
        self.assertIn('error: You must be logged in to the server',
                      got.stderr)

    def test_raw(self):
        path = '/api/v1/namespaces/demo/pods/web-1:%d/proxy/x'
        got = self.kubectl('get', '--raw', path % 6060)
        self.assertTrue(got.stdout.startswith('hello from /x/x'), got.stderr)
        got = self.kubectl('get', '--raw', path % 1)
        self.assertIn('error trying to reach service: dial tcp 127.0.0.1:1: '
                      'connect: connection refused', got.stderr)

    def forward(self, program, env, *target):
        full = dict(PATH=os.environ['PATH'], HOME=self.dir,
                    KUBECONFIG=self.path('config'), **env)
        process = subprocess.Popen(
            [program, 'port-forward', '--address', '127.0.0.1', *target],
            env=full, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(support.stop, process)
        line = process.stdout.readline()
        self.assertIn('Forwarding from 127.0.0.1:', line)
        return process, int(line.split()[2].split(':')[1])

    def test_port_forward(self):
        for program in kubectls():
            for websocket in ('true', 'false'):
                with self.subTest(os.path.basename(program), ws=websocket):
                    process, port = self.forward(
                        program,
                        {'KUBECTL_PORT_FORWARD_WEBSOCKETS': websocket},
                        'pod/web-1', ':6060')
                    for _ in range(3):
                        url = 'http://127.0.0.1:%d/y' % port
                        with urllib.request.urlopen(url) as answer:
                            body = answer.read()
                        self.assertEqual(len(body), 11 + 40000)
                    process.terminate()
                    process.wait()

    def test_port_forward_refused(self):
        if cluster.is_old_kubectl():
            self.skipTest('kubectl 1.20 goes on after a refused connection')
        process, port = self.forward('kubectl', {}, 'pod/web-1', ':1')
        with self.assertRaises(OSError):
            urllib.request.urlopen('http://127.0.0.1:%d/' % port)
        said = process.stderr.read()
        self.assertIn('connection refused', said)
        self.assertIn('error: lost connection to pod', said)
        self.assertEqual(process.wait(), 1)

    def test_exec(self):
        script = 'echo out; echo err >&2; cat; exit 7'
        for program in kubectls():
            for websocket in ('true', 'false'):
                with self.subTest(os.path.basename(program), ws=websocket):
                    got = self.kubectl(
                        'exec', 'web-1', '--', 'sh', '-c', script,
                        program=program, env={
                            'KUBECTL_REMOTE_COMMAND_WEBSOCKETS': websocket})
                    self.assertEqual((got.stdout, got.returncode),
                                     ('out\n', 7), got.stderr)
                    self.assertIn('err\n', got.stderr)
        got = self.kubectl('exec', 'web-1', '--', 'nosuchcommand')
        self.assertIn('"nosuchcommand": executable file not found in $PATH',
                      got.stderr)
        got = self.kubectl('exec', 'web-1', '--', 'id', config='bob')
        self.assertIn('cannot create resource "pods/exec"', got.stderr)

    def test_create_alone_is_enough_for_exec(self):
        self.api.user('carol', [
            {'apiGroups': [''], 'resources': ['pods'], 'verbs': ['get']},
            {'apiGroups': [''], 'resources': ['pods/exec'],
             'verbs': ['create']}])
        self.api.kubeconfig(self.path('carol'), 'carol', namespace='demo')
        got = self.kubectl('exec', 'web-1', '--', 'echo', 'fine',
                           config='carol')
        self.assertEqual(got.stdout, 'fine\n', got.stderr)

    def test_watch(self):
        full = dict(PATH=os.environ['PATH'], HOME=self.dir,
                    KUBECONFIG=self.path('config'))
        process = subprocess.Popen(
            ['kubectl', 'get', 'pods', '--watch', '-o', 'name'], env=full, text=True, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(support.stop, process)
        self.assertEqual(process.stdout.readline(), 'pod/web-1\n')
        self.api.pod('demo', 'web-2')
        self.assertEqual(process.stdout.readline(), 'pod/web-2\n')
        self.api.remove_pod('demo', 'web-2')
        self.assertEqual(process.stdout.readline(), 'pod/web-2\n')

    def test_watch_that_is_too_old(self):
        self.api.pod('demo', 'web-2')
        self.api.store.compact()
        got = self.kubectl('get', '--raw', '/api/v1/namespaces/demo/pods?'
                           'watch=true&resourceVersion=1&timeoutSeconds=1')
        event = json.loads(got.stdout)
        self.assertEqual(event['type'], 'ERROR')
        self.assertEqual(event['object']['code'], 410)

    def test_patch(self):
        if cluster.is_old_kubectl():
            self.skipTest('kubectl 1.20 needs an OpenAPI document')
        self.api.store.put({
            'kind': 'Deployment', 'metadata': {
                'name': 'web', 'namespace': 'demo'},
            'spec': {'template': {'metadata': {'annotations': {}}}}})
        patch = '{"spec":{"template":{"metadata":{"annotations":{"a":"b"}}}}}'
        args = ['patch', 'deploy/web', '--type=merge', '-p', patch]
        got = self.kubectl(*args, '--dry-run=server')
        self.assertIn('deployment.apps/web patched', got.stdout, got.stderr)
        self.assertNotIn('"b"', self.kubectl('get', 'deploy/web', '-o',
                                             'json').stdout)
        self.kubectl(*args)
        self.assertIn('"b"', self.kubectl('get', 'deploy/web', '-o',
                                          'json').stdout)

    def test_can_i(self):
        yes = self.kubectl('auth', 'can-i', 'list', 'pods', config='bob')
        no = self.kubectl('auth', 'can-i', 'create', 'pods/exec',
                          config='bob')
        self.assertEqual((yes.stdout, no.stdout), ('yes\n', 'no\n'))


if __name__ == '__main__':
    unittest.main()
