"""Kubernetes objects in memory: versions, selectors, lists in chunks, events
for watches, patches.  The stand-in API server (kube_api.py) serves them."""
import base64
import copy
import datetime
import json
import re
import threading
import time
import uuid


class Resource:
    def __init__(self, group, plural, kind, short='', namespaced=True,
                 subresources=()):
        self.group, self.plural, self.kind = group, plural, kind
        self.short = short.split()
        self.namespaced, self.subresources = namespaced, subresources

    @property
    def version(self):
        return (self.group + '/' if self.group else '') + 'v1'


RESOURCES = [
    Resource('', 'pods', 'Pod', 'po', subresources=(
        'exec', 'portforward', 'proxy', 'log', 'ephemeralcontainers')),
    Resource('', 'services', 'Service', 'svc', subresources=('proxy',)),
    Resource('', 'secrets', 'Secret'),
    Resource('', 'configmaps', 'ConfigMap', 'cm'),
    Resource('', 'serviceaccounts', 'ServiceAccount', 'sa'),
    Resource('', 'persistentvolumeclaims', 'PersistentVolumeClaim', 'pvc'),
    Resource('', 'endpoints', 'Endpoints', 'ep'),
    Resource('', 'events', 'Event', 'ev'),
    Resource('', 'namespaces', 'Namespace', 'ns', namespaced=False),
    Resource('', 'nodes', 'Node', 'no', namespaced=False,
             subresources=('proxy',)),
    Resource('apps', 'deployments', 'Deployment', 'deploy',
             subresources=('scale', 'status')),
    Resource('apps', 'replicasets', 'ReplicaSet', 'rs'),
    Resource('apps', 'statefulsets', 'StatefulSet', 'sts'),
    Resource('apps', 'daemonsets', 'DaemonSet', 'ds'),
    Resource('batch', 'jobs', 'Job'),
    Resource('batch', 'cronjobs', 'CronJob', 'cj'),
    Resource('networking.k8s.io', 'networkpolicies', 'NetworkPolicy',
             'netpol'),
    Resource('rbac.authorization.k8s.io', 'roles', 'Role'),
    Resource('rbac.authorization.k8s.io', 'rolebindings', 'RoleBinding'),
    Resource('rbac.authorization.k8s.io', 'clusterroles', 'ClusterRole',
             namespaced=False),
    Resource('rbac.authorization.k8s.io', 'clusterrolebindings',
             'ClusterRoleBinding', namespaced=False),
    Resource('cert-manager.io', 'issuers', 'Issuer'),
    Resource('cert-manager.io', 'certificates', 'Certificate'),
    Resource('route.openshift.io', 'routes', 'Route'),
    Resource('policy', 'poddisruptionbudgets', 'PodDisruptionBudget', 'pdb'),
]
BY_NAME = {(r.group, r.plural): r for r in RESOURCES}
BY_KIND = {r.kind: r for r in RESOURCES}


class Failure(Exception):
    """A Status that is not Success."""

    def __init__(self, code, reason, message, details=None, metadata=None):
        super().__init__(message)
        self.code = code
        self.status = {'kind': 'Status', 'apiVersion': 'v1',
                       'metadata': metadata or {}, 'status': 'Failure',
                       'message': message, 'reason': reason}
        if details is not None:
            self.status['details'] = details
        self.status['code'] = code


def not_found(resource, name):
    group = '.' + resource.group if resource.group else ''
    details = {'name': name}
    if resource.group:
        details['group'] = resource.group
    details['kind'] = resource.plural
    return Failure(404, 'NotFound', '%s%s "%s" not found' % (
        resource.plural, group, name), details)


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime(
        '%Y-%m-%dT%H:%M:%SZ')


REQUIREMENT = re.compile(
    r'\s*(?:(?P<not>!)\s*(?P<absent>[\w./-]+)'
    r'|(?P<key>[\w./-]+)\s*(?:(?P<set>notin|in)\s*\((?P<values>[^)]*)\)'
    r'|(?P<op>==|=|!=)\s*(?P<value>[\w.-]*))?)\s*(?:,|$)')


def label_test(text):
    """A function that says whether labels match the selector."""
    tests, at = [], 0
    while at < len(text):
        m = REQUIREMENT.match(text, at)
        if not m or m.end() == at:
            raise Failure(400, 'BadRequest',
                          'unable to parse requirement: %s' % text)
        at = m.end()
        tests.append(requirement(m.groupdict()))
    return lambda labels: all(test(labels) for test in tests)


def requirement(g):
    if g['not']:
        return lambda labels: g['absent'] not in labels
    key = g['key']
    if g['set']:
        values = [v.strip() for v in g['values'].split(',')]
        if g['set'] == 'in':
            return lambda labels: labels.get(key) in values
        return lambda labels: labels.get(key) not in values
    if not g['op']:
        return lambda labels: key in labels
    if g['op'] == '!=':
        return lambda labels: labels.get(key) != g['value']
    return lambda labels: labels.get(key) == g['value']


FIELDS = {'metadata.name', 'metadata.namespace', 'status.phase',
          'spec.nodeName', 'status.podIP', 'type', 'spec.restartPolicy',
          'spec.serviceAccountName'}


def field_test(text):
    tests = []
    for part in filter(None, text.split(',')):
        m = re.fullmatch(r'([\w.]+?)(==|=|!=)(.*)', part)
        if not m or m[1] not in FIELDS:
            label = m[1] if m else part
            raise Failure(400, 'BadRequest',
                          'field label not supported: %s' % label)
        tests.append((m[1].split('.'), m[2] == '!=', m[3]))

    def test(item):
        for path, negated, value in tests:
            found = item
            for key in path:
                found = found.get(key, '') if isinstance(found, dict) else ''
            if (found == value) == negated:
                return False
        return True
    return test


def selector(query):
    labels = label_test(query.get('labelSelector', ''))
    fields = field_test(query.get('fieldSelector', ''))
    return lambda item: (fields(item) and
                         labels(item['metadata'].get('labels') or {}))


class Store:
    """All objects.  `changed` is notified with every new version; events are
    kept from `oldest` on, and a watch from before gets 410."""

    def __init__(self, version=100):
        self.version, self.oldest = version, version
        self.items, self.events = {}, []
        self.changed = threading.Condition(threading.RLock())
        self.continue_expired = False

    def key(self, resource, item):
        meta = item['metadata']
        return resource, meta.get('namespace', ''), meta['name']

    def put(self, item, dry_run=False):
        """Adds or replaces; returns the object as stored."""
        resource = BY_KIND[item['kind']]
        item = copy.deepcopy(item)
        meta = item['metadata']
        item.setdefault('apiVersion', resource.version)
        with self.changed:
            key = self.key(resource, item)
            old = self.items.get(key)
            meta.setdefault('uid', old['metadata']['uid'] if old
                            else str(uuid.uuid4()))
            meta.setdefault('creationTimestamp', now())
            if dry_run:
                return item
            self.version += 1
            meta['resourceVersion'] = str(self.version)
            self.items[key] = item
            self.events.append((self.version, resource, old, item))
            self.changed.notify_all()
        return item

    def remove(self, kind, namespace, name):
        resource = BY_KIND[kind]
        with self.changed:
            old = self.items.pop((resource, namespace, name), None)
            if not old:
                raise not_found(resource, name)
            self.version += 1
            last = copy.deepcopy(old)
            last['metadata']['resourceVersion'] = str(self.version)
            self.events.append((self.version, resource, last, None))
            self.changed.notify_all()
        return last

    def get(self, resource, namespace, name):
        with self.changed:
            item = self.items.get((resource, namespace, name))
        if not item:
            raise not_found(resource, name)
        return item

    def compact(self):
        """Forgets events: older watches get 410."""
        with self.changed:
            self.oldest, self.events = self.version, []

    def select(self, resource, namespace, test):
        with self.changed:
            return [item for (r, ns, _), item in sorted(
                self.items.items(), key=lambda pair: pair[0][1:])
                if r is resource and namespace in ('', ns) and test(item)]

    def list(self, resource, namespace, query):
        check_version(query)
        items = self.select(resource, namespace, selector(query))
        meta = {'resourceVersion': str(self.version)}
        start = self.continue_start(query)
        if start:
            items = [i for i in items if place(i) > start]
        limit = int(query.get('limit') or 0)
        if limit and len(items) > limit:
            meta['continue'] = token(self.version, place(items[limit - 1]))
            meta['remainingItemCount'] = len(items) - limit
            items = items[:limit]
        bare = [{k: v for k, v in item.items()
                 if k not in ('kind', 'apiVersion')} for item in items]
        return {'kind': resource.kind + 'List',
                'apiVersion': resource.version, 'metadata': meta,
                'items': bare}

    def continue_start(self, query):
        text = query.get('continue')
        if not text:
            return None
        try:
            found = json.loads(base64.urlsafe_b64decode(
                text + '=' * (-len(text) % 4)))
        except ValueError:
            raise Failure(400, 'BadRequest', 'continue key is not valid: '
                          'illegal base64 data at input byte 0')
        if self.continue_expired and found['rv'] > 0:
            raise Failure(
                410, 'Expired', 'The provided continue parameter is too old '
                'to display a consistent list result. You can start a new '
                'list without the continue parameter, or use the continue '
                'token in this response to retrieve the remainder of the '
                'results. Continuing with the provided token results in an '
                'inconsistent list - objects that were created, modified, or '
                'deleted between the time the first chunk was returned and '
                'now may show up in the list.',
                metadata={'continue': token(-1, found['start'])})
        return found['start']

    def watch(self, resource, namespace, query, bookmark_seconds=60):
        """Yields events as dicts until timeoutSeconds have passed; None now
        and then, so that the caller can see that a client has gone."""
        test = selector(query)
        text = query.get('resourceVersion', '')
        initial = query.get('sendInitialEvents') in ('true', '1')
        if initial and query.get('resourceVersionMatch') != 'NotOlderThan':
            raise Failure(
                422, 'Invalid', 'ListOptions.meta.k8s.io "" is invalid: '
                'resourceVersionMatch: Forbidden: sendInitialEvents requires '
                'setting resourceVersionMatch to NotOlderThan')
        if not re.fullmatch(r'\d*', text):
            raise Failure(500, 'InternalError', 'resource version %s '
                          'is not valid' % text)
        end = time.monotonic() + float(query.get('timeoutSeconds') or 1800)
        bookmarks = query.get('allowWatchBookmarks') in ('true', '1')
        with self.changed:
            seen, version = int(text or 0), self.version
            too_old = 0 < seen < self.oldest
            first = [] if seen else self.select(resource, namespace, test)
        if too_old:
            yield {'type': 'ERROR', 'object': Failure(
                410, 'Expired', 'too old resource version: %d (%d)' % (
                    seen, version)).status}
            return
        seen = seen or version
        for item in first:
            yield {'type': 'ADDED', 'object': item}
        if initial:
            yield bookmark(resource, seen, {
                'k8s.io/initial-events-end': 'true'})
        said = time.monotonic()
        while time.monotonic() < end:
            with self.changed:
                if not any(e[0] > seen for e in self.events):
                    self.changed.wait(min(0.2, end - time.monotonic()) or 0)
                fresh = [e for e in self.events if e[0] > seen]
            for version, of, old, new in fresh:
                seen = max(seen, version)
                event = self.event(resource, namespace, test, of, old, new)
                if event:
                    yield event
            if bookmarks and time.monotonic() - said > bookmark_seconds:
                said = time.monotonic()
                yield bookmark(resource, seen)
            yield None
        if bookmarks:
            yield bookmark(resource, seen)

    @staticmethod
    def event(resource, namespace, test, of, old, new):
        item = new or old
        if of is not resource or namespace not in (
                '', item['metadata'].get('namespace', '')):
            return None
        before, after = bool(old and test(old)), bool(new and test(new))
        if not before and not after:
            return None
        kind = ('DELETED' if not after else
                'MODIFIED' if before else 'ADDED')
        return {'type': kind, 'object': item}


def check_version(query):
    text = query.get('resourceVersion', '')
    if not re.fullmatch(r'\d*', text):
        raise Failure(400, 'BadRequest', 'resourceVersion: Invalid value: '
                      '"%s": strconv.ParseUint: parsing "%s": invalid '
                      'syntax' % (text, text))


def place(item):
    meta = item['metadata']
    return '/%s/%s\0' % (meta.get('namespace', ''), meta['name'])


def token(version, start):
    return base64.urlsafe_b64encode(json.dumps(
        {'v': 'meta.k8s.io/v1', 'rv': version, 'start': start},
        separators=(',', ':')).encode()).decode().rstrip('=')


def bookmark(resource, version, annotations=None):
    meta = {'resourceVersion': str(version)}
    if annotations:
        meta['annotations'] = annotations
    item = {'kind': resource.kind, 'apiVersion': resource.version,
            'metadata': meta}
    if resource.kind == 'Pod':
        item.update(spec={'containers': None}, status={})
    return {'type': 'BOOKMARK', 'object': item}


def merge_patch(old, patch):
    """RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    out = dict(old) if isinstance(old, dict) else {}
    for key, value in patch.items():
        if value is None:
            out.pop(key, None)
        else:
            out[key] = merge_patch(out.get(key), value)
    return out


MERGE_KEYS = {'containers': 'name', 'initContainers': 'name',
              'ephemeralContainers': 'name', 'volumes': 'name',
              'volumeMounts': 'mountPath', 'env': 'name',
              'ports': 'containerPort'}


def strategic_patch(old, patch):
    """Strategic merge of the lists that have a merge key here."""
    out = dict(old) if isinstance(old, dict) else {}
    for key, value in patch.items():
        if key.startswith('$'):
            continue
        if value is None:
            out.pop(key, None)
        elif isinstance(value, dict):
            out[key] = strategic_patch(out.get(key), value)
        elif isinstance(value, list) and key in MERGE_KEYS:
            out[key] = merge_list(out.get(key) or [], value, MERGE_KEYS[key])
        else:
            out[key] = value
    return out


def merge_list(old, patch, key):
    out = list(old)
    for item in patch:
        at = next((i for i, o in enumerate(out)
                   if o.get(key) == item.get(key)), None)
        if item.get('$patch') == 'delete':
            if at is not None:
                del out[at]
        elif at is None:
            out.append(item)
        else:
            out[at] = strategic_patch(out[at], item)
    return out


def json_patch(old, patch):
    """RFC 6902: add, replace, remove, test."""
    out = copy.deepcopy(old)
    for step in patch:
        parts = [p.replace('~1', '/').replace('~0', '~')
                 for p in step['path'].split('/')[1:]]
        parent = out
        try:
            for part in parts[:-1]:
                parent = parent[int(part) if isinstance(parent, list)
                                else part]
            apply_step(parent, parts[-1], step)
        except (KeyError, IndexError, ValueError):
            raise invalid_patch()
    return out


def invalid_patch():
    return Failure(422, 'Invalid',
                   'the server rejected our request due to an error in our '
                   'request', {})


def apply_step(parent, last, step):
    op = step['op']
    if isinstance(parent, list):
        at = len(parent) if last == '-' else int(last)
        if op == 'add':
            parent.insert(at, step['value'])
            return
        last = at
    if op in ('replace', 'remove', 'test'):
        found = parent[last]
        if op == 'test' and found != step['value']:
            raise invalid_patch()
    if op in ('add', 'replace'):
        parent[last] = step['value']
    elif op == 'remove':
        del parent[last]
