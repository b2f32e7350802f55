"""Which fields the kinds that deploy/ uses may have: a typo in a name is
found without an API server.  '*' stands for maps with names of their own."""
META = 'name namespace labels{*} annotations{*}'
SECURITY = ('runAsNonRoot runAsUser runAsGroup fsGroup seccompProfile{type} '
            'allowPrivilegeEscalation readOnlyRootFilesystem '
            'capabilities{drop add}')
PROBE = ('httpGet{path port scheme} periodSeconds failureThreshold '
         'timeoutSeconds initialDelaySeconds')
CONTAINER = (
    'name image imagePullPolicy command args ports{name containerPort '
    'protocol} readinessProbe{%s} livenessProbe{%s} resources{requests{*} '
    'limits{*}} securityContext{%s} volumeMounts{name mountPath readOnly} '
    'env{name value valueFrom{secretKeyRef{name key} '
    'fieldRef{fieldPath}}}' % (PROBE, PROBE, SECURITY))
POD = ('serviceAccountName restartPolicy automountServiceAccountToken '
       'securityContext{%s} containers{%s} initContainers{%s} volumes{name '
       'configMap{name} emptyDir{sizeLimit} persistentVolumeClaim{claimName} '
       'secret{secretName defaultMode}}' % (SECURITY, CONTAINER, CONTAINER))
SELECTOR = 'matchLabels{*}'
PEER = 'podSelector{%s} namespaceSelector{%s}' % (SELECTOR, SELECTOR)
RULES = ('rules{apiGroups resources resourceNames verbs nonResourceURLs}')
BINDING = 'roleRef{apiGroup kind name} subjects{kind name namespace}'
KINDS = {
    'Namespace': '', 'ServiceAccount': '', 'ConfigMap': 'data{*}',
    'ClusterRole': RULES, 'Role': RULES,
    'ClusterRoleBinding': BINDING, 'RoleBinding': BINDING,
    'PersistentVolumeClaim': 'spec{accessModes resources{requests{*}}}',
    'Service': 'spec{selector{*} ports{name port targetPort}}',
    'Deployment': 'spec{replicas strategy{type} selector{%s} template{'
                  'metadata{%s} spec{%s}}}' % (SELECTOR, META, POD),
    'CronJob': 'spec{schedule concurrencyPolicy successfulJobsHistoryLimit '
               'failedJobsHistoryLimit jobTemplate{spec{activeDeadlineSeconds '
               'backoffLimit template{spec{%s}}}}}' % POD,
    'NetworkPolicy': 'spec{podSelector{%s} policyTypes ingress{from{%s} '
                     'ports{port}} egress{to{%s} ports{port}}}'
                     % (SELECTOR, PEER, PEER),
    'Issuer': 'spec{selfSigned ca{secretName}}',
    'Certificate': 'spec{isCA commonName secretName dnsNames ipAddresses '
                   'usages duration renewBefore privateKey{algorithm size '
                   'rotationPolicy} issuerRef{kind name}}',
    'Route': 'spec{to{kind name} port{targetPort} tls{termination '
             'insecureEdgeTerminationPolicy}}',
}


def read(text):
    """{'a': {}, 'b': {'c': {}}} of 'a b{c}'."""
    top = {}
    stack, last = [top], None
    for word in text.replace('{', ' { ').replace('}', ' } ').split():
        if word == '{':
            stack.append(stack[-1][last])
        elif word == '}':
            stack.pop()
        else:
            last = word
            stack[-1][word] = {}
    return top


def wrong(value, known, path=''):
    """Paths of fields that are not known."""
    if isinstance(value, list):
        return [p for v in value for p in wrong(v, known, path)]
    if not isinstance(value, dict) or '*' in known:
        return []
    return [p for key, inner in value.items() for p in (
        wrong(inner, known[key], path + '.' + key) if key in known
        else [path + '.' + key])]


def check(item):
    """Fields of the object that no API server knows."""
    known = read('apiVersion kind metadata{%s} %s' % (
        META, KINDS[item['kind']]))
    return wrong(item, known, item['kind'])
