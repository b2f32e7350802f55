"""A Kubernetes cluster is asked about tokens; in every doubtful case the answer
is no."""
import http.server
import json
import os
import re
import shutil
import ssl
import subprocess
import threading
import time

import certificates
import collector
import support
from secure import TestCase


class Cluster(http.server.ThreadingHTTPServer):
    """Stands in for a Kubernetes API server: TokenReview and
    SubjectAccessReview as the API has them."""
    daemon_threads = True

    USERS = {
        'good': {'username': 'system:serviceaccount:mon:prom', 'uid': 'u-1',
                 'groups': ['system:serviceaccounts',
                            'system:authenticated'],
                 'extra': {'authentication.kubernetes.io/pod-name': ['p']}},
        'poor': {'username': 'system:serviceaccount:mon:poor',
                 'groups': ['system:authenticated']},
    }

    def __init__(self, cert, key):
        super().__init__(('127.0.0.1', 0), ClusterHandler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        self.socket = context.wrap_socket(self.socket, server_side=True,
                                          do_handshake_on_connect=False)
        self.mode = {}   # kind -> what is wrong with it
        self.asked = []  # (kind, the request)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass  # clients that do not trust us leave early

    def answer(self, kind, spec):
        if kind == 'TokenReview':
            user = self.USERS.get(spec.get('token'))
            if user:
                return {'authenticated': True, 'user': user,
                        'audiences': ['https://kubernetes.default.svc']}
            return {'user': {}, 'error': 'invalid bearer token'}
        allowed = (spec.get('user') == 'system:serviceaccount:mon:prom'
                   and spec.get('uid') == 'u-1'
                   and 'system:authenticated' in spec.get('groups', [])
                   and spec.get('extra') == self.USERS['good']['extra']
                   and spec.get('nonResourceAttributes') == {
                       'path': '/debug/pprof/cmdline', 'verb': 'get'})
        return {'allowed': allowed,
                'reason': 'RBAC: allowed by ClusterRoleBinding "x"'
                if allowed else ''}


class ClusterHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    KINDS = {'/apis/authentication.k8s.io/v1/tokenreviews':
             ('TokenReview', 'authentication.k8s.io/v1'),
             '/apis/authorization.k8s.io/v1/subjectaccessreviews':
             ('SubjectAccessReview', 'authorization.k8s.io/v1')}

    def log_message(self, *_):
        pass

    def do_POST(self):
        length = int(self.headers['Content-Length'])
        review = json.loads(self.rfile.read(length))
        kind, version = self.KINDS[self.path]
        self.server.asked.append((kind, review))
        if isinstance(self.server, RecordedCluster):
            self.wfile.write(self.server.raw_reply(kind, review['spec']))
            self.close_connection = True
            return
        mode = self.server.mode.get(kind)
        if mode == 'timeout':
            time.sleep(300)
            return
        status = 201
        if (self.headers['Authorization'] != 'Bearer account-token'
                or review['kind'] != kind
                or review['apiVersion'] != version):
            status, reply = 403, {'kind': 'Status', 'apiVersion': 'v1',
                                  'status': 'Failure', 'code': 403}
        elif mode == '500':
            status, reply = 500, {'kind': 'Status', 'apiVersion': 'v1',
                                  'status': 'Failure', 'code': 500}
        else:
            reply = dict(review, metadata={'creationTimestamp': None},
                         status=self.server.answer(kind, review['spec']))
        body = json.dumps(reply).encode()
        if mode == 'garbage':
            body = b'<html>' + body
        elif mode == 'cut':
            body = body[:-3]
        elif mode == '500 yes':
            status = 500
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        if mode == 'chunked':
            self.send_header('Transfer-Encoding', 'chunked')
            self.end_headers()
            for i in range(0, len(body), 50):
                part = body[i:i + 50]
                self.wfile.write(b'%x\r\n%s\r\n' % (len(part), part))
            self.wfile.write(b'0\r\n\r\n')
        else:
            self.send_header('Content-Length',
                             str(len(body) + (5 if mode == 'short' else 0)))
            self.end_headers()
            self.wfile.write(body)
        self.close_connection = True


ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
REVIEWS = os.path.join(
    os.environ.get('PPROF_SHARED', os.path.join(ROOT, '..', 'shared')),
    'kube-data', 'reviews')


class Recording:
    """A question to a real API server, and its reply byte for byte."""

    def __init__(self, name):
        with open(os.path.join(REVIEWS, name + '.request.http'), 'rb') as f:
            self.spec = json.loads(
                f.read().partition(b'\r\n\r\n')[2])['spec']
        with open(os.path.join(REVIEWS, name + '.response.http'), 'rb') as f:
            self.reply = f.read()


class RecordedCluster(Cluster):
    """Answers with recorded replies.  Whose token it is, the recording for
    that token says; what the user may, the recording for the same kind of
    question under a rule like that of the guide."""

    TOKENS = ('good', 'bad', 'expired', 'forged', 'pod-bound-token')

    def __init__(self, cert, key, rule):
        self.rule = rule  # {'nonResourceURLs': …, 'verbs': …}
        self.tokens = {name: Recording('tokenreview-' + name)
                       for name in self.TOKENS}
        self.access = {name: Recording('subjectaccessreview-nonresource-'
                                       + name)
                       for name in ('allowed', 'denied', 'wrong-verb')}
        super().__init__(cert, key)

    def raw_reply(self, kind, spec):
        if kind == 'TokenReview':
            for recording in self.tokens.values():
                if recording.spec['token'] == spec['token']:
                    return recording.reply
            return self.tokens['bad'].reply
        what = spec['nonResourceAttributes']
        if not any(re.fullmatch(url.replace('*', '.*'), what['path'])
                   for url in self.rule['nonResourceURLs']):
            return self.access['denied'].reply
        return self.access['allowed' if what['verb'] in self.rule['verbs']
                           else 'wrong-verb'].reply


@support.needs('openssl', 'curl')
class Kubernetes(TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.ca = certificates.Authority(cls.certs)
        cls.other = certificates.Authority(cls.certs, 'other')
        with open(os.path.join(cls.certs, 'token'), 'w') as f:
            f.write('account-token')
        cls.pair = cls.ca.sign('api', usage='serverAuth',
                               alternatives='IP:127.0.0.1')

    def start(self, pair=None):
        cluster = Cluster(*(pair or self.pair))
        self.addCleanup(cluster.server_close)
        self.addCleanup(cluster.shutdown)
        program = self.serve(
            PPROF_KUBERNETES='1', PPROF_KUBERNETES_DIR=self.certs,
            KUBERNETES_SERVICE_HOST='127.0.0.1',
            KUBERNETES_SERVICE_PORT=str(cluster.server_address[1]))
        return cluster, program

    def ask(self, program, token, name='cmdline', *options):
        return self.curl(program.url + '/debug/pprof/' + name, '-H',
                         'Authorization: Bearer ' + token, *options)

    def test_who_may(self):
        cluster, program = self.start()
        self.assertEqual(self.ask(program, 'good')[0], 200)
        self.assertIn('who="system:serviceaccount:mon:prom"',
                      program.wait_for_words('audit'))
        self.assertEqual(self.status(program.url + '/debug/pprof/cmdline',
                                     '-u', 'any:good'), 200)
        kinds = [kind for kind, _ in cluster.asked]
        self.assertEqual(kinds, ['TokenReview', 'SubjectAccessReview'])
        self.assertEqual(cluster.asked[0][1], {
            'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenReview',
            'spec': {'token': 'good'}})
        self.assertEqual(cluster.asked[1][1]['spec'], dict(
            user='system:serviceaccount:mon:prom', uid='u-1',
            groups=Cluster.USERS['good']['groups'],
            extra=Cluster.USERS['good']['extra'],
            nonResourceAttributes={'path': '/debug/pprof/cmdline',
                                   'verb': 'get'}))

    def test_who_may_not(self):
        cluster, program = self.start()
        self.assertEqual(self.ask(program, 'bad')[0], 401)
        self.assertEqual(self.ask(program, 'poor'), (
            403, b'Authorization denied for user '
            b'system:serviceaccount:mon:poor\n'))
        for name, *options in (('threads',), ('%74hreads',), ('',),
                               ('cmdline', '-X', 'DELETE'),
                               ('symbol', '-d', '0x1')):
            self.assertEqual(self.ask(program, 'good', name, *options)[0],
                             403)
        self.assertEqual(self.status(program.url + '/debug/pprof/cmdline'),
                         401)
        self.assertEqual(self.status(program.url + '/healthz'), 200)
        paths = [r['spec']['nonResourceAttributes']
                 for kind, r in cluster.asked
                 if kind == 'SubjectAccessReview']
        # Looking up names is reading.
        self.assertIn({'path': '/debug/pprof/symbol', 'verb': 'get'}, paths)
        self.assertIn({'path': '/debug/pprof/cmdline', 'verb': 'delete'},
                      paths)
        asked = len(cluster.asked)
        self.assertEqual(self.ask(program, 'bad')[0], 401)
        self.assertEqual(self.ask(program, 'poor')[0], 403)
        self.assertEqual(len(cluster.asked), asked)  # remembered

    def test_every_doubt_is_a_no(self):
        for kind in ('TokenReview', 'SubjectAccessReview'):
            cluster, program = self.start()
            for mode in ('500', '500 yes', 'garbage', 'cut', 'short'):
                with self.subTest(kind=kind, mode=mode):
                    cluster.mode = {kind: mode}
                    status, body = self.ask(program, 'good')
                    self.assertEqual(status, 503, body)
                    self.assertEqual(body, b'the cluster could not check '
                                     b'your credentials\n')
                    program.stop()
                    program = self.restart(cluster)
            cluster.mode = {kind: 'chunked'}
            self.assertEqual(self.ask(program, 'good')[0], 200)

    def restart(self, cluster):
        return self.serve(
            PPROF_KUBERNETES='1', PPROF_KUBERNETES_DIR=self.certs,
            KUBERNETES_SERVICE_HOST='127.0.0.1',
            KUBERNETES_SERVICE_PORT=str(cluster.server_address[1]))

    def test_a_cluster_that_does_not_answer(self):
        cluster, program = self.start()
        cluster.mode = {'TokenReview': 'timeout'}
        start = time.monotonic()
        self.assertEqual(self.ask(program, 'good')[0], 503)
        waited = time.monotonic()
        self.assertEqual(self.ask(program, 'good')[0], 503)  # at once
        self.assertLess(time.monotonic() - waited, (waited - start) / 2)
        self.assertEqual(self.status(program.url + '/healthz'), 200)
        program.wait_for_words('timeout')

    def test_a_cluster_that_is_another(self):
        foreign = self.other.sign('foreign', usage='serverAuth',
                                  alternatives='IP:127.0.0.1')
        elsewhere = self.ca.sign('elsewhere', usage='serverAuth',
                                 alternatives='IP:127.0.0.2,DNS:localhost')
        client = self.ca.sign('client', usage='clientAuth',
                              alternatives='IP:127.0.0.1')
        for pair in (foreign, elsewhere, client):
            cluster, program = self.start(pair)
            with self.subTest(pair=pair[0]):
                self.assertEqual(self.ask(program, 'good')[0], 503)
                self.assertEqual(cluster.asked, [])


@support.needs('openssl', 'curl')
class Guide(TestCase):
    """docs/security.md, "Kubernetes", word for word, before an API server that
    answers as a real one did."""

    def setUp(self):
        super().setUp()
        if not os.path.isdir(REVIEWS):
            self.skipTest('no recorded reviews in ../shared/kube-data')
        with open(os.path.join(ROOT, 'docs', 'security.md'),
                  encoding='utf-8') as f:
            section = f.read().split('\n### Kubernetes\n')[1]
        self.blocks = re.findall(r'```\w*\n(.*?)```',
                                 section.split('\n### ')[0], re.S)
        ca = certificates.Authority(self.certs)
        with open(os.path.join(self.certs, 'token'), 'w') as f:
            f.write('account-token')
        self.cluster = RecordedCluster(
            *ca.sign('api', usage='serverAuth', alternatives='IP:127.0.0.1'),
            self.rule())
        self.addCleanup(self.cluster.server_close)
        self.addCleanup(self.cluster.shutdown)
        self.program = self.start_as_written()

    def rule(self):
        """What the guide's ClusterRole allows."""
        role = self.blocks[1].split('rules:')[1].split('---')[0]
        return {key: json.loads(value) for key, value in
                re.findall(r'(nonResourceURLs|verbs): (\[.*?\])', role)}

    def start_as_written(self):
        """The environment of the guide; only the port and the files of the
        cluster and of TLS are elsewhere."""
        env = dict(re.findall(r'name: (PPROF_\w+), value: "?([^"}]*)"?',
                              self.blocks[0]))
        self.assertEqual(env['PPROF_ADDR'], ':6060')
        cert, key = certificates.self_signed(self.certs, 'pod')
        self.assertEqual(set(env), {'PPROF_ADDR', 'PPROF_TLS_CERT',
                                    'PPROF_TLS_KEY', 'PPROF_KUBERNETES'})
        env.update(PPROF_ADDR=':0', PPROF_TLS_CERT=cert, PPROF_TLS_KEY=key)
        return self.serve(
            PPROF_KUBERNETES_DIR=self.certs,
            KUBERNETES_SERVICE_HOST='127.0.0.1',
            KUBERNETES_SERVICE_PORT=str(self.cluster.server_address[1]),
            **env)

    def run_as_written(self, command, token):
        """With a kubectl that has the recorded token."""
        kubectl = self.path('kubectl')
        with open(kubectl, 'w') as f:
            f.write('#!/bin/sh\n[ "$*" = "create token scraper" ] && '
                    'echo %s\n' % token)
        os.chmod(kubectl, 0o755)
        return subprocess.run(
            ['sh', '-c', command.replace('pod:6060', '127.0.0.1:%d'
                                         % self.program.port)],
            cwd=self.dir, capture_output=True, text=True, timeout=120,
            env=dict(os.environ, HOME=self.dir,
                     PATH=self.dir + ':' + os.environ['PATH']))

    def commands(self):
        text = self.blocks[2].replace('\\\n', ' ')
        return [line.strip() for line in text.split('\n') if line.strip()]

    def token(self, name):
        return self.cluster.tokens[name].spec['token']

    def status_for(self, name, path, *options):
        return self.status(self.program.url.replace('[::]', '127.0.0.1') +
                           path, '-k', '-H', 'Authorization: Bearer '
                           + self.token(name), *options)

    def test_the_commands_of_the_guide(self):
        curl, go = self.commands()
        for token in 'good', 'pod-bound-token':
            done = self.run_as_written(curl, self.token(token))
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(self.path('heap'), 'rb') as f:
                self.assert_profile((200, f.read()))
        for tool in ['go tool pprof', support.PPROF]:
            if tool.startswith('go') and not shutil.which('go'):
                continue
            done = self.run_as_written(
                go.replace('go tool pprof', tool + ' -top'),
                self.token('good'))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn('flat%', done.stdout)

    def test_who_is_refused(self):
        for name in 'bad', 'expired', 'forged':
            self.assertEqual(self.status_for(name, '/debug/pprof/heap'), 401)
        self.assertEqual(self.status_for('good', '/debug/pprof/heap'), 200)
        self.assertEqual(self.status_for('good', '/metrics'), 403)
        self.assertEqual(self.status_for('good', '/debug/pprof/heap', '-X',
                                         'PUT'), 403)

    def test_names_are_looked_up_under_the_same_rule(self):
        self.assertEqual(self.status_for('good', '/debug/pprof/symbol', '-d',
                                         '0x1'), 200)
        with open(self.path('token'), 'w') as f:
            f.write(self.token('good'))
        done = self.pprof('-top', '-token_file', self.path('token'),
                          'https+insecure://127.0.0.1:%d/debug/pprof/threads'
                          % self.program.port)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn('Forbidden', done.stderr)
        self.assertIn('flat%', done.stdout)

    def test_probes_need_no_token(self):
        path = re.search(r'path: (\S+?),', self.blocks[0]).group(1)
        self.assertEqual(self.status(
            self.program.url.replace('[::]', '127.0.0.1') + path, '-k'), 200)


class CollectorCluster(Cluster):
    """Knows what RBAC allows by default, every user may get /api/*, and the
    rule of the guide."""
    RULE = {}  # of docs/kubernetes.md: {'nonResourceURLs': …, 'verbs': …}

    def answer(self, kind, spec):
        if kind == 'TokenReview':
            return super().answer(kind, spec)
        what = spec['nonResourceAttributes']
        everybody = (what['verb'] == 'get' and
                     re.match('/(api|apis|healthz|version)(/|$)',
                              what['path']))
        by_rule = (spec['user'] == 'system:serviceaccount:mon:prom' and
                   what['verb'] in self.RULE['verbs'] and
                   any(re.fullmatch(url.replace('*', '.*'), what['path'])
                       for url in self.RULE['nonResourceURLs']))
        return {'allowed': bool(everybody or by_rule)}


@support.needs('openssl')
class Collector(TestCase):
    """pprofd --kubernetes asks about /pprofd/PATH: about PATH, the cluster
    would say yes to every user."""

    def setUp(self):
        super().setUp()
        ca = certificates.Authority(self.certs)
        with open(os.path.join(self.certs, 'token'), 'w') as f:
            f.write('account-token')
        with open(os.path.join(ROOT, 'docs', 'kubernetes.md'),
                  encoding='utf-8') as f:
            CollectorCluster.RULE = {
                key: json.loads(value) for key, value in
                re.findall(r'(nonResourceURLs|verbs): (\[".*?\])', f.read())}
        self.cluster = CollectorCluster(*ca.sign(
            'api', usage='serverAuth', alternatives='IP:127.0.0.1'))
        self.addCleanup(self.cluster.server_close)
        self.addCleanup(self.cluster.shutdown)
        self.pprofd = collector.Pprofd(
            self.path('data'), '--kubernetes', env={
                'PPROF_KUBERNETES_DIR': self.certs,
                'KUBERNETES_SERVICE_HOST': '127.0.0.1',
                'KUBERNETES_SERVICE_PORT':
                    str(self.cluster.server_address[1])})
        self.addCleanup(self.pprofd.stop)

    def status_for(self, token, method, path, body=None):
        return self.pprofd.request(method, path, body, {
            'Authorization': 'Bearer ' + token}).status

    def asked(self):
        return [review['spec']['nonResourceAttributes']
                for kind, review in self.cluster.asked
                if kind == 'SubjectAccessReview']

    def test_the_rule_of_the_guide(self):
        self.assertEqual(self.status_for('good', 'GET', '/api/1/labels'), 200)
        self.assertEqual(self.status_for(
            'good', 'POST', '/api/0/profiles?service=a&type=cpu',
            collector.cpu_profile({'main': 1})), 200)
        self.assertEqual(self.asked(), [
            {'path': '/pprofd/api/1/labels', 'verb': 'get'},
            {'path': '/pprofd/api/0/profiles', 'verb': 'post'}])

    def test_everybody_else(self):
        for path in ('/api/1/labels', '/api/0/services', '/%61pi/1/labels',
                     '/../api/1/labels', '/'):
            with self.subTest(path):
                self.assertEqual(self.status_for('poor', 'GET', path), 403)
        for what in self.asked():
            self.assertTrue(what['path'].startswith('/pprofd/'), what)
        self.assertEqual(self.status_for('bad', 'GET', '/api/1/labels'), 401)
        self.assertEqual(self.status_for('good', 'DELETE', '/api/1/labels'),
                         403)

    def test_a_long_path_is_not_asked_about(self):
        self.assertEqual(self.status_for('good', 'GET', '/' + 'a' * 506), 403)
        self.assertEqual(self.asked(), [])
        self.assertEqual(self.status_for('good', 'GET', '/' + 'a' * 504), 404)
