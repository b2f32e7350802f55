"""Discovery from what a real Kubernetes 1.36 answered, byte for byte."""
import json
import os
import socket
import threading
import unittest

import kube_model
import support
from test_kube_discovery import TOOL, Discovery

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                    '../../../shared/kube-data')


def body_of(reply):
    """The body of a recorded reply, without the chunks' headers."""
    header, body = reply.split(b'\r\n\r\n', 1)
    if b'chunked' not in header:
        return body
    out = b''
    while body:
        size, body = body.split(b'\r\n', 1)
        size = int(size, 16)
        if not size:
            break
        out, body = out + body[:size], body[size + 2:]
    return out


class Replay:
    """Answers each request with the next recording, in pieces of `step`
    bytes, and closes; after the last it keeps the connection open."""

    def __init__(self, replies, step=None):
        self.replies, self.step, self.requests = list(replies), step, []
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        self.open = []
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            request = b''
            while b'\r\n\r\n' not in request:
                more = connection.recv(65536)
                if not more:
                    break
                request += more
            if not request:
                connection.close()
                continue
            self.requests.append(request.split(b' ')[1].decode())
            if not self.replies:
                self.open.append(connection)
                continue
            reply = self.pick(self.requests[-1])
            try:
                for i in range(0, len(reply), self.step or len(reply)):
                    connection.sendall(
                        reply[i:i + (self.step or len(reply))])
            except OSError:
                pass
            connection.close()

    def pick(self, path):
        return self.replies.pop(0)

    def close(self):
        self.listener.close()
        for connection in self.open:
            connection.close()


@unittest.skipUnless(os.path.exists(TOOL), 'kube-targets is not built')
@unittest.skipUnless(os.path.isdir(DATA), 'no recordings of Kubernetes here')
class Recordings(support.TestCase):
    def read(self, name):
        with open(os.path.join(DATA, name + '.response.http'), 'rb') as f:
            return f.read()

    def items(self, name):
        return json.loads(body_of(self.read(name)))['items']

    def discover(self, *names, mode='by-annotation', step=None, options=()):
        replay = Replay([self.read(n) for n in names], step)
        self.addCleanup(replay.close)
        d = Discovery('api-server=http://127.0.0.1:%d' % replay.port,
                      'mode=' + mode, 'min-pause-ms=20', 'max-pause-ms=100',
                      *options)
        self.addCleanup(lambda: d.process.poll() is None and d.close())
        return replay, d

    def agree(self, d, pods, mode='by-annotation'):
        model = (kube_model.every_port if mode == 'every-port'
                 else kube_model.by_annotation)
        want = sorted(t for pod in pods for t in model(pod))
        d.until(lambda line: line['listed'] and d.targets() == want,
                'targets as the model has them')
        return want

    def test_lists(self):
        """Every recorded list of whole pods, in both modes, in pieces."""
        for name in ('pods-all-namespaces', 'pods-demo', 'pods-demo-pretty',
                     'pods-empty', 'pods-fieldselector-name',
                     'pods-fieldselector-podip', 'pods-labelselector-set',
                     'pods-labelselector-web', 'pods-resourceversion-0',
                     'pods-gzip-asked-small'):
            name = 'lists/' + name
            for mode in ('by-annotation', 'every-port'):
                for step in (None, 1000):
                    with self.subTest(name=name, mode=mode, step=step):
                        _, d = self.discover(name, mode=mode, step=step)
                        self.agree(d, self.items(name), mode)
                        d.close()

    def test_what_the_demo_namespace_has(self):
        """The same, said by hand: three families, a controller of each
        kind."""
        _, d = self.discover('lists/pods-demo')
        d.until(lambda line: line['listed'], 'the list')
        found = {(t['__address__'], t['__service_name__'],
                  t.get('__profiles__', ''), t['container'])
                 for t in d.line['targets']}
        self.assertIn(('10.240.0.11:7070', 'agent', 'cpu,allocs', 'agent'),
                      found)
        self.assertIn(('10.244.0.3:6060', 'db', '', 'db'), found)
        self.assertTrue(any(service == 'web' for _, service, _, _ in found))
        self.assertFalse({t['pod'] for t in d.line['targets']} &
                         {'done', 'unschedulable', 'badimage', 'crash'})

    def test_chunks(self):
        names = ['lists/pods-limit-chunk-%d' % i for i in (1, 2, 3)]
        replay, d = self.discover(*names, mode='every-port')
        self.agree(d, [i for n in names for i in self.items(n)],
                   'every-port')
        meta = json.loads(body_of(self.read(names[0])))['metadata']
        self.wait_for(lambda: len(replay.requests) >= 4)
        self.assertIn('continue=' + meta['continue'], replay.requests[1])
        self.assertIn('resourceVersion=' + meta['resourceVersion'],
                      replay.requests[3], "the first chunk's version")

    def test_watches(self):
        """Every recorded watch of whole pods after an empty list."""
        for name in ('added-modified-deleted', 'bookmarks-130s',
                     'label-selector-enter-and-leave', 'no-resourceversion',
                     'resourceversion-0', 'send-initial-events-bookmark',
                     'compacted-but-in-watch-cache', 'gzip-asked',
                     'single-name-fieldselector'):
            name = 'watch/' + name
            pods, version = {}, None
            for line in body_of(self.read(name)).splitlines():
                event = json.loads(line)
                item = event['object']
                version = item['metadata']['resourceVersion']
                key = item['metadata'].get('name')
                if event['type'] == 'DELETED':
                    pods.pop(key)
                elif event['type'] != 'BOOKMARK':
                    pods[key] = item
            for step in (None, 999):
                with self.subTest(name=name, step=step):
                    replay, d = self.discover('lists/pods-empty', name,
                                              mode='every-port', step=step)
                    d.until(lambda line: len(replay.requests) > 2,
                            'the watch after it') if version is None else \
                        d.until(lambda line: ' 0 events' not in
                                line['status'], 'events')
                    self.agree(d, pods.values(), 'every-port')
                    self.wait_for(lambda: len(replay.requests) > 2)
                    self.assertIn('resourceVersion=%s' % version,
                                  replay.requests[2])
                    d.close()

    def wait_for(self, test):
        for _ in range(6000):
            if test():
                return
            threading.Event().wait(0.01)
        self.fail('not within a minute')

    def test_expired_and_restarted(self):
        """ERROR 410 in a watch; 403 just after the start; then a list."""
        replay, d = self.discover(
            'lists/pods-demo', 'watch/too-old-resourceversion-1',
            'restart/list-apiserver-starting', 'lists/pods-all-namespaces',
            'restart/watch-old-resourceversion-after-restart-sigkill',
            'lists/pods-labelselector-web')
        self.agree(d, self.items('lists/pods-labelselector-web'))
        self.assertEqual(['watch=true' in r for r in replay.requests[:3]],
                         [False, True, False])
        self.assertEqual(len(self.items('lists/pods-labelselector-web')),
                         len(d.line['targets']))

    def test_watch_of_a_killed_server(self):
        """The connection ends without last chunk: watched again from the
        last version."""
        replay, d = self.discover('lists/pods-demo',
                                  'restart/watch-apiserver-sigkill')
        self.agree(d, self.items('lists/pods-demo'))
        self.wait_for(lambda: len(replay.requests) > 2)
        self.assertIn('watch=true', replay.requests[2])

    def test_watches_after_a_restart(self):
        """The version from before is too old although nothing was lost, so a
        list follows; a watch that the old server ends in the regular way is
        asked for again."""
        for name in ('watch-old-resourceversion-after-restart-sigterm',
                     'watch-compacted-resourceversion-after-restart-sigkill',
                     'watch-compacted-resourceversion-after-restart-sigterm'):
            with self.subTest(name=name):
                replay, d = self.discover('lists/pods-demo', 'restart/' + name,
                                          'lists/pods-labelselector-web')
                self.agree(d, self.items('lists/pods-labelselector-web'))
                self.assertEqual(
                    ['watch=true' in r for r in replay.requests[:3]],
                    [False, True, False])
                d.close()
        replay, d = self.discover('lists/pods-demo',
                                  'restart/watch-apiserver-sigterm')
        self.agree(d, self.items('lists/pods-demo'))
        self.wait_for(lambda: len(replay.requests) > 2)
        self.assertIn('watch=true', replay.requests[2])

    def test_watches_that_are_refused(self):
        """The targets stay, and what follows is taken."""
        for name, words in (
                ('errors/403-pods-watch', 'cannot watch resource "pods"'),
                ('errors/429-too-many-requests-watch', '429: Too many'),
                ('errors/500-bad-resourceversion-watch', '500: '),
                ('watch/send-initial-events-without-match', '422: ')):
            with self.subTest(name=name):
                _, d = self.discover('lists/pods-demo', name,
                                     'lists/pods-labelselector-web',
                                     options=['min-pause-ms=1500',
                                              'max-pause-ms=1500'])
                d.until(lambda line: words in line['status'], words)
                self.assertEqual(d.targets(), sorted(
                    t for pod in self.items('lists/pods-demo')
                    for t in kube_model.by_annotation(pod)))
                d.close()

    def test_a_namespace_that_does_not_exist(self):
        """Is empty, and no error."""
        _, d = self.discover('errors/200-namespace-does-not-exist-empty-list')
        d.until(lambda line: line['listed'], 'the list')
        self.assertEqual(d.targets(), [])

    def test_single_pods(self):
        """Pods in every state, one by one as events: completed ones keep their
        address, the states of containers come in another order than the
        containers, a pod that terminates is held by a finalizer."""
        names = sorted(n[:-len('.response.http')]
                       for n in os.listdir(os.path.join(DATA, 'pods'))
                       if n.endswith('.response.http'))
        self.assertIn('multi', names)
        pods = [json.loads(body_of(self.read('pods/' + n))) for n in names]
        d = self.discover_events(pods, 'every-port')
        found = {(t['__meta_kubernetes_pod_name'],
                  t['__meta_kubernetes_pod_container_name'], t['__address__'],
                  t['__meta_kubernetes_pod_phase'])
                 for t in d.line['targets']}
        self.assertLessEqual(
            {('multi', 'sidecar', '10.244.0.8:6061', 'Running'),
             ('multi', 'main', '10.244.0.8:6060', 'Running'),
             ('crash', 'crash', '10.244.0.7', 'Running'),
             ('done', 'x', '10.244.0.9', 'Succeeded'),
             ('terminating', 'x', '10.244.0.20:6060', 'Failed')}, found)
        for pod in pods:
            pod['metadata'].setdefault('annotations', {}).update(
                {'pprof/scrape': 'true', 'pprof/port': '6060'})
        d = self.discover_events(pods, 'by-annotation')
        found = {t['pod'] for t in d.line['targets']}
        self.assertLessEqual({'multi', 'crash', 'oom', 'two'}, found)
        self.assertFalse({'done', 'terminating', 'unschedulable'} & found)

    def discover_events(self, pods, mode):
        """What is found in a watch that adds these pods."""
        events = b''.join(json.dumps({'type': 'ADDED', 'object': pod}).encode()
                          + b'\n' for pod in pods)
        replay = Replay([self.read('lists/pods-empty'),
                         b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s'
                         % (len(events), events)])
        self.addCleanup(replay.close)
        d = Discovery('api-server=http://127.0.0.1:%d' % replay.port,
                      'mode=' + mode)
        self.addCleanup(lambda: d.process.poll() is None and d.close())
        d.until(lambda line: ' 0 events' not in line['status'], 'events')
        self.agree(d, pods, mode)
        return d

    def test_errors_in_words(self):
        for name, words in (
                ('401-expired-token', '401: Unauthorized (the token is not'),
                ('401-bad-token', '401: Unauthorized (the token is not'),
                ('401-forged-token', '401: Unauthorized (the token is not'),
                ('401-token-for-other-audience', '401: Unauthorized (the tok'),
                ('401-service-account-deleted', '401: Unauthorized (the toke'),
                ('403-basic-auth-is-ignored', 'system:anonymous'),
                ('410-list-exact-old-resourceversion', '410: '),
                ('403-pods-list', 'cannot list resource "pods"'),
                ('403-no-credentials-anonymous', 'system:anonymous'),
                ('400-bad-labelselector', '400: '),
                ('400-bad-fieldselector', 'spec.nosuch'),
                ('404-unknown-resource', 'is this a Kubernetes API server'),
                ('410-expired-continue', 'too old to display'),
                ('429-too-many-requests-list', '429: Too many requests'),
                ('504-resourceversion-in-the-future', 'Too large resource')):
            with self.subTest(name=name):
                _, d = self.discover('errors/' + name, 'lists/pods-demo',
                                     options=['min-pause-ms=1500',
                                              'max-pause-ms=1500'])
                d.until(lambda line: words in line['status'], words)
                self.agree(d, self.items('lists/pods-demo'))
                d.close()

    def test_secret(self):
        import base64
        import hashlib
        data = json.loads(body_of(self.read('lists/secret-tls')))['data']
        want = [hashlib.sha256(base64.b64decode(data[k])).hexdigest()
                for k in ('tls.crt', 'tls.key')] + ['']
        secret, pods = self.read('lists/secret-tls'), self.read(
            'lists/pods-empty')
        replay = Replay([secret])
        replay.pick = lambda path: secret if '/secrets/' in path else pods
        self.addCleanup(replay.close)
        d = Discovery('api-server=http://127.0.0.1:%d' % replay.port,
                      'secret=demo/app-tls')
        self.addCleanup(lambda: d.process.poll() is None and d.close())
        d.until(lambda line: line.get('secret') == want, 'the Secret')


if __name__ == '__main__':
    unittest.main()
