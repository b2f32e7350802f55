"""A node for the stand-in cluster: starts the pods of a Deployment as real
processes, from its pod template.

Init containers run first.  Command, arguments, environment, volumes and
mounts are the template's; what a container has at a path of its own is in a
directory of the test, so that path is replaced in arguments and variables,
and a port of the pod becomes a free one of this machine.

    node = kube_node.Node(api, directory, {'example/shop:1': ['/tmp/shop']})
    node.sync('demo', 'shop')       # after the Deployment has changed
"""
import base64
import copy
import os
import re
import subprocess

import cluster
import support
from kube_objects import BY_NAME

PORTS = (6060, 8080, 8443)  # what programs here listen on


class Node:
    def __init__(self, api, directory, images):
        self.api, self.dir, self.images = api, directory, images
        self.pods = {}
        self.rollouts = 0

    def close(self):
        for owner in list(self.pods):
            self.stop(owner)

    def stop(self, owner):
        process, name = self.pods.pop(owner)
        support.stop(process)
        self.api.remove_pod(owner[0], name)

    def sync(self, namespace, name):
        """A rollout: the old pod goes, a new one comes.  Its process."""
        if (namespace, name) in self.pods:
            self.stop((namespace, name))
        self.rollouts += 1
        item = copy.deepcopy(self.api.store.get(
            BY_NAME['apps', 'deployments'], namespace, name))
        process = Pod(self, item).start()
        item['status'] = dict(
            {k: 1 for k in ('replicas', 'readyReplicas', 'updatedReplicas',
                            'availableReplicas')},
            observedGeneration=item['metadata'].get('generation', 1))
        self.api.store.put(item)
        return process


class Pod:
    def __init__(self, node, deployment):
        self.node, self.api = node, node.api
        self.template = deployment['spec']['template']
        self.owner = (deployment['metadata']['namespace'],
                      deployment['metadata']['name'])
        hashed = '%x' % (0x7c9f + node.rollouts)
        self.set = '%s-%s' % (self.owner[1], hashed)
        self.name = self.set + '-1'
        self.labels = dict(self.template['metadata'].get('labels', {}),
                           **{'pod-template-hash': hashed})
        self.root = os.path.join(node.dir, self.name)
        self.ports = {p: support.free_port() for p in PORTS}

    def volume(self, name):
        """Its directory, made when it is first asked for."""
        path = os.path.join(self.root, 'volumes', name)
        if os.path.isdir(path):
            return path
        os.makedirs(path)
        source, = [v for v in self.template['spec']['volumes']
                   if v['name'] == name]
        if 'secret' in source:
            item = self.api.store.get(BY_NAME['', 'secrets'], self.owner[0],
                                      source['secret']['secretName'])
            for key, value in item['data'].items():
                with open(os.path.join(path, key), 'wb') as f:
                    f.write(base64.b64decode(value))
        return path

    def translate(self, container, text):
        for mount in container.get('volumeMounts', []):
            text = text.replace(mount['mountPath'],
                                self.volume(mount['name']))
        for port, local in self.ports.items():
            text = re.sub(r'^(?:127\.0\.0\.1)?:%d$' % port,
                          '127.0.0.1:%d' % local, text)
        return text

    def environment(self, container):
        fields = {'metadata.name': self.name, 'spec.nodeName': 'node-1',
                  'metadata.namespace': self.owner[0]}
        env = {'PATH': '/usr/bin:/bin'}
        for port, local in self.ports.items():
            env['PORT_%d' % port] = str(local)
        for e in container.get('env', []):
            env[e['name']] = (
                fields[e['valueFrom']['fieldRef']['fieldPath']]
                if 'valueFrom' in e else self.translate(container,
                                                        e['value']))
        return env

    def run_init(self, container):
        program, *args = container['command']
        assert program == 'kubectl-pprof', program
        subprocess.run([cluster.PLUGIN] + [
            self.translate(container, a) for a in args], check=True)

    def start(self):
        spec = self.template['spec']
        for container in spec.get('initContainers', []):
            self.run_init(container)
        container = spec['containers'][0]
        env = self.environment(container)
        process = subprocess.Popen(
            self.node.images[container['image']] + [
                self.translate(container, a)
                for a in container.get('args', [])], env=env,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.node.pods[self.owner] = process, self.name
        listens = self.wanted_port(container)
        if listens:
            support.wait_for_port(self.ports[listens], process)
        self.show(container)
        return process

    @staticmethod
    def wanted_port(container):
        """The port that tells that the program has started."""
        for e in container.get('env', []):
            if e['name'] == 'PPROF_ADDR':
                return int(e['value'].rpartition(':')[2])
        for probe in ('livenessProbe', 'readinessProbe'):
            if probe in container:
                return container[probe]['httpGet']['port']
        return None

    def show(self, container):
        self.api.pod(
            self.owner[0], self.name, labels=self.labels,
            annotations=self.template['metadata'].get('annotations'),
            containers=[container], owner=('ReplicaSet', self.set),
            backends={p: ('127.0.0.1', local)
                      for p, local in self.ports.items()})


def deployment(namespace, name, image, **container):
    """A Deployment with one container."""
    return {'kind': 'Deployment', 'metadata': {
        'name': name, 'namespace': namespace, 'generation': 1},
        'spec': {'replicas': 1, 'selector': {'matchLabels': {'app': name}},
                 'template': {
                     'metadata': {'labels': {'app': name}},
                     'spec': {'containers': [dict(
                         {'name': 'app', 'image': image}, **container)]}}}}
