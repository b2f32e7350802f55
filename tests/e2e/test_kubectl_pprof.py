"""kubectl-pprof: reports and files from pods, with the real kubectl."""
import base64
import glob
import json
import os
import re
import signal
import ssl
import subprocess
import time
import unittest
import urllib.request

import cluster
import support
from kube_objects import BY_NAME


@cluster.needs
class Reports(cluster.ClusterCase):
    def test_top_of_a_pod(self):
        got = self.fine('top', 'web-7c9f-1', '--seconds', '1')
        self.assertIn('main.parseRequests', got.stdout)
        self.assertIn('web-7c9f-1: profile?seconds=1 from port 6060, by '
                      'port-forward', got.stderr)
        self.nothing_left()

    def test_web(self):
        """The page of both pods, until Ctrl-C."""
        process = subprocess.Popen(
            [cluster.PLUGIN, 'web', 'deploy/web', '--seconds=1', '--',
             '-no_browser'], env=dict(
                 PATH=os.environ['PATH'], HOME=self.dir,
                 KUBECONFIG=self.config), stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(support.stop, process)
        found = None
        while not found:
            line = process.stderr.readline()
            self.assertTrue(line, 'it ended')
            found = re.search(r'http://[^/\s]+', line)
        with urllib.request.urlopen(found[0] + '/ui/') as reply:
            self.assertIn(b'<html', reply.read())
        self.nothing_left()
        process.send_signal(signal.SIGINT)
        process.wait(60)

    def complete(self, *words):
        script = os.path.join(os.path.dirname(os.path.dirname(cluster.HERE)),
                              'completions', 'kubectl_complete-pprof')
        got = subprocess.run(
            ['sh', script, *words], text=True, capture_output=True, env=dict(
                PATH=os.path.dirname(cluster.PLUGIN) + ':' +
                os.environ['PATH'], HOME=self.dir, KUBECONFIG=self.config))
        return got.stdout.split()

    def test_completion(self):
        """One candidate a line, then the directive for kubectl."""
        self.assertEqual(self.complete('fl'), ['flame', ':4'])
        self.assertEqual(self.complete('top', 'deploy'),
                         ['deployment/web', ':4'])
        self.assertIn('pod/web-7c9f-1', self.complete('top', ''))
        self.assertEqual(self.complete('top', '--preset', 'etcd-'),
                         ['etcd-openshift', 'etcd-operator', ':4'])
        self.assertIn('--debug', self.complete('top', 'x', '--d'))
        self.assertIn('demo', self.complete('top', '-n', ''))
        self.assertEqual(self.complete('top', '--via', 'p'),
                         ['port-forward', 'proxy', ':4'])

    def test_through_kubectl(self):
        env = dict(PATH=os.path.dirname(cluster.PLUGIN) + ':' +
                   os.environ['PATH'], HOME=self.dir, KUBECONFIG=self.config)
        got = subprocess.run(
            ['kubectl', 'pprof', 'top', 'web-7c9f-1', '--seconds=1', '-ndemo',
             '--', '-cum', '-nodecount=3'], env=env, text=True,
            capture_output=True)
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertIn('main.main', got.stdout)

    def test_flame_of_a_deployment_has_both_pods(self):
        got = self.fine('flame', 'deploy/web', '--seconds', '1')
        # A pod that got little of the CPU has a narrow box, and a short label.
        self.assertIn('parse', got.stdout)
        self.assertIn('compr', got.stdout)

    def test_pods_are_told_apart_by_a_label(self):
        got = self.fine('top', '-l', 'app=web', '--seconds', '1', '--',
                        '-tags')
        self.assertIn('pod:', got.stdout)
        self.assertIn('web-7c9f-1', got.stdout)
        self.assertIn('web-7c9f-2', got.stdout)
        got = self.fine('top', '-l', 'app=web', '--seconds', '1', '--',
                        '-tagfocus=pod=web-7c9f-2')
        self.assertNotIn('parseRequests', got.stdout)

    def test_heap(self):
        got = self.fine('top', 'pod/web-7c9f-1', '-p', 'heap')
        self.assertIn('main.keepSessions', got.stdout)

    def test_web(self):
        env = dict(PATH=os.environ['PATH'], HOME=self.dir,
                   KUBECONFIG=self.config)
        process = subprocess.Popen(
            [cluster.PLUGIN, 'web', 'web-7c9f-1', '-p', 'heap', '--',
             '-no_browser'], env=env, text=True, stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(support.stop, process)
        for line in process.stderr:
            if 'http://' in line and '127.0.0.1' in line or \
                    'localhost' in line:
                break
        else:
            self.fail('no page')
        self.nothing_left()

    def test_diff(self):
        got = self.fine('diff', 'web-7c9f-1', 'web-7c9f-2', '--seconds', '1')
        lines = {line.split()[-1]: line for line in got.stdout.splitlines()
                 if 'main.' in line}
        self.assertIn('-', lines['main.parseRequests'].split()[0])
        self.assertNotIn('-', lines['main.compressReplies'].split()[0])

    def test_diff_with_a_file(self):
        self.fine('top', 'web-7c9f-1', '--seconds=1', '-o',
                  self.path('old.pb.gz'), '--', '-proto')
        got = self.fine('diff', 'web-7c9f-2', '--seconds=1', '--base',
                        self.path('old.pb.gz'))
        self.assertIn('main.compressReplies', got.stdout)

    def test_dump(self):
        got = self.fine('dump', 'web-7c9f-1')
        self.assertIn('goroutine ', got.stdout)
        self.assertIn('main.main()', got.stdout)

    def test_native_program(self):
        """pprof-run gives a program without endpoint one."""
        port = support.free_port()
        run = os.path.abspath(os.path.join(support.BUILD, 'pprof-run'))
        process = subprocess.Popen(
            [run, '-addr', '127.0.0.1:%d' % port, 'python3', '-c',
             'import time\n'
             'while True: sum(range(50000)); time.sleep(.01)'],
            stderr=subprocess.DEVNULL)
        self.addCleanup(support.stop, process)
        support.wait_for_port(port, process)
        self.api.pod('demo', 'native', ports=[('pprof', port)])
        got = self.fine('dump', 'native')
        self.assertIn('PyEval', got.stdout)
        got = self.fine('top', 'native', '--seconds=1')
        self.assertIn('python', got.stdout)

    def test_trace(self):
        self.fine('trace', 'web-7c9f-1', '--seconds=1', '-o',
                  self.path('t.out'))
        with open(self.path('t.out'), 'rb') as f:
            self.assertTrue(f.read(16).startswith(b'go 1.'))

    def test_annotation_names_the_port(self):
        self.api.pod('demo', 'odd', annotations={
            'pprof/scrape': 'true', 'pprof/port': str(self.ports[0])})
        got = self.fine('top', 'odd', '-p', 'heap')
        self.assertIn('from port %d, by port-forward' % self.ports[0],
                      got.stderr)

    def test_port_name(self):
        self.api.pod('demo', 'named', ports=[('web', 1),
                                             ('pprof', self.ports[0])])
        got = self.fine('top', 'named', '-p', 'heap')
        self.assertIn('from port %d' % self.ports[0], got.stderr)

    def test_verbose_shows_the_commands(self):
        got = self.fine('top', 'web-7c9f-1', '-p', 'heap', '-v')
        self.assertIn('+ kubectl get pod/web-7c9f-1 -o json', got.stderr)
        self.assertIn('+ kubectl port-forward --namespace demo --address '
                      '127.0.0.1 pod/web-7c9f-1 :6060', got.stderr)

    def test_context_and_kubeconfig(self):
        env = {'KUBECONFIG': '/nonexistent'}
        got = self.fine('top', 'web-7c9f-1', '-p', 'heap', '--kubeconfig',
                        self.config, '--context=admin', '-n', 'demo', env=env)
        self.assertIn('keepSessions', got.stdout)
        got = self.plugin('top', 'web-7c9f-1', '--context', 'nosuch')
        self.assertEqual(got.returncode, 1)
        self.assertIn('nosuch', got.stderr)


@cluster.needs
class Targets(cluster.ClusterCase):
    def test_targets(self):
        self.api.pod('demo', 'db-0', ports=[5432], backends={
            p: None for p in (5432, 6060, 8080, 8081, 8443, 2379, 9090,
                              6053)})
        self.api.pod('demo', 'done', phase='Succeeded')
        self.api.pod('demo', 'waits', phase='Pending')
        got = self.fine('targets')
        rows = {line.split()[1]: line for line in got.stdout.splitlines()}
        self.assertIn('6060/http port-forward', rows['web-7c9f-1'])
        self.assertIn('goroutine', rows['web-7c9f-1'])
        self.assertIn('no /debug/pprof/ on ports 6060, 5432', rows['db-0'])
        self.assertIn('connection refused', rows['db-0'])
        self.assertIn('has completed', rows['done'])
        self.assertIn('is Pending (ContainerCreating)', rows['waits'])
        self.nothing_left()

    def test_all_namespaces(self):
        self.api.pod('other', 'api-1', ports=[6060], backends={
            6060: ('127.0.0.1', self.ports[0])})
        got = self.fine('targets', '-A')
        self.assertIn('other', got.stdout)
        self.assertIn('api-1', got.stdout)
        self.assertIn('web-7c9f-2', got.stdout)

    def test_presets(self):
        got = self.fine('preset', 'list')
        for name in ('etcd', 'olm', 'kube-apiserver', 'kubelet', 'coredns'):
            self.assertRegex(got.stdout, r'(?m)^%s +\w' % name)
        got = self.fine('preset', 'etcd')
        self.assertIn('--enable-pprof', got.stdout)

    def test_own_preset(self):
        os.makedirs(self.path('.config/pprof/presets'))
        with open(self.path('.config/pprof/presets/shop.yaml'), 'w') as f:
            f.write('about: the shop\nnamespace: demo\nselector: app=web\n'
                    'port: 6060\n')
        self.assertIn('shop', self.fine('preset').stdout)
        got = self.fine('top', '--preset', 'shop', '-p', 'heap')
        self.assertIn('keepSessions', got.stdout)
        with open(self.path('.config/pprof/presets/shop.yaml'), 'a') as f:
            f.write('prot: 1\n')
        got = self.plugin('top', '--preset', 'shop')
        self.assertEqual(got.returncode, 1)
        self.assertIn('shop.yaml:5:1: prot is not a known key', got.stderr)

    def test_api_server_and_kubelet(self):
        there = ('127.0.0.1', self.ports[0])
        self.api.own_pprof = there
        self.api.store.put({'kind': 'Node', 'metadata': {'name': 'node-1'}})
        self.api.node_pprof['node-1'] = there
        got = self.fine('top', '--preset=kube-apiserver', '-p', 'heap')
        self.assertIn('keepSessions', got.stdout)
        got = self.fine('top', '--preset=kubelet', 'node-1', '--seconds=1')
        self.assertIn('parseRequests', got.stdout)


@cluster.needs
class Enable(cluster.ClusterCase):
    CONTAINER = {
        'name': 'app', 'image': 'example/app:1.0', 'command': ['/bin/olm'],
        'args': ['--namespace', 'demo'],
        'env': [{'name': 'LD_PRELOAD', 'value': '/lib/mine.so'}],
        'livenessProbe': {'httpGet': {'path': '/healthz', 'port': 8080,
                                      'scheme': 'HTTP'}}}

    def setUp(self):
        super().setUp()
        self.api.store.put({
            'kind': 'Deployment', 'metadata': {
                'name': 'web', 'namespace': 'demo'},
            'spec': {'selector': {'matchLabels': {'app': 'web'}},
                     'template': {'metadata': {'labels': {'app': 'web'}},
                                  'spec': {'containers': [self.CONTAINER]}}}})

    def item(self):
        return self.api.store.get(BY_NAME['apps', 'deployments'], 'demo',
                                  'web')

    def deployment(self):
        """All but the version, which every change moves."""
        item = json.loads(json.dumps(self.item()))
        del item['metadata']['resourceVersion']
        return item

    def secrets(self):
        return [name for (r, _, name) in self.api.store.items
                if r.kind == 'Secret']

    def container(self):
        return self.item()['spec']['template']['spec']['containers'][0]

    def change_something(self):
        """What a user does in between."""
        item = json.loads(json.dumps(self.item()))
        item['spec']['replicas'] = 5
        item['spec']['template']['spec']['containers'][0]['env'].insert(
            0, {'name': 'MINE', 'value': '1'})
        del item['metadata']['resourceVersion']
        self.api.store.put(item)

    def there_and_back(self, *options):
        """disable gives back what was there, also after other changes."""
        before = self.deployment()
        self.fine('enable', 'deploy/web', *options, '--yes')
        self.assertNotEqual(before, self.deployment())
        again = self.fine('enable', 'deploy/web', *options, '--yes')
        self.assertIn('has all of that already', again.stderr)
        self.fine('disable', 'deploy/web', '--yes')
        self.assertEqual(before, self.deployment())
        self.fine('enable', 'deploy/web', *options, '--yes')
        self.change_something()
        self.fine('disable', 'deploy/web', '--yes')
        after = self.deployment()
        self.assertEqual(after['spec'].pop('replicas'), 5)
        found = after['spec']['template']['spec']['containers'][0]['env']
        self.assertEqual(found.pop(0)['name'], 'MINE')
        self.assertEqual(before, after)
        self.assertEqual(self.secrets(), [])

    def test_every_kind_is_taken_back(self):
        push = ['--push', '--collector', 'http://pprofd:10100']
        for options in ([], ['--port=6060', '--service=shop'], ['--mtls'],
                        ['--native'], push, ['--native', '--mtls'],
                        ['--native', *push]):
            with self.subTest(options):
                self.setUp()
                self.there_and_back(*options)

    def test_mtls(self):
        got = self.fine('enable', 'deploy/web', '--mtls', '--yes')
        self.assertIn('+ Secret demo/web-pprof-tls', got.stdout)
        self.assertNotIn('PRIVATE KEY', got.stdout + got.stderr)
        container = self.container()
        self.assertEqual(container['args'][2:], [
            '--tls-cert=/var/run/pprof-tls/tls.crt',
            '--tls-key=/var/run/pprof-tls/tls.key',
            '--client-ca=/var/run/pprof-tls/ca.crt'])
        self.assertEqual(container['livenessProbe']['httpGet'], {
            'path': '/healthz', 'port': 8443, 'scheme': 'HTTPS'})
        self.assertEqual(container['ports'][0]['containerPort'], 8443)
        data = self.api.store.get(BY_NAME['', 'secrets'], 'demo',
                                  'web-pprof-tls')['data']
        for name in data:
            with open(self.path(name), 'wb') as f:
                f.write(base64.b64decode(data[name]))
        for purpose in ('sslserver', 'sslclient'):
            subprocess.run(['openssl', 'verify', '-purpose', purpose,
                            '-CAfile', self.path('ca.crt'),
                            self.path('tls.crt')], check=True,
                           stdout=subprocess.DEVNULL)
        ssl.create_default_context().load_cert_chain(
            self.path('tls.crt'), self.path('tls.key'))

    def test_native(self):
        self.fine('enable', 'deploy/web', '--native', '--image=reg/p:1',
                  '--yes')
        env = {e['name']: e['value'] for e in self.container()['env']}
        self.assertEqual(env['LD_PRELOAD'], '/lib/mine.so:'
                         '/var/run/pprof/libpprof-preload.so')
        self.assertEqual(env['PPROF_ADDR'], '127.0.0.1:6060')
        init = self.item()['spec']['template']['spec']['initContainers'][0]
        self.assertEqual(init['image'], 'reg/p:1')
        self.assertEqual(init['command'][:2],
                         ['kubectl-pprof', 'install-preload'])
        self.fine('install-preload', self.dir)
        self.assertTrue(os.path.exists(self.path('libpprof-preload.so')))

    def test_what_somebody_changed_stays(self):
        self.fine('enable', 'deploy/web', '--port=6060', '--yes')
        item = json.loads(json.dumps(self.item()))
        item['spec']['template']['metadata']['annotations'][
            'pprof/port'] = '7070'
        self.api.store.put(item)
        got = self.fine('disable', 'deploy/web', '--yes')
        self.assertIn('left as it is', got.stderr)
        self.assertEqual(self.item()['spec']['template']['metadata'][
            'annotations'], {'pprof/port': '7070'})

    def test_args_of_the_image_are_not_lost(self):
        item = json.loads(json.dumps(self.item()))
        container = item['spec']['template']['spec']['containers'][0]
        del container['args'], container['command']
        self.api.store.put(item)
        got = self.plugin('enable', 'deploy/web', '--mtls', '--yes')
        self.assertEqual(got.returncode, 1)
        self.assertIn('would replace those of its image', got.stderr)
        self.assertEqual(self.secrets(), [])

    def test_there_and_back(self):
        before = self.deployment()
        got = self.fine('enable', 'deploy/web', '--port=6060', stdin='y\n')
        self.assertIn('/annotations/pprof~1port:\n+     "6060"\n',
                      got.stdout)
        template = self.item()['spec']['template']['metadata']
        self.assertEqual(template['annotations'], {
            'pprof/scrape': 'true', 'pprof/port': '6060'})
        got = self.fine('enable', 'deploy/web', '--port=6060', '--yes')
        self.assertIn('has all of that already', got.stderr)
        got = self.fine('disable', 'deploy/web', '--yes')
        self.assertIn('-     "6060"\n', got.stdout)
        self.assertEqual(before, self.deployment())
        got = self.plugin('disable', 'deploy/web', '--yes')
        self.assertEqual(got.returncode, 1)

    def test_no_is_no(self):
        before = self.deployment()
        got = self.plugin('enable', 'deploy/web', stdin='n\n')
        self.assertEqual(got.returncode, 1)
        self.assertIn('nothing was changed', got.stderr)
        self.assertEqual(before, self.deployment())

    def test_only_with_the_right_to_patch(self):
        config = self.user('bob', 'get deployments')
        got = self.plugin('enable', 'deploy/web', '--yes', config=config)
        self.assertEqual(got.returncode, 1)
        self.assertIn('the API server would refuse it', got.stderr)
        self.assertIn('verbs: ["patch"]', got.stderr)
        got = self.plugin('enable', 'web-7c9f-1', '--yes')
        self.assertEqual(got.returncode, 2)
        got = self.plugin('enable', 'pod/web-7c9f-1', '--yes')
        self.assertIn('has no pod template', got.stderr)


@cluster.needs
class Capture(cluster.ClusterCase):
    def test_capture(self):
        got = self.fine('capture', 'deploy/web', '--profiles',
                        'cpu,heap,goroutine', '--seconds=1', '-o',
                        self.path('out'))
        self.assertIn('6 profiles of 2 of 2 pods in', got.stdout)
        self.assertRegex(got.stderr, r'(?m)^web-7c9f-1: 3 profiles, \d+ '
                         r'bytes, by port-forward$')
        names = sorted(os.listdir(self.path('out')))
        self.assertEqual(len(names), 6)
        self.assertRegex(names[0],
                         r'^demo_web-7c9f-1_cpu_\d{8}T\d{6}Z\.pb\.gz$')
        top = self.pprof('-top', self.path('out', names[0]))
        self.assertIn('main.parseRequests', top.stdout)
        self.nothing_left()

    def test_a_pod_without_endpoint(self):
        self.api.pod('demo', 'db-0', labels={'app': 'web'}, ports=[1])
        got = self.plugin('capture', '-l', 'app=web', '--profiles=heap',
                          '--port=6060', '-o', self.path('out'))
        self.assertEqual(got.returncode, 1)
        self.assertIn('2 profiles of 2 of 3 pods', got.stdout)
        self.assertIn('db-0: no /debug/pprof/ on port 6060', got.stderr)

    def test_interrupt_keeps_what_is_there(self):
        env = dict(PATH=os.environ['PATH'], HOME=self.dir,
                   KUBECONFIG=self.config)
        process = subprocess.Popen(
            [cluster.PLUGIN, 'capture', 'web-7c9f-1', '--profiles=heap,cpu',
             '--seconds=60', '-o', self.path('out')], env=env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        end = time.monotonic() + 60
        while not glob.glob(self.path('out/*heap*')):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)
        self.assertIn('1 profile of 1 of 1 pod', out)
        self.assertEqual(len(os.listdir(self.path('out'))), 1)
        self.nothing_left()


if __name__ == '__main__':
    unittest.main()
