"""What the targets of pods have to be, computed from the API's objects.

Written from docs/kubernetes.md and Prometheus' documentation, not from the C
code: the tests compare the two.
"""
import re

GRAFANA = {'cpu': 'cpu', 'process_cpu': 'cpu', 'memory': 'allocs',
           'block': 'block', 'goroutine': 'goroutine', 'mutex': 'mutex',
           'fgprof': 'fgprof', 'godeltaprof_memory': 'delta_heap',
           'godeltaprof_mutex': 'delta_mutex',
           'godeltaprof_block': 'delta_block'}


def safe(name):
    return re.sub(r'[^a-zA-Z0-9_]', '_', name)


def kept(name, value):
    return (name.startswith(('pprof/', 'profefe.com/',
                             'profiles.grafana.com/')) or
            len((name + value).encode()) <= 512)


def containers(pod):
    spec = pod.get('spec', {})
    return ([(c, True) for c in spec.get('initContainers') or []] +
            [(c, False) for c in spec.get('containers') or []])


def controller(pod):
    for ref in pod['metadata'].get('ownerReferences') or []:
        if ref.get('controller'):
            return ref['kind'], ref['name']
    return '', ''


def owner(pod):
    kind, name = controller(pod)
    hashed = (pod['metadata'].get('labels') or {}).get('pod-template-hash')
    if kind == 'ReplicaSet' and hashed and name.endswith('-' + hashed):
        return 'Deployment', name[:-len(hashed) - 1]
    if kind == 'Node':
        own = pod['metadata']['name']
        return kind, own[:-len(name) - 1] if own.endswith('-' + name) else own
    return kind, name


def meta(pod):
    m, status = pod['metadata'], pod.get('status', {})
    ready = [c['status'] for c in status.get('conditions') or []
             if c['type'] == 'Ready']
    kind, name = controller(pod)
    labels = {
        'namespace': m.get('namespace', ''), 'pod_name': m['name'],
        'pod_ip': status.get('podIP', ''),
        'pod_ready': {'True': 'true', 'False': 'false'}.get(
            ready[0] if ready else '', 'unknown'),
        'pod_phase': status.get('phase', ''),
        'pod_node_name': pod['spec'].get('nodeName', ''),
        'pod_host_ip': status.get('hostIP', ''), 'pod_uid': m.get('uid', ''),
        'pod_controller_kind': kind, 'pod_controller_name': name,
        'pod_owner_kind': owner(pod)[0], 'pod_owner_name': owner(pod)[1]}
    for key, value in (m.get('labels') or {}).items():
        labels['pod_label_' + safe(key)] = value
        labels['pod_labelpresent_' + safe(key)] = 'true'
    for key, value in (m.get('annotations') or {}).items():
        if kept(key, value):
            labels['pod_annotation_' + safe(key)] = value
            labels['pod_annotationpresent_' + safe(key)] = 'true'
    return {'__meta_kubernetes_' + k: v for k, v in labels.items()}


def container_meta(container, is_init, port):
    labels = {'container_name': container['name'],
              'container_image': container.get('image', ''),
              'container_init': 'true' if is_init else 'false'}
    if port:
        labels.update(container_port_name=port.get('name', ''),
                      container_port_number=str(port['containerPort']),
                      container_port_protocol=port.get('protocol', 'TCP'))
    return {'__meta_kubernetes_pod_' + k: v for k, v in labels.items()}


def address(ip, port=None):
    host = '[%s]' % ip if ':' in ip else ip
    return host if port is None else '%s:%d' % (host, port)


def finished(labels):
    return tuple(sorted((k, v) for k, v in labels.items() if v))


def every_port(pod):
    ip = pod.get('status', {}).get('podIP')
    if not ip:
        return []
    found = []
    for container, is_init in containers(pod):
        for port in container.get('ports') or [None]:
            found.append(finished({
                **meta(pod), **container_meta(container, is_init, port),
                '__address__': address(ip, port and port['containerPort']),
                '__scheme__': 'http', '__path_prefix__': '/debug/pprof',
                '__service_name__': owner(pod)[1] or pod['metadata']['name'],
            }))
    return found


def declared(pod, test):
    return [(port['containerPort'], c, is_init, port)
            for c, is_init in containers(pod)
            for port in c.get('ports') or []
            if port.get('protocol', 'TCP') == 'TCP' and test(port)]


def ports(pod, word):
    if not word.isdigit():
        return declared(pod, lambda p: p.get('name') == word)
    found = declared(pod, lambda p: p['containerPort'] == int(word))[:1]
    if found:
        return found
    only = [c for c, is_init in containers(pod) if not is_init]
    return [(int(word), only[0] if len(only) == 1 else None, False, None)]


def ours(pod, notes):
    words = [w.strip() for w in notes.get('pprof/port', '').split(',') if w]
    found = [p for w in words for p in ports(pod, w)]
    if not words:
        found = declared(pod, lambda p: p.get('name') == 'pprof' or
                         p.get('name', '').endswith('-pprof'))
        found = found or ports(pod, '6060')
    secret = notes.get('pprof/tls-secret', '')
    if secret and '/' not in secret:
        secret = pod['metadata']['namespace'] + '/' + secret
    extra = {
        '__scheme__': notes.get('pprof/scheme',
                                'https' if secret else 'http'),
        '__path_prefix__': notes.get('pprof/path', '/debug/pprof').rstrip('/'),
        '__profiles__': notes.get('pprof/profiles', ''),
        '__seconds__': notes.get('pprof/seconds', ''),
        '__interval__': notes.get('pprof/interval', ''),
        '__tls_secret__': secret,
        '__service_name__': notes.get('pprof/service', '')}
    return [(p, extra) for p in found]


def profefe(pod, notes):
    extra = {'__scheme__': 'http',
             '__path_prefix__': notes.get('profefe.com/path',
                                          '/debug/pprof').rstrip('/'),
             '__service_name__': notes.get('profefe.com/service', '')}
    return [(p, extra)
            for p in ports(pod, notes.get('profefe.com/port', '6060'))]


def grafana(pod, notes):
    found = []
    for kind, profile in GRAFANA.items():
        def note(what):
            return notes.get('profiles.grafana.com/%s.%s' % (kind, what), '')
        if note('scrape') != 'true':
            continue
        word = note('port') or note('port_name')
        path = note('path') or '/debug/pprof/' + profile
        if path.endswith('/heap'):
            profile = 'heap'
        extra = {'__scheme__': note('scheme') or 'http',
                 '__path_prefix__': path.rsplit('/', 1)[0],
                 '__profiles__': profile}
        found += [(p, extra) for p in
                  (ports(pod, word) if word else
                   declared(pod, lambda p: True))]
    return found


def joined(found):
    """Same port, scheme and prefix: one target with all profiles."""
    out = {}
    for port, extra in found:
        key = port[0], extra['__scheme__'], extra['__path_prefix__']
        if key not in out:
            out[key] = port, dict(extra)
        elif out[key][1].get('__profiles__') != extra.get('__profiles__'):
            out[key][1]['__profiles__'] += ',' + extra['__profiles__']
    return out.values()


def by_annotation(pod, pod_labels=()):
    notes = pod['metadata'].get('annotations') or {}
    status = pod.get('status', {})
    if 'pprof/scrape' in notes:
        if notes['pprof/scrape'] != 'true':
            return []
        found = ours(pod, notes)
    elif notes.get('profefe.com/enable') == 'true':
        found = profefe(pod, notes)
    else:
        found = grafana(pod, notes)
    if status.get('phase') != 'Running' or not status.get('podIP'):
        return []
    m, out = pod['metadata'], []
    for (number, container, is_init, port), extra in joined(found):
        labels = {**meta(pod), '__address__': address(status['podIP'], number),
                  'namespace': m['namespace'], 'pod': m['name'],
                  'node': pod['spec'].get('nodeName', '')}
        for name in pod_labels:
            labels[safe(name)] = (m.get('labels') or {}).get(name, '')
        if container:
            labels.update(container_meta(container, is_init, port),
                          container=container['name'],
                          image=container.get('image', ''))
        labels.update(extra)
        labels['__service_name__'] = (extra.get('__service_name__') or
                                      owner(pod)[1] or m['name'])
        out.append(finished(labels))
    return out
