"""pprofd scrapes the pods of a cluster: the API server is a stand-in
(kube_api.py), the pods are real processes and endpoints on loopback."""
import base64
import json
import os
import re
import shutil
import signal
import ssl
import subprocess
import threading
import unittest

import certificates
import kube_api
import support
from collector import PPROFD, Pprofd
from test_scrape import SERVICE, ScrapeTest, heap_now

RIGHTS = [{'apiGroups': [''], 'resources': ['pods'],
           'verbs': ['list', 'watch']},
          {'apiGroups': [''], 'resources': ['secrets'], 'verbs': ['get']}]
JOB = '''- job_name: pods
  scrape_interval: 1s
  profiles: [heap]
  kubernetes_sd_configs:
  - role: pod
'''


def ours(port, **more):
    return dict({'pprof/scrape': 'true', 'pprof/port': str(port)}, **more)


@support.needs('openssl')
class KubeTest(ScrapeTest):
    """As if pprofd ran in a pod of namespace `profiling`."""

    def setUp(self):
        super().setUp()
        self.api = kube_api.Server()
        self.addCleanup(self.api.close)
        self.api.user('collector', RIGHTS)
        os.mkdir(self.path('account'))
        self.write('account/token', 'token-of-collector\n')
        self.write('account/namespace', 'profiling\n')
        with open(self.api.ca.cert) as f:
            self.write('account/ca.crt', f.read())
        self.env = {'KUBERNETES_SERVICE_HOST': '127.0.0.1',
                    'KUBERNETES_SERVICE_PORT': str(self.api.port),
                    'PPROF_KUBERNETES_DIR': self.path('account')}

    def start(self, *jobs):
        self.write('pprofd.yaml', 'scrape: {self: false}\nscrape_configs:\n'
                   + ''.join(jobs))
        self.pprofd = Pprofd(self.path('data'), '--config',
                             self.path('pprofd.yaml'), env=self.env)
        self.addCleanup(self.pprofd.stop)

    def services(self):
        return sorted(t['service'] for t in self.targets())

    def run_service(self, host='127.0.0.1'):
        """The example service; its port."""
        process = subprocess.Popen(
            [SERVICE], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, env={**os.environ, 'PPROF_ADDR': host + ':0'})
        self.addCleanup(process.stdout.close)
        self.addCleanup(support.stop, process)
        for line in process.stdout:
            found = re.search(r'http://[\d.]+:(\d+)/', line)
            if found:
                threading.Thread(target=process.stdout.read,
                                 daemon=True).start()
                return int(found[1])
        self.fail('the example service ended')

    def tls_endpoint(self, ca):
        """An endpoint that wants a certificate of this CA."""
        e = self.endpoint()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*ca.sign('pod', alternatives='IP:127.0.0.1'))
        context.load_verify_locations(ca.cert)
        context.verify_mode = ssl.CERT_REQUIRED
        e.server.socket = context.wrap_socket(e.server.socket,
                                              server_side=True)
        return e

    def put_secret(self, name, api=None, **files):
        api = api or self.api
        data = {}
        for key, path in files.items():
            with open(path, 'rb') as f:
                data[key.replace('_', '.')] = base64.b64encode(
                    f.read()).decode()
        api.namespace('demo')
        api.store.put({'kind': 'Secret', 'type': 'kubernetes.io/tls',
                            'metadata': {'name': name, 'namespace': 'demo'},
                            'data': data})


class Pods(KubeTest):
    def test_real_processes_by_three_annotations(self):
        port = self.run_service('127.0.0.2')
        self.api.pod('demo', 'web-7c9f-1', ip='127.0.0.2',
                     labels={'app': 'web', 'pod-template-hash': '7c9f'},
                     owner=('ReplicaSet', 'web-7c9f'),
                     annotations=ours(port, **{'pprof/profiles': 'cpu,heap',
                                               'pprof/seconds': '1'}))
        other = self.run_service('127.0.0.3')
        self.api.pod('demo', 'cart-1', ip='127.0.0.3', annotations={
            'profefe.com/enable': 'true', 'profefe.com/port': str(other),
            'profefe.com/service': 'cart'})
        third = self.run_service('127.0.0.4')
        self.api.pod('shop', 'mail-0', ip='127.0.0.4',
                     owner=('StatefulSet', 'mail'), annotations={
                         'profiles.grafana.com/memory.scrape': 'true',
                         'profiles.grafana.com/memory.port': str(third)})
        self.api.pod('shop', 'quiet', annotations={})
        self.start(JOB + '    pod_labels: [app]\n')
        self.wait_good('cpu', 'heap', service='web')
        self.wait_good('heap', service='cart')
        self.wait_good('allocs', service='mail')
        self.assertEqual(self.services(), ['cart', 'mail', 'web'])
        self.wait_stored('web', 'cpu', 'handle_')
        listed = json.dumps(self.pprofd.get(
            '/api/1/profiles', query='cpu{service="web"}',
            **{'from': 'now-1h'}).json)
        for word in ('demo', 'web-7c9f-1', 'node-1', 'example/app:1.0'):
            self.assertIn(word, listed)
        labels = [t['labels'] for t in self.targets()
                  if t['service'] == 'web'][0]
        self.assertEqual(
            {k: labels.get(k) for k in ('namespace', 'pod', 'node',
                                        'container', 'app', 'job')},
            {'namespace': 'demo', 'pod': 'web-7c9f-1', 'node': 'node-1',
             'container': 'app', 'app': 'web', 'job': 'pods'})
        self.assertIn('pods of the cluster of this pod',
                      self.pprofd.get('/targets').text)

    def test_pods_come_change_and_go(self):
        e, f = self.endpoint(), self.endpoint()
        self.api.pod('demo', 'a', annotations=ours(e.port))
        self.start(JOB)
        self.wait_good('heap', service='a')
        self.api.pod('demo', 'b', annotations=ours(f.port))
        self.wait_good('heap', service='b')
        good = self.profiles(service='a')['heap']['good']
        self.api.pod('demo', 'b', annotations=ours(f.port, **{
            'pprof/service': 'renamed'}))
        self.wait(lambda: self.services() == ['a', 'renamed'], 'not renamed')
        self.wait_good('heap', service='renamed')
        self.api.remove_pod('demo', 'b')
        self.wait(lambda: self.services() == ['a'], 'b is still there')
        # The other target has kept its history.
        self.assertGreaterEqual(self.profiles(service='a')['heap']['good'],
                                good)

    def test_namespaces_selectors_and_an_address(self):
        e = self.endpoint()
        for namespace in ('profiling', 'prod', 'other'):
            self.api.pod(namespace, 'in-' + namespace,
                         labels={'app': 'api'}, annotations=ours(e.port))
        self.api.pod('prod', 'no-label', annotations=ours(e.port))
        self.env = {}
        self.start(JOB + '''    api_server: %s
    bearer_token_file: account/token
    tls_config: {ca_file: account/ca.crt}
    namespaces: {own_namespace: false, names: [prod]}
    selectors: [{role: pod, label: app=api}]
''' % self.api.url)
        self.wait(lambda: self.services() == ['in-prod'], 'not the one pod')
        # The token for the API server is not shown to pods.
        self.wait_good('heap', service='in-prod')
        self.assertTrue(e.seen)
        for _, headers in e.seen:
            self.assertNotIn('Authorization', headers)

    def test_its_own_namespace(self):
        e = self.endpoint()
        for namespace in ('profiling', 'prod'):
            self.api.pod(namespace, 'in-' + namespace,
                         annotations=ours(e.port))
        self.start(JOB + '    namespaces: {own_namespace: true}\n')
        self.wait(lambda: self.services() == ['in-profiling'], 'wrong pods')

    def test_rules_choose_among_ports(self):
        e = self.endpoint()
        self.api.pod('demo', 'api', ports=[('pprof', e.port), ('web', 1)])
        rules = '''  relabel_configs:
  - source_labels: [__meta_kubernetes_pod_container_port_name]
    regex: pprof
    action: keep
  - source_labels: [__meta_kubernetes_namespace]
    target_label: space
'''
        self.start(JOB + rules)
        self.wait_good('heap', service='api', space='demo')
        self.assertEqual(len(self.targets()), 1)
        # With annotations asked for, the same pod is none.
        self.write('pprofd.yaml', 'scrape: {self: false}\nscrape_configs:\n' +
                   JOB + '    mode: annotations\n' + rules)
        self.wait(lambda: self.targets() == [], 'the port is still scraped')


class Trouble(KubeTest):
    def test_certificates_from_a_secret(self):
        ca = certificates.Authority(self.dir, 'pods-ca')
        cert, key = ca.sign('scraper', usage='clientAuth')
        e = self.tls_endpoint(ca)
        self.put_secret('client', tls_crt=cert, tls_key=key, ca_crt=ca.cert)
        self.api.pod('demo', 'safe', annotations=ours(e.port, **{
            'pprof/tls-secret': 'client'}))
        self.api.pod('demo', 'lost', annotations=ours(e.port, **{
            'pprof/tls-secret': 'none'}))
        self.start(JOB)
        self.wait_good('heap', service='safe')
        self.wait(lambda: 'no such Secret' in self.profiles(
            service='lost').get('heap', {}).get('error', ''), 'no words')
        # One round does not fail because the Secret has yet to be read.
        self.api.remove_pod('demo', 'lost')
        out = subprocess.run(
            [PPROFD, 'scrape', '--config', self.path('pprofd.yaml'), '-o',
             self.path('out')], capture_output=True, text=True, timeout=120,
            env={**os.environ, **self.env})
        self.assertEqual((out.returncode, out.stdout),
                         (0, '1 profiles, 0 failed\n'), out.stderr)

    def test_secrets_of_two_clusters(self):
        """Each pod's certificates come from its own cluster; one that cannot
        be reached does not keep the others waiting."""
        other = kube_api.Server()
        self.addCleanup(other.close)
        other.user('collector', RIGHTS)
        shutil.copy(other.ca.cert, self.path('other.crt'))
        for api, name in ((self.api, 'near'), (other, 'far')):
            ca = certificates.Authority(self.dir, name + '-ca')
            cert, key = ca.sign(name, usage='clientAuth')
            # The same name in both clusters, with different certificates.
            self.put_secret('client', api, tls_crt=cert, tls_key=key,
                            ca_crt=ca.cert)
            api.pod('demo', name, annotations=ours(
                self.tls_endpoint(ca).port, **{'pprof/tls-secret': 'client'}))
        nowhere = 'https://127.0.0.1:%d' % support.free_port()
        self.start(JOB + ''.join(
            '  - role: pod\n    api_server: %s\n    bearer_token_file: '
            'account/token\n    tls_config: {ca_file: other.crt}\n' % url
            for url in ('https://127.0.0.1:%d' % other.port, nowhere)))
        for name in ('near', 'far'):
            self.wait_good('heap', service=name)
        # A reload does not mix them up.
        with open(self.path('pprofd.yaml')) as f:
            self.write('pprofd.yaml', f.read() + '# changed\n')
        self.pprofd.process.send_signal(signal.SIGHUP)
        for name in ('near', 'far'):
            good = self.profiles(service=name)['heap']['good']
            self.wait_good('heap', more_than=good + 1, service=name)
            self.assertEqual(self.profiles(service=name)['heap']['bad'], 0)
        job = self.pprofd.get('/api/1/targets').json['jobs'][0]
        self.assertFalse(job['ready'])

    def test_rights_are_missing(self):
        self.api.users['collector'] = []
        self.start(JOB)
        self.wait(lambda: 'list and watch on pods' in
                  self.pprofd.get('/targets').text, 'no words')
        job = self.pprofd.get('/api/1/targets').json['jobs'][0]
        self.assertFalse(job['ready'])
        self.assertIn('403', job['discovery_error'])
        # With the rights, it goes on without a restart.
        e = self.endpoint()
        self.api.pod('demo', 'a', annotations=ours(e.port))
        self.api.users['collector'] = RIGHTS
        self.wait_good('heap', service='a')

    def test_an_annotation_that_cannot_be_used(self):
        self.api.pod('demo', 'a', annotations=ours('http'))
        self.start(JOB)
        self.wait(lambda: 'no container has a TCP port named' in
                  self.pprofd.get('/targets').text, 'no words')

    def test_configurations_that_cannot_be(self):
        for line, words in (
                ('mode: pots', 'it must be annotations or ports'),
                ('bearer_token_file: x', 'need api_server'),
                ('api_server: https://h\n    context: c',
                 'give only one of them')):
            path = self.write('bad.yaml', 'scrape_configs:\n' + JOB +
                              '    %s\n' % line)
            out = subprocess.run([PPROFD, 'scrape', '--config', path],
                                 capture_output=True, text=True, timeout=60)
            self.assertEqual(out.returncode, 2)
            self.assertIn(words, out.stderr)


class Kprofefe(KubeTest):
    """The flags of a CronJob that was written for kprofefe."""

    def setUp(self):
        super().setUp()
        self.start()
        self.e = self.endpoint()
        for kind in ('profile', 'allocs', 'block', 'goroutine', 'mutex',
                     'threadcreate'):
            self.e.replies['/debug/pprof/' + kind] = (200, heap_now('main'))

    def scrape(self, *flags, **more):
        return subprocess.run(
            [PPROFD, 'scrape', '--profefe-hostport', self.pprofd.url(''),
             *flags], capture_output=True, text=True, timeout=120,
            env={**os.environ, **self.env, **more})

    def pod(self, namespace, name, **options):
        self.api.pod(namespace, name, annotations={
            'profefe.com/enable': 'true',
            'profefe.com/port': str(self.e.port)}, **options)

    def heaps(self):
        return self.pprofd.get('/api/1/profiles', query='heap',
                               **{'from': '2019-01-01'}).json['profiles']

    def test_all_namespaces(self):
        self.pod('demo', 'web')
        self.pod('shop', 'cart')
        self.pod('shop', 'done', phase='Succeeded')
        self.api.pod('shop', 'quiet')
        out = self.scrape('--all-namespaces')
        self.assertNotIn('discovery', out.stderr)
        self.assertIn('seconds=30', ' '.join(p for p, _ in self.e.seen))
        heaps = json.dumps(self.heaps())
        self.assertEqual(len(self.heaps()), 2, out.stderr)
        for word in ('web', 'cart', 'demo', 'shop', 'kube-profefe'):
            self.assertIn(word, heaps)

    def test_the_namespace_and_the_selector(self):
        self.pod('default', 'a', labels={'app': 'x'})
        self.pod('default', 'b', labels={'app': 'y'})
        self.pod('demo', 'c', labels={'app': 'x'})
        self.scrape('-l', 'app=x', KUBECONFIG='/nowhere')
        self.assertEqual(len(self.heaps()), 1)
        self.assertIn('default', json.dumps(self.heaps()))
        self.scrape('-n', 'demo')
        self.assertEqual(len(self.heaps()), 2)

    def test_no_pods(self):
        out = self.scrape('-A')
        self.assertEqual((out.returncode, out.stdout),
                         (0, 'No targets to profile\n'), out.stderr)

    def test_no_rights(self):
        self.api.users['collector'] = []
        out = self.scrape('-A')
        self.assertEqual(out.returncode, 1)
        self.assertRegex(out.stderr, 'kprofefe discovery: .*403')


if __name__ == '__main__':
    unittest.main()
