"""What a request to the stand-in API server (kube_api.py) asks for, and
whether a rule of RBAC allows it."""
import urllib.parse

from kube_objects import BY_NAME, Failure, Resource

REVIEWS = {'selfsubjectaccessreviews', 'subjectaccessreviews',
           'tokenreviews'}


class Request:
    """What a path asks for."""

    def __init__(self, method, target):
        url = urllib.parse.urlsplit(target)
        self.path, self.method = url.path, method
        self.query = dict(urllib.parse.parse_qsl(url.query, True))
        self.all = urllib.parse.parse_qs(url.query, True)
        self.raw_query = url.query
        self.resource = self.group = None
        self.namespace = self.name = self.sub = self.rest = ''
        parts = url.path.strip('/').split('/')
        if parts[0] == 'api' and len(parts) > 2:
            self.group, parts = '', parts[2:]
        elif parts[0] == 'apis' and len(parts) > 3:
            self.group, parts = parts[1], parts[3:]
        else:
            return
        if parts[0] == 'namespaces' and len(parts) > 2:
            self.namespace, parts = parts[1], parts[2:]
        self.plural = parts[0]
        self.resource = BY_NAME.get((self.group, parts[0]))
        if not self.resource and parts[0] in REVIEWS:
            self.resource = Resource(self.group, parts[0], '')
        self.name = parts[1] if len(parts) > 1 else ''
        self.sub = parts[2] if len(parts) > 2 else ''
        self.rest = '/'.join(parts[3:])

    @property
    def verb(self):
        if self.group is None:
            return self.method.lower()
        if self.method in ('GET', 'HEAD'):
            if self.sub or self.name:
                return 'get'
            return ('watch' if self.query.get('watch') in ('true', '1')
                    else 'list')
        return {'POST': 'create', 'PUT': 'update', 'PATCH': 'patch',
                'DELETE': 'delete'}[self.method]

    @property
    def full(self):
        return self.plural + ('/' + self.sub if self.sub else '')


def forbidden(user, request, verb):
    if request.resource is None:
        return Failure(403, 'Forbidden', 'forbidden: User "%s" cannot %s '
                       'path "%s"' % (user, verb, request.path), {})
    group, plural = request.group, request.plural
    scope = (' in the namespace "%s"' % request.namespace
             if request.namespace else ' at the cluster scope')
    details = {}
    if request.name:
        details['name'] = request.name
    if group:
        details['group'] = group
    details['kind'] = plural
    return Failure(
        403, 'Forbidden',
        '%s%s%s is forbidden: User "%s" cannot %s resource "%s" in API group '
        '"%s"%s' % (plural, '.' + group if group else '',
                    ' "%s"' % request.name if request.name else '', user,
                    verb, request.full, group, scope), details)


def matches(rule, verb, group, resource, namespace, name, path):
    def has(key, value):
        listed = rule.get(key, [])
        return '*' in listed or value in listed
    if not has('verbs', verb):
        return False
    if path is not None:
        return any(path == u or u == '*' or
                   (u.endswith('*') and path.startswith(u[:-1]))
                   for u in rule.get('nonResourceURLs', []))
    if 'resources' not in rule or not has('apiGroups', group):
        return False
    if rule.get('namespace') not in (None, namespace):
        return False
    if rule.get('resourceNames') and name not in rule['resourceNames']:
        return False
    return has('resources', resource)
