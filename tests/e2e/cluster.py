"""A small cluster for the tests of kubectl-pprof: the stand-in API server
(kube_api.py), the real kubectl, and real programs as pods."""
import os
import shutil
import subprocess
import tempfile
import unittest

import kube_api
import support

PLUGIN = os.path.abspath(os.path.join(support.BUILD, 'kubectl-pprof'))
PPROFD = os.path.abspath(os.path.join(support.BUILD, 'pprofd'))
HERE = os.path.dirname(os.path.abspath(__file__))


def build_pod(directory, name='pod'):
    """A Go program that acts as a pod."""
    out = os.path.join(directory, name)
    env = dict(os.environ, GOCACHE=os.path.join(
        tempfile.gettempdir(), 'pprof-go-cache'), GOFLAGS='-mod=mod',
        HOME=directory)
    subprocess.run(['go', 'build', '-o', out,
                    os.path.join(HERE, 'programs', name + '.go')],
                   check=True, env=env)
    return out


def build_native(directory, name, *flags):
    """A C program that acts as a pod."""
    out = os.path.join(directory, name)
    subprocess.run(['cc', '-O1', '-g', '-o', out, os.path.join(
        HERE, 'programs', name + '.c'), *flags], check=True)
    return out


def tools(directory, *names):
    """A PATH with these programs only: what a container has."""
    path = os.path.join(directory, '-'.join(names) or 'nothing')
    os.makedirs(path, exist_ok=True)
    for name in names:
        link = os.path.join(path, name)
        if not os.path.lexists(link):
            os.symlink(shutil.which(name), link)
    return {'PATH': path}


def processes(word, home=''):
    """Command lines of running processes that have the word, and the home
    directory in their environment: other tests run at the same time."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open('/proc/%s/cmdline' % pid, 'rb') as f:
                line = f.read().replace(b'\0', b' ').decode(errors='replace')
            with open('/proc/%s/environ' % pid, 'rb') as f:
                environment = f.read()
        except OSError:
            continue
        if (word in line and int(pid) != os.getpid()
                and home.encode() in environment):
            found.append(line)
    return found


def is_old_kubectl():
    """1.20 (Debian 12): its kustomize is too old for our overlays, and its
    `debug` has no profiles."""
    said = subprocess.run(['kubectl', 'version', '--client'],
                          capture_output=True, text=True).stdout
    return 'v1.20.' in said or 'Minor:"20"' in said


class ClusterCase(support.TestCase):
    """Each class has one API server and two pods of Deployment web."""

    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.mkdtemp(prefix='pprof-cluster-')
        cls.addClassCleanup(shutil.rmtree, cls.shared, ignore_errors=True)
        cls.program = build_pod(cls.shared)
        cls.ports = [cls.start_pod('127.0.0.1:0'),
                     cls.start_pod('127.0.0.1:0', 'compress')]

    @classmethod
    def start_pod(cls, *args):
        process = subprocess.Popen([cls.program, *args], text=True,
                                   stdout=subprocess.PIPE)
        cls.addClassCleanup(process.stdout.close)
        cls.addClassCleanup(support.stop, process)
        return int(process.stdout.readline())

    def setUp(self):
        super().setUp()
        self.api = kube_api.Server()
        self.addCleanup(self.api.close)
        for i, port in enumerate(self.ports):
            self.api.pod('demo', 'web-7c9f-%d' % (i + 1),
                         labels={'app': 'web', 'pod-template-hash': '7c9f'},
                         owner=('ReplicaSet', 'web-7c9f'), ports=[6060],
                         backends={6060: ('127.0.0.1', port)})
        self.api.store.put({
            'kind': 'Deployment', 'metadata': {
                'name': 'web', 'namespace': 'demo'},
            'spec': {'selector': {'matchLabels': {'app': 'web'}},
                     'template': {'metadata': {'labels': {'app': 'web'}}}}})
        self.config = self.api.kubeconfig(self.path('config'),
                                          namespace='demo')

    def plugin(self, *args, config=None, env=None, timeout=120, stdin=''):
        full = dict(PATH=os.environ['PATH'], HOME=self.dir, TZ='UTC',
                    KUBECONFIG=config or self.config)
        full.update({k: v for k, v in os.environ.items()
                     if k.startswith(('ASAN', 'UBSAN', 'LSAN'))})
        full.update(env or {})
        return subprocess.run([PLUGIN, *args], env=full, text=True,
                              cwd=self.dir, input=stdin, timeout=timeout,
                              capture_output=True)

    def fine(self, *args, **options):
        result = self.plugin(*args, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def nothing_left(self):
        """No kubectl of this test runs."""
        self.assertEqual(processes(self.api.url.split('//')[1]), [])
        self.assertEqual(processes('port-forward', self.dir), [])

    def user(self, name, *rules):
        """A kubeconfig of a user with these rights: 'get pods'."""
        rights = []
        for rule in rules:
            verb, resource = rule.split()
            rights.append({'apiGroups': ['', 'apps'], 'verbs': [verb],
                           'resources': [resource]})
        self.api.user(name, rights)
        return self.api.kubeconfig(self.path(name), name, namespace='demo')


needs = unittest.skipIf(
    [p for p in ('kubectl', 'go', 'openssl') if not shutil.which(p)],
    'needs kubectl, go and openssl')
