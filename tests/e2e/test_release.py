"""What a release of the plugin consists of: static programs for two
architectures, their archives, krew's manifest.

The first build for the other architecture fetches Debian's libraries for it
and costs a few minutes of CPU time; it is kept in the build directory."""
import hashlib
import os
import re
import shutil
import subprocess
import tarfile
import unittest

import cluster
import support

ROOT = os.path.dirname(os.path.dirname(cluster.HERE))
SCRIPTS = os.path.join(ROOT, 'scripts')
OTHER = os.path.join(os.path.abspath(support.BUILD), 'static-arm64')
COMPILERS = {'amd64': 'gcc', 'arm64': 'aarch64-linux-gnu-gcc'}
HOME, URL = 'https://example.org/pprof-c', 'https://example.org/files/'


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


def version():
    with open(os.path.join(ROOT, 'meson.build')) as f:
        return re.search(r"version: '([\d.]+)'", f.read())[1]


@support.needs('readelf', *COMPILERS.values())
class Archives(support.TestCase):
    def archive(self, arch, *flags):
        """An archive of a small program for that architecture."""
        build = self.path('build-' + arch)
        os.makedirs(build, exist_ok=True)
        source = self.path('main.c')
        with open(source, 'w') as f:
            f.write('int main(void) { return 0; }\n')
        subprocess.run([COMPILERS[arch], *(flags or ['-static']), source, '-o',
                        os.path.join(build, 'kubectl-pprof')], check=True)
        return run(os.path.join(SCRIPTS, 'archive'), build, self.path('out'))

    def test_archives(self):
        for arch in COMPILERS:
            with self.subTest(arch):
                path = self.archive(arch).stdout.strip()
                self.assertEqual(os.path.basename(path),
                                 'kubectl-pprof-%s-linux-%s.tar.gz' % (
                                     version(), arch))
                with tarfile.open(path) as tar:
                    self.assertEqual(tar.getnames(), [
                        'LICENSE', 'kubectl-pprof', 'kubectl-pprof.1',
                        'kubectl_complete-pprof'])
                    self.assertEqual(tar.getmember('kubectl-pprof').mode,
                                     0o755)
                with open(path, 'rb') as f:
                    first = f.read()
                self.archive(arch)
                with open(path, 'rb') as f:
                    self.assertEqual(first, f.read())

    def test_only_static_programs(self):
        got = self.archive('amd64', '-pie')
        self.assertEqual(got.returncode, 1)
        self.assertIn('is not static', got.stderr)

    def manifest(self):
        return run(os.path.join(SCRIPTS, 'krew'), HOME, URL, self.path('out'))

    def test_manifest(self):
        """Every placeholder is filled, from what is in the archives."""
        paths = {arch: self.archive(arch).stdout.strip()
                 for arch in COMPILERS}
        got = self.manifest()
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertNotIn('@', got.stdout)
        top, _, platforms = got.stdout.partition('  platforms:\n')
        for line in ('apiVersion: krew.googlecontainertools.github.com/'
                     'v1alpha2', 'kind: Plugin', '  name: pprof',
                     '  version: v' + version(), '  homepage: ' + HOME):
            self.assertIn(line + '\n', top)
        short = re.search(r'  shortDescription: (.*)\n', top)[1]
        self.assertLessEqual(len(short), 50)
        for field in ('description', 'caveats'):
            self.assertRegex(top, r'(?m)^  %s: \|\n    \S' % field)
        found = re.findall(
            r'  - selector:\n      matchLabels:\n        os: linux\n'
            r'        arch: (\w+)\n    uri: (\S+)\n    sha256: (\w+)\n'
            r'    bin: (\S+)\n    files:\n((?:    .*\n)+)', platforms)
        self.assertEqual({f[0] for f in found}, set(COMPILERS))
        for arch, uri, checksum, program, files in found:
            with open(paths[arch], 'rb') as f:
                self.assertEqual(checksum,
                                 hashlib.sha256(f.read()).hexdigest())
            self.assertEqual(uri, URL + os.path.basename(paths[arch]))
            with tarfile.open(paths[arch]) as tar:
                self.assertIn(program, tar.getnames())
                for name in re.findall(r'- from: (\S+)', files):
                    self.assertIn(name, tar.getnames())

    def test_manifest_without_an_archive(self):
        self.archive('amd64')
        got = self.manifest()
        self.assertEqual((got.returncode, got.stdout), (1, ''))
        self.assertIn('linux-arm64.tar.gz; scripts/archive makes it',
                      got.stderr)


@cluster.needs
@support.needs('aarch64-linux-gnu-g++', 'qemu-aarch64-static', 'apt-get')
class Arm64(cluster.ClusterCase):
    """The whole plugin for arm64, run by qemu, with the real kubectl."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        done = run('sh', os.path.join(SCRIPTS, 'build-static'), OTHER,
                   'arm64', env=dict(os.environ, PROGRAMS='kubectl-pprof',
                                     OPTIONS=support.STATIC_OPTIONS))
        if done.returncode:
            raise AssertionError(done.stdout[-3000:] + done.stderr[-3000:])

    def emulated(self, *args):
        return run(shutil.which('qemu-aarch64-static'),
                   os.path.join(OTHER, 'kubectl-pprof'), *args, env=dict(
                       PATH=os.environ['PATH'], HOME=self.dir,
                       KUBECONFIG=self.config), timeout=240)

    def test_it_is_static(self):
        said = run('readelf', '-hld',
                   os.path.join(OTHER, 'kubectl-pprof')).stdout
        self.assertIn('AArch64', said)
        self.assertNotIn('NEEDED', said)
        self.assertNotIn('INTERP', said)
        got = run(os.path.join(SCRIPTS, 'archive'), OTHER, self.path('out'))
        self.assertIn('-linux-arm64.tar.gz', got.stdout)

    def test_it_profiles_a_pod(self):
        got = self.emulated('top', 'web-7c9f-1', '-p', 'heap')
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertIn('keepSessions', got.stdout)
        self.assertIn('by port-forward', got.stderr)
        self.nothing_left()

    def test_it_knows_the_presets(self):
        self.assertIn('etcd', self.emulated('preset', 'list').stdout)


if __name__ == '__main__':
    unittest.main()
