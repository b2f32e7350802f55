"""A stand-in for the Kubernetes API server.

It speaks TLS on loopback, so that the real kubectl and our own client run
against it unchanged.  Answers follow recordings of Kubernetes 1.36: Status
errors, lists in chunks, tables, watches with bookmarks and 410, pods/proxy,
port-forward and exec over WebSocket and SPDY/3.1, access reviews, patches
with dryRun.  Pods are processes on loopback that the test starts.

    with kube_api.Server() as api:
        api.pod('demo', 'web-1', ports={6060: port_of_the_process})
        config = api.kubeconfig(path, user='admin', namespace='demo')

What a user may do is a list of RBAC rules (`api.users`); what was asked for
is kept in `api.calls`.
"""
import gzip
import http.server
import json
import os
import re
import shutil
import socket
import ssl
import tempfile
import threading
import uuid

import certificates
import kube_inside
import kube_wire
from kube_forms import (aggregated_group, api_group, api_resource, openapi,
                        review_of, secret_of, table)
from kube_objects import (BY_NAME, RESOURCES, Failure, Store, json_patch,
                          merge_patch, strategic_patch)
from kube_request import REVIEWS, Request, forbidden, matches

EVERYTHING = [{'apiGroups': ['*'], 'resources': ['*'], 'verbs': ['*']},
              {'nonResourceURLs': ['*'], 'verbs': ['*']}]
# What every authenticated user may do.
BASICS = [{'nonResourceURLs': ['/version', '/version/', '/healthz', '/livez',
                               '/readyz', '/api', '/api/*', '/apis',
                               '/apis/*', '/openapi', '/openapi/*'],
           'verbs': ['get']},
          {'apiGroups': ['authorization.k8s.io'],
           'resources': ['selfsubjectaccessreviews',
                         'selfsubjectrulesreviews'], 'verbs': ['create']}]
VERSION = {'major': '1', 'minor': '36', 'gitVersion': 'v1.36.4',
           'gitCommit': '0' * 40, 'gitTreeState': 'clean',
           'buildDate': '2026-08-20T03:00:00Z', 'goVersion': 'go1.26.10',
           'compiler': 'gc', 'platform': 'linux/amd64'}


def pod(namespace, name, labels=None, annotations=None, containers=None,
        ports=None, phase='Running', ip='127.0.0.1', owner=None,
        node='node-1', ready=True, spec=None, status=None):
    """A pod as the API server shows it.  `ports` are container ports: a list
    of numbers, or pairs of name and number."""
    meta = {'name': name, 'namespace': namespace, 'labels': labels or {},
            'annotations': annotations or {}}
    if owner:
        meta['ownerReferences'] = [
            {'apiVersion': 'apps/v1', 'kind': owner[0], 'name': owner[1],
             'uid': str(uuid.uuid4()), 'controller': True}]
    listed = [{'containerPort': p, 'protocol': 'TCP'} if isinstance(p, int)
              else {'name': p[0], 'containerPort': p[1], 'protocol': 'TCP'}
              for p in ports or []]
    containers = containers or [{'name': 'app', 'image': 'example/app:1.0',
                                 'ports': listed}]
    running = phase == 'Running'
    state = ({'running': {'startedAt': '2026-11-16T18:00:00Z'}} if running
             else {'waiting': {'reason': 'ContainerCreating'}}
             if phase == 'Pending' else
             {'terminated': {'exitCode': 0, 'reason': 'Completed'}})
    shown = {'phase': phase, 'hostIP': '127.0.0.1', 'conditions': [
        {'type': 'Ready', 'status': 'True' if ready and running
         else 'False'}],
        'containerStatuses': [
            {'name': c['name'], 'image': c.get('image', ''),
             'ready': ready and running, 'restartCount': 0, 'started': running,
             'state': state, 'lastState': {}}
            for c in sorted(containers, key=lambda c: c['name'])]}
    if phase != 'Pending':
        shown.update(podIP=ip, podIPs=[{'ip': ip}])
    shown.update(status or {})
    body = {'containers': containers, 'restartPolicy': 'Always'}
    if node and phase != 'Pending':
        body['nodeName'] = node
    body.update(spec or {})
    return {'kind': 'Pod', 'apiVersion': 'v1', 'metadata': meta,
            'spec': body, 'status': shown}


class Server:
    """The API server; `store` holds the objects."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix='pprof-kube-')
        ca = certificates.Authority(self.dir, 'kube-ca')
        self.ca = ca
        cert, key = ca.sign('kube-apiserver',
                            alternatives='IP:127.0.0.1,DNS:localhost,'
                            'DNS:kubernetes.default.svc')
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(cert, key)
        self.context.load_verify_locations(ca.cert)
        self.context.verify_mode = ssl.CERT_OPTIONAL
        self.context.set_alpn_protocols(['http/1.1'])
        self.store = Store()
        self.users = {'admin': EVERYTHING}
        self.tokens = {'token-of-admin': 'admin'}
        self.calls = []
        self.faults = []
        self.backends = {}
        self.exec_env = {}
        # Of debug containers: the environment that an image gives, or the
        # reason and the message why it does not start.
        self.images = {}
        self.exec_log = []
        self.own_pprof = None
        self.node_pprof = {}
        self.bookmark_seconds = 60
        self.sockets = set()
        self.http = Listener(('127.0.0.1', 0), Handler)
        self.http.api = self
        self.port = self.http.server_address[1]
        self.url = 'https://127.0.0.1:%d' % self.port
        self.thread = threading.Thread(target=self.http.serve_forever,
                                       args=(0.05,), daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.http.shutdown()
        self.drop_connections()
        self.http.server_close()
        shutil.rmtree(self.dir, ignore_errors=True)

    def drop_connections(self):
        """Ends every open connection, watches and forwards included."""
        for connection in list(self.sockets):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    # ---- objects

    def pod(self, namespace, name, backends=None, exec_env=None, **options):
        """Adds or replaces a pod.  `backends` maps a pod's port to
        (address, port) of a process, or None for refused; ports without an
        entry are those of the pod's own IP.  `exec_env` is the environment of
        commands in the pod: PATH decides which tools it has."""
        self.namespace(namespace)
        item = self.store.put(pod(namespace, name, **options))
        self.backends[namespace, name] = backends or {}
        if exec_env is not None:
            self.exec_env[namespace, name] = exec_env
        return item

    def namespace(self, name):
        try:
            return self.store.get(BY_NAME['', 'namespaces'], '', name)
        except Failure:
            return self.store.put({'kind': 'Namespace',
                                   'metadata': {'name': name}})

    def remove_pod(self, namespace, name):
        return self.store.remove('Pod', namespace, name)

    def user(self, name, rules, token=None):
        """A user with these RBAC rules (a rule may have a `namespace`)."""
        self.users[name] = rules
        token = token or 'token-of-' + name
        self.tokens[token] = name
        return token

    def kubeconfig(self, path, user='admin', namespace=None, token=None,
                   server=None):
        """Writes a kubeconfig with one context, named as the user."""
        context = {'cluster': 'stand-in', 'user': user}
        if namespace:
            context['namespace'] = namespace
        known = {v: k for k, v in self.tokens.items()}
        with open(path, 'w') as f:
            json.dump({
                'apiVersion': 'v1', 'kind': 'Config',
                'current-context': user,
                'clusters': [{'name': 'stand-in', 'cluster': {
                    'server': server or self.url,
                    'certificate-authority': self.ca.cert}}],
                'contexts': [{'name': user, 'context': context}],
                'users': [{'name': user, 'user': {
                    'token': token or known[user]}}]}, f)
        return path

    def fail(self, method, pattern, failure, times=1):
        """Answers the next requests whose path matches with a Failure, or
        with a function of the handler (a 429, a dropped connection)."""
        self.faults.append([method, re.compile(pattern), failure, times])

    def fault_for(self, method, path):
        for fault in self.faults:
            if fault[0] == method and fault[3] and fault[1].search(path):
                fault[3] -= 1
                return fault[2]
        return None

    # ---- rights

    def allowed(self, user, verb, group='', resource='', namespace='',
                name='', path=None):
        for rule in self.users.get(user, []) + BASICS:
            if matches(rule, verb, group, resource, namespace, name, path):
                return True
        return False

    def connect(self, namespace, name, port, as_proxy=False):
        """A socket to a process of the pod."""
        item = self.store.get(BY_NAME['', 'pods'], namespace, name)
        ip = item['status'].get('podIP', '')
        there = self.backends.get((namespace, name), {}).get(port,
                                                             (ip, port))
        shown = there or (ip, port)
        words = ('error trying to reach service: dial tcp %s:%d: connect: '
                 'connection refused' % (ip, port) if as_proxy else
                 'error forwarding port %d to pod %s, uid : failed to '
                 'execute portforward in network namespace '
                 '"/var/run/netns/cni-0": failed to connect to localhost:%d '
                 'inside namespace "%s", IPv4: dial tcp4 127.0.0.1:%d: '
                 'connect: connection refused IPv6 dial tcp6: address '
                 'localhost: no suitable address found ' % (
                     port, '0' * 64, port, '0' * 64, port))
        if there is None or (as_proxy and len(there) > 2):
            raise OSError(words)
        try:
            found = socket.create_connection(shown[:2], 10)
        except OSError:
            raise OSError(words)
        found.settimeout(None)
        return found


class Listener(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def finish_request(self, request, client_address):
        request.settimeout(30)
        try:
            wrapped = self.api.context.wrap_socket(request, server_side=True)
        except (OSError, ssl.SSLError):
            return
        wrapped.settimeout(None)
        self.api.sockets.add(wrapped)
        try:
            super().finish_request(wrapped, client_address)
        except OSError:
            pass
        finally:
            self.api.sockets.discard(wrapped)
            try:
                wrapped.close()
            except OSError:
                pass


class Handler(kube_inside.Inside, http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    server_version, sys_version = 'stand-in', ''

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.api = self.server.api
        request = Request(self.command, self.path)
        body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        if self.headers.get('Content-Encoding') == 'gzip':
            body = gzip.decompress(body)
        self.started = False
        try:
            fault = self.api.fault_for(self.command, self.path)
            if isinstance(fault, Failure):
                raise fault
            if fault:
                fault(self)
                return
            self.answer(request, body)
        except Failure as f:
            if not self.started:
                self.send_json(f.code, f.status)
        except (kube_wire.Closed, ConnectionError, ssl.SSLError):
            self.close_connection = True

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

    # ---- who, and whether

    def identify(self):
        """The user's name; 401 for a token that nobody has."""
        word = self.headers.get('Authorization', '')
        if word.startswith('Bearer '):
            user = self.api.tokens.get(word[7:])
            if not user:
                raise Failure(401, 'Unauthorized', 'Unauthorized')
            return user
        cert = self.connection.getpeercert()
        if cert:
            return dict(pair[0] for pair in cert['subject'])['commonName']
        return 'system:anonymous'

    def authorize(self, request, verb):
        if request.resource is None:
            self.api.calls.append((self.user, verb, None, request.path, '',
                                   ''))
            fine = self.api.allowed(self.user, verb, path=request.path)
        else:
            asked = (request.group, request.full, request.namespace,
                     request.name.split(':')[0])
            self.api.calls.append((self.user, verb) + asked)
            fine = self.api.allowed(self.user, verb, *asked)
        if not fine:
            raise forbidden(self.user, request, verb)

    def answer(self, request, body):
        self.user = self.identify()
        if request.group is not None and request.resource is None:
            self.authorize_path(request)
            raise Failure(404, 'NotFound', 'the server could not find the '
                          'requested resource', {})
        self.authorize(request, request.verb)
        if request.resource is None:
            self.outside(request)
        elif request.plural in REVIEWS:
            self.review(request, review_of(request, body))
        elif request.sub in ('exec', 'portforward'):
            self.session(request)
        elif request.sub == 'proxy':
            self.proxy(request, body)
        elif request.sub == 'log':
            self.send_body(200, b'', 'text/plain')
        elif self.command == 'GET':
            self.read(request)
        else:
            self.change(request, body)

    def authorize_path(self, request):
        if not self.api.allowed(self.user, 'get', path=request.path):
            raise forbidden(self.user, request, request.verb)

    # ---- answers

    def send_body(self, code, body, kind='application/json', headers=()):
        self.started = True
        self.send_response_only(code)
        self.send_header('Audit-Id', str(uuid.uuid4()))
        self.send_header('Cache-Control', 'no-cache, private')
        self.send_header('Content-Type', kind)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header('Date', self.date_time_string())
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(body)

    def send_json(self, code, value, kind='application/json'):
        body = json.dumps(value, separators=(',', ':')).encode() + b'\n'
        self.send_body(code, body, kind)

    def too_many(self):
        """A fault: 429 as the API server says it."""
        self.send_body(429, b'Too many requests, please try again later.\n',
                       'text/plain; charset=utf-8', [('Retry-After', '1')])

    def outside(self, request):
        """Paths that are no resources."""
        if request.path == '/version':
            self.send_body(200, json.dumps(VERSION, indent=2).encode())
        elif request.path in ('/healthz', '/livez', '/readyz'):
            self.send_body(200, b'ok', 'text/plain; charset=utf-8')
        elif request.path.startswith('/debug/pprof') and self.api.own_pprof:
            self.relay(self.api.own_pprof, request.path, request.raw_query)
        else:
            self.discover(request)

    def discover(self, request):
        aggregated = 'as=APIGroupDiscoveryList' in self.headers.get(
            'Accept', '')
        groups = sorted({r.group for r in RESOURCES} - {''})
        if request.path in ('/api', '/apis') and aggregated:
            names = [''] if request.path == '/api' else groups
            self.send_json(200, {
                'kind': 'APIGroupDiscoveryList',
                'apiVersion': 'apidiscovery.k8s.io/v2', 'metadata': {},
                'items': [aggregated_group(g) for g in names]},
                'application/json;g=apidiscovery.k8s.io;v=v2;'
                'as=APIGroupDiscoveryList')
        elif request.path == '/openapi/v2':
            self.send_body(200, openapi(), 'application/octet-stream')
        elif request.path == '/api':
            self.send_json(200, {'kind': 'APIVersions', 'versions': ['v1']})
        elif request.path == '/apis':
            self.send_json(200, {
                'kind': 'APIGroupList', 'apiVersion': 'v1',
                'groups': [api_group(g) for g in groups]})
        elif request.path == '/api/v1' or re.fullmatch(
                r'/apis/[^/]+/v1', request.path):
            group = (request.path.split('/')[2]
                     if request.path != '/api/v1' else '')
            self.send_json(200, {
                'kind': 'APIResourceList', 'apiVersion': 'v1',
                'groupVersion': (group + '/' if group else '') + 'v1',
                'resources': [api_resource(r) for r in RESOURCES
                              if r.group == group]})
        else:
            raise Failure(404, 'NotFound', 'the server could not find the '
                          'requested resource', {})

    def read(self, request):
        as_table = 'as=Table' in self.headers.get('Accept', '')
        store = self.api.store
        if request.name:
            item = store.get(request.resource, request.namespace
                             if request.resource.namespaced else '',
                             request.name)
            self.send_json(200, table(request.resource, [item], '')
                           if as_table else item)
        elif request.verb == 'watch':
            self.watch(request, as_table)
        else:
            found = store.list(request.resource, request.namespace,
                               request.query)
            if as_table:
                meta = found['metadata']
                found = table(request.resource, found['items'],
                              meta['resourceVersion'])
                found['metadata'] = meta
            self.send_json(200, found)

    def watch(self, request, as_table):
        events = self.api.store.watch(
            request.resource, request.namespace, request.query,
            self.api.bookmark_seconds)
        first = next(events)
        self.started = True
        self.send_response_only(200)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Transfer-Encoding', 'chunked')
        self.end_headers()
        self.connection.settimeout(None)
        while True:
            if first:
                if as_table and first['type'] not in ('ERROR', 'BOOKMARK'):
                    first = dict(first, object=table(
                        request.resource, [first['object']], ''))
                line = json.dumps(first,
                                  separators=(',', ':')).encode() + b'\n'
                self.wfile.write(b'%x\r\n%s\r\n' % (len(line), line))
                self.wfile.flush()
            try:
                first = next(events)
            except StopIteration:
                break
        self.wfile.write(b'0\r\n\r\n')

    def change(self, request, body):
        store, resource = self.api.store, request.resource
        dry = request.query.get('dryRun') == 'All'
        namespace = request.namespace if resource.namespaced else ''
        if self.command == 'DELETE':
            item = store.get(resource, namespace, request.name)
            if not dry:
                store.remove(resource.kind, namespace, request.name)
            self.send_json(200, item)
            return
        if self.command == 'POST':
            item = (secret_of(body) if body.startswith(b'k8s\0')
                    else json.loads(body))
            if namespace:
                item['metadata'].setdefault('namespace', namespace)
            name = item['metadata']['name']
            if store.items.get((resource, namespace, name)):
                raise Failure(409, 'AlreadyExists', '%s "%s" already exists'
                              % (resource.plural, name),
                              {'name': name, 'kind': resource.plural})
            self.send_json(201, store.put(item, dry))
            return
        old = store.get(resource, namespace, request.name)
        new = self.patched(old, body) if self.command == 'PATCH' else \
            json.loads(body)
        wanted = new['metadata'].get('resourceVersion')
        if wanted and wanted != old['metadata']['resourceVersion']:
            raise Failure(
                409, 'Conflict', 'Operation cannot be fulfilled on %s "%s": '
                'the object has been modified; please apply your changes to '
                'the latest version and try again' % (
                    resource.plural, request.name))
        if request.sub == 'ephemeralcontainers':
            self.start_ephemeral(new, dry)
        self.send_json(200, store.put(new, dry))

    def patched(self, old, body):
        kind = self.headers['Content-Type']
        patch = json.loads(body)
        if kind == 'application/json-patch+json':
            return json_patch(old, patch)
        if kind == 'application/merge-patch+json':
            return merge_patch(old, patch)
        if kind == 'application/strategic-merge-patch+json':
            return strategic_patch(old, patch)
        raise Failure(415, 'UnsupportedMediaType', 'the body of the request '
                      'was in an unknown format')

    def start_ephemeral(self, item, dry):
        """The kubelet's part: an ephemeral container runs at once, or waits
        forever for its image."""
        states, meta = [], item['metadata']
        for c in item['spec'].get('ephemeralContainers', []):
            found = self.api.images.get(c['image'], {'PATH': '/nonexistent'})
            state = {'running': {'startedAt': '2026-11-16T18:00:00Z'}}
            if isinstance(found, tuple):
                state = {'waiting': dict(zip(('reason', 'message'), found))}
            elif not dry:
                self.api.exec_env[meta['namespace'], meta['name'],
                                  c['name']] = found
            states.append({'name': c['name'], 'image': c['image'],
                           'ready': False, 'restartCount': 0, 'lastState': {},
                           'state': state})
        item['status']['ephemeralContainerStatuses'] = states

    def review(self, request, item):
        spec, status = item['spec'], {}
        if request.plural == 'tokenreviews':
            user = self.api.tokens.get(spec.get('token'))
            status = ({'authenticated': True, 'user': {'username': user}}
                      if user else {'user': {},
                                    'error': 'invalid bearer token'})
        else:
            user = spec.get('user', self.user)
            outside = spec.get('nonResourceAttributes')
            asked = spec.get('resourceAttributes', {})
            full = asked.get('resource', '')
            if asked.get('subresource'):
                full += '/' + asked['subresource']
            status['allowed'] = self.api.allowed(
                user, outside['verb'], path=outside['path']
            ) if outside else self.api.allowed(
                user, asked.get('verb', ''), asked.get('group', ''), full,
                asked.get('namespace', ''), asked.get('name', ''))
        self.send_json(201, dict(item, status=status))
