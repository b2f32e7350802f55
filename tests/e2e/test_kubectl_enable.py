"""What `kubectl pprof enable` changes, applied: the pods of the changed
Deployment are started as real processes, and profiled."""
import glob
import os
import shutil
import ssl
import subprocess
import time
import unittest
import urllib.error
import urllib.request

import cluster
import kube_node
import support


@cluster.needs
class Live(cluster.ClusterCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.images = {
            'example/operator:1': [cluster.build_pod(cls.shared, 'operator')],
            'example/orders:1': [cluster.build_native(cls.shared, 'orders')]}

    def setUp(self):
        super().setUp()
        self.node = kube_node.Node(self.api, self.path('node'), self.images)
        self.addCleanup(self.node.close)
        self.api.namespace('shop')
        probe = {'httpGet': {'path': '/healthz', 'port': 8080}}
        self.api.store.put(kube_node.deployment(
            'shop', 'operator', 'example/operator:1', command=['/operator'],
            args=['--namespace', 'shop'], livenessProbe=probe))
        self.api.store.put(kube_node.deployment(
            'shop', 'orders', 'example/orders:1', env=[
                {'name': 'PPROF_PUSH_INTERVAL', 'value': '2'},
                {'name': 'PPROF_PUSH_SECONDS', 'value': '1'}]))

    def enable(self, name, *options):
        self.fine('enable', 'deploy/' + name, '-n', 'shop', '--yes', *options)
        return self.node.sync('shop', name)

    def disable(self, name):
        self.fine('disable', 'deploy/' + name, '-n', 'shop', '--yes')
        return self.node.sync('shop', name)

    def top(self, name, *options):
        return self.plugin('top', 'deploy/' + name, '-n', 'shop',
                           '--seconds=1', *options)

    def local_port(self, name, port):
        """Where the pod's port is on this machine."""
        pod = self.node.pods['shop', name][1]
        return self.api.backends['shop', pod][port][1]

    def test_mtls(self):
        """OLM's flags: nobody gets in before, then only a certificate."""
        self.node.sync('shop', 'operator')
        got = self.top('operator', '--port=8080')
        self.assertEqual(got.returncode, 1)
        self.assertIn('the server answers 403', got.stderr)
        self.enable('operator', '--mtls')
        got = self.top('operator')
        self.assertEqual(got.returncode, 1)
        self.assertIn('--cert-secret', got.stderr)
        secret = '--cert-secret=shop/operator-pprof-tls'
        got = self.top('operator', secret)
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertIn('main.reconcileBundles', got.stdout)
        self.assertIn('from port 8443', got.stderr)
        got = self.top('operator', secret, '--server-name=operator.shop.svc')
        self.assertEqual(got.returncode, 0, got.stderr)
        url = 'https://127.0.0.1:%d/healthz' % self.local_port(
            'operator', 8443)
        with urllib.request.urlopen(
                url, context=ssl._create_unverified_context()) as reply:
            self.assertEqual(reply.status, 200)  # what the probe sees
        self.disable('operator')
        got = self.top('operator', '--port=8080')
        self.assertIn('the server answers 403', got.stderr)
        self.nothing_left()

    def test_native(self):
        self.enable('orders', '--native')
        got = self.top('orders')
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertIn('handle_orders', got.stdout)
        got = self.top('orders', '-p', 'heap')
        self.assertIn('keep_orders', got.stdout)
        process = self.disable('orders')
        with open('/proc/%d/environ' % process.pid, 'rb') as f:
            self.assertNotIn(b'pprof-preload', f.read())
        self.nothing_left()

    def test_native_with_certificates(self):
        self.enable('orders', '--native', '--mtls')
        got = self.top('orders')
        self.assertEqual(got.returncode, 1)
        self.assertIn('certificate', got.stderr)
        got = self.top('orders', '--cert-secret=shop/orders-pprof-tls')
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertIn('handle_orders', got.stdout)
        port = self.local_port('orders', 6060)
        with self.assertRaises((OSError, urllib.error.URLError)):
            urllib.request.urlopen(
                'https://127.0.0.1:%d/debug/pprof/' % port,
                context=ssl._create_unverified_context())

    def test_native_that_pushes(self):
        port = support.free_port()
        url = 'http://127.0.0.1:%d' % port
        pprofd = subprocess.Popen(
            [cluster.PPROFD, 'serve', '--addr', '127.0.0.1:%d' % port,
             '--data', self.path('store')], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        self.addCleanup(support.stop, pprofd)
        support.wait_for_port(port, pprofd)
        self.enable('orders', '--native', '--push', '--collector', url)
        end, got = time.monotonic() + 120, None
        while not got or 'orders-' not in got.stdout:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.5)
            got = self.plugin('get', 'profiles', '--service=orders',
                              '--collector', url)


@support.needs('cc', 'chroot', 'ldd', 'unshare')
@unittest.skipIf(subprocess.run(['unshare', '-m', 'true'],
                                capture_output=True).returncode,
                 'mounts are not permitted here')
class BareImage(support.TestCase):
    """An image with a program and its libc, and nothing else."""

    def test_no_library_is_missing(self):
        tree = self.path('tree')
        program = cluster.build_native(self.dir, 'orders')
        said = subprocess.run(['ldd', program], text=True, check=True,
                              capture_output=True).stdout
        for word in said.split():
            if word.startswith('/'):
                os.makedirs(tree + os.path.dirname(word), exist_ok=True)
                shutil.copy(word, tree + word)
        os.makedirs(tree + '/pprof')
        os.makedirs(tree + '/proc')
        shutil.copy(program, tree + '/orders')
        subprocess.run([cluster.PLUGIN, 'install-preload', tree + '/pprof'],
                       check=True)
        self.assertEqual(glob.glob(tree + '/**/libz*', recursive=True), [])
        port = support.free_port()
        process = subprocess.Popen(
            ['unshare', '-m', 'sh', '-c', 'mount --bind /proc "$0/proc" && '
             'exec chroot "$0" /orders', tree], env={
                 'PATH': os.environ['PATH'],
                 'PPROF_ADDR': '127.0.0.1:%d' % port,
                 'LD_PRELOAD': '/pprof/libpprof-preload.so'},
            stderr=subprocess.DEVNULL)  # the tools outside do not find it
        self.addCleanup(support.stop, process)
        support.wait_for_port(port, process)
        got = self.pprof('-top', 'http://127.0.0.1:%d/debug/pprof/profile'
                         '?seconds=1' % port)
        self.assertIn('handle_orders', got.stdout, got.stderr)


if __name__ == '__main__':
    unittest.main()
