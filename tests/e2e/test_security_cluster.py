"""A Kubernetes cluster is asked about tokens; in every doubtful case the answer
is no."""
import http.server
import json
import os
import ssl
import threading
import time

import certificates
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
        mode = self.server.mode.get(kind)
        if mode == 'timeout':
            time.sleep(15)
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
                               ('symbol', '-d', '0x1')):
            self.assertEqual(self.ask(program, 'good', name, *options)[0],
                             403)
        self.assertEqual(self.status(program.url + '/debug/pprof/cmdline'),
                         401)
        self.assertEqual(self.status(program.url + '/healthz'), 200)
        paths = [r['spec']['nonResourceAttributes']
                 for kind, r in cluster.asked
                 if kind == 'SubjectAccessReview']
        self.assertIn({'path': '/debug/pprof/symbol', 'verb': 'post'}, paths)
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
                    self.assertEqual(body, b'the cluster cannot be asked who '
                                     b'you are\n')
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
        self.assertLess(time.monotonic() - start, 14)
        self.assertEqual(self.ask(program, 'good')[0], 503)  # at once
        self.assertLess(time.monotonic() - start, 14)
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
