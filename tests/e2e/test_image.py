"""What is in the container image: static programs and nothing else, which run
as an unprivileged user on a read-only file system.

The first build costs about a minute of CPU time; it is kept in the build
directory."""
import glob
import os
import subprocess
import unittest

import certificates
import support

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
STATIC = os.path.join(os.path.abspath(support.BUILD), 'static')
PROGRAMS = ['kubectl-pprof', 'pprof', 'pprof-run', 'pprofd']
STATIC_LIBRARIES = {'brotlidec': 'libbrotli-dev', 'idn2': 'libidn2-dev',
                    'nghttp2': 'libnghttp2-dev',
                    'unistring': 'libunistring-dev'}
IN_TREE = ('mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && '
           'mount -t tmpfs -o mode=1777 tmpfs "$0/data" && '
           'mount --bind /proc "$0/proc" && '
           'exec chroot --userspec=65532:65532 "$0" "$@"')


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


def may_mount():
    return run('unshare', '-m', 'mount', '-t', 'tmpfs', 'tmpfs',
               '/tmp').returncode == 0


def missing_packages():
    """What static programs need beyond the packages of a usual build."""
    return [package for library, package in STATIC_LIBRARIES.items()
            if not glob.glob('/usr/lib/*/lib%s.a' % library)]


@support.needs('readelf', 'strip')
@unittest.skipIf(missing_packages(), 'static programs need packages that are '
                 'not installed: ' + ' '.join(missing_packages()))
class Image(support.TestCase):
    @classmethod
    def setUpClass(cls):
        done = run('sh', os.path.join(ROOT, 'scripts', 'build-static'), STATIC,
                   env=dict(os.environ, OPTIONS=support.STATIC_OPTIONS))
        if done.returncode:
            raise AssertionError(done.stdout[-3000:] + done.stderr)

    def setUp(self):
        super().setUp()
        self.tree = self.path('tree')
        os.chmod(self.dir, 0o755)
        done = run('sh', os.path.join(ROOT, 'scripts', 'image-tree'), STATIC,
                   self.tree, env=dict(os.environ, PRELOAD=os.path.abspath(
                       support.BUILD)))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_is_in_it(self):
        there = set(os.listdir(os.path.join(self.tree, 'usr', 'bin')))
        self.assertEqual(there - {'kubectl'}, set(PROGRAMS))
        for name in PROGRAMS:
            path = os.path.join(self.tree, 'usr', 'bin', name)
            said = run('readelf', '-ld', path).stdout
            self.assertNotIn('NEEDED', said)
            self.assertNotIn('INTERP', said)
        with open(os.path.join(self.tree, 'etc', 'ssl', 'certs',
                               'ca-certificates.crt')) as f:
            self.assertGreater(f.read().count('BEGIN CERTIFICATE'), 50)
        for library in ('libpprof-preload.so', 'libpprof-symbol.so'):
            said = run('readelf', '-d', os.path.join(self.tree, 'usr', 'lib',
                                                     library)).stdout
            self.assertIn('libc.so.6', said)
            self.assertNotIn('libz', said)  # images need not have it

    @unittest.skipUnless(may_mount(), 'mounts are not permitted here')
    def test_it_serves(self):
        """HTTPS is OpenSSL's, fetching it is libcurl's: both built in."""
        ca = certificates.Authority(self.dir, 'ca')
        cert, key = ca.sign('pprofd', alternatives='IP:127.0.0.1')
        for name, path in (('ca', ca.cert), ('cert', cert), ('key', key)):
            with open(path) as source, open(os.path.join(
                    self.tree, 'etc', name + '.pem'), 'w') as f:
                f.write(source.read())
        port = support.free_port()
        pprofd = subprocess.Popen(
            ['unshare', '-m', 'sh', '-c', IN_TREE, self.tree,
             '/usr/bin/pprofd', 'serve', '--addr', '127.0.0.1:%d' % port,
             '--data', '/data', '--tls-cert', '/etc/cert.pem', '--tls-key',
             '/etc/key.pem'], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        self.addCleanup(support.stop, pprofd)
        support.wait_for_port(port, pprofd)
        got = run('chroot', '--userspec=65532:65532', self.tree,
                  '/usr/bin/pprof', '-top', '-tls_ca', '/etc/ca.pem',
                  'https://127.0.0.1:%d/debug/pprof/goroutine' % port,
                  env=dict(os.environ, HOME='/tmp'))
        self.assertEqual(got.returncode, 0, got.stderr)
        with open('/proc/%d/status' % pprofd.pid) as f:
            self.assertIn('Uid:\t65532\t65532', f.read())

    @unittest.skipUnless(may_mount(), 'mounts are not permitted here')
    def test_it_is_read_only(self):
        got = run('unshare', '-m', 'sh', '-c', IN_TREE, self.tree,
                  '/usr/bin/pprofd', 'serve', '--addr', '127.0.0.1:0',
                  '--data', '/etc/store', timeout=60)
        self.assertNotEqual(got.returncode, 0)
        self.assertIn('/etc/store', got.stderr)


if __name__ == '__main__':
    unittest.main()
