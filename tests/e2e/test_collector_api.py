"""/api/1: selectors, merges, differences, time series, labels; tokens with
scopes; settings and errors in them."""

import gzip
import json
import os
import re
import signal
import subprocess
import time
import unittest
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import support
from collector import (CollectorTest, PPROFD, Pprofd, SECOND, STORE, TIME,
                       cpu_profile, embedded_only, heap_profile, store_flags)

FROM, TO = '2019-05-30T21:00:00Z', '2019-05-30T22:00:00Z'


def blocks(report):
    """The head of -traces and its traces; -top is a block of its own."""
    return re.split(r'^-+\+-+\n', report, flags=re.M)


def store_some(test):
    """Two services, three instances, ten minutes.  The instances post at the
    same time: ClickHouse takes a batch as fast as one profile."""
    def post(instance):
        service, region = instance
        for minute in range(10):
            stacks = {'main;parse': minute + 1, 'main;%s' % region: 10}
            test.stored(cpu_profile(stacks, TIME + minute * 60 * SECOND),
                        service=service, type='cpu',
                        labels='region=%s,version=1.%d' % (region, minute // 5))

    with ThreadPoolExecutor() as pool:
        list(pool.map(post, (('api', 'eu'), ('api', 'us'), ('web', 'eu'))))


class QueryTest(CollectorTest):
    def setUp(self):
        super().setUp()
        store_some(self)

    def ask(self, path, status=200, **query):
        reply = self.get('/api/1/' + path, **{'from': FROM, 'to': TO, **query})
        self.assertEqual(reply.status, status, reply.text)
        return reply

    def top(self, **query):
        rows = self.ask('top', sample_index='samples', **query).json
        return {row['name']: row['flat'] for row in rows['rows'] if row['flat']}

    def test_merge_equals_what_pprof_makes_of_the_files(self):
        names = []
        for minute in range(10):
            names.append(self.path('%d.pb.gz' % minute))
            with open(names[-1], 'wb') as f:
                f.write(cpu_profile({'main;parse': minute + 1, 'main;us': 10},
                                    TIME + minute * 60 * SECOND))
        merged = self.path('merged.pb.gz')
        with open(merged, 'wb') as f:
            f.write(self.ask('merge', query='cpu{service="api",region="us"}')
                    .body)
        for report in ('-top', '-traces'):
            ours = self.pprof(report, merged)
            theirs = self.pprof(report, *names)
            self.assertEqual(ours.returncode, 0, ours.stderr)
            if STORE:  # gives samples in another order, so traces, too
                self.assertEqual(sorted(blocks(ours.stdout)),
                                 sorted(blocks(theirs.stdout)))
            else:
                self.assertEqual(ours.stdout, theirs.stdout)

    def test_selectors(self):
        self.assertEqual(self.top(query='cpu{service="api"}'),
                         {'parse': 110, 'eu': 100, 'us': 100})
        self.assertEqual(self.top(query='cpu{region!="eu"}'),
                         {'parse': 55, 'us': 100})
        self.assertEqual(self.top(query='{service=~"a.*",region="eu"}'),
                         {'parse': 55, 'eu': 100})
        self.assertEqual(self.top(query='cpu{service!~"api|x"}'),
                         {'parse': 55, 'eu': 100})

    def test_time_ranges_have_both_ends(self):
        first = '2019-05-30T21:10:05.25Z'
        self.assertEqual(
            self.top(query='cpu{service="web"}', **{'from': first,
                                                    'to': first}),
            {'parse': 1, 'eu': 10})

    def test_overview_has_a_row_for_each_service_and_type(self):
        self.stored(heap_profile({'main;make': (1, 2, 3, 4096)}, TIME),
                    service='api', type='heap')
        reply = self.ask('overview', window='10m', compare='20m').json
        rows = {(r['service'], r['type']): r for r in reply['rows']}
        self.assertEqual(sorted(rows), [('api', 'cpu'), ('api', 'heap'),
                                        ('web', 'cpu')])
        api = rows['api', 'cpu']
        self.assertEqual((api['unit'], api['profiles'], api['version'],
                          api['versions']), ('nanoseconds', 20, '1.1', 2))
        self.assertEqual(sum(p[1] for p in api['points']), 3100000000)
        self.assertEqual(sum(p[3] for p in api['points']), 200)
        self.assertEqual(rows['api', 'heap']['now'], [0, 0, 0])
        self.assertNotIn('version', rows['api', 'heap'])
        reply = self.ask('overview', to='2019-05-30T21:20:00Z',
                         window='5m', compare='5m').json
        web = [r for r in reply['rows'] if r['service'] == 'web'][0]
        self.assertEqual(web['now'], [900000000, 5, 50])
        self.assertEqual(web['before'], [650000000, 5, 50])
        # A window that is longer than the range, and one that begins with it.
        for window in ('2h', '1h'):
            reply = self.ask('overview', window=window, step='10m').json
            for row in reply['rows']:
                self.assertEqual(row['now'][:2],
                                 [sum(p[1] for p in row['points']),
                                  sum(p[2] for p in row['points'])])
        whole = self.ask('overview', window='1m', step='10m').json['rows']
        parts = self.ask('overview', window='27m', step='10m').json['rows']
        without_now = [[{**r, 'now': 0, 'before': 0} for r in rows]
                       for rows in (whole, parts)]
        self.assertEqual(*without_now)
        self.ask('overview', 400, step='1s')

    def test_routes_are_listed(self):
        routes = self.get('/api/1/').json['routes']
        self.assertIn('/api/1/overview', routes)
        self.assertNotIn('/api/0/profiles', routes)

    def test_the_page_merges_and_names_contents(self):
        query = {'a': 'cpu{service="api",region="us"} %s..%s' % (FROM, TO)}
        meta = self.get('/ui/data/meta', **query).json
        self.assertEqual((meta['total'], meta['a']['name'], meta['is_fleet']),
                         (1550000000, 'api.cpu.us', True))
        tag = self.get('/ui/data/top', **query).headers['ETag']
        self.assertEqual(self.get('/ui/data/top', **query).headers['ETag'], tag)
        self.stored(cpu_profile({'main': 1}, TIME), service='web', type='cpu')
        self.assertEqual(self.get('/ui/data/top', **query).headers['ETag'], tag)
        self.stored(cpu_profile({'main': 1}, TIME), service='api', type='cpu',
                    labels='region=us')
        self.assertNotEqual(self.get('/ui/data/top', **query).headers['ETag'],
                            tag)
        reply = self.get('/ui/data/top', a='cpu{service="none"}')
        self.assertEqual(reply.status, 400)
        self.assertIn('no profile matches', reply.json['error'])

    def test_nothing_found(self):
        self.ask('merge', 404, query='cpu{service="none"}')
        self.ask('top', 404, query='heap')

    def test_diff(self):
        path = self.path('diff.pb.gz')
        with open(path, 'wb') as f:
            f.write(self.ask('diff', query='cpu{service="web",version="1.1"}',
                             base_query='cpu{service="web",version="1.0"}',
                             base_from=FROM, base_to=TO).body)
        out = self.pprof('-top', '-sample_index=samples', path).stdout
        self.assertRegex(out, r'25 .*parse')
        self.assertRegex(out, r'0 .*main')

    def test_series_adds_up(self):
        groups = self.ask('series', query='cpu', step='5m', by='service',
                          value_type='samples').json['groups']
        self.assertEqual([g['group'] for g in groups], ['api', 'web'])
        for group in groups:
            self.assertEqual(
                sum(p[1] for p in group['points']),
                sum(self.top(query='cpu{service="%s"}'
                             % group['group']).values()))
        whole = self.ask('series', query='cpu', step='2h',
                         value_type='samples').json['groups']
        self.assertEqual(sum(p[2] for p in whole[0]['points']), 30)
        self.assertEqual(whole[0]['unit'], 'count')

    def test_series_with_too_many_steps(self):
        reply = self.ask('series', 400, query='cpu', step='1ms')
        self.assertIn('choose a larger step', reply.text)

    def test_function_over_time(self):
        points = self.ask('function', query='cpu{service="web"}', name='parse',
                          step='1m', value_type='samples').json['points']
        self.assertEqual([p[1] for p in points], list(range(1, 11)))
        self.assertEqual([p[3] for p in points], list(range(11, 21)))
        main = self.ask('function', query='cpu{service="web"}', name='main',
                        step='1m', value_type='samples').json['points']
        self.assertEqual([p[1] for p in main], [0] * 10)
        self.assertEqual([p[2] for p in main], list(range(11, 21)))
        self.ask('function', 400, query='cpu')

    def test_labels_and_services(self):
        labels = self.ask('labels', query='cpu').json['labels']
        self.assertEqual([row['name'] for row in labels],
                         ['region', 'version'])
        values = self.ask('labels', query='cpu{service="api"}',
                          name='region').json['values']
        self.assertEqual([(v['value'], v['profiles']) for v in values],
                         [('eu', 10), ('us', 10)])
        services = self.ask('services').json['services']
        self.assertEqual([(s['service'], s['types'][0]['profiles'])
                          for s in services], [('api', 20), ('web', 10)])

    def test_pages_of_profiles(self):
        seen, cursor = [], None
        for _ in range(10):
            query = {'query': 'cpu', 'limit': '7'}
            if cursor:
                query['after'] = cursor
            page = self.ask('profiles', **query).json
            seen += [p['id'] for p in page['profiles']]
            cursor = page.get('next')
            if not cursor:
                break
        self.assertEqual(len(seen), 30)
        self.assertEqual(len(set(seen)), 30)
        one = self.ask('profiles', query='cpu{service="web"}',
                       order='oldest', limit='1').json['profiles'][0]
        self.assertEqual(one['labels'], {'region': 'eu', 'version': '1.0'})
        self.assertEqual(one['created_at'], '2019-05-30T21:10:05.25Z')
        self.assertEqual(one['totals'][0]['sum'], 11)

    def test_mistakes_are_explained(self):
        for path, query, words in (
                ('merge', {'query': 'cpu{a'}, 'column 6'),
                ('merge', {'query': 'cpu{a=~"("}'}, 'missing closing )'),
                ('merge', {'from': 'yesterday'}, 'now-1h'),
                ('merge', {'from': TO, 'to': FROM}, 'from is after to'),
                ('merge', {'values': 'all'}, 'must be sent or changes'),
                ('top', {'n': '0'}, 'from 1 to'),
                ('top', {'sort': 'up'}, 'sort'),
                ('profiles', {'after': 'x'}, 'not a cursor'),
                ('nowhere', {}, None)):
            reply = self.get('/api/1/' + path,
                             **{'from': FROM, 'to': TO, **query})
            self.assertIn(reply.status, (400, 404), path)
            self.assertEqual(reply.json['code'], reply.status)
            if words:
                self.assertIn(words, reply.json['error'])

    def test_go_and_pprof_open_the_urls(self):
        url = self.pprofd.url('/api/1/merge?query=cpu%7Bservice%3D%22web%22%7D'
                              '&from=' + FROM + '&to=' + TO)
        result = self.pprof('-top', url)
        self.assertEqual(result.returncode, 0, result.stderr)
        wrong = self.pprof('-top', url.replace('web', 'none'))
        self.assertIn('no profile matches cpu{service=\\"none\\"} from 20',
                      wrong.stderr)


class CumulativeTest(CollectorTest):
    def test_changes_of_a_process(self):
        for i, allocated in enumerate((100, 150, 210, 20, 50)):
            self.stored(heap_profile({'main;make': (allocated, allocated * 8,
                                                    7, 70)},
                                     TIME + i * SECOND),
                        service='api', type='heap', labels='pod=a')

        def total(values, kind):
            reply = self.get('/api/1/top', query='heap', values=values,
                             sample_index=kind, **{'from': FROM, 'to': TO})
            return sum(f['flat'] for f in reply.json['rows'])

        self.assertEqual(total('sent', 'alloc_objects'), 530)
        # 50 + 60, a restart: 20, then 30.
        self.assertEqual(total('changes', 'alloc_objects'), 160)
        self.assertEqual(total('changes', 'inuse_objects'),
                         total('sent', 'inuse_objects'))


class LimitedQueryTest(CollectorTest):
    def setUp(self):
        super().setUp()
        self.pprofd.stop()
        with open(self.path('pprofd.yaml'), 'w') as f:
            f.write('query:\n  max_profiles: 5\n')
        self.pprofd.args = ('--config', self.path('pprofd.yaml'))
        self.pprofd.start()
        store_some(self)

    def test_a_limit_says_which_and_how_far(self):
        reply = self.get('/api/1/merge', query='cpu', **{'from': FROM,
                                                         'to': TO})
        self.assertEqual(reply.status, 422)
        self.assertEqual(reply.json['limit'], 'profiles')
        self.assertGreaterEqual(reply.json['progress']['profiles'], 5)


class TokenTest(CollectorTest):
    def setUp(self):
        support.TestCase.setUp(self)
        with open(self.path('tokens'), 'w') as f:
            f.write('reader scope=read services=api,web-*\n'
                    'writer scope=write services=api\nadmin\n')
        os.chmod(self.path('tokens'), 0o600)
        self.pprofd = Pprofd(self.path('data'), '--token-file',
                             self.path('tokens'))
        self.addCleanup(self.pprofd.stop)
        for service in ('api', 'web-1', 'secret'):
            self.assertEqual(self.send('admin', service).status, 200)

    def send(self, token, service, time_nanos=TIME):
        return self.pprofd.request(
            'POST', '/api/0/profiles?type=cpu&service=' + service,
            cpu_profile({'main;' + service: 1}, time_nanos),
            {'Authorization': 'Bearer ' + token})

    def read(self, token, path):
        return self.pprofd.request('GET', path,
                                   headers={'Authorization':
                                            'Bearer ' + token})

    def test_scopes_and_services(self):
        merge = ('/api/1/merge?query=cpu{service="%s"}&from=0'
                 .replace('{', '%%7B').replace('}', '%%7D')
                 .replace('"', '%%22'))
        self.assertEqual(self.read('', '/api/0/services').status, 401)
        self.assertEqual(self.send('reader', 'api').status, 403)
        self.assertEqual(self.send('writer', 'api').status, 200)
        self.assertEqual(self.send('writer', 'secret').status, 403)
        self.assertEqual(self.read('writer', '/api/0/services').status, 403)
        self.assertEqual(self.read('reader', merge % 'web-1').status, 200)
        self.assertEqual(self.read('reader', merge % 'secret').status, 404)
        self.assertEqual(self.read('admin', merge % 'secret').status, 200)
        self.assertEqual(self.read('reader', '/api/0/services').json['body'],
                         ['api', 'web-1'])
        names = [s['service'] for s in
                 self.read('reader', '/api/1/services').json['services']]
        self.assertEqual(names, ['api', 'web-1'])
        secret = self.read('admin', '/api/1/profiles?from=0&query=%7Bservice'
                           '%3D%22secret%22%7D').json['profiles'][0]['id']
        self.assertEqual(self.read('reader', '/api/0/profiles/' + secret)
                         .status, 403)

    def test_the_page_shows_a_restricted_token_its_services_only(self):
        everything = '/ui/data/meta?a=cpu+0..now'
        totals = {who: self.read(who, everything).json['total']
                  for who in ('reader', 'admin')}
        self.assertEqual(totals, {'reader': 20000000, 'admin': 30000000})
        self.assertEqual(self.read('writer', everything).status, 403)
        self.assertEqual(self.read('', '/ui/services').status, 401)
        secret = self.read('admin', '/api/1/profiles?from=0&query=%7Bservice'
                           '%3D%22secret%22%7D').json['profiles'][0]['id']
        one = '/ui/data/meta?a=id:' + secret
        self.assertEqual(self.read('admin', one).json['a']['name'],
                         'secret.cpu')
        self.assertEqual(self.read('reader', one).status, 400)
        # The kept merge of one client is not another one's.
        self.assertEqual(self.read('reader', everything).json['total'],
                         totals['reader'])
        rows = self.read('reader', '/api/1/overview?from=0&step=2000d').json
        self.assertEqual([r['service'] for r in rows['rows']],
                         ['api', 'web-1'])

    def restart_with(self, setting):
        """Of queries; a busy machine may need longer than the page waits."""
        self.pprofd.stop()
        with open(self.path('pprofd.yaml'), 'w') as f:
            f.write('query:\n  page_wait: 60s\n  %s\n' % setting)
        self.pprofd.args = ('--config', self.path('pprofd.yaml'),
                            '--scrape-self=false',
                            '--token-file', self.path('tokens'))
        self.pprofd.start()

    def embedded(self, token, query=''):
        """The rows inside of the list of services; None without them."""
        reply = self.read(token, '/ui/services' + query)
        self.assertEqual(reply.status, 200)
        found = re.search('<script type="application/json" id="overview">'
                          '([^<]*)</script>', reply.body.decode())
        self.assertEqual(reply.headers['Cache-Control'],
                         'no-store' if found else 'no-cache')
        return found and json.loads(found[1])

    def test_the_list_inside_the_page_is_what_the_client_may_read(self):
        self.restart_with('page_overview: 1MB')
        now = time.time_ns() - 60 * SECOND
        for service in ('api', 'web-1', 'secret', 'a%3C%2Fscript%3E'):
            self.assertEqual(self.send('admin', service, now).status, 200)
        expected = {'reader': ['api', 'web-1'],
                    'admin': ['a</script>', 'api', 'secret', 'web-1']}
        for token in ('reader', 'admin', 'reader'):
            rows = self.embedded(token, '?q=x&from=0')
            self.assertEqual([r['service'] for r in rows['rows']],
                             expected[token])
            self.assertEqual(
                rows['rows'],
                self.read(token, '/api/1/overview').json['rows'])
        self.assertEqual(self.read('writer', '/ui/services').status, 403)

    def test_the_page_comes_without_a_list_that_it_does_not_start_with(self):
        self.assertIsNone(self.embedded('admin', '?range=7d'))
        for setting in ('page_overview: 0', 'page_overview: 100'):
            with self.subTest(setting):
                self.restart_with(setting)
                self.assertIsNone(self.embedded('admin'))
                self.assertEqual(self.read('admin', '/api/1/overview').status,
                                 200)

    def test_the_rest_of_the_page_is_kept_for_good(self):
        self.restart_with('page_overview: 1MB')
        names = re.findall('data-from="([^"]+)"',
                           self.read('reader', '/ui/services').body.decode())
        self.assertEqual(len(names), 2)
        for name in names:
            reply = self.read('reader', '/ui/' + name)
            self.assertEqual(reply.status, 200)
            self.assertIn('immutable', reply.headers['Cache-Control'])


class SettingsTest(support.TestCase):
    def run_pprofd(self, *args, timeout=20):
        return subprocess.run([PPROFD, *args], capture_output=True, text=True,
                              timeout=timeout, cwd=self.dir,
                              env={**os.environ, 'HOME': self.dir,
                                   'XDG_DATA_HOME': self.path('xdg')})

    def test_printed_settings_are_a_configuration_file(self):
        printed = self.run_pprofd('config', '--retention', '3d')
        self.assertEqual(printed.returncode, 0, printed.stderr)
        self.assertIn('raw: 3d\n', printed.stdout)
        self.assertIn(self.path('xdg'), printed.stdout)
        with open(self.path('all.yaml'), 'w') as f:
            f.write(printed.stdout)
        again = self.run_pprofd('config', '--config', 'all.yaml')
        self.assertEqual(again.stdout, printed.stdout)

    def test_a_wrong_address_is_explained(self):
        for address in ('127.0.0.1:99999999', 'foo', '127.0.0.1'):
            ran = self.run_pprofd('serve', '--addr', address)
            self.assertEqual(ran.returncode, 1)
            self.assertIn(address, ran.stderr)
            self.assertNotIn('authenticate', ran.stderr)

    @embedded_only
    def test_directories_are_made(self):
        # $XDG_DATA_HOME does not exist.
        pprofd = Pprofd(self.path('a/b/c'))
        self.addCleanup(pprofd.stop)
        self.assertTrue(os.path.exists(self.path('a/b/c/head.db')))

    def test_reading_commands_make_no_store(self):
        for command in (('stats',), ('export', self.path('out'))):
            ran = self.run_pprofd(command[0], '--data', self.path('none'),
                                  *command[1:])
            self.assertEqual(ran.returncode, 1)
            self.assertIn('no store in', ran.stderr)
        self.assertFalse(os.path.exists(self.path('none')))

    def test_a_wrong_file_is_explained(self):
        for text, words in (
                ('listen:\n  adress: x\n', ('x.yaml:2:3', 'address')),
                ('query:\n  max_cpu: soon\n', ('x.yaml:2:12', 'duration')),
                ('storage:\n  memory: much\n', ('x.yaml:2:11', '64KB')),
                ('retention:\n  raw: 7\n', ('x.yaml:2:8', '7d')),
                ('retention:\n  rules:\n  - serivce: a\n', ('x.yaml:3:5',
                                                            'service')),
                ('[', ('x.yaml',))):
            with open(self.path('x.yaml'), 'w') as f:
                f.write(text)
            result = self.run_pprofd('config', '--config', 'x.yaml')
            self.assertEqual(result.returncode, 1, text)
            self.assertEqual(result.stdout, '')
            for word in words:
                self.assertIn(word, result.stderr)

    def test_strangers_are_not_served_by_accident(self):
        result = self.run_pprofd('serve', '--addr', '0.0.0.0:0', '--data',
                                 self.path('data'))
        self.assertEqual(result.returncode, 1)
        self.assertIn('--insecure', result.stderr)

    def test_a_wrong_address_is_called_that(self):
        for address, words in (
                ('127.0.0.1:99999999', 'port 99999999 is outside 0..65535'),
                ('127.0.0.1', 'no port: write 127.0.0.1:6060')):
            result = self.run_pprofd('serve', '--addr', address, '--data',
                                     self.path('data'))
            self.assertEqual(result.returncode, 1)
            self.assertIn('listen %s: %s' % (address, words), result.stderr)

    def test_profefe_flags_are_accepted(self):
        pprofd = Pprofd.__new__(Pprofd)
        pprofd.process = subprocess.Popen(
            [PPROFD, '-addr', '127.0.0.1:0', '-badger.dir',
             self.path('badger'), '-badger.data-ttl', '120h0m0s',
             '-storage-type=badger', '-log.level', 'debug', '-exit-timeout',
             '1s'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True)
        self.assertIn('127.0.0.1', pprofd.process.stdout.readline())
        self.assertIn(self.path('badger'), pprofd.process.stdout.readline())
        pprofd.process.terminate()
        self.assertEqual(pprofd.process.wait(20), 0)
        pprofd.process.stdout.close()

    def test_profefe_flags_without_a_meaning_are_named(self):
        process = subprocess.Popen(
            [PPROFD, '-addr', '127.0.0.1:0', '-badger.dir',
             self.path('badger'), '-s3.disable-ssl', '-s3.region',
             'eu-west-1', '-gcs.max-retries=5'],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdout.readline()
        process.stdout.readline()
        process.terminate()
        _, log = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 0)
        lines = [line for line in log.splitlines() if 'profefe flags' in line]
        self.assertEqual(len(lines), 1)
        self.assertIn('-s3.region -s3.disable-ssl -gcs.max-retries', lines[0])

    def test_profefe_flags_for_another_storage_are_refused(self):
        for flag in ('-s3.bucket=profiles', '-gcs.bucket=profiles',
                     '-clickhouse.dsn=tcp://127.0.0.1:9000',
                     '-storage-type=s3'):
            result = self.run_pprofd(flag, '-addr', '127.0.0.1:0')
            self.assertEqual(result.returncode, 1, flag)
            self.assertIn(flag + ': ', result.stderr)
            self.assertIn('--data', result.stderr)

    def test_an_unknown_flag_gets_a_suggestion(self):
        for flag, words in (('--adr', 'did you mean -addr?'),
                            ('--retentoin=5d', 'did you mean -retention?'),
                            ('--zzz', 'see pprofd -h')):
            result = self.run_pprofd('serve', flag)
            self.assertEqual(result.returncode, 1)
            self.assertIn('there is no flag -', result.stderr)
            self.assertIn(words, result.stderr)

    def test_check_says_that_there_is_no_store(self):
        for command in ('check', 'stats'):
            result = self.run_pprofd(command, '--data', self.path('nowhere'))
            self.assertEqual(result.returncode, 1)
            self.assertIn('there is no store in ' + self.path('nowhere'),
                          result.stderr)
            self.assertEqual(result.stdout, '')
        self.assertFalse(os.path.exists(self.path('nowhere')))

    def test_commands_have_their_own_help(self):
        for command in ('config', 'check', 'stats', 'export', 'import'):
            for flag in ('-h', '--help'):
                result = self.run_pprofd(command, flag)
                self.assertEqual(result.returncode, 0)
                self.assertTrue(result.stdout.startswith(
                    'usage: pprofd ' + command))

    def test_help_fits_on_a_screen(self):
        result = self.run_pprofd('-h')
        self.assertEqual(result.returncode, 0)
        self.assertLessEqual(len(result.stdout.splitlines()), 40)
        self.assertEqual(self.run_pprofd('wash').returncode, 2)

    def test_a_new_configuration_takes_effect_a_wrong_one_does_not(self):
        config = self.path('pprofd.yaml')
        with open(config, 'w') as f:
            f.write('log:\n  level: info\n')
        with open(self.path('log'), 'w') as log:
            process = subprocess.Popen(
                [PPROFD, 'serve', '--addr', '127.0.0.1:0', '--data',
                 self.path('data'), '--config', config],
                stdout=subprocess.PIPE, stderr=log, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(support.stop, process)
        process.stdout.readline()
        for text, words in (('log:\n  level: loud\n', 'is not used'),
                            ('log:\n  level: debug\n', 'read again')):
            with open(config, 'w') as f:
                f.write(text)
            process.send_signal(signal.SIGHUP)
            self.wait_for(words)

    def wait_for(self, words):
        end = time.monotonic() + 20
        while time.monotonic() < end:
            with open(self.path('log')) as f:
                if words in f.read():
                    return
            time.sleep(0.05)
        self.fail('not logged: ' + words)


class TransferTest(CollectorTest):
    def test_processes_of_one_program_share_its_stacks(self):
        """Fifty processes whose addresses the kernel has chosen anew."""
        profiles = []
        for _ in range(5):
            profiles += self.heap_profiles(10)
        self.assertGreater(len({self.start_of(p) for p in profiles[:3]}), 1)
        pprofd = Pprofd(self.path('shared'))
        stacks = []
        for some in profiles[:1], profiles[1:]:
            for i, body in enumerate(some):
                reply = pprofd.post(body, service='leaky', type='heap',
                                    labels='instance=%d' % (len(some) + i))
                self.assertEqual(reply.status, 200, reply.text)
            pprofd.stop()
            stats = subprocess.run([PPROFD, 'stats', '--data',
                                    self.path('shared'),
                                    *store_flags(self.path('shared'))],
                                   check=True, capture_output=True, text=True)
            stacks.append(int(re.search(r'(\d+)\s+\d+\s+total', stats.stdout
                                        ).group(1)))
            pprofd.start()
        pprofd.stop()
        self.assertGreater(stacks[0], 10)
        self.assertLess(stacks[1], stacks[0] * 1.2)

    def start_of(self, profile):
        """Where the program is mapped."""
        with open(self.path('one.pb.gz'), 'wb') as f:
            f.write(profile)
        raw = self.pprof('-raw', self.path('one.pb.gz')).stdout
        return re.search(r'^1: (0x[0-9a-f]+)/', raw, re.M).group(1)

    def heap_profiles(self, n):
        """Of n processes of the same program."""
        program = os.path.join(support.BUILD, 'tests', 'e2e', 'programs',
                               'heap_leak')
        running = [subprocess.Popen([program], stderr=subprocess.PIPE,
                                    text=True,
                                    env={**os.environ, 'PPROF_MEM_RATE': '1'})
                   for _ in range(n)]
        try:
            urls = [re.search(r'http://\S+', p.stderr.readline()).group(0)
                    for p in running]
            return [urllib.request.urlopen(url + 'heap', timeout=60).read()
                    for url in urls]
        finally:
            for p in running:
                p.kill()
                p.communicate()

    def test_export_and_import(self):
        store_some(self)
        trace = self.stored(b'opaque', service='api', type='trace')
        for minute, grown in enumerate((7, 3)):
            self.stored(heap_profile({'main;make': (1, grown, 0, 0)},
                                     TIME + minute * 60 * SECOND),
                        service='grows', type='heap', delta='true')
        before = self.get('/api/1/profiles', limit='1000',
                          **{'from': '0'}).json['profiles']
        other = Pprofd(self.path('other'))
        other.stop()
        remote = subprocess.run(
            [PPROFD, 'import', '--data', self.path('other'),
             *store_flags(self.path('other')), self.pprofd.url('')],
            capture_output=True, text=True)
        self.assertEqual(remote.returncode, 0, remote.stderr)
        self.assertIn('imported 33 profiles', remote.stdout)
        self.pprofd.stop()
        exported = self.path('exported')
        for command, data, *rest in (('export', 'data', exported),
                                     ('import', 'new', exported),
                                     ('import', 'new', exported),
                                     ('check', 'new'), ('stats', 'new')):
            if command == 'check' and STORE:
                continue  # it is for the embedded store
            result = subprocess.run(
                [PPROFD, command, '--data', self.path(data),
                 *store_flags(self.path(data)), *rest], capture_output=True,
                text=True)
            self.assertEqual(result.returncode, 0, result.stderr)
        for data in ('new', 'other'):
            copy = Pprofd(self.path(data))
            try:
                after = copy.get('/api/1/profiles', limit='1000',
                                 **{'from': '0'}).json['profiles']
                self.assertEqual([p['id'] for p in after],
                                 [p['id'] for p in before])
                self.assertEqual(
                    copy.get('/api/0/profiles/' + trace).body, b'opaque')
                if data == 'new':  # profefe's API has no word for deltas
                    grew = copy.get('/api/1/series', values='changes',
                                    query='heap{service="grows"}', step='1d',
                                    value_type='alloc_space', to=TO,
                                    **{'from': FROM}).json['groups'][0]
                    self.assertEqual(sum(p[1] for p in grew['points']), 10)
            finally:
                copy.stop()
        self.pprofd.start()


if __name__ == '__main__':
    unittest.main()
