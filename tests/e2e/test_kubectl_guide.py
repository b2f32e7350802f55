"""Every command of docs/kubectl.md and docs/cluster-guides.md, as written,
against a cluster that has what the pages speak of."""
import base64
import json
import os
import re
import shutil
import subprocess
import unittest

import certificates
import cluster
import kube_node
import support

ROOT = os.path.dirname(os.path.dirname(cluster.HERE))


PAGES = ['kubectl.md', 'cluster-guides.md']


def commands(page):
    """(section, command) of the page's code blocks."""
    with open(os.path.join(ROOT, 'docs', page)) as f:
        text = f.read()
    found, section = [], ''
    for part in re.split(r'(?m)^(?=## )', text):
        section = part.splitlines()[0].strip('# ')
        for block in re.findall(r'(?ms)^```\n(.*?)^```', part):
            found += [(section, line) for line in block.splitlines()]
    return found


@cluster.needs
@support.needs('etcd')
class Guide(cluster.ClusterCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.contended = cls.start_pod('127.0.0.1:0', 'contend')
        cls.images = {
            'example/operator:1': [cluster.build_pod(cls.shared, 'operator')],
            'example/orders:1': [cluster.build_native(cls.shared, 'orders')]}

    def start_etcd(self):
        self.ca = certificates.Authority(self.dir, 'etcd-ca')
        cert, key = self.ca.sign('etcd', alternatives='IP:127.0.0.1')
        self.ca.sign('client', usage='clientAuth')
        port, peer = support.free_port(), support.free_port()
        url, peer_url = ('%s://127.0.0.1:%d' % (s, p) for s, p in (
            ('https', port), ('http', peer)))
        etcd = subprocess.Popen(
            ['etcd', '--name', 'e', '--data-dir', self.path('etcd'),
             '--listen-client-urls', url, '--advertise-client-urls', url,
             '--listen-peer-urls', peer_url, '--initial-advertise-peer-urls',
             peer_url, '--initial-cluster', 'e=' + peer_url, '--cert-file',
             cert, '--key-file', key, '--client-cert-auth',
             '--trusted-ca-file', self.ca.cert, '--enable-pprof'],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(support.stop, etcd)
        support.wait_for_port(port, etcd)
        self.api.pod('kube-system', 'etcd-node-1',
                     labels={'component': 'etcd'},
                     backends={2379: ('127.0.0.1', port)})

    def start_operators(self):
        """Their pods are started from the Deployments, whatever those say at
        the time."""
        self.node = kube_node.Node(self.api, self.path('node'), self.images)
        self.addCleanup(self.node.close)
        probe = {'httpGet': {'path': '/healthz', 'port': 8080}}
        for space, name in (('olm', 'olm-operator'),
                            ('olm', 'catalog-operator'),
                            ('operators', 'operator'), ('shop', 'orders')):
            self.api.namespace(space)
            more = {} if name == 'orders' else {
                'command': ['/operator'], 'args': ['--namespace', space],
                'livenessProbe': probe}
            self.api.store.put(kube_node.deployment(
                space, name, 'example/%s:1' % (
                    'orders' if name == 'orders' else 'operator'), **more))
            self.node.sync(space, name)
        self.ca.sign('pprof-cert', alternatives='DNS:catalog-operator')
        data = {}
        for key, path in zip(('tls.crt', 'tls.key', 'ca.crt'),
                             self.ca.pair('pprof-cert') + (self.ca.cert,)):
            with open(path, 'rb') as f:
                data[key] = base64.b64encode(f.read()).decode()
        self.api.store.put({'kind': 'Secret', 'data': data, 'metadata': {
            'name': 'pprof-cert', 'namespace': 'olm'}})

    def roll_out(self, command):
        """What the cluster does after the Deployment has changed."""
        changed = re.search(r'(?:able|set env) deploy/(\S+) -n (\S+)',
                            command)
        if changed and (changed[2], changed[1]) in self.node.pods:
            self.node.sync(changed[2], changed[1])

    def start_collector(self):
        port = support.free_port()
        pprofd = subprocess.Popen(
            [cluster.PPROFD, 'serve', '--addr', '127.0.0.1:%d' % port,
             '--data', self.path('store')], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        self.addCleanup(support.stop, pprofd)
        support.wait_for_port(port, pprofd)
        return 'http://127.0.0.1:%d' % port

    def setUp(self):
        super().setUp()
        there = ('127.0.0.1', self.ports[0])
        self.start_etcd()
        self.start_operators()
        self.api.pod('openshift-etcd-operator', 'etcd-operator-1',
                     labels={'app': 'etcd-operator'}, backends={6060: there})
        self.api.pod('controllers', 'manager-1', labels={'app': 'manager'},
                     backends={8082: there})
        self.api.store.put({
            'kind': 'Deployment', 'metadata': {
                'name': 'manager', 'namespace': 'controllers'},
            'spec': {'selector': {'matchLabels': {'app': 'manager'}}}})
        self.api.pod('demo', 'killed-1', ports=[6060], status={
            'containerStatuses': [{
                'name': 'app', 'state': {'running': {}}, 'lastState': {
                    'terminated': {'reason': 'OOMKilled'}}, 'ready': True}]},
            backends={6060: there})
        self.api.pod('demo', 'bare-1', exec_env=cluster.tools(self.dir),
                     ports=[self.ports[0]])
        self.api.images['busybox'] = cluster.tools(self.dir, 'wget')
        self.api.own_pprof = '127.0.0.1', self.contended
        self.api.store.put({'kind': 'Node', 'metadata': {'name': 'node-1'}})
        self.api.node_pprof['node-1'] = there
        os.symlink(os.path.join(ROOT, 'deploy'), self.path('deploy'))

    def run_page(self, page):
        env = dict(PATH=os.path.abspath(support.BUILD) + ':' +
                   os.environ['PATH'], HOME=self.dir, KUBECONFIG=self.config,
                   COLLECTOR=self.start_collector())
        listed = commands(page)
        self.assertGreater(len(listed), 20)
        if cluster.is_old_kubectl():
            listed = [(section, command) for section, command in listed
                      if 'overlays/' not in command
                      and '--debug' not in command]
        for section, command in listed:
            with self.subTest(section, command=command):
                got = subprocess.run(['bash', '-c', command], env=env,
                                     text=True, capture_output=True,
                                     cwd=self.dir, timeout=120)
                self.assertEqual(got.returncode, 0, got.stderr)
                if ' pprof flame ' in command or ' pprof top ' in command:
                    if ' -o ' not in command:
                        self.assertTrue(got.stdout.strip(), command)
                for word in self.WORDS.get(command.partition(' --sec')[0], ()):
                    self.assertIn(word, got.stdout)
                self.roll_out(command)
        self.nothing_left()

    # What is to be seen, by the beginning of the command.
    WORDS = {
        'kubectl pprof flame deploy/olm-operator -n olm':
            ['reconcileBundles'],
        'kubectl pprof flame deploy/operator -n operators':
            ['reconcileBundles'],
        'kubectl pprof flame deploy/orders -n shop': ['handle_orders'],
        'kubectl pprof top deploy/orders -n shop -p heap': ['keep_orders'],
        'kubectl pprof flame --preset etcd-operator': ['parseRequests'],
        'kubectl pprof top --preset kube-apiserver -p mutex': ['holdStore'],
        'kubectl pprof flame --preset kube-apiserver -p block':
            ['holdStore'],
        'kubectl pprof get services --collector $COLLECTOR': ['web'],
        'kubectl pprof targets -n demo': ['was OOMKilled before'],
    }

    def test_the_plugin_page(self):
        self.run_page('kubectl.md')
        with open(self.path('web.html')) as f:
            self.assertIn('<html', f.read())

    def test_the_guides(self):
        self.run_page('cluster-guides.md')
        for name in ('catalog.html', 'growth.html'):
            with open(self.path(name)) as f:
                self.assertIn('<html', f.read())

    def test_every_word_is_looked_for(self):
        listed = [c.partition(' --sec')[0] for page in PAGES
                  for _, c in commands(page)]
        self.assertEqual(set(self.WORDS) - set(listed), set())

    def test_pictures(self):
        """The pictures and the recording of the README; PPROF_PICTURES says
        where to keep them."""
        script = os.path.join(ROOT, 'docs', 'pictures', 'terminal.py')
        keep = os.environ.get('PPROF_PICTURES', self.dir)
        env = dict(PATH=os.path.abspath(support.BUILD) + ':' +
                   os.environ['PATH'], HOME=self.dir, KUBECONFIG=self.config)
        self.api.remove_pod('demo', 'bare-1')
        self.api.remove_pod('demo', 'killed-1')
        self.api.pod('demo', 'import-x7k2p', phase='Succeeded')
        self.api.pod('demo', 'db-0', ports=[5432], backends={
            p: None for p in (5432, 6060, 8080, 8081, 8443, 2379, 9090,
                              6053)})
        cast = os.path.join(keep, 'kubectl.cast')
        if os.path.exists(cast):
            os.remove(cast)
        for name, word, args in (
                ('targets', 'connection refused', ['targets']),
                ('flame', 'compressReplies', ['flame', 'deploy/web',
                                              '--seconds=3']),
                ('diff', 'parseRequests', ['diff', 'web-7c9f-1',
                                           'web-7c9f-2', '--seconds=3'])):
            with self.subTest(name):
                out = os.path.join(keep, 'kubectl-%s.svg' % name)
                subprocess.run(['python3', script, '--columns', '120',
                                '--cast', cast, out, 'kubectl', 'pprof',
                                *args], env=env,
                               check=True, timeout=120,
                               stdout=subprocess.DEVNULL)
                with open(out) as f:
                    self.assertIn(word, re.sub('<[^>]*>', '', f.read()))
                self.check_cast(cast, word)

    def check_cast(self, path, word):
        """An asciicast: a line about the terminal, then [time, 'o', text]
        with times that grow."""
        with open(path) as f:
            first, *events = map(json.loads, f)
        self.assertEqual((first['version'], first['width']), (2, 120))
        times = [e[0] for e in events]
        self.assertEqual(times, sorted(times))
        self.assertEqual({e[1] for e in events}, {'o'})
        text = ''.join(e[2] for e in events)
        self.assertIn(word, re.sub('\033[^m]*m', '', text))

    def test_the_name_of_kubectl_profefe(self):
        shutil.copy(cluster.PLUGIN, self.path('kubectl-profefe'))
        got = subprocess.run(
            ['kubectl', 'profefe', 'capture', 'web-7c9f-1', '--profiles',
             'heap', '--output-dir', self.path('out')],
            env=dict(PATH=self.dir + ':' + os.environ['PATH'], HOME=self.dir,
                     KUBECONFIG=self.config), text=True, capture_output=True)
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertEqual(len(os.listdir(self.path('out'))), 1)


if __name__ == '__main__':
    unittest.main()
