"""The part of the stand-in API server (kube_api.py) that leads into pods:
proxy, port-forward, exec, attach."""
import http.client
import shutil
import socket
import ssl

import kube_wire
from kube_objects import Failure


def proxy_name(text):
    """scheme, name and port of `[SCHEME:]NAME[:PORT]`."""
    parts = text.split(':')
    if len(parts) == 3:
        return parts
    return '', parts[0], parts[1] if len(parts) > 1 else ''


class Inside:
    """Methods of kube_api.Handler."""

    def proxy(self, request, body):
        scheme, name, port = proxy_name(request.name)
        path = '/' + request.rest
        if self.path.split('?')[0].endswith('/') and not path.endswith('/'):
            path += '/'
        if request.plural == 'nodes':
            self.api.store.get(request.resource, '', name)
            self.relay(self.api.node_pprof[name], path, request.raw_query)
            return
        if port and not port.isdigit():
            self.close_connection = True  # as Kubernetes 1.36 does
            return
        self.api.store.get(request.resource, request.namespace, name)
        try:
            found = self.api.connect(request.namespace, name,
                                     int(port or 80), as_proxy=True)
        except OSError as e:
            raise Failure(503, 'ServiceUnavailable', str(e))
        self.relay(None, path, request.raw_query, found, scheme == 'https')

    def relay(self, address, path, query, found=None, tls=False):
        """Passes a request on; status and body come back as they are."""
        if found is None:
            found = socket.create_connection(address)
        if tls:
            found = ssl._create_unverified_context().wrap_socket(found)
        there = http.client.HTTPConnection('backend')
        there.sock = found
        there.request(self.command, path + ('?' + query if query else ''))
        answer = there.getresponse()
        body = answer.read()
        self.send_body(answer.status, body, answer.getheader(
            'Content-Type', 'application/octet-stream'))
        there.close()

    def session(self, request):
        if self.headers.get('Upgrade') is None:
            raise Failure(400, 'BadRequest', 'Upgrade request required')
        websocket = self.headers['Upgrade'].lower() == 'websocket'
        if websocket:
            self.authorize(request, 'create')
        item = self.api.store.get(request.resource, request.namespace,
                                  request.name)
        if not item['spec'].get('nodeName'):
            raise Failure(400, 'BadRequest', 'pod %s does not have a host '
                          'assigned' % request.name)
        if request.sub == 'exec':
            self.check_container(request, item)
        protocol = self.switch(request, websocket)
        if protocol is None:
            return
        stream = (kube_wire.WebSocket if websocket else kube_wire.Raw)(
            self.rfile, self.connection)
        if request.sub == 'portforward':
            kube_wire.port_forward(stream, lambda port: self.api.connect(
                request.namespace, request.name, port))
        else:
            self.execute(request, stream, websocket)
        self.close_connection = True

    @staticmethod
    def check_container(request, item):
        names = [c['name'] for key in ('containers', 'ephemeralContainers')
                 for c in item['spec'].get(key) or []]
        wanted = request.query.get('container')
        if not wanted and len(names) > 1:
            raise Failure(400, 'BadRequest', 'a container name must be '
                          'specified for pod %s, choose one of: [%s]' % (
                              request.name, ' '.join(names)))
        if wanted and wanted not in names:
            raise Failure(400, 'BadRequest', 'container %s is not valid for '
                          'pod %s' % (wanted, request.name))

    def switch(self, request, websocket):
        """101; returns the protocol, None if there is none in common."""
        if websocket:
            known = ('SPDY/3.1+portforward.k8s.io'
                     if request.sub == 'portforward' else 'v5.channel.k8s.io')
            offered = self.headers.get('Sec-WebSocket-Protocol', '')
            if known not in [p.strip() for p in offered.split(',')]:
                self.send_body(403, b'', '')
                return None
            lines = [('Upgrade', 'websocket'), ('Connection', 'Upgrade'),
                     ('Sec-WebSocket-Accept', kube_wire.accept_key(
                         self.headers['Sec-WebSocket-Key'])),
                     ('Sec-WebSocket-Protocol', known)]
        else:
            known = ('portforward.k8s.io' if request.sub == 'portforward'
                     else 'v4.channel.k8s.io')
            lines = [('Connection', 'Upgrade'), ('Upgrade', 'SPDY/3.1'),
                     ('X-Stream-Protocol-Version', known)]
        self.started = True
        self.send_response_only(101)
        for name, value in lines:
            self.send_header(name, value)
        self.end_headers()
        return known

    def execute(self, request, stream, websocket):
        wanted = ['error'] + [n for n in ('stdin', 'stdout', 'stderr')
                              if request.query.get(n) in ('true', '1')]
        channel = (kube_wire.ExecOverWebSocket(stream) if websocket else
                   kube_wire.ExecOverSpdy(stream, wanted))
        command = request.all['command']
        self.api.exec_log.append((request.namespace, request.name,
                                  request.query.get('container'), command))
        pod = request.namespace, request.name
        env = self.api.exec_env.get(
            pod + (request.query.get('container'),), self.api.exec_env.get(
                pod, {'PATH': '/nonexistent'}))
        found = shutil.which(command[0], path=env['PATH'])
        real = [found or '/nonexistent/' + command[0]] + command[1:]
        kube_wire.execute(channel, real, env, self.api.dir, wanted)
