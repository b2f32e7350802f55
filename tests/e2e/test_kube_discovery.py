"""Kubernetes discovery against a stand-in API server: after every step the
targets are those that kube_model.py computes from the server's objects."""
import base64
import hashlib
import json
import os
import queue
import random
import socket
import ssl
import subprocess
import threading
import time
import unittest

import kube_api
import kube_model
import support
from kube_objects import BY_NAME, Failure

TOOL = os.path.abspath(os.path.join(support.BUILD, 'tests/tools/kube-targets'))
PODS = BY_NAME['', 'pods']
PATIENCE = 60


class Discovery:
    """A running kube-targets; `line` is the last that it printed."""

    def __init__(self, *options, env=None):
        full = {k: v for k, v in os.environ.items()
                if not k.startswith('KUBERNETES')}
        full.update(env or {})
        self.process = subprocess.Popen(
            [TOOL, *options], env=full, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.line = {'targets': [], 'listed': False, 'status': '',
                     'version': 0}
        self.lines = queue.Queue()
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))
        self.lines.put(None)

    def until(self, test, what):
        """Reads on until the last line passes the test."""
        end = time.monotonic() + PATIENCE
        while not test(self.line):
            try:
                line = self.lines.get(timeout=max(0, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError('%s: not within %d s; last: %s' % (
                    what, PATIENCE, json.dumps(self.line)[:3000]))
            if line is None:
                raise AssertionError('kube-targets ended: ' +
                                     self.process.stderr.read())
            self.line = line
        return self.line

    def targets(self):
        return sorted(tuple(sorted(t.items())) for t in self.line['targets'])

    def close(self):
        """Ends it; how long that took."""
        began = time.monotonic()
        self.process.stdin.close()
        code = self.process.wait(PATIENCE)
        took = time.monotonic() - began
        self.thread.join(PATIENCE)
        self.process.stdout.close()
        self.process.stderr.close()
        return code, took


def annotated(port=6060, **more):
    return dict({'pprof/scrape': 'true', 'pprof/port': str(port)}, **more)


@unittest.skipUnless(os.path.exists(TOOL), 'kube-targets is not built')
@support.needs('openssl')
class Case(support.TestCase):
    mode = 'by-annotation'

    def setUp(self):
        super().setUp()
        self.api = kube_api.Server()
        self.addCleanup(self.close_api)
        self.api.user('collector', [
            {'apiGroups': [''], 'resources': ['pods'],
             'verbs': ['get', 'list', 'watch']},
            {'apiGroups': [''], 'resources': ['secrets'], 'verbs': ['get']}])
        self.token = self.path('token')
        self.write_token('token-of-collector')

    def close_api(self):
        self.api.close()

    def write_token(self, text):
        temporary = self.token + '.new'
        with open(temporary, 'w') as f:
            f.write(text + '\n')
        os.rename(temporary, self.token)

    def discover(self, *options, env=None, direct=True):
        where = ['api-server=' + self.api.url, 'token-file=' + self.token,
                 'ca-file=' + self.api.ca.cert] if direct else []
        d = Discovery(*where, 'mode=' + self.mode, 'min-pause-ms=20',
                      'max-pause-ms=200', *options, env=env)
        self.addCleanup(lambda: d.process.poll() is None and d.close())
        return d

    def expected(self, test=lambda pod: True, **more):
        model = (kube_model.every_port if self.mode == 'every-port'
                 else kube_model.by_annotation)
        pods = self.api.store.select(PODS, '', test)
        return sorted(t for pod in pods for t in model(pod, **more))

    def agree(self, d, what, **more):
        """Waits until the targets are those of the model."""
        d.until(lambda line: line['listed'] and
                d.targets() == self.expected(**more), what)

    def count(self, verb):
        return sum(1 for call in self.api.calls
                   if call[1] == verb and call[3] == 'pods')

    def restart(self):
        """The API server goes and comes back on the same port; what it knew
        of older versions is lost."""
        self.stop_api()
        self.api.store.compact()
        self.start_api()

    def stop_api(self):
        self.api.http.shutdown()
        self.api.http.server_close()
        self.api.drop_connections()

    def start_api(self):
        class Again(kube_api.Listener):
            allow_reuse_address = True
        self.api.http = Again(('127.0.0.1', self.api.port), kube_api.Handler)
        self.api.http.api = self.api
        threading.Thread(target=self.api.http.serve_forever, args=(0.05,),
                         daemon=True).start()


class ListAndWatch(Case):
    def test_pods_come_change_and_go(self):
        self.api.pod('demo', 'web-1', annotations=annotated(), ports=[6060])
        d = self.discover()
        self.agree(d, 'the first list')
        self.api.pod('demo', 'web-2', annotations=annotated(7070),
                     ports=[('pprof', 7070)], ip='10.0.0.2')
        self.agree(d, 'a pod is added')
        self.api.pod('demo', 'web-2', annotations=annotated(7071),
                     ip='10.0.0.3')
        self.agree(d, 'a pod is changed')
        self.api.pod('demo', 'web-2', annotations=annotated(7071),
                     ip='10.0.0.3', phase='Succeeded')
        self.agree(d, 'a pod has ended')
        self.api.remove_pod('demo', 'web-1')
        self.agree(d, 'a pod is removed')
        self.assertEqual(d.targets(), [])
        self.assertEqual(self.count('list'), 1)

    def test_what_nobody_needs_changes_nothing(self):
        self.api.pod('demo', 'web', annotations=annotated())
        d = self.discover()
        self.agree(d, 'the first list')
        version = d.line['version']
        self.api.pod('demo', 'other')  # asks for nothing
        item = self.api.store.get(PODS, 'demo', 'web')
        item = json.loads(json.dumps(item))
        item['status']['containerStatuses'][0]['restartCount'] = 7
        self.api.store.put(item)
        d.until(lambda line: '2 events' in line['status'], 'both events')
        self.assertEqual(d.line['version'], version)

    def test_pages(self):
        for i in range(57):
            self.api.pod('demo', 'web-%03d' % i, annotations=annotated(),
                         ip='10.0.0.%d' % i)
        d = self.discover('page=10')
        self.agree(d, 'a list of six pages')
        self.assertEqual(self.count('list'), 6)
        self.api.remove_pod('demo', 'web-005')
        self.agree(d, 'a change after it')

    def test_pods_change_between_pages(self):
        for i in range(40):
            self.api.pod('demo', 'web-%03d' % i, annotations=annotated(),
                         ip='10.0.0.%d' % i)
        pages = []
        plain = kube_api.Handler.answer

        def answer(handler, request, body):
            if request.verb == 'list':
                pages.append(request.query.get('continue'))
                if len(pages) in (2, 3):
                    # One that was listed already, and one to come.
                    self.api.remove_pod('demo', 'web-%03d' % len(pages))
                    self.api.pod('demo', 'web-%03d' % (len(pages) + 30),
                                 annotations=annotated(9999), ip='10.0.1.1')
            plain(handler, request, body)
        kube_api.Handler.answer = answer
        try:
            d = self.discover('page=10')
            self.agree(d, 'the list and what happened meanwhile')
        finally:
            kube_api.Handler.answer = plain
        self.assertEqual(len(pages), 4)

    def test_expired_page(self):
        for i in range(30):
            self.api.pod('demo', 'web-%03d' % i, annotations=annotated(),
                         ip='10.0.0.%d' % i)
        self.api.fail('GET', 'continue=', Failure(
            410, 'Expired', 'The provided continue parameter is too old'))
        d = self.discover('page=10')
        self.agree(d, 'the list, the second time')
        self.assertEqual(self.count('list'), 4)

    def test_selectors_and_namespaces(self):
        for ns in ('a', 'b', 'c'):
            for app in ('web', 'db'):
                self.api.pod(ns, app, labels={'app': app},
                             annotations=annotated())
        d = self.discover('namespace=a', 'namespace=b', 'labels=app in (web)')

        def test(pod):
            return (pod['metadata']['namespace'] in 'ab' and
                    pod['metadata']['labels'].get('app') == 'web')
        self.agree(d, 'two of six', test=test)
        self.assertEqual(len(d.targets()), 2)
        self.api.pod('b', 'web', labels={'app': 'other'},
                     annotations=annotated())
        self.agree(d, 'one leaves the selector', test=test)
        self.api.pod('a', 'db', labels={'app': 'web'},
                     annotations=annotated())
        self.agree(d, 'one enters it', test=test)
        self.assertEqual({c[4] for c in self.api.calls if c[3] == 'pods'},
                         {'a', 'b'})

    def test_field_selector(self):
        self.api.pod('demo', 'here', annotations=annotated(), node='n1')
        self.api.pod('demo', 'there', annotations=annotated(), node='n2')
        d = self.discover('fields=spec.nodeName=n1')
        self.agree(d, 'those of one node',
                   test=lambda p: p['spec']['nodeName'] == 'n1')
        self.assertEqual(len(d.targets()), 1)

    def test_bookmarks_save_a_list(self):
        """Versions go on while our pods do not; a bookmark brings us up to
        date, so that the next watch needs no list."""
        self.api.bookmark_seconds = 0.2
        self.api.pod('demo', 'web', annotations=annotated())
        d = self.discover('watch-seconds=1', 'labels=!other')
        self.agree(d, 'the first list')
        for i in range(5):
            self.api.pod('demo', 'x', labels={'other': str(i)})
        d.until(lambda line: ' 0 events' not in line['status'], 'a bookmark')
        self.api.store.compact()
        watches = self.count('watch')
        end = time.monotonic() + PATIENCE
        while self.count('watch') < watches + 2:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        self.api.pod('demo', 'web', annotations=annotated(7070))
        self.agree(d, 'a change after it', test=lambda p: 'other' not in
                   p['metadata']['labels'])
        self.assertEqual(self.count('list'), 1)

    def test_silent_watch_leads_to_a_list(self):
        """A version from the future, after a restore from a backup: nothing
        is sent, and no error."""
        self.api.pod('demo', 'web', annotations=annotated())
        self.api.store.version += 100000
        self.api.pod('demo', 'web', annotations=annotated())
        d = self.discover('watch-seconds=1')
        self.agree(d, 'the first list')
        with self.api.store.changed:
            self.api.store.version = 200
            self.api.store.oldest = 0
            self.api.store.events = []
        plain = self.api.store.watch

        def silent(resource, namespace, query, *rest):
            if int(query['resourceVersion']) <= self.api.store.version:
                yield from plain(resource, namespace, query, *rest)
                return
            yield None
            time.sleep(float(query['timeoutSeconds']))
        self.api.store.watch = silent
        self.api.drop_connections()
        self.api.pod('demo', 'web', annotations=annotated(7070))
        self.agree(d, 'a change after the restore')


class Trouble(Case):
    def setUp(self):
        super().setUp()
        for i in range(10):
            self.api.pod('demo', 'web-%d' % i, annotations=annotated(),
                         ip='10.0.0.%d' % i)

    def test_expired_version_inside_the_watch(self):
        d = self.discover()
        self.agree(d, 'the first list')
        version = d.line['version']
        self.api.store.compact()
        with self.api.store.changed:
            self.api.store.version += 5
            self.api.store.oldest = self.api.store.version
        self.api.drop_connections()
        end = time.monotonic() + PATIENCE
        while self.count('list') < 2:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        self.api.pod('demo', 'web-x', annotations=annotated())
        self.agree(d, 'a change after the second list')
        self.assertEqual(d.line['version'], version + 1,
                         'a list that brings nothing new changes nothing')

    def test_restart_of_the_api_server(self):
        d = self.discover()
        self.agree(d, 'the first list')
        known = d.targets()
        self.stop_api()
        d.until(lambda line: 'efused' in line['status'] or
                'onnect' in line['status'], 'the failure in words')
        self.assertEqual(d.targets(), known, 'nothing is forgotten')
        self.api.remove_pod('demo', 'web-3')
        self.api.pod('demo', 'web-4', annotations=annotated(7777))
        self.api.store.compact()
        # The first instants after the port opens.
        self.api.fail('GET', '/pods', Failure(
            403, 'Forbidden', 'pods is forbidden: User "collector" cannot '
            'list resource "pods"'), times=4)
        self.start_api()
        self.agree(d, 'what happened while it was away')
        self.api.pod('demo', 'web-5', annotations=annotated(5555))
        self.agree(d, 'a change after the restart')

    def test_no_rights_in_words(self):
        rules = self.api.users['collector']
        self.api.users['collector'] = []
        d = self.discover()
        d.until(lambda line: 'needs list and watch on pods' in
                line['status'], '403 in words')
        self.assertIn('cannot list resource "pods"', d.line['status'])
        self.assertFalse(d.line['listed'])
        self.api.users['collector'] = rules
        self.agree(d, 'the right is given')
        self.assertNotRegex(d.line['status'], r'\b403\b')

    def test_token_rotation(self):
        d = self.discover()
        self.agree(d, 'the first list')
        # The old token expires before kubelet has written the new one.
        del self.api.tokens['token-of-collector']
        self.api.tokens['second'] = 'collector'
        self.api.drop_connections()
        d.until(lambda line: '401' in line['status'], '401 in words')
        self.api.pod('demo', 'web-new', annotations=annotated(1234))
        self.write_token('second')
        self.agree(d, 'a change after the rotation')
        self.assertNotRegex(d.line['status'], r'\b401\b')

    def test_too_many_requests(self):
        def busy(handler):
            body = b'Too many requests, please try again later.\n'
            handler.send_response(429)
            handler.send_header('Content-Type', 'text/plain')
            handler.send_header('Retry-After', '1')
            handler.send_header('Content-Length', str(len(body)))
            handler.end_headers()
            handler.wfile.write(body)
        self.api.fail('GET', '/pods', busy, times=2)
        began = time.monotonic()
        d = self.discover()
        d.until(lambda line: '429: Too many requests' in line['status'],
                '429 in words')
        self.agree(d, 'the list')
        self.assertGreaterEqual(time.monotonic() - began, 2)

    def test_garbage_and_half_replies(self):
        def reply(body, length=None):
            def fault(handler):
                handler.send_response(200)
                handler.send_header('Content-Type', 'application/json')
                handler.send_header('Content-Length',
                                    str(length or len(body)))
                handler.end_headers()
                handler.wfile.write(body)
                handler.close_connection = True
            return fault
        for body, length in ((b'<html>proxy</html>', None), (b'', None),
                             (b'{"kind":"PodList","items":[{"a"', None),
                             (b'{"kind":"PodList","items":[', 5000),
                             (b'[1,2,3]', None), (b'null', None),
                             (b'{"items":[{"metadata":7}]}', None)):
            self.api.fail('GET', '/pods', reply(body, length))
        d = self.discover()
        self.agree(d, 'the list after all that')
        for body in (b'{"type":"ADDED"}', b'{"type":"NEW","object":{}}',
                     b'{"type":"ADDED","object":{"metadata":{"na', b'}}}',
                     b'{"type":"ERROR","object":{"code":500,"message":"x"}}'):
            self.api.fail('GET', 'watch=true', reply(body))
            self.api.drop_connections()
        self.api.pod('demo', 'web-late', annotations=annotated(4321))
        self.agree(d, 'a change after that')

    def test_large_event_in_small_pieces(self):
        """An event of a megabyte that comes in pieces, cut anywhere."""
        d = self.discover()
        self.agree(d, 'the first list')
        big = annotated(4444)
        big['kubectl.kubernetes.io/last-applied-configuration'] = \
            json.dumps({'x': '"}{][\\' * 100000})

        made = threading.Event()

        def slowly(handler):
            handler.send_response(200)
            handler.send_header('Transfer-Encoding', 'chunked')
            handler.end_headers()
            made.wait(PATIENCE)
            item = self.api.store.get(PODS, 'demo', 'web-big')
            text = json.dumps({'type': 'ADDED', 'object': item}).encode()
            cut = random.Random(1)
            while text:
                n = cut.choice((1, 7, 100, 4096, 50000))
                handler.wfile.write(b'%x\r\n%s\r\n' % (len(text[:n]),
                                                       text[:n]))
                text = text[n:]
                if cut.random() < 0.1:
                    time.sleep(0.002)
            time.sleep(0.5)
            handler.wfile.write(b'1\r\n\n\r\n0\r\n\r\n')
        self.api.fail('GET', 'watch=true', slowly)
        self.api.drop_connections()
        self.api.pod('demo', 'web-big', annotations=big)
        made.set()
        self.agree(d, 'the large pod')
        self.api.pod('demo', 'web-after', annotations=annotated(1111))
        self.agree(d, 'a change after it')

    def test_object_over_the_limit(self):
        d = self.discover('max-object-bytes=50000')
        self.agree(d, 'the first list')
        known = d.targets()
        self.api.pod('demo', 'web-big', annotations=dict(
            annotated(), filler='x' * 60000))
        d.until(lambda line: 'larger than 50000 bytes' in line['status'],
                'the reason in words')
        self.assertEqual(d.targets(), known)
        self.api.remove_pod('demo', 'web-big')
        self.agree(d, 'the pod is gone')

    def test_memory_limit(self):
        d = self.discover('max-bytes=2500')
        d.until(lambda line: 'more than 2500 bytes' in line['status'],
                'the reason in words')
        self.assertTrue(0 < len(d.targets()) < 10)

    def test_wrong_certificate(self):
        import certificates
        other = certificates.Authority(self.dir, 'other')
        d = self.discover('ca-file=' + other.cert)
        d.until(lambda line: 'certificate' in line['status'],
                'the reason in words')
        self.assertEqual(d.targets(), [])

    def test_no_token_file(self):
        os.unlink(self.token)
        d = self.discover()
        d.until(lambda line: 'no such file' in line['status'],
                'the reason in words')
        self.write_token('token-of-collector')
        self.agree(d, 'the token is there')

    def test_ends_at_once(self):
        d = self.discover()
        self.agree(d, 'the first list')
        code, took = d.close()
        self.assertEqual(code, 0)
        self.assertLess(took, 10, 'a watch of minutes is open')

    def test_ends_at_once_without_an_answer(self):
        """A server that accepts and is silent."""
        with socket.socket() as silent:
            silent.bind(('127.0.0.1', 0))
            silent.listen()
            d = self.discover('api-server=https://127.0.0.1:%d' %
                              silent.getsockname()[1])
            connection, _ = silent.accept()
            code, took = d.close()
            connection.close()
        self.assertEqual(code, 0)
        self.assertLess(took, 10)


class Storm(Case):
    def test_a_hundred_changes_a_second(self):
        """Ten seconds of change, with dropped connections and expired
        versions: at rest the targets are right, and every one that was ever
        shown existed."""
        chance = random.Random(17)
        names = ['web-%02d' % i for i in range(60)]
        for name in names:
            self.api.pod('demo', name, annotations=annotated())
        d = self.discover('page=25', 'watch-seconds=2')
        self.agree(d, 'the first list')
        ever = set(self.expected())
        end, changes = time.monotonic() + 10, 0
        began = time.monotonic()
        while time.monotonic() < end:
            name = chance.choice(names)
            if chance.random() < 0.25:
                try:
                    self.api.remove_pod('demo', name)
                except Failure:
                    pass
            else:
                item = self.api.pod(
                    'demo', name,
                    annotations=annotated(chance.randrange(1000, 1100)),
                    phase=chance.choice(['Running', 'Running', 'Pending']),
                    ip='10.1.0.%d' % chance.randrange(250))
                ever.update(kube_model.by_annotation(item))
            changes += 1
            if chance.random() < 0.004:
                self.api.drop_connections()
            if chance.random() < 0.003:
                self.api.store.compact()
            pause = began + changes / 120 - time.monotonic()
            if pause > 0:
                time.sleep(pause)
        self.agree(d, 'all %d changes' % changes)
        while not d.lines.empty():
            d.line = d.lines.get()
            self.assertLessEqual(set(d.targets()), ever)
        self.assertGreater(changes, 300)


class EveryPort(Case):
    mode = 'every-port'

    def test_every_port_of_every_container(self):
        self.api.pod('demo', 'multi', containers=[
            {'name': 'main', 'image': 'example/app:1.0', 'ports': [
                {'name': 'pprof', 'containerPort': 6060, 'protocol': 'TCP'},
                {'name': 'dns', 'containerPort': 53, 'protocol': 'UDP'}]},
            {'name': 'bare', 'image': 'example/bare:2'}],
            ip='fd00::5', owner=('StatefulSet', 'db'), phase='Failed')
        self.api.pod('demo', 'pending', phase='Pending')
        d = self.discover()
        self.agree(d, 'three targets')
        self.assertEqual([t['__address__'] for t in d.line['targets']],
                         ['[fd00::5]:6060', '[fd00::5]:53', '[fd00::5]'])


class InCluster(Case):
    def test_as_in_a_pod(self):
        """Address from the environment, token and CA from the account's
        directory."""
        os.symlink(self.api.ca.cert, self.path('ca.crt'))
        self.api.pod('demo', 'web', annotations=annotated(), labels={
            'app.kubernetes.io/name': 'web', 'tier': 'front'})
        d = self.discover(
            'pod-label=app.kubernetes.io/name', 'pod-label=nosuch',
            direct=False, env={
                'KUBERNETES_SERVICE_HOST': '127.0.0.1',
                'KUBERNETES_SERVICE_PORT': str(self.api.port),
                'PPROF_KUBERNETES_DIR': self.dir,
                'https_proxy': 'http://127.0.0.1:1',
                'HTTPS_PROXY': 'http://127.0.0.1:1'})
        self.agree(d, 'the pods', pod_labels=['app.kubernetes.io/name'])
        self.assertEqual(d.line['targets'][0]['app_kubernetes_io_name'],
                         'web')

    def test_new_ca(self):
        """A CA that is replaced while we run, with the server's
        certificate."""
        import certificates
        import shutil
        ca = self.path('ca.crt')
        shutil.copy(self.api.ca.cert, ca)
        self.api.pod('demo', 'web', annotations=annotated())
        d = self.discover('ca-file=' + ca)
        self.agree(d, 'the first list')
        other = certificates.Authority(self.dir, 'second-ca')
        pair = other.sign('api', alternatives='IP:127.0.0.1')
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*pair)
        self.stop_api()
        self.api.context = context
        self.start_api()
        d.until(lambda line: 'certificate' in line['status'],
                'the new certificate is refused')
        shutil.copy(other.cert, ca)
        self.api.pod('demo', 'web', annotations=annotated(7070))
        self.agree(d, 'the new CA is read')


class Secrets(Case):
    def put(self, cert, key='key', **more):
        data = dict({'tls.crt': cert, 'tls.key': key}, **more)
        self.api.namespace('demo')
        self.api.store.put({
            'kind': 'Secret', 'type': 'kubernetes.io/tls',
            'metadata': {'name': 'app-tls', 'namespace': 'demo'},
            'data': {k: base64.b64encode(v.encode()).decode()
                     for k, v in data.items()}})

    @staticmethod
    def hashes(*texts):
        return [t and hashlib.sha256(t.encode()).hexdigest() for t in texts]

    def test_read_and_read_again(self):
        self.put('cert 1', **{'ca.crt': 'ca'})
        self.api.pod('demo', 'web', annotations=dict(
            annotated(), **{'pprof/tls-secret': 'app-tls'}))
        d = self.discover('secret=demo/app-tls', 'secret-again-ms=200')
        self.agree(d, 'the target')
        self.assertEqual(d.line['targets'][0]['__tls_secret__'],
                         'demo/app-tls')
        self.assertEqual(d.line['targets'][0]['__scheme__'], 'https')
        d.until(lambda line: line.get('secret') ==
                self.hashes('cert 1', 'key', 'ca'), 'the Secret')
        version = d.line['version']
        self.put('cert 2', 'key 2')
        d.until(lambda line: line.get('secret') ==
                self.hashes('cert 2', 'key 2', ''), 'the new one')
        self.assertGreater(d.line['version'], version)
        self.api.store.remove('Secret', 'demo', 'app-tls')
        d.until(lambda line: 'no such Secret' in str(line.get('secret')),
                'it is gone')
        self.assertEqual({c[1] for c in self.api.calls if c[3] == 'secrets'},
                         {'get'})

    def test_refused(self):
        self.api.users['collector'] = self.api.users['collector'][:1]
        d = self.discover('secret=demo/app-tls', 'secret-again-ms=200')
        d.until(lambda line: 'may not get it' in str(line.get('secret')),
                '403 in words')

    def test_of_another_namespace(self):
        self.api.pod('demo', 'web', annotations=dict(
            annotated(), **{'pprof/tls-secret': 'kube-system/admin-tls'}))
        d = self.discover()
        d.until(lambda line: 'another namespace' in line['status'],
                'refused in words')
        self.assertEqual(d.targets(), [])


@support.needs('kubectl')
class Outside(Case):
    def discover_by_kubectl(self, *options, env=None):
        config = self.api.kubeconfig(self.path('config'), user='collector')
        return self.discover('kubeconfig=' + config, *options, direct=False,
                             env=dict({'HOME': self.dir}, **env or {}))

    def test_through_kubectl(self):
        self.api.pod('demo', 'web', annotations=annotated())
        d = self.discover_by_kubectl('page=1')
        self.agree(d, 'the first list')
        for i in range(5):
            self.api.pod('demo', 'web-%d' % i, annotations=annotated(7000 + i))
            self.agree(d, 'a change comes through the proxy at once')
        self.assertEqual(self.count('list'), 1)
        code, _ = d.close()
        self.assertEqual(code, 0)

    def test_login_by_a_plugin(self):
        """An exec plugin gives the token: kubectl runs it, not we."""
        plugin = self.path('login')
        with open(plugin, 'w') as f:
            f.write('#!/bin/sh\necho \'{"kind":"ExecCredential","apiVersion":'
                    '"client.authentication.k8s.io/v1","status":{"token":'
                    '"token-of-collector"}}\'\n')
        os.chmod(plugin, 0o755)
        config = self.api.kubeconfig(self.path('config'), user='collector')
        with open(config) as f:
            text = json.load(f)
        text['users'][0]['user'] = {'exec': {
            'apiVersion': 'client.authentication.k8s.io/v1',
            'command': plugin, 'interactiveMode': 'Never'}}
        with open(config, 'w') as f:
            json.dump(text, f)
        self.api.pod('demo', 'web', annotations=annotated())
        d = self.discover('kubeconfig=' + config, direct=False,
                          env={'HOME': self.dir})
        self.agree(d, 'the pods')

    def test_no_such_context(self):
        d = self.discover_by_kubectl('context=nosuch')
        d.until(lambda line: 'kubectl proxy:' in line['status'],
                "kubectl's words")
        self.assertIn('"nosuch" does not exist', d.line['status'])

    def test_no_kubectl(self):
        d = self.discover_by_kubectl('kubectl=/nonexistent/kubectl')
        d.until(lambda line: 'cannot run /nonexistent/kubectl' in
                line['status'], 'the reason in words')

    def test_kubectl_dies_and_comes_back(self):
        self.api.pod('demo', 'web', annotations=annotated())
        d = self.discover_by_kubectl()
        self.agree(d, 'the first list')
        self.kill_children(d.process.pid)
        self.api.pod('demo', 'web', annotations=annotated(7070))
        self.agree(d, 'a change after kubectl is back')

    def test_kubectl_ends_with_us(self):
        self.api.pod('demo', 'web', annotations=annotated())
        d = self.discover_by_kubectl()
        self.agree(d, 'the first list')
        children = self.children(d.process.pid)
        self.assertEqual(len(children), 1)
        d.process.kill()
        d.process.wait()
        end = time.monotonic() + PATIENCE
        while os.path.exists('/proc/%d/exe' % children[0]):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    @staticmethod
    def children(pid):
        found = []
        for task in os.listdir('/proc/%d/task' % pid):
            with open('/proc/%d/task/%s/children' % (pid, task)) as f:
                found += [int(word) for word in f.read().split()]
        return found

    def kill_children(self, pid):
        for child in self.children(pid):
            os.kill(child, 9)


if __name__ == '__main__':
    unittest.main()
