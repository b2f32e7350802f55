"""pprofd scrapes: real endpoints, every kind of discovery, failures in words,
credentials that are replaced while it runs, reloads, and a thousand targets."""

import base64
import http.server
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import unittest

import support
from collector import PPROFD, Pprofd, cpu_profile, heap_profile

BUILD = os.path.abspath(support.BUILD)
PPROF_RUN = os.path.join(BUILD, 'pprof-run')
SERVICE = os.path.join(BUILD, 'examples', 'service')
PATIENCE = 60  # seconds, for a busy machine

GO_PROGRAM = '''
package main

import (
    "fmt"
    "net"
    "net/http"
    _ "net/http/pprof"
    "runtime"
    "sync"
)

func main() {
    runtime.SetMutexProfileFraction(1)
    l, err := net.Listen("tcp", "127.0.0.1:0")
    if err != nil {
        panic(err)
    }
    fmt.Println(l.Addr())
    var m sync.Mutex
    for i := 0; i < 2; i++ {
        go func() {
            for {
                m.Lock()
                burn()
                m.Unlock()
            }
        }()
    }
    panic(http.Serve(l, nil))
}

//go:noinline
func burn() {
    x := 0
    for i := 0; i < 1000000; i++ {
        x += i * i
    }
    _ = make([]byte, 1000+x%2)
}
'''


def heap_now(stack):
    return heap_profile({stack: (10, 1000, 5, 500)}, time.time_ns())


class Endpoint:
    """A small endpoint with settable replies; counts and keeps requests."""

    def __init__(self, host='127.0.0.1'):
        self.replies = {'/debug/pprof/heap': (200, heap_now('main;make'))}
        self.seen = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_GET(self):
                outer.seen.append((self.path, dict(self.headers)))
                reply = outer.replies.get(self.path.split('?')[0],
                                          (404, b'Unknown profile\n'))
                if callable(reply):
                    reply = reply(self)
                self.send_response(reply[0])
                self.send_header('Content-Length', str(len(reply[1])))
                self.end_headers()
                self.wfile.write(reply[1])

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer((host, 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *args: None  # clients go early
        self.port = self.server.server_address[1]
        self.address = '%s:%d' % (host, self.port)
        threading.Thread(target=self.server.serve_forever,
                         daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class ScrapeTest(support.TestCase):
    """A pprofd with a configuration file that the test writes."""

    def endpoint(self, **options):
        e = Endpoint(**options)
        self.addCleanup(e.close)
        return e

    def write(self, name, text):
        path = self.path(name)
        with open(path + '.new', 'w') as f:
            f.write(text)
        os.rename(path + '.new', path)
        return path

    def start(self, *jobs, self_too=False):
        text = 'scrape: {self: %s}\nscrape_configs:\n%s' % (
            'true' if self_too else 'false', ''.join(jobs))
        self.write('pprofd.yaml', text)
        self.pprofd = Pprofd(self.path('data'), '--config',
                             self.path('pprofd.yaml'))
        self.addCleanup(self.pprofd.stop)

    def targets(self):
        return self.pprofd.get('/api/1/targets').json['targets']

    def profiles(self, **labels):
        """{profile: its state} of the only target with these labels."""
        found = [t for t in self.targets()
                 if all(dict(t['labels'], service=t['service']).get(k) == v
                        for k, v in labels.items())]
        self.assertLessEqual(len(found), 1, found)
        return {p['profile']: p for p in found[0]['profiles']} if found else {}

    def wait(self, condition, what):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            value = condition()
            if value:
                return value
            time.sleep(0.1)
        self.fail('%s; targets: %s' % (what, json.dumps(self.targets())))

    def wait_good(self, *names, more_than=0, **labels):
        """Until these profiles were scraped."""
        def good():
            now = self.profiles(**labels)
            return all(now.get(n, {}).get('good', 0) > more_than
                       and 'reason' not in now[n] for n in names)
        self.wait(good, 'not scraped: ' + ' '.join(names))

    def wait_bad(self, reason, words, **labels):
        def bad():
            return [p for p in self.profiles(**labels).values()
                    if p.get('reason') == reason]
        found = self.wait(bad, 'no failure ' + reason)
        self.assertRegex(found[0]['error'], words)

    def stored(self, service, kind):
        reply = self.pprofd.get('/api/1/top', query='%s{service="%s"}'
                                % (kind, service), **{'from': 'now-1h'})
        return reply.text if reply.status == 200 else ''

    def wait_stored(self, service, kind, word):
        self.wait(lambda: word in self.stored(service, kind),
                  '%s of %s has no %s' % (kind, service, word))


def job(name, address, *more, interval='1s'):
    lines = ['- job_name: ' + name, '  scrape_interval: ' + interval,
             '  static_configs: [{targets: [%s]}]' % json.dumps(address)]
    return '\n'.join(lines + ['  ' + line for line in more]) + '\n'


class RealEndpoints(ScrapeTest):
    def run_program(self, *words, env=None, pattern=None, cwd=None):
        process = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, **(env or {})}, cwd=cwd or self.dir)
        self.addCleanup(process.stdout.close)
        self.addCleanup(support.stop, process)
        for line in process.stdout:
            found = re.search(pattern, line)
            if found:
                threading.Thread(target=process.stdout.read,
                                 daemon=True).start()
                return found.group(1)
        self.fail('%s ended' % words[0])

    def test_the_example_service(self):
        address = self.run_program(SERVICE, env={'PPROF_ADDR': '127.0.0.1:0'},
                                   pattern=r'http://([\d.:]+)/')
        self.start(job('example', address, 'seconds: 1'))
        self.wait_good('cpu', service='example')
        target = self.targets()[0]
        self.assertEqual(target['kind'], 'pprof-c')
        self.wait_stored('example', 'cpu', 'handle_')

    @support.needs('go')
    def test_a_go_program(self):
        self.write('main.go', GO_PROGRAM)
        env = {'HOME': self.dir, 'GOFLAGS': '-mod=mod', 'GO111MODULE': 'off',
               'GOCACHE': os.path.join(os.path.expanduser('~'),
                                       '.cache/go-build')}
        subprocess.run(['go', 'build', '-o', 'hot', 'main.go'], check=True,
                       cwd=self.dir, env={**os.environ, **env})
        address = self.run_program(self.path('hot'), pattern=r'([\d.]+:\d+)')
        self.start(job('go', address, 'seconds: 1'),
                   job('delta', address,
                       'profiling_config: {pprof_config: {memory: {delta: '
                       'true, seconds: 1, path: /debug/pprof/heap}}}'))
        self.wait_good('cpu', 'heap', 'goroutine', 'mutex', service='go')
        self.assertEqual({t['service']: t.get('kind')
                          for t in self.targets()}['go'], 'Go')
        self.wait_stored('go', 'cpu', 'main.burn')
        self.wait_stored('go', 'mutex', 'main.')
        self.wait_good('memory', service='delta')
        took = self.profiles(service='delta')['memory']['duration_seconds']
        self.assertGreaterEqual(took, 0.9)  # it measured for a second

    @support.needs('redis-server', 'nginx')
    def test_programs_under_pprof_run(self):
        redis = self.run_program(
            PPROF_RUN, '-addr', '127.0.0.1:0', 'redis-server', '--port', '0',
            '--save', '', '--unixsocket', self.path('redis'), '--dir',
            self.dir, pattern=r'http://([\d.:]+)/')
        self.write('nginx.conf', 'daemon off; master_process off; '
                   'pid %s; error_log stderr; events {} http { access_log off;'
                   ' server { listen unix:%s; } }'
                   % (self.path('pid'), self.path('web')))
        nginx = self.run_program(
            PPROF_RUN, '-addr', '127.0.0.1:0', 'nginx', '-p', self.dir, '-c',
            self.path('nginx.conf'), '-e', 'stderr',
            pattern=r'http://([\d.:]+)/')
        more = ('profiles: [cpu, heap, wall]', 'seconds: 1')
        self.start(job('redis', redis, *more), job('nginx', nginx, *more))
        for name in ('redis', 'nginx'):
            self.wait_good('cpu', 'heap', 'wall', service=name)
        self.wait_stored('redis', 'wall', 'main')
        self.wait_stored('nginx', 'wall', 'main')

    def test_pprofd_itself(self):
        # Its second within the minute may be up to a minute away.
        self.start(self_too=True)
        self.assertEqual([(t['service'], t['job']) for t in self.targets()],
                         [('pprofd', 'pprofd')])
        end = time.monotonic() + 150
        while time.monotonic() < end:
            now = self.profiles(service='pprofd')
            if all(now[p]['good'] for p in ('cpu', 'goroutine')):
                break
            time.sleep(0.5)
        self.wait_good('cpu', 'goroutine', service='pprofd')
        self.wait_stored('pprofd', 'goroutine', 'main')


class Failures(ScrapeTest):
    def test_failures_in_words(self):
        e = self.endpoint()
        e.replies['/debug/pprof/forbidden'] = (403, b'go away\n')
        e.replies['/debug/pprof/broken'] = (500, b'oh no\n')
        e.replies['/debug/pprof/html'] = (200, b'<html>hello</html>')
        e.replies['/debug/pprof/huge'] = (200, b'x' * 100000)
        e.replies['/debug/pprof/slow'] = lambda r: (time.sleep(3), (200, b''))[1]
        self.start(
            job('nobody', '127.0.0.1:1', 'profiles: [heap]'),
            job('nowhere', 'no-such-host.invalid:1', 'profiles: [heap]'),
            job('forbidden', e.address, 'profiles: [forbidden]'),
            job('missing', e.address, 'profiles: [missing]'),
            job('broken', e.address, 'profiles: [broken]'),
            job('html', e.address, 'profiles: [html]'),
            job('huge', e.address, 'profiles: [huge]', 'body_size_limit: 50KB'),
            job('slow', e.address, 'profiles: [slow]', 'scrape_timeout: 1s'),
            job('token', e.address, 'profiles: [heap]',
                'bearer_token_file: absent'),
            job('plain', e.address, 'profiles: [heap]', 'scheme: https'))
        for name, reason, words in (
                ('nobody', 'connection refused', 'nothing listens'),
                ('nowhere', 'no such host', 'does not resolve'),
                ('forbidden', 'access denied', '403.*go away'),
                ('missing', 'no such profile', '404.*Unknown profile'),
                ('broken', 'error status', '500.*oh no'),
                ('html', 'not a profile', 'not a profile'),
                ('huge', 'too large', '51200 bytes.*body_size_limit'),
                ('slow', 'timeout', 'within 1 s'),
                ('token', 'local problem', 'absent: no such file'),
                ('plain', 'certificate problem', 'does not speak TLS')):
            with self.subTest(name):
                self.wait_bad(reason, words, service=name)
        page = self.pprofd.get('/targets')
        self.assertEqual(page.headers['Content-Type'],
                         'text/html; charset=utf-8')
        for words in ('connection refused', 'no such profile', '0 up, ',
                      'access denied', 'too large'):
            self.assertIn(words, re.sub('<[^>]*>', '', page.text))
        metrics = self.pprofd.get('/metrics').text
        self.assertRegex(metrics, r'pprofd_scrape_up{job="nobody",service='
                         r'"nobody",instance="127.0.0.1:1"} 0')
        self.assertRegex(metrics, r'pprofd_scrape_last_error{job="huge",.*'
                         r'reason="too large"} 1')
        self.assertRegex(metrics, r'pprofd_scrapes_total{result="timeout"} '
                         r'[1-9]')

    def test_a_failing_target_is_asked_less_often(self):
        e = self.endpoint()
        self.start(job('bad', e.address, 'profiles: [missing]'),
                   job('good', e.address, 'profiles: [heap]'))
        self.wait_good('heap', more_than=8, service='good')
        self.assertLess(self.profiles(service='bad')['missing']['bad'], 6)

    def test_delta_where_the_target_cannot(self):
        e = self.endpoint()
        def heap(request):
            if 'seconds=' in request.path:
                return 400, b'"seconds" parameter is not supported\n'
            return 200, heap_now('main;make')
        e.replies['/debug/pprof/heap'] = heap
        self.start(job('old', e.address, 'profiling_config: {pprof_config: '
                       '{heap: {delta: true, seconds: 1}}}'))
        self.wait_good('heap', more_than=1, service='old')
        self.assertEqual(self.profiles(service='old')['heap']['bad'], 0)
        self.assertEqual(sum('heap?seconds' in path for path, _ in e.seen),
                         1)

    def test_profiles_that_go_libraries_add(self):
        """godeltaprof's and fgprof's are not on Go's index page."""
        e = self.endpoint()
        def delta(stack):
            return lambda request: (200, heap_now(stack))
        def fgprof(request):
            return 200, cpu_profile({'main;sleep': 7}, time.time_ns())
        e.replies = {'/debug/pprof/delta_heap': delta('main;fresh'),
                     '/debug/fgprof': fgprof}
        self.start(job('go', e.address, 'seconds: 1',
                       'profiles: [godeltaprof_memory, fgprof]'))
        self.wait_good('godeltaprof_memory', 'fgprof', more_than=1,
                       service='go')
        self.wait_stored('go', 'heap', 'fresh')
        self.wait_stored('go', 'fgprof', 'sleep')
        paths = {path for path, _ in e.seen}
        self.assertIn('/debug/fgprof?seconds=1', paths)
        self.assertIn('/debug/pprof/delta_heap', paths)

    def test_sample_types_that_are_kept(self):
        e = self.endpoint()
        self.start(job('few', e.address, 'profiling_config: {pprof_config: '
                       '{heap: {keep_sample_type: [{type: inuse_space, unit: '
                       'bytes}]}}}'))
        self.wait_good('heap', service='few')
        self.wait(lambda: 'make' in self.stored('few', 'heap'), 'not stored')
        path = self.path('merged.pb.gz')
        with open(path, 'wb') as f:
            f.write(self.pprofd.get('/api/1/merge', query='heap{service="few"}',
                                    **{'from': 'now-1h'}).body)
        raw = self.pprof('-raw', path).stdout
        self.assertIn('inuse_space/bytes', raw)
        self.assertNotIn('alloc_space', raw)


class Credentials(ScrapeTest):
    def authorization(self, e):
        return e.seen[-1][1].get('Authorization') if e.seen else None

    def test_a_token_that_is_replaced(self):
        e = self.endpoint()
        self.write('token', 'first\n')
        self.start(job('a', e.address, 'profiles: [heap]',
                       'bearer_token_file: token'))
        self.wait(lambda: self.authorization(e) == 'Bearer first', 'no token')
        self.write('token', 'second\n')
        self.wait(lambda: self.authorization(e) == 'Bearer second',
                  'the new token is not used')

    def test_basic_auth_and_authorization(self):
        one, two = self.endpoint(), self.endpoint()
        self.write('password', 'secret\n')
        self.start(job('a', one.address, 'profiles: [heap]', 'basic_auth: '
                       '{username: me, password_file: password}'),
                   job('b', two.address, 'profiles: [heap]', 'authorization: '
                       '{type: Magic, credentials: word}'))
        basic = 'Basic ' + base64.b64encode(b'me:secret').decode()
        self.wait(lambda: self.authorization(one) == basic, 'no password')
        self.wait(lambda: self.authorization(two) == 'Magic word', 'no word')
        for where in ('/api/1/targets', '/targets', '/metrics'):
            self.assertNotIn('secret', self.pprofd.get(where).text)
            self.assertNotIn('Magic', self.pprofd.get(where).text)

    def test_a_proxy(self):
        proxy = self.endpoint()
        proxy.replies['http://far.invalid/debug/pprof/heap'] = (
            200, heap_now('main;far'))
        self.start(job('far', 'far.invalid', 'profiles: [heap]',
                       'proxy_url: http://' + proxy.address))
        self.wait_stored('far', 'heap', 'far')

    def test_parameters(self):
        e = self.endpoint()
        self.start(job('a', e.address, 'profiles: [heap]',
                       'params: {gc: ["1"], x: [a b]}'))
        self.wait(lambda: e.seen, 'not scraped')
        self.assertEqual(e.seen[0][0], '/debug/pprof/heap?gc=1&x=a+b')


class Discovery(ScrapeTest):
    def services(self):
        return sorted(t['service'] for t in self.targets())

    def test_files_that_change(self):
        e = self.endpoint()
        os.mkdir(self.path('t'))
        group = [{'targets': [e.address], 'labels': {'service': 'one'}}]
        self.write('t/a.json', json.dumps(group))
        self.start('- job_name: f\n  scrape_interval: 1s\n  profiles: [heap]\n'
                   "  file_sd_configs: [{files: ['t/*.json', 't/*.yaml'], "
                   'refresh_interval: 200ms}]\n')
        self.wait(lambda: self.services() == ['one'], 'not found')
        self.wait_good('heap', service='one')
        good = self.profiles(service='one')['heap']['good']
        self.write('t/b.yaml', "- targets: ['%s']\n  labels: {service: two}\n"
                   % e.address)
        self.wait(lambda: self.services() == ['one', 'two'], 'b not found')
        self.assertGreaterEqual(self.profiles(service='one')['heap']['good'],
                                good)  # its history is kept
        # A mistake changes nothing and is told.
        self.write('t/b.yaml', '- targets: 5x: y\n')
        self.wait(lambda: 'b.yaml:1' in self.pprofd.get('/targets').text,
                  'the mistake is not shown')
        self.assertEqual(self.services(), ['one', 'two'])
        os.unlink(self.path('t/b.yaml'))
        self.wait(lambda: self.services() == ['one'], 'two is still there')

    def test_a_web_server(self):
        e, web = self.endpoint(), self.endpoint()
        web.replies['/list'] = (200, json.dumps(
            [{'targets': [e.address], 'labels': {'service': 'web'}}]).encode())
        self.start('- job_name: h\n  scrape_interval: 1s\n  profiles: [heap]\n'
                   '  bearer_token: tok\n'
                   '  http_sd_configs: [{url: "http://%s/list", '
                   'refresh_interval: 200ms}]\n' % web.address)
        self.wait_good('heap', service='web')
        self.assertEqual(web.seen[0][1]['Authorization'], 'Bearer tok')
        web.replies['/list'] = (500, b'down')
        seen = len(web.seen)
        self.wait(lambda: len(web.seen) > seen + 2, 'not asked again')
        self.assertEqual(self.services(), ['web'])
        web.replies['/list'] = (200, b'[]')
        self.wait(lambda: self.services() == [], 'still there')

    def test_every_discovery_of_a_job_says_why_it_fails(self):
        e = self.endpoint()
        self.write('a.json', '{')
        self.write('b.json', '[')
        self.start('- job_name: j\n  profiles: [heap]\n'
                   '  static_configs: [{targets: ["%s"]}]\n'
                   '  file_sd_configs: [{files: [a.json]}, {files: [b.json]}]\n'
                   '  http_sd_configs: [{url: "http://%s/none"}]\n'
                   % (e.address, e.address))

        def words():
            return self.pprofd.get('/api/1/targets').json['jobs'][0].get(
                'discovery_error', '')
        self.wait(lambda: words().count('; ') == 2, 'not all are told')
        for part, word in zip(words().split('; '),
                              ('a.json', 'b.json', '404')):
            self.assertIn(word, part)
        page = self.pprofd.get('/targets').text
        for word in ('a.json', 'b.json', '404'):
            self.assertIn(word, page)


class Reload(ScrapeTest):
    def test_a_new_file_keeps_what_is_the_same(self):
        e = self.endpoint()
        keep = job('keep', e.address, 'profiles: [heap]')
        self.start(keep, job('go', e.address, 'profiles: [heap]'))
        self.wait_good('heap', service='keep')
        self.wait_good('heap', service='go')
        good = self.profiles(service='keep')['heap']['good']
        self.write('pprofd.yaml', 'scrape: {self: false}\nscrape_configs:\n'
                   + keep + job('new', e.address, 'profiles: [heap]'))
        self.pprofd.process.send_signal(signal.SIGHUP)
        self.wait_good('heap', service='new')
        self.assertEqual(sorted(t['service'] for t in self.targets()),
                         ['keep', 'new'])
        self.assertGreaterEqual(self.profiles(service='keep')['heap']['good'],
                                good)
        # The file is also looked at without a signal; a wrong one is not used.
        self.write('pprofd.yaml', 'scrape_configs: [{job_nam: x}]\n')
        time.sleep(3)
        self.assertEqual(len(self.targets()), 2)
        self.write('pprofd.yaml', 'scrape: {self: false}\n')
        self.wait(lambda: self.targets() == [], 'the jobs are still there')

    def test_the_configuration_is_checked(self):
        self.write('bad.yaml', 'scrape_configs:\n- job_name: a\n'
                   '  scrape_intervall: 5s\n')
        for command, *flags in (('config',), ('scrape',),
                                ('serve', '--data', self.path('unused'))):
            out = subprocess.run(
                [PPROFD, command, '--config', self.path('bad.yaml'), *flags],
                capture_output=True, text=True, timeout=PATIENCE)
            self.assertNotEqual(out.returncode, 0)
            self.assertRegex(out.stderr, r'bad\.yaml:3:3: .*did you mean '
                             r'scrape_interval\?')
        self.assertFalse(os.path.exists(self.path('unused')))

    def test_an_old_file_of_parca(self):
        path = self.write('parca.yaml', 'debug_info:\n'
                          '  bucket: {type: FILESYSTEM}\n'
                          '  cache: {type: FILESYSTEM}\n'
                          'scrape_configs:\n' + job('default', 'h:7070'))
        out = subprocess.run([PPROFD, 'config', '--config', path],
                             capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((out.returncode, out.stderr), (0, ''))


class OneRound(ScrapeTest):
    def scrape(self, *args):
        return subprocess.run([PPROFD, 'scrape', *args], capture_output=True,
                              text=True, timeout=PATIENCE, cwd=self.dir)

    def config(self, *jobs):
        return self.write('cron.yaml', 'scrape_configs:\n' + ''.join(jobs))

    def test_into_a_directory(self):
        e = self.endpoint()
        e.replies['/debug/pprof/profile'] = (200, cpu_profile({'main;w': 3}))
        out = self.scrape('--once', '--config', self.config(
            job('a', e.address, 'profiles: [cpu, heap]', interval='60s')),
            '-o', self.path('out'))
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertEqual(out.stdout, '2 profiles, 0 failed\n')
        names = sorted(os.listdir(self.path('out')))
        self.assertRegex(names[0], r'^a-cpu-127\.0\.0\.1_\d+-\d+\.pb\.gz$')
        self.assertRegex(names[1], r'^a-heap-')
        top = self.pprof('-top', self.path('out', names[0]))
        self.assertIn('w', top.stdout)

    def test_to_a_collector(self):
        e = self.endpoint()
        self.start()
        config = self.config(job('cron', e.address, 'profiles: [heap]'))
        for flag in ('--collector', '--profefe-hostport'):
            out = self.scrape('--config', config, flag, self.pprofd.url(''))
            self.assertEqual(out.returncode, 0, out.stderr)
        listed = self.pprofd.get('/api/1/profiles', query='heap',
                                 **{'from': '2019-01-01'}).json
        self.assertEqual(len(listed['profiles']), 2)
        labels = json.dumps(listed)
        self.assertIn(e.address, labels)
        self.assertIn('cron', labels)

    def test_one_line_for_each_failure(self):
        e = self.endpoint()
        out = self.scrape('--config', self.config(
            job('a', e.address, 'profiles: [heap, none]'),
            job('b', '127.0.0.1:1', 'profiles: [heap]')), '-o', 'out')
        self.assertEqual(out.returncode, 1)
        lines = out.stderr.splitlines()
        self.assertEqual(len(lines), 2, out.stderr)
        self.assertRegex(out.stderr, r'none: 404 Not Found')
        self.assertRegex(out.stderr, r'127.0.0.1:1 heap: connection refused')
        self.assertEqual(out.stdout, '1 profiles, 2 failed\n')

    def test_a_collector_that_is_down(self):
        e = self.endpoint()
        out = self.scrape('--config', self.config(
            job('a', e.address, 'profiles: [heap]')), '--collector',
            'http://127.0.0.1:1')
        self.assertEqual(out.returncode, 1)
        self.assertRegex(out.stderr, 'post to http://127.0.0.1:1.*refused')

    def test_no_targets_is_no_failure(self):
        out = self.scrape('--config', self.config(
            '- {job_name: a, static_configs: []}\n'), '-o', 'out')
        self.assertEqual((out.returncode, out.stdout),
                         (0, 'No targets to profile\n'))

    def test_flags_that_cannot_be(self):
        out = self.scrape('-o', 'x', '--collector', 'http://h')
        self.assertEqual(out.returncode, 2)
        self.assertIn('give only one of them', out.stderr)


class Many(unittest.TestCase):
    def test_a_thousand_targets(self):
        """Every scrape is made, within its window."""
        bench = os.path.join(os.path.dirname(__file__), '..', '..', 'bench',
                             'scrape.py')
        out = subprocess.run([sys.executable, bench, '1000', '10', '25'],
                             capture_output=True, text=True, timeout=200,
                             env={**os.environ, 'PPROF_BUILD': BUILD})
        self.assertEqual(out.returncode, 0, out.stderr)
        result = json.loads(out.stdout)
        seen = result['seen']
        self.assertEqual((result['missed'], result['failed']), (0, 0), result)
        for path in ('profile', 'heap'):
            self.assertEqual(seen[path]['targets'], 1000, result)
            self.assertGreaterEqual(seen[path]['requests'], 2000, result)
            # No target is left out for a turn, none is asked twice in one.
            self.assertLess(seen[path]['longest_seconds'], 20, result)
            self.assertGreater(seen[path]['shortest_seconds'], 1, result)
        self.assertLess(result['peak_memory_mb'], 200, result)


if __name__ == '__main__':
    unittest.main()
