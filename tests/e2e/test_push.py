"""Profiles that programs push to a collector by themselves."""
import http.client
import os
import signal
import ssl
import subprocess
import time
import unittest

import support
from certificates import Authority
from collector import CollectorTest, Pprofd
from push import (PPROF_RUN, PUSHED, environment, listed, merge_url, run,
                  start)
from runtime import top
from support import wait_for


class PushTest(CollectorTest):
    def push(self, command, *options, **kwargs):
        return run(self.pprofd.url(''), command, *options, **kwargs)

    def top_of(self, service, profile_type='cpu'):
        """{function: (flat, cum)}, by pprof from the collector."""
        path = self.path('merged.pb.gz')
        done = self.pprof('-proto', '-output=' + path,
                          merge_url(self.pprofd, service, profile_type))
        self.assertEqual(done.returncode, 0, done.stderr)
        return top(path)


class Programs(PushTest):
    def test_a_short_program_is_pushed_at_its_end(self):
        done = self.push([PUSHED, 'spin', '0.5'])
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (7, 'done\n', ''))
        found = listed(self.pprofd, 'pushed', 'cpu')
        self.assertEqual(len(found), 1)
        labels = found[0]['labels']
        self.assertEqual(labels['host'], 'test-host')
        self.assertGreater(int(labels['pid']), 1)
        self.assertEqual(set(labels), {'host', 'pid'})
        flat = self.top_of('pushed')
        self.assertGreater(flat['work_once'][0], 0.2e9)
        self.assertLess(flat['work'][1], 2e9)

    def test_pprof_opens_the_merge_url(self):
        self.push([PUSHED, 'spin', '0.3'])
        done = self.pprof('-top', merge_url(self.pprofd, 'pushed', 'cpu'))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('work_once', done.stdout)

    def test_a_tool_of_the_system(self):
        path = self.path('numbers')
        with open(path, 'w') as f:
            f.writelines('%d\n' % (i * 7919 % 1000003)
                         for i in range(400000))
        plain = subprocess.run(['gzip', '-9c', path], capture_output=True)
        process = subprocess.run(
            [PPROF_RUN, '-collector', self.pprofd.url(''), '-service',
             'packing', 'gzip', '-9c', path], capture_output=True,
            env=environment(), timeout=120)
        self.assertEqual(process.stdout, plain.stdout)
        self.assertEqual((process.returncode, process.stderr), (0, b''))
        self.assertEqual(len(listed(self.pprofd, 'packing', 'cpu')), 1)
        self.assertTrue(self.top_of('packing'))

    def test_a_program_that_does_nothing_pushes_nothing(self):
        done = self.push(['true'])
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertEqual(listed(self.pprofd, 'true', 'cpu'), [])

    @support.needs('redis-server')
    def test_redis(self):
        port = support.free_port()
        server = start(self.pprofd.url(''),
                       ['redis-server', '--port', str(port), '--save', '',
                        '--dir', self.dir],
                       '-push', 'cpu,heap,wall', '-push-interval', '1',
                       '-push-seconds', '1', '-labels', 'role=cache')
        self.addCleanup(server.communicate)
        self.addCleanup(support.stop, server)
        support.wait_for_port(port, server)
        end = time.monotonic() + 120
        types = ('cpu', 'heap', 'wall')
        while not all(len(listed(self.pprofd, 'redis-server', t)) > 1
                      for t in types):
            self.assertLess(time.monotonic(), end, 'no profiles came')
            subprocess.run(['redis-benchmark', '-p', str(port), '-q', '-n',
                            '20000', '-t', 'set', '-r', '100000'],
                           capture_output=True)
        for t in types:
            for profile in listed(self.pprofd, 'redis-server', t):
                self.assertEqual(profile['labels'],
                                 {'host': 'test-host', 'role': 'cache',
                                  'pid': str(server.pid)})
        functions = ' '.join(self.top_of('redis-server'))
        self.assertIn('aeMain', functions)
        done = self.pprof('-top', '-sample_index=alloc_space', merge_url(
            self.pprofd, 'redis-server', 'heap'))
        self.assertEqual(done.returncode, 0, done.stderr)


class Rounds(PushTest):
    def test_profiles_come_while_the_program_runs(self):
        process = start(self.pprofd.url(''), [PUSHED, 'spin', '60'],
                        '-push-interval', '2', '-push-seconds', '1',
                        '-push', 'cpu,heap,threads')
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        for t in ('cpu', 'heap', 'goroutine'):
            wait_for(lambda t=t: len(listed(self.pprofd, 'pushed', t)) > 1,
                     120)

    def test_slices_lose_nothing(self):
        done = self.push([PUSHED, 'spin', '4'], '-push-interval', '1',
                         '-push-seconds', '1', '-rate', '400')
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertGreater(len(listed(self.pprofd, 'pushed', 'cpu')), 2)
        self.assertAlmostEqual(self.top_of('pushed')['work'][1] / 4e9, 1,
                               delta=0.05)

    def test_push_and_endpoint_share_samples(self):
        port = support.free_port()
        process = start(self.pprofd.url(''), [PUSHED, 'spin', '60'],
                        '-addr', '127.0.0.1:%d' % port, '-push-interval', '1',
                        '-push-seconds', '1')
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        support.wait_for_port(port, process)
        before = len(listed(self.pprofd, 'pushed', 'cpu'))
        for query in ('profile?seconds=2', 'profile?seconds=2&thread_labels=1',
                      'trace?seconds=2'):
            connection = http.client.HTTPConnection('127.0.0.1', port,
                                                    timeout=60)
            connection.request('GET', '/debug/pprof/' + query)
            try:
                reply = connection.getresponse()
            except http.client.HTTPException as e:
                process.terminate()
                self.fail('%s: %r: %d %s' % (query, e, process.wait(),
                                             process.stderr.read()))
            body = reply.read()
            connection.close()
            self.assertEqual(reply.status, 200, body)
            if query.startswith('profile'):
                path = self.path('endpoint.pb.gz')
                with open(path, 'wb') as f:
                    f.write(body)
                self.assertGreater(top(path)['work'][1], 0.2e9)
        wait_for(lambda: len(listed(self.pprofd, 'pushed', 'cpu'))
                 > before + 2)
        # Labels that the request wanted are not in what was pushed.
        done = self.pprof('-tags', merge_url(self.pprofd, 'pushed', 'cpu'))
        self.assertNotIn('thread', done.stdout)


class Identity(PushTest):
    def labels_of(self, service, **env):
        done = self.push([PUSHED, 'spin', '0.2'], env=env)
        self.assertEqual((done.returncode, done.stderr), (7, ''))
        found = listed(self.pprofd, service, 'cpu')
        self.assertEqual(len(found), 1)
        return found[0]['labels']

    def test_downward_api(self):
        labels = self.labels_of(
            'pushed', POD_NAME='api-1', POD_NAMESPACE='prod', NODE_NAME='n7',
            HOSTNAME='h', PPROF_LABELS='pid=,version=1.3,text=a%2Cb%3D%25')
        self.assertEqual(labels, {'pod': 'api-1', 'namespace': 'prod',
                                  'node': 'n7', 'host': 'h',
                                  'version': '1.3', 'text': 'a,b=%'})

    def test_opentelemetry(self):
        labels = self.labels_of(
            'shop', OTEL_RESOURCE_ATTRIBUTES='service.name=shop,'
            'k8s.pod.name=p,deployment.environment=test,host.name=x',
            POD_NAME='not this one', PPROF_LABELS='pid=')
        self.assertEqual(labels, {'pod': 'p', 'host': 'x',
                                  'deployment.environment': 'test'})

    def test_the_nearest_name_counts(self):
        self.labels_of('a', PPROF_SERVICE='a', OTEL_SERVICE_NAME='b',
                       OTEL_RESOURCE_ATTRIBUTES='service.name=c')
        self.labels_of('b', OTEL_SERVICE_NAME='b',
                       OTEL_RESOURCE_ATTRIBUTES='service.name=c')
        self.labels_of('ü/&? x', PPROF_SERVICE='ü/&? x')


class Life(PushTest):
    def one(self, service='pushed'):
        found = listed(self.pprofd, service, 'cpu')
        self.assertEqual(len(found), 1, found)
        return found[0]['labels']

    def test_every_end_pushes(self):
        for how, code in (('_exit', 7), ('quick_exit', 7),
                          ('term', -signal.SIGTERM),
                          ('abort', -signal.SIGABRT)):
            with self.subTest(how):
                done = self.push([PUSHED, 'spin', '0.3', how], '-service', how)
                self.assertEqual((done.returncode, done.stdout, done.stderr),
                                 (code, 'done\n', ''))
                self.one(how)

    def test_a_signal_from_outside(self):
        process = start(self.pprofd.url(''), [PUSHED, 'spin', '600'])
        time.sleep(1)
        process.terminate()
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out, err),
                         (-signal.SIGTERM, '', ''))
        self.one()

    def test_no_last_push_if_so_wanted(self):
        done = self.push([PUSHED, 'spin', '0.3'], '-push-exit', '0')
        self.assertEqual(done.returncode, 7)
        self.assertEqual(listed(self.pprofd, 'pushed', 'cpu'), [])

    def test_exec_goes_on_as_the_next_program(self):
        done = self.push([PUSHED, 'exec', '0.2', PUSHED, 'spin', '0.3'])
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (7, 'done\n', ''))
        self.one()

    def test_a_child_is_another_program(self):
        done = self.push([PUSHED, 'fork', '0.3'])
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertEqual(done.stdout.split()[1], '5')
        self.assertEqual(listed(self.pprofd, 'pushed', 'cpu'), [])

    def test_children_push_with_their_own_id(self):
        done = self.push([PUSHED, 'fork', '0.3'], '-children')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        pid, code = done.stdout.split()
        self.assertEqual(code, '5')
        self.assertEqual(self.one()['pid'], pid)

    def test_a_daemon_goes_on_in_its_child(self):
        path = self.path('end')
        process = start(self.pprofd.url(''), [PUSHED, 'daemon', '0.3', path],
                        '-push-interval', '1', '-push-seconds', '1')
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        wait_for(lambda: os.path.exists(path) and os.path.getsize(path))
        wait_for(lambda: listed(self.pprofd, 'pushed', 'cpu'))
        # On a busy machine it lives for more than one interval.
        found = listed(self.pprofd, 'pushed', 'cpu')
        with open(path) as f:
            self.assertEqual({p['labels']['pid'] for p in found},
                             {f.read().strip()})

    def test_by_the_c_api(self):
        done = subprocess.run([PUSHED, 'api', self.pprofd.url('/'), '0.4'],
                              env=environment(), capture_output=True,
                              text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (7, 'done\n', ''))
        versions = {p['labels']['version']
                    for p in listed(self.pprofd, 'by-api', 'cpu')}
        self.assertEqual(versions, {'1', '2'})

    def test_what_the_memory_limit_left_is_pushed_by_the_next_start(self):
        dumps = self.path('dumps')
        os.mkdir(dumps)
        self.push([PUSHED, 'spin', '0.2'], '-push', 'heap')
        saved = self.pprofd.request('GET', '/api/0/profiles/' + listed(
            self.pprofd, 'pushed', 'heap')[0]['id']).body
        # 4194304 is above every process id.
        name = os.path.join(dumps, 'heap.oomed.4194304.90.pb.gz')
        other = os.path.join(dumps, 'heap.other.4194304.90.pb.gz')
        for path in (name, other):
            with open(path, 'wb') as f:
                f.write(saved)
        env = {'PPROF_HEAP_DUMP_DIR': dumps, 'PPROF_SERVICE': 'oomed'}
        for _ in range(2):
            self.push([PUSHED, 'spin', '0.3'], env=env)
        found = listed(self.pprofd, 'oomed', 'heap')
        self.assertEqual([p['labels']['note'] for p in found],
                         ['memory limit 90%'])
        self.assertEqual(sorted(os.listdir(dumps)),
                         sorted(os.path.basename(p)
                                for p in (name + '.sent', other)))


class Restart(PushTest):
    """A collector that goes away and comes back."""

    def test_profiles_wait_for_it(self):
        process = start(self.pprofd.url(''), [PUSHED, 'spin', '120'],
                        '-push-interval', '1', '-push-seconds', '1')
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        wait_for(lambda: listed(self.pprofd, 'pushed', 'cpu'))
        port = self.pprofd.port
        self.pprofd.kill()
        time.sleep(3)
        again = Pprofd(self.path('data'), '--addr', '127.0.0.1:%d' % port)
        self.addCleanup(again.stop)
        before = len(listed(again, 'pushed', 'cpu'))
        # Those of the time without it come as well, after a back-off of 5 s.
        wait_for(lambda: len(listed(again, 'pushed', 'cpu')) > before + 3)
        self.assertIsNone(process.poll())


@support.needs('openssl')
class Secrets(support.TestCase):
    SECRET = 'se-cret-token'

    def setUp(self):
        super().setUp()
        self.ca = Authority(self.dir)
        self.server = self.ca.sign('server', usage='serverAuth',
                                   alternatives='IP:127.0.0.1')

    def secret_file(self, name, text):
        path = self.path(name)
        with open(path, 'w') as f:
            f.write(text)
        os.chmod(path, 0o600)
        return path

    def collector(self, *options):
        pprofd = Pprofd(self.path('data'), '--tls-cert', self.server[0],
                        '--tls-key', self.server[1], *options)
        self.addCleanup(pprofd.stop)
        return pprofd

    def spin(self, pprofd, *options, user=''):
        return run('https://%s127.0.0.1:%d' % (user, pprofd.port),
                   [PUSHED, 'spin', '0.3'], *options)

    def services(self, pprofd, headers=None, cert=None):
        context = ssl.create_default_context(cafile=self.ca.cert)
        if cert:
            context.load_cert_chain(*cert)
        connection = http.client.HTTPSConnection(
            '127.0.0.1', pprofd.port, context=context, timeout=60)
        connection.request('GET', '/api/0/services', headers=headers or {})
        reply = connection.getresponse()
        text = reply.read().decode()
        connection.close()
        return text

    def assert_pushed(self, done):
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (7, 'done\n', ''))

    def test_a_token(self):
        tokens = self.secret_file('tokens', self.SECRET + '\n')
        pprofd = self.collector('--token-file', tokens)
        ca = ('-collector-ca', self.ca.cert)
        self.assert_pushed(self.spin(pprofd, *ca, '-collector-token-file',
                                     tokens))
        self.assertIn('pushed', self.services(
            pprofd, {'Authorization': 'Bearer ' + self.SECRET}))

    def test_a_password_in_the_url_is_not_shown(self):
        tokens = self.secret_file('tokens', 'agent:' + self.SECRET + '\n')
        pprofd = self.collector('--token-file', tokens)
        ca = ('-collector-ca', self.ca.cert)
        self.assert_pushed(self.spin(pprofd, *ca,
                                     user='agent:%s@' % self.SECRET))
        for options, words in (((), 'certificate'), (ca, 'status 401')):
            done = self.spin(pprofd, *options,
                             user='agent:wrong-%s@' % self.SECRET)
            self.assertEqual((done.returncode, done.stdout), (7, 'done\n'))
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stderr.count('\n'), 1)
            self.assertNotIn(self.SECRET, done.stderr)

    def test_a_client_certificate(self):
        client = self.ca.sign('agent', usage='clientAuth')
        pprofd = self.collector('--client-ca', self.ca.cert)
        options = ('-collector-ca', self.ca.cert)
        done = self.spin(pprofd, *options)
        self.assertEqual((done.returncode, done.stdout), (7, 'done\n'))
        self.assertEqual(done.stderr.count('\n'), 1)
        self.assert_pushed(self.spin(
            pprofd, *options, '-collector-cert', client[0],
            '-collector-key', client[1]))
        self.assertIn('pushed', self.services(pprofd, cert=client))


class Options(support.TestCase):
    """Invalid options are rejected before the program starts."""

    def refused(self, *options, env=None):
        done = subprocess.run([PPROF_RUN, *options, 'echo', 'started'],
                              env=environment(**(env or {})),
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (2, ''))
        self.assertEqual(done.stderr.count('\n'), 1, done.stderr)
        return done.stderr

    def test_refused(self):
        url = ('-collector', 'http://127.0.0.1:1')
        self.assertIn('http://', self.refused('-collector', '127.0.0.1:1'))
        self.assertIn('nonsense', self.refused(*url, '-push', 'cpu,nonsense'))
        self.assertIn('PPROF_PUSH_INTERVAL',
                      self.refused(*url, '-push-interval', '0'))
        self.assertIn('does not fit', self.refused(
            *url, '-push-interval', '5', '-push-seconds', '6'))
        self.assertIn('https', self.refused(*url, '-collector-ca', '/dev/null'))
        self.assertIn('PPROF_COLLECTOR_KEY', self.refused(
            '-collector', 'https://h', '-collector-cert', '/dev/null'))
        self.assertIn('no such file', self.refused(
            *url, '-collector-token-file', '/nonexistent'))

    def test_a_password_is_not_shown(self):
        for url in ('http://a:hidden@h:1:2', 'ftp://a:hidden@h',
                    'http://a:hidden@h/?x=1'):
            self.assertNotIn('hidden', self.refused('-collector', url))


if __name__ == '__main__':
    unittest.main()
