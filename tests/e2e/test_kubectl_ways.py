"""kubectl-pprof: how it connects to pods, and its errors if it cannot."""
import base64
import os
import signal
import subprocess
import time
import unittest

import certificates
import cluster
import support
from kube_objects import BY_NAME, Failure


@cluster.needs
class Ways(cluster.ClusterCase):
    def exec_pod(self, name, *programs, **options):
        self.api.pod('demo', name, ports=[self.ports[0]],
                     exec_env=cluster.tools(self.dir, *programs), **options)
        return name

    def test_proxy_when_port_forward_is_forbidden(self):
        config = self.user('bob', 'get pods', 'get pods/proxy')
        got = self.fine('top', 'web-7c9f-1', '-p', 'heap', config=config)
        self.assertIn('from port 6060, by proxy', got.stderr)
        self.assertIn('keepSessions', got.stdout)
        self.assertNotIn('You lack permission', got.stderr)

    def test_exec_when_proxy_is_forbidden(self):
        config = self.user('carol', 'get pods', 'create pods/exec')
        for programs in (['curl'], ['wget'], ['bash', 'cat']):
            with self.subTest(programs[0]):
                name = self.exec_pod('tools', *programs)
                got = self.fine('top', name, '-p', 'heap', '--port',
                                str(self.ports[0]), config=config)
                self.assertIn('by exec', got.stderr)
                self.assertIn('keepSessions', got.stdout)

    def test_exec_finds_what_listens_on_loopback(self):
        """The proxy cannot reach 127.0.0.1 in a pod, exec can."""
        config = self.user('dave', 'get pods', 'get pods/proxy',
                           'create pods/exec')
        name = self.exec_pod('loop', 'curl', backends={self.ports[0]: None})
        got = self.fine('top', name, '-p', 'heap', '--port',
                        str(self.ports[0]), config=config)
        self.assertIn('by exec', got.stderr)

    def test_container_without_tools(self):
        name = self.exec_pod('distroless')
        got = self.plugin('top', name, '--via', 'exec')
        self.assertEqual(got.returncode, 1)
        self.assertEqual(got.stderr, 'kubectl pprof: distroless: the '
                         'container has neither curl nor wget nor bash; '
                         '--debug adds a container that has one\n')

    def test_missing_rights_are_printed_as_a_role(self):
        config = self.user('erin', 'get pods')
        got = self.plugin('top', 'web-7c9f-1', config=config)
        self.assertEqual(got.returncode, 1)
        first = got.stderr.splitlines()[0]
        self.assertIn('User "erin" cannot create resource "pods/portforward"',
                      first)
        self.assertIn('kind: Role\n', got.stderr)
        self.assertIn('  namespace: demo\n', got.stderr)
        for resource in ('pods/portforward', 'pods/proxy', 'pods/exec'):
            self.assertIn('resources: ["%s"]' % resource, got.stderr)
        self.nothing_left()

    def test_no_right_to_see_pods(self):
        config = self.user('frank')
        got = self.plugin('targets', '-A', config=config)
        self.assertEqual(got.returncode, 1)
        self.assertIn('kind: ClusterRole', got.stderr)
        self.assertIn('verbs: ["list"]', got.stderr)

    def test_expired_token(self):
        config = self.api.kubeconfig(self.path('old'), token='expired')
        got = self.plugin('top', 'web-7c9f-1', config=config)
        self.assertEqual(got.returncode, 1)
        self.assertEqual(len(got.stderr.splitlines()), 1)
        self.assertIn('You must be logged in to the server', got.stderr)

    def test_no_api_server(self):
        config = self.api.kubeconfig(self.path('dead'),
                                     server='https://127.0.0.1:1')
        got = self.plugin('top', 'web-7c9f-1', config=config)
        self.assertEqual(got.returncode, 1)
        self.assertEqual(len(got.stderr.splitlines()), 1, got.stderr)
        self.assertIn('127.0.0.1:1 was refused', got.stderr)

    def test_no_such_pod(self):
        got = self.plugin('top', 'nosuch')
        self.assertEqual((got.returncode, got.stderr), (
            1, 'kubectl pprof: pods "nosuch" not found\n'))

    def test_pods_that_do_not_run(self):
        self.api.pod('demo', 'done', phase='Succeeded')
        got = self.plugin('top', 'done')
        self.assertEqual(got.returncode, 1)
        self.assertIn('pod done has completed', got.stderr)

    def test_refused_port(self):
        self.api.pod('demo', 'quiet', backends={6060: None})
        got = self.plugin('top', 'quiet', '--port', '6060')
        self.assertEqual((got.returncode, got.stderr), (
            1, 'kubectl pprof: quiet: no /debug/pprof/ on port 6060 '
            '(connection refused)\n'))
        self.nothing_left()

    def test_no_kubectl(self):
        got = self.plugin('top', 'x', env={'KUBECTL': '/nonexistent/kubectl'})
        self.assertEqual(got.returncode, 1)
        self.assertIn('cannot run /nonexistent/kubectl', got.stderr)

    def test_killed_plugin_leaves_no_kubectl(self):
        env = dict(PATH=os.environ['PATH'], HOME=self.dir,
                   KUBECONFIG=self.config)
        process = subprocess.Popen(
            [cluster.PLUGIN, 'top', 'web-7c9f-1', '--seconds', '60'], env=env,
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.assertIn('by port-forward', process.stderr.readline())
        self.assertTrue(cluster.processes('pod/web-7c9f-1 :6060', self.dir))
        process.send_signal(signal.SIGKILL)
        process.wait()
        end = time.monotonic() + 30
        while cluster.processes('pod/web-7c9f-1 :6060', self.dir):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def test_usage(self):
        for args, word in ((['top'], 'which pod?'), (['nosuch'], 'no command'),
                           (['falme'], 'did you mean flame?'),
                           (['top', '--secnods=1'], 'did you mean --seconds?'),
                           (['top', 'x', '-cum'], 'put it after "--"'),
                           (['top', 'x', '-nodecount=5'], 'a flag of pprof'),
                           (['get', 'services'], 'which collector?'),
                           (['top', 'x', '--seconds=0'], 'must be 1 to 65535'),
                           (['top', '--nosuch'], 'unknown flag --nosuch'),
                           (['top', 'x', '--port', 'a'], '--port a'),
                           (['diff', 'x'], 'two names'),
                           (['top', 'x', '--seconds'], 'needs a value')):
            with self.subTest(args):
                got = self.plugin(*args)
                self.assertEqual(got.returncode, 2, got.stderr)
                self.assertIn(word, got.stderr)
        got = self.fine('--help')
        self.assertLessEqual(len(got.stdout.splitlines()), 24)
        self.assertLess(max(map(len, got.stdout.splitlines())), 81)

    def test_type_and_name_as_two_words(self):
        got = self.fine('top', 'deploy', 'web', '--seconds=1s')
        self.assertIn('web-7c9f-2: profile?seconds=1 ', got.stderr)

    def test_no_such_profile(self):
        got = self.plugin('top', 'web-7c9f-1', '-p', 'cpuu')
        self.assertEqual(got.returncode, 1)
        self.assertIn('it has no profile cpuu; it has allocs, block, ',
                      got.stderr)

    def test_a_full_disk(self):
        for args in (['targets'], ['preset'], ['top', 'web-7c9f-1', '-pheap'],
                     ['--help']):
            with self.subTest(args), open('/dev/full', 'w') as full:
                got = subprocess.run(
                    [cluster.PLUGIN, *args], stdout=full, text=True,
                    stderr=subprocess.PIPE, env=dict(
                        PATH=os.environ['PATH'], HOME=self.dir,
                        KUBECONFIG=self.config))
                self.assertEqual(got.returncode, 1, got.stderr)

    def begin(self, *args):
        process = subprocess.Popen(
            [cluster.PLUGIN, *args], text=True, stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL, env=dict(
                PATH=os.environ['PATH'], HOME=self.dir,
                KUBECONFIG=self.config))
        self.addCleanup(process.stderr.close)
        self.addCleanup(support.stop, process)
        self.assertIn(', by ', process.stderr.readline())
        return process

    def test_a_pod_that_dies_in_the_middle(self):
        port = support.free_port()
        pod = subprocess.Popen([self.program, '127.0.0.1:%d' % port],
                               stdout=subprocess.DEVNULL)
        self.addCleanup(support.stop, pod)
        support.wait_for_port(port, pod)
        self.api.pod('demo', 'dies', ports=[port])
        process = self.begin('top', 'dies', '--seconds=60')
        time.sleep(1)
        pod.kill()
        said = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 1)
        self.assertRegex(said, '^kubectl pprof: dies: the connection (ended '
                         'early|to the pod was lost); .* may have ended\n$')
        self.nothing_left()

    def test_interrupt_ends_the_profile_in_the_pod(self):
        """Go takes one CPU profile at a time."""
        process = self.begin('top', 'web-7c9f-1', '--seconds=60')
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
        self.assertEqual((process.returncode, said),
                         (130, 'kubectl pprof: interrupted\n'))
        self.nothing_left()
        end = time.monotonic() + 30
        while self.plugin('top', 'web-7c9f-1', '--seconds=1').returncode:
            self.assertLess(time.monotonic(), end)

    def test_odd_argument_forms(self):
        """A stub shows how kubectl is called."""
        stub = self.path('stub')
        with open(stub, 'w') as f:
            f.write('#!/bin/sh\nprintf "%s\\n" "$@" >> ' +
                    self.path('args') + '\nexit 1\n')
        os.chmod(stub, 0o755)
        self.plugin('top', 'pod/a b', '--as=o\'brien', '-nx y', '--token',
                    't k', '-s', 'https://h', env={'KUBECTL': stub})
        with open(self.path('args')) as f:
            self.assertEqual(f.read().splitlines(), [
                "--as=o'brien", '--token=t k', '--server=https://h', 'get',
                'pod/a b', '-o', 'json', '--namespace', 'x y'])


@cluster.needs
class Debug(cluster.ClusterCase):
    """An ephemeral container, for images without any tools."""
    RIGHTS = ('get pods', 'create pods/exec', 'patch pods/ephemeralcontainers')

    def setUp(self):
        super().setUp()
        if cluster.is_old_kubectl():
            self.skipTest('kubectl 1.20 has no --profile')
        self.start('bare')
        self.api.images['busybox'] = cluster.tools(self.dir, 'wget')

    def start(self, name, **options):
        self.api.pod('demo', name, ports=[self.ports[0]],
                     exec_env=cluster.tools(self.dir), **options)

    def ephemeral(self, name='bare'):
        return self.api.store.get(BY_NAME['', 'pods'], 'demo', name)[
            'spec'].get('ephemeralContainers', [])

    def top(self, *args, name='bare', rights=RIGHTS):
        return self.plugin('top', name, '-p', 'heap', '--port',
                           str(self.ports[0]), *args,
                           config=self.user('gina', *rights))

    def test_a_container_with_tools(self):
        got = self.top('--debug', '-v')
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertIn('keepSessions', got.stdout)
        self.assertIn('by debug container', got.stderr)
        self.assertRegex(
            got.stderr, r'bare: has got the ephemeral container pprof-\w{8} '
            r'of image busybox; it ends after \d+ s, but cannot be removed '
            'from the pod\n')
        container, = self.ephemeral()
        self.assertEqual(container['command'][0], 'sleep')
        self.assertGreater(int(container['command'][1]), 60)
        self.assertNotIn('capabilities', container.get('securityContext', {}))
        self.nothing_left()

    def test_only_if_it_is_asked_for(self):
        got = self.top()
        self.assertEqual(got.returncode, 1)
        self.assertIn('; --debug adds a container that has one', got.stderr)
        self.assertIn('resources: ["pods/portforward"]', got.stderr)
        self.assertEqual(self.ephemeral(), [])

    def test_not_if_there_is_another_way(self):
        self.fine('top', 'web-7c9f-1', '-p', 'heap', '--debug')
        self.assertEqual(self.ephemeral('web-7c9f-1'), [])
        got = self.plugin('targets', '--debug')
        self.assertEqual(got.returncode, 2)

    def test_without_the_right(self):
        got = self.top('--debug', rights=self.RIGHTS[:2])
        self.assertEqual(got.returncode, 1)
        self.assertIn('cannot patch resource "pods/ephemeralcontainers"',
                      got.stderr.splitlines()[0])
        self.assertIn('resources: ["pods/ephemeralcontainers"]\n'
                      '  verbs: ["patch"]', got.stderr)
        self.assertEqual(self.ephemeral(), [])

    def test_an_image_that_cannot_be_pulled(self):
        self.api.images['nosuch'] = (
            'ErrImagePull', 'failed to resolve reference "nosuch:latest"')
        got = self.top('--debug', '--image=nosuch')
        self.assertEqual(got.returncode, 1)
        self.assertIn(
            'bare: the image nosuch does not run as a debug container: '
            'ErrImagePull: failed to resolve reference "nosuch:latest"; '
            'choose another with --image\n', got.stderr)
        self.assertIn('cannot be removed from the pod', got.stderr)

    def test_an_image_without_tools(self):
        got = self.top('--debug', '--image=scratch')
        self.assertEqual(got.returncode, 1)
        self.assertIn('the image scratch has neither curl nor wget nor bash',
                      got.stderr)

    def test_where_pods_must_be_restricted(self):
        """`baseline` is refused, `restricted` is not."""
        self.api.fail('PATCH', '/ephemeralcontainers', Failure(
            403, 'Forbidden', 'pods "bare" is forbidden: violates PodSecurity '
            '"restricted:latest": allowPrivilegeEscalation != false'))
        got = self.top('--debug')
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertTrue(self.ephemeral()[0]['securityContext'][
            'runAsNonRoot'])
        self.start('safe', spec={'securityContext': {'runAsUser': 65532}})
        got = self.top('--debug', name='safe')
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertTrue(self.ephemeral('safe')[0]['securityContext'][
            'runAsNonRoot'])

    def test_interrupt_while_the_image_is_pulled(self):
        self.api.images['slow'] = ('ContainerCreating', '')
        process = subprocess.Popen(
            [cluster.PLUGIN, 'top', 'bare', '--via=exec', '--debug',
             '--image=slow'], env=dict(PATH=os.environ['PATH'], HOME=self.dir,
                                       KUBECONFIG=self.config),
            stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + 60
        while not self.ephemeral():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 130, said)
        self.assertIn('cannot be removed from the pod', said)
        self.nothing_left()


@cluster.needs
@support.needs('etcd')
class Certificates(cluster.ClusterCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        ca = cls.ca = certificates.Authority(cls.shared, 'etcd-ca')
        cert, key = ca.sign('etcd', usage='serverAuth',
                            alternatives='IP:127.0.0.1,DNS:etcd.local')
        ca.sign('client', usage='clientAuth')
        cls.etcd_port, peer = support.free_port(), support.free_port()
        url = 'https://127.0.0.1:%d' % cls.etcd_port
        etcd = subprocess.Popen(
            ['etcd', '--name', 'e', '--data-dir',
             os.path.join(cls.shared, 'data'), '--listen-client-urls', url,
             '--advertise-client-urls', url, '--listen-peer-urls',
             'http://127.0.0.1:%d' % peer, '--initial-advertise-peer-urls',
             'http://127.0.0.1:%d' % peer, '--initial-cluster',
             'e=http://127.0.0.1:%d' % peer, '--cert-file', cert,
             '--key-file', key, '--client-cert-auth', '--trusted-ca-file',
             ca.cert, '--enable-pprof'], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        cls.addClassCleanup(support.stop, etcd)
        support.wait_for_port(cls.etcd_port, etcd)

    def setUp(self):
        super().setUp()
        self.api.pod('kube-system', 'etcd-node-1',
                     labels={'component': 'etcd'},
                     backends={2379: ('127.0.0.1', self.etcd_port)})
        self.put_secret('etcd-client', 'client')

    def put_secret(self, name, pair):
        data = {}
        for key, path in zip(('tls.crt', 'tls.key'), self.ca.pair(pair)):
            with open(path, 'rb') as f:
                data[key] = base64.b64encode(f.read()).decode()
        with open(self.ca.cert, 'rb') as f:
            data['ca.crt'] = base64.b64encode(f.read()).decode()
        self.api.store.put({'kind': 'Secret', 'type': 'kubernetes.io/tls',
                            'metadata': {'name': name,
                                         'namespace': 'kube-system'},
                            'data': data})

    def test_etcd(self):
        got = self.fine('top', '--preset', 'etcd', '-p', 'goroutine',
                        '--cert-secret', 'kube-system/etcd-client')
        self.assertIn('etcd', got.stdout + got.stderr)
        self.assertIn('runtime.gopark', got.stdout)

    def test_server_name_is_verified(self):
        args = ['top', '--preset', 'etcd', '-p', 'goroutine',
                '--cert-secret', 'kube-system/etcd-client', '--server-name']
        self.assertIn('gopark', self.fine(*args, 'etcd.local').stdout)
        got = self.plugin(*args, 'other.local')
        self.assertEqual(got.returncode, 1)
        self.assertIn('other.local', got.stderr)

    def test_without_certificate(self):
        got = self.plugin('top', '--preset', 'etcd')
        self.assertEqual(got.returncode, 1)
        self.assertIn('certificate', got.stderr)

    def test_key_never_shows_up(self):
        """Not on disk, not in a command line or an environment."""
        env = dict(PATH=os.environ['PATH'], HOME=self.dir, TMPDIR=self.dir,
                   KUBECONFIG=self.config)
        with open(self.ca.pair('client')[1]) as f:
            key = f.read().splitlines()[1]
        process = subprocess.Popen(
            [cluster.PLUGIN, 'capture', '--preset=etcd', '-v', '--seconds=2',
             '--profiles=cpu', '--cert-secret=kube-system/etcd-client', '-o',
             self.path('out')], env=env, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        seen = []
        while process.poll() is None:
            for pid in cluster.processes(''):
                seen.append(pid)
            time.sleep(0.1)
        out = process.communicate()[0]
        self.assertEqual(process.returncode, 0, out)
        self.assertNotIn(key, out + ''.join(seen))
        for parent, _, names in os.walk(self.dir):
            for name in names:
                with open(os.path.join(parent, name), 'rb') as f:
                    self.assertNotIn(key.encode(), f.read(), name)

    def test_secret_that_is_none(self):
        self.api.store.put({'kind': 'Secret', 'metadata': {
            'name': 'empty', 'namespace': 'kube-system'}, 'data': {}})
        for name, word in (('empty', 'needs tls.crt and tls.key'),
                           ('nosuch', 'not found')):
            got = self.plugin('top', '--preset=etcd', '--cert-secret',
                              'kube-system/' + name)
            self.assertEqual(got.returncode, 1)
            self.assertIn(word, got.stderr)


@cluster.needs
class Collector(cluster.ClusterCase):
    def setUp(self):
        super().setUp()
        self.port = support.free_port()
        process = subprocess.Popen(
            [cluster.PPROFD, 'serve', '--addr',
             '127.0.0.1:%d' % self.port, '--data', self.path('store'),
             '--scrape-self=false'],  # or its own profiles join the others
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(support.stop, process)
        support.wait_for_port(self.port, process)
        self.url = 'http://127.0.0.1:%d' % self.port

    def test_capture_and_ask(self):
        got = self.fine('capture', 'deploy/web', '--profiles=cpu,heap',
                        '--seconds=1', '--collector', self.url)
        self.assertIn('4 profiles of 2 of 2 pods in ' + self.url, got.stdout)
        got = self.fine('get', 'services', '--collector', self.url)
        self.assertEqual(got.stdout, 'web\n')
        got = self.fine('get', 'profiles', '--service=web', '--type=heap',
                        '--profefe-hostport', '127.0.0.1:%d' % self.port)
        self.assertEqual(len(got.stdout.splitlines()), 2)
        self.assertIn('web-7c9f-1', got.stdout)
        got = self.fine('get', 'profiles', '--service=web', '--from=1h',
                        '--to=30m', '--collector', self.url)
        self.assertEqual(got.stdout, '')
        got = self.fine('diff', 'deploy/web', '--seconds=1', '--collector',
                        self.url, '--ago', '0s')
        self.assertIn('Type: cpu', got.stdout)

    def test_load(self):
        for kind in ('cpu', 'heap', 'goroutine'):
            self.fine('top', 'web-7c9f-1', '--seconds=1', '-p', kind, '-o',
                      self.path(kind), '--', '-proto')
        got = self.fine('load', 'cpu', 'heap', 'goroutine',
                        '--service', 'files', '--collector', self.url)
        self.assertEqual(got.stdout, ''.join(
            '%s: %s of files\n' % (k, k)
            for k in ('cpu', 'heap', 'goroutine')))

    def test_collector_that_is_not_there(self):
        got = self.plugin('get', 'services', '--collector',
                          'http://127.0.0.1:1')
        self.assertEqual(got.returncode, 1)
        self.assertIn('collector http://127.0.0.1:1: ', got.stderr)
        self.assertEqual(len(got.stderr.splitlines()), 1)


if __name__ == '__main__':
    unittest.main()
