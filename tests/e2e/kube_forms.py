"""The forms in which the stand-in API server (kube_api.py) shows its objects,
and in which kubectl sends them: discovery, the OpenAPI document, tables,
protobuf."""
import base64
import json

from kube_objects import RESOURCES

VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch',
         'update', 'watch']


def protobuf_fields(data):
    """(number, bytes) of a message that has only strings and messages."""
    at = 0
    while at < len(data):
        number, n, at = data[at] >> 3, data[at + 1], at + 2
        if n & 128:
            n, at = n & 127 | data[at] << 7, at + 1
        yield number, data[at:at + n]
        at += n


def protobuf(data):
    """Field number to bytes; the last counts."""
    return dict(protobuf_fields(data))


def secret_of(body):
    """A Secret as `kubectl create secret` sends it."""
    raw = protobuf(body[4:])[2]
    meta = protobuf(protobuf(raw)[1])
    data = [protobuf(value) for number, value in protobuf_fields(raw)
            if number == 2]
    return {'kind': 'Secret', 'apiVersion': 'v1',
            'metadata': {'name': meta[1].decode()},
            'type': protobuf(raw)[3].decode(),
            'data': {pair[1].decode(): base64.b64encode(pair[2]).decode()
                     for pair in data}}


def review_of(request, body):
    """A review; kubectl 1.33 sends its own as protobuf."""
    if not body.startswith(b'k8s\0'):
        return json.loads(body)
    spec = protobuf(protobuf(protobuf(body[4:])[2])[2])
    names = {1: 'namespace', 2: 'verb', 3: 'group', 4: 'version',
             5: 'resource', 6: 'subresource', 7: 'name'}
    out = {}
    if 1 in spec:
        out['resourceAttributes'] = {
            names[k]: v.decode() for k, v in protobuf(spec[1]).items()
            if k in names}
    else:
        outside = protobuf(spec[2])
        out['nonResourceAttributes'] = {'path': outside[1].decode(),
                                        'verb': outside[2].decode()}
    return {'kind': 'SelfSubjectAccessReview',
            'apiVersion': 'authorization.k8s.io/v1', 'metadata': {},
            'spec': out}


def api_group(name):
    version = {'groupVersion': name + '/v1', 'version': 'v1'}
    return {'name': name, 'versions': [version],
            'preferredVersion': version}


def api_resource(r):
    return {'name': r.plural, 'singularName': r.kind.lower(),
            'namespaced': r.namespaced, 'kind': r.kind, 'verbs': VERBS,
            'shortNames': r.short}


def aggregated_group(group):
    resources = [
        {'resource': r.plural, 'responseKind': {
            'group': '', 'version': '', 'kind': r.kind},
         'scope': 'Namespaced' if r.namespaced else 'Cluster',
         'singularResource': r.kind.lower(), 'verbs': VERBS,
         'shortNames': r.short, 'subresources': [
             {'subresource': s, 'responseKind': {
                 'group': '', 'version': '', 'kind': r.kind},
              'verbs': ['get', 'create', 'patch', 'update']}
             for s in r.subresources]}
        for r in RESOURCES if r.group == group]
    return {'metadata': {'name': group} if group else {},
            'versions': [{'version': 'v1', 'resources': resources,
                          'freshness': 'Current'}]}


def column(name):
    return {'name': name, 'type': 'string', 'format': 'name'
            if name == 'Name' else '', 'description': '', 'priority': 0}


def table(resource, items, version):
    """What `kubectl get` asks for."""
    names, cells = ['Name', 'Age'], lambda item: [
        item['metadata']['name'], '1m']
    if resource.kind == 'Pod':
        names = ['Name', 'Ready', 'Status', 'Restarts', 'Age']

        def cells(item):
            states = item['status'].get('containerStatuses', [])
            return [item['metadata']['name'], '%d/%d' % (
                sum(s['ready'] for s in states), len(states)),
                item['status']['phase'], '0', '1m']
    return {'kind': 'Table', 'apiVersion': 'meta.k8s.io/v1',
            'metadata': {'resourceVersion': version},
            'columnDefinitions': [column(n) for n in names],
            'rows': [{'cells': cells(item), 'object': {
                'kind': 'PartialObjectMetadata',
                'apiVersion': 'meta.k8s.io/v1',
                'metadata': item['metadata']}} for item in items]}


def message(*fields):
    """A protobuf message of (number, bytes or text)."""
    out = b''
    for number, value in fields:
        value = value.encode() if isinstance(value, str) else value
        n, size = len(value), b''
        while n > 127:
            size, n = size + bytes([n & 127 | 128]), n >> 7
        out += bytes([number << 3 | 2]) + size + bytes([n]) + value
    return out


def openapi():
    """As much of the OpenAPI document as kubectl 1.20 reads before a dry run:
    that every kind can be patched, with the parameter dryRun."""
    query = message((1, message((2, message((3, message(
        (2, 'query'), (4, 'dryRun'))))))))
    paths = []
    for r in RESOURCES:
        kind = message((1, 'x-kubernetes-group-version-kind'), (2, message(
            (2, json.dumps({'group': r.group, 'kind': r.kind,
                            'version': 'v1'})))))
        paths.append((2, message((1, '/' + r.plural), (2, message(
            (8, message((8, query), (13, kind))))))))
    return message((1, '2.0'), (2, message((1, 'stand-in'), (2, 'v1'))),
                   (8, message(*paths)))
