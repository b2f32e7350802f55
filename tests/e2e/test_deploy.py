"""The files in deploy/: manifests, the permissions that they request, systemd
units."""
import json
import os
import re
import shutil
import ssl
import subprocess
import time
import unittest
import urllib.error
import urllib.request

import certificates
import clickhouse
import cluster
import kube_schema
import support

ROOT = os.path.dirname(os.path.dirname(cluster.HERE))
MANIFESTS = os.path.join(ROOT, 'deploy', 'kubernetes')
OVERLAY = os.path.join(MANIFESTS, 'overlays', 'scrape')


@cluster.needs
class Kubernetes(cluster.ClusterCase):
    def setUp(self):
        super().setUp()
        if cluster.is_old_kubectl():
            self.skipTest('the kustomize of kubectl 1.20 is too old')

    def kubectl(self, *args, **options):
        env = dict(PATH=os.environ['PATH'], HOME=self.dir,
                   KUBECONFIG=self.config)
        got = subprocess.run(['kubectl', *args], env=env, text=True,
                             capture_output=True, **options)
        self.assertEqual(got.returncode, 0, got.stderr)
        return got.stdout

    def objects(self, where=OVERLAY):
        """The objects of `kubectl apply -k`, read by kubectl itself."""
        text = self.kubectl('create', '-k', where, '--dry-run=client',
                            '--validate=false', '-o', 'json')
        items, decoder, at = [], json.JSONDecoder(), 0
        while at < len(text):
            found, at = decoder.raw_decode(text, at)
            items += found.get('items', [found])
            at += len(text[at:]) - len(text[at:].lstrip())
        return {(i['kind'], i['metadata']['name']): i for i in items}

    def test_apply(self):
        both = ('namespace/pprof', 'deployment.apps/pprofd', 'configmap/pprofd',
                'service/pprofd', 'persistentvolumeclaim/pprofd',
                'networkpolicy.networking.k8s.io/pprofd')
        role = 'clusterrole.rbac.authorization.k8s.io/pprofd'
        for where, more, less in ((MANIFESTS, role, 'cronjob.batch/scrape'),
                                  (OVERLAY, 'cronjob.batch/scrape', role)):
            said = self.kubectl('apply', '-k', where, '--dry-run=client',
                                '--validate=false')
            for name in (*both, more):
                self.assertIn(name + ' created (dry run)', said)
            self.assertNotIn(less + ' created', said)

    def test_every_overlay(self):
        """kubectl accepts it, and its pods are restricted; OpenShift
        chooses the ids."""
        folder = os.path.join(MANIFESTS, 'overlays')
        for name in sorted(os.listdir(folder)):
            with self.subTest(name):
                where = os.path.join(folder, name)
                self.kubectl('apply', '-k', where, '--dry-run=client',
                             '--validate=false')
                for (kind, _), item in self.objects(where).items():
                    self.assertEqual(kube_schema.check(item), [])
                    if kind == 'Deployment':
                        self.check_restricted(
                            item['spec']['template']['spec'])
        spec = self.objects(os.path.join(folder, 'openshift'))[
            'Deployment', 'pprofd']['spec']['template']['spec']
        self.assertFalse({'runAsUser', 'fsGroup'}
                         & set(spec['securityContext']))

    def test_the_collector_knows_its_flags(self):
        """`pprofd config` reads them all, and complains of others."""
        folder = os.path.join(MANIFESTS, 'overlays')
        for where in [MANIFESTS] + [os.path.join(folder, name)
                                    for name in sorted(os.listdir(folder))]:
            objects = self.objects(where)
            if ('Deployment', 'pprofd') not in objects:
                continue
            with open(self.path('pprofd.yaml'), 'w') as f:
                f.write(objects['ConfigMap', 'pprofd']['data']['pprofd.yaml'])
            command, *args = objects['Deployment', 'pprofd']['spec'][
                'template']['spec']['containers'][0]['args']
            self.assertEqual(command, 'serve')
            got = subprocess.run(
                [cluster.PPROFD, 'config'] + [
                    a.replace('/etc/pprofd', self.dir) for a in args],
                capture_output=True, text=True)
            self.assertEqual(got.returncode, 0, got.stderr)

    def test_a_typo_is_found(self):
        item = self.objects(MANIFESTS)['Deployment', 'pprofd']
        self.assertEqual(kube_schema.check(item), [])
        container = item['spec']['template']['spec']['containers'][0]
        container['readynessProbe'] = container.pop('readinessProbe')
        self.assertEqual(
            kube_schema.check(item),
            ['Deployment.spec.template.spec.containers.readynessProbe'])

    def test_the_top_has_the_files_of_the_base(self):
        self.assertEqual(self.kubectl('kustomize', MANIFESTS), self.kubectl(
            'kustomize', os.path.join(MANIFESTS, 'base')))

    def check_restricted(self, spec):
        """The Pod Security Standard `restricted`, and a bit more."""
        self.assertTrue(spec['securityContext']['runAsNonRoot'])
        self.assertEqual(spec['securityContext']['seccompProfile'],
                         {'type': 'RuntimeDefault'})
        self.assertFalse({'hostNetwork', 'hostPID', 'hostIPC'} & set(spec))
        for volume in spec.get('volumes', []):
            self.assertNotIn('hostPath', volume)
        for container in spec['containers'] + spec.get('initContainers', []):
            own = container['securityContext']
            self.assertFalse(own['allowPrivilegeEscalation'])
            self.assertTrue(own['readOnlyRootFilesystem'])
            self.assertEqual(own['capabilities'], {'drop': ['ALL']})
            self.assertIn('memory', container['resources']['limits'])

    def test_pods_are_restricted(self):
        objects = self.objects()
        specs = [objects['Deployment', 'pprofd']['spec']['template']['spec'],
                 objects['CronJob', 'scrape']['spec']['jobTemplate']['spec'][
                     'template']['spec']]
        for spec in specs:
            self.check_restricted(spec)

    def scrape(self, rules):
        """Runs the CronJob's command with these rights."""
        objects = self.objects()
        container = objects['CronJob', 'scrape']['spec']['jobTemplate'][
            'spec']['template']['spec']['containers'][0]
        self.assertEqual(container['command'], ['kubectl-pprof'])
        args = [a.replace('http://pprofd:10100', self.url).replace(
            '--seconds=10', '--seconds=1') for a in container['args']]
        self.api.user('scrape', rules)
        self.api.calls.clear()
        return self.plugin(*args, config=self.api.kubeconfig(
            self.path('scrape'), 'scrape'))

    def start(self, objects, **env):
        """pprofd as the Deployment starts it, but for address and
        directories."""
        port = support.free_port()
        self.url = 'http://127.0.0.1:%d' % port
        for name, text in objects['ConfigMap', 'pprofd']['data'].items():
            with open(self.path(name), 'w') as f:
                f.write(text)
        args = objects['Deployment', 'pprofd']['spec']['template'][
            'spec']['containers'][0]['args']
        args = [re.sub('^--addr=.*', '--addr=127.0.0.1:%d' % port, a)
                for a in args]
        args = [a.replace('=/data', '=' + self.path('data')).replace(
            '/etc/pprofd', self.dir).replace('=/tls', '=' + self.path('tls'))
            for a in args]
        pprofd = subprocess.Popen([cluster.PPROFD, *args],
                                  stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL,
                                  env={**os.environ, **env})
        self.addCleanup(support.stop, pprofd)
        support.wait_for_port(port, pprofd)
        return pprofd

    def jobs_and_targets(self):
        with urllib.request.urlopen(self.url + '/api/1/targets') as reply:
            got = json.load(reply)
        return got['jobs'], [t['service'] for t in got['targets']]

    def until(self, test):
        end = time.monotonic() + 60
        while not test():
            self.assertLess(time.monotonic(), end, self.jobs_and_targets())
            time.sleep(0.2)

    def account(self, token='token-of-pprofd'):
        """The variables of a pod, and its service account's directory."""
        os.makedirs(self.path('account'), exist_ok=True)
        shutil.copy(self.api.ca.cert, self.path('account', 'ca.crt'))
        with open(self.path('account', 'token'), 'w') as f:
            f.write(token)
        return dict(KUBERNETES_SERVICE_HOST='127.0.0.1',
                    KUBERNETES_SERVICE_PORT=str(self.api.port),
                    PPROF_KUBERNETES_DIR=self.path('account'))

    def test_discovery_and_its_rights(self):
        """The base: the rights are enough, and each one is needed."""
        objects = self.objects(MANIFESTS)
        rules = objects['ClusterRole', 'pprofd']['rules']
        self.assertEqual(
            (len(rules), rules[0]['apiGroups'], rules[0]['resources']),
            (1, [''], ['pods']))
        spec = objects['Deployment', 'pprofd']['spec']['template']['spec']
        self.assertEqual(
            [(s['kind'], s['name'], s['namespace']) for s in
             objects['ClusterRoleBinding', 'pprofd']['subjects']],
            [('ServiceAccount', spec['serviceAccountName'], 'pprof')])
        self.api.pod('shop', 'cart-1', annotations={
            'pprof/scrape': 'true', 'pprof/port': str(self.ports[0]),
            'pprof/service': 'cart'})
        self.api.user('pprofd', rules)
        env = self.account()
        for verb in rules[0]['verbs']:
            self.api.user('pprofd', [dict(rules[0], verbs=[
                v for v in rules[0]['verbs'] if v != verb])])
            pprofd = self.start(objects, **env)
            self.until(lambda: 'needs list and watch' in
                       self.jobs_and_targets()[0][0].get(
                           'discovery_error', ''))
            support.stop(pprofd)
        self.api.user('pprofd', rules)
        self.api.calls.clear()
        self.start(objects, **env)
        self.until(lambda: 'cart' in self.jobs_and_targets()[1])
        self.until(lambda: {(c[1], c[3]) for c in self.api.calls
                            if c[0] == 'pprofd' and c[2] is not None}
                   == {(v, 'pods') for v in rules[0]['verbs']})
        self.assertNotIn('discovery_error', self.jobs_and_targets()[0][0])

    def test_scrape_and_its_rights(self):
        """The rights are enough, and each one is needed."""
        self.start(self.objects())
        self.api.pod('shop', 'cart-1', annotations={
            'pprof/scrape': 'true', 'pprof/port': str(self.ports[0]),
            'pprof/service': 'cart'})
        rules = self.objects()['ClusterRole', 'pprof-scrape']['rules']
        got = self.scrape(rules)
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertIn('3 profiles of 1 of 1 pod', got.stdout)
        used = {(c[1], c[3]) for c in self.api.calls
                if c[0] == 'scrape' and c[2] is not None}
        self.assertEqual(used, {(v, r) for rule in rules
                                for v in rule['verbs']
                                for r in rule['resources']})
        for i in range(len(rules)):
            got = self.scrape(rules[:i] + rules[i + 1:])
            self.assertEqual(got.returncode, 1)
            self.assertIn('You lack permission', got.stderr)
        got = self.fine('get', 'services', '--collector', self.url)
        self.assertEqual(set(got.stdout.split()) - {'pprofd'}, {'cart'})


    def issue(self, objects):
        """cert-manager's part: a Secret for each Certificate, as files."""
        words = {'server auth': 'serverAuth', 'client auth': 'clientAuth'}
        ca = certificates.Authority(self.dir, 'overlay-ca')
        found = {}
        for (kind, name), item in objects.items():
            spec = item.get('spec', {})
            if kind != 'Certificate' or spec.get('isCA'):
                continue
            self.assertEqual(spec['issuerRef']['name'], 'pprof-ca')
            names = ['DNS:' + n for n in spec.get('dnsNames', [])] + [
                'IP:' + n for n in spec.get('ipAddresses', [])]
            found[spec['secretName']] = ca.sign(
                name, usage=','.join(words[u] for u in spec['usages']
                                     if u in words),
                alternatives=','.join(names) or None)
        return ca, found

    def mount(self, pair, ca):
        os.mkdir(self.path('tls'))
        for path, name in zip(pair + (ca,), ('tls.crt', 'tls.key', 'ca.crt')):
            shutil.copy(path, self.path('tls', name))

    def status(self, path, ca, pair=None, token=None):
        """What a client gets over HTTPS; 0: no connection."""
        context = ssl.create_default_context(cafile=ca)
        if pair:
            context.load_cert_chain(*pair)
        request = urllib.request.Request(
            self.url.replace('http:', 'https:') + path, headers={
                'Authorization': 'Bearer ' + token} if token else {})
        try:
            with urllib.request.urlopen(request, context=context) as reply:
                return reply.status
        except urllib.error.HTTPError as e:
            with e:
                return e.code
        except OSError:
            return 0

    def check_probes(self, objects, ca):
        """They come without a certificate or a token."""
        container = objects['Deployment', 'pprofd']['spec']['template'][
            'spec']['containers'][0]
        for probe in ('readinessProbe', 'livenessProbe'):
            get = container[probe]['httpGet']
            self.assertEqual(get['scheme'], 'HTTPS')
            self.assertEqual(self.status(get['path'], ca), 200)

    def test_mutual_tls(self):
        """The overlay's server certificate is for its names, and only the
        client's certificate gets in."""
        objects = self.objects(os.path.join(MANIFESTS, 'overlays', 'mtls'))
        ca, found = self.issue(objects)
        spec = objects['Deployment', 'pprofd']['spec']['template']['spec']
        secret, = [v['secret']['secretName'] for v in spec['volumes']
                   if v['name'] == 'tls']
        self.mount(found[secret], ca.cert)
        self.start(objects, **self.account())
        self.check_probes(objects, ca.cert)
        path = '/api/1/labels'
        self.assertEqual(self.status(path, ca.cert, found['pprof-client']),
                         200)
        stranger = certificates.Authority(self.path('tls'), 'other').sign(
            'stranger', usage='clientAuth')
        for pair in (None, stranger, found['pprofd-tls']):
            self.assertIn(self.status(path, ca.cert, pair), (0, 401, 403))

    def test_openshift(self):
        """Tokens of the cluster get in, if they may; the collector's rights
        are enough, and each one is needed."""
        objects = self.objects(os.path.join(MANIFESTS, 'overlays',
                                            'openshift'))
        ca = certificates.Authority(self.dir, 'service-ca')
        self.mount(ca.sign('pprofd', alternatives='IP:127.0.0.1'), ca.cert)
        rules = [r for name in ('pprofd', 'pprofd-asks')
                 for r in objects['ClusterRole', name]['rules']]
        for name in ('pprofd', 'pprofd-asks'):
            bound = objects['ClusterRoleBinding', name]
            self.assertEqual(
                (bound['roleRef']['name'], bound['subjects'][0]['name']),
                (name, 'pprofd'))
        dev = self.api.user('dev', [{'nonResourceURLs': ['/pprofd/*'],
                                     'verbs': ['get']}])
        other = self.api.user('other', [])
        self.api.user('pprofd', rules)
        self.api.calls.clear()
        pprofd = self.start(objects, **self.account())
        self.check_probes(objects, ca.cert)
        path = '/api/1/labels'
        self.assertEqual([self.status(path, ca.cert, token=t)
                          for t in (dev, other, 'nonsense', None)],
                         [200, 403, 401, 401])
        self.until_used(rules)
        for i in range(1, len(rules)):
            support.stop(pprofd)
            self.api.user('pprofd', rules[:i] + rules[i + 1:])
            pprofd = self.start(objects, **self.account())
            self.assertNotEqual(self.status(path, ca.cert, token=dev), 200)

    def test_clickhouse(self):
        """The overlay's collector keeps its profiles in a ClickHouse with a
        password, and has no volume."""
        server = clickhouse.Old(password='secret')
        self.addCleanup(server.stop)
        objects = self.objects(os.path.join(MANIFESTS, 'overlays',
                                            'clickhouse'))
        self.assertNotIn(('PersistentVolumeClaim', 'pprofd'), objects)
        with open(self.path('password'), 'w') as f:
            f.write('secret')
        container = objects['Deployment', 'pprofd']['spec']['template'][
            'spec']['containers'][0]
        container['args'] = [
            a.replace('pprof@clickhouse.clickhouse:8123',
                      'default@127.0.0.1:%d' % server.port).replace(
                          '=/clickhouse', '=' + self.dir)
            for a in container['args']]
        self.start(objects, HOME=self.dir, **self.account())
        self.fine('capture', 'web-7c9f-1', '-p', 'heap', '--collector',
                  self.url)
        got = self.fine('get', 'services', '--collector', self.url)
        self.assertIn('web', got.stdout.split())
        self.assertNotEqual(server.query('SHOW TABLES FROM pprof'), '')

    def until_used(self, rules):
        """Every API call is allowed by a rule, and every rule is needed."""
        wanted = {(v, g, r) for rule in rules for v in rule['verbs']
                  for g in rule['apiGroups'] for r in rule['resources']}
        end = time.monotonic() + 60
        while True:
            used = {(c[1], c[2], c[3]) for c in self.api.calls
                    if c[0] == 'pprofd' and c[2] is not None}
            if used == wanted:
                return
            self.assertLess(time.monotonic(), end, used ^ wanted)
            time.sleep(0.2)


@support.needs('systemd-analyze')
class Systemd(unittest.TestCase):
    def test_exposure(self):
        folder = os.path.join(ROOT, 'deploy', 'systemd')
        for name in os.listdir(folder):
            with self.subTest(name):
                got = subprocess.run(
                    ['systemd-analyze', 'security', '--offline=true',
                     os.path.join(folder, name)], capture_output=True,
                    text=True)
                found = re.search(r'Overall exposure level for \S+: ([\d.]+)',
                                  got.stdout)
                self.assertLess(float(found[1]), 2.0)


if __name__ == '__main__':
    unittest.main()
