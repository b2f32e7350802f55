"""profefe's API: recorded requests to the original, and its replies. Where
ours differ on purpose, the test says so; docs/collector-api.md lists the
same."""

import gzip
import re
import unittest

from collector import CollectorTest, TIME, cpu_profile, heap_profile

R = 'from=2018-01-01T00:00:00&to=2030-01-01T00:00:00'
ANY_ID = re.compile(r'[0-9a-v]{20}')
NOTHING = '{"code":404,"error":"nothing found"}\n'
MALFORMED = ('{"code":400,"error":"malformed profile (could not parse pprof '
             'profile: %s)"}\n')
UNRECOGNIZED = MALFORMED % 'parsing profile: unrecognized profile format'


def bad(words):
    return '{"code":400,"error":"bad request: %s"}\n' % words


class ProfefeTest(CollectorTest):
    def ask(self, method, path, body=None, headers=None):
        return self.pprofd.request(method, '/api/0' + path, body, headers)

    def expect(self, method, path, status, text, body=None, headers=None):
        reply = self.ask(method, path, body, headers)
        self.assertEqual((reply.status, reply.text), (status, text), path)
        return reply

    def expect_post(self, query, status, text, body=None):
        return self.expect('POST', '/profiles?' + query, status, text,
                           cpu_profile({'main': 1}) if body is None else body)

    def take(self, query, body=None):
        """Posts and expects success; the profile object of the reply."""
        reply = self.ask('POST', '/profiles?' + query,
                         cpu_profile({'main': 1}) if body is None else body)
        self.assertEqual(reply.status, 200, reply.text)
        return reply.json['body']


class StoreTest(ProfefeTest):
    def test_row_01_profile_with_labels(self):
        reply = self.ask('POST', '/profiles?service=svc1&type=cpu&'
                         'labels=region=eu,host=h1', cpu_profile({'main': 1}))
        self.assertEqual(reply.status, 200)
        self.assertEqual(
            ANY_ID.sub('ID', reply.text),
            '{"code":200,"body":{"id":"ID","type":"cpu","service":"svc1",'
            '"labels":[{"key":"host","value":"h1"},{"key":"region","value":'
            '"eu"}],"created_at":"2019-05-30T21:10:05Z"}}\n')

    def test_row_02_profile_without_labels(self):
        reply = self.ask('POST', '/profiles?service=svc1&type=cpu',
                         cpu_profile({'main': 1}))
        self.assertEqual(
            ANY_ID.sub('ID', reply.text),
            '{"code":200,"body":{"id":"ID","type":"cpu","service":"svc1",'
            '"created_at":"2019-05-30T21:10:05Z"}}\n')

    def test_row_03_service_is_missing(self):
        missing = bad('missing \\"service\\"')
        for query in ('type=cpu', 'service=&type=cpu', 'service=a;b&type=cpu',
                      'service=%zz&type=cpu'):
            self.expect_post(query, 400, missing)
        self.expect('POST', '/profiles', 400, missing, 'service=a&type=cpu',
                    {'Content-Type': 'application/x-www-form-urlencoded'})

    def test_row_04_type_is_missing_or_no_name(self):
        """Deviation: any other lower-case name is a type of its own."""
        for query in ('', '&type=', '&type=unknown', '&type=CPU'):
            self.expect_post('service=a' + query, 400,
                             bad('unknown profile type'))
        for name in ('allocs', 'wall', 'blah', 'my.own-type_2'):
            self.assertEqual(self.take('service=a&type=' + name)['type'],
                             name)

    def test_row_05_type_is_trimmed(self):
        self.assertEqual(self.take('service=a&type=%20cpu%20')['type'], 'cpu')

    def test_row_06_type_is_not_compared_with_the_profile(self):
        body = heap_profile({'main': (1, 2, 3, 4)})
        self.assertEqual(self.take('service=a&type=cpu', body)['type'], 'cpu')

    def test_row_07_forms_of_upload(self):
        packed = cpu_profile({'main': 1})
        self.take('service=a&type=cpu', gzip.decompress(packed))
        for path, body, headers in (
                ('/profiles', packed, {'Content-Encoding': 'gzip'}),
                ('/profiles', iter([packed[:9], packed[9:]]), {}),  # chunked
                ('/profiles/', packed, {})):
            reply = self.ask('POST', path + '?service=a&type=cpu', body,
                             headers)
            self.assertEqual(reply.status, 200, reply.text)

    def test_row_08_text_is_no_profile(self):
        self.expect_post('service=a&type=cpu', 400, UNRECOGNIZED,
                         b'this is no profile')

    def test_row_09_empty_body(self):
        text = MALFORMED % 'parsing profile: empty input file'
        self.expect_post('service=a&type=cpu', 400, text, b'')
        self.expect_post('service=a&type=cpu', 400, text, gzip.compress(b''))

    def test_row_10_no_samples(self):
        self.expect_post('service=a&type=cpu', 400,
                         MALFORMED % 'profile is empty: no samples',
                         cpu_profile({}))

    def test_row_11_truncated_gzip(self):
        self.expect_post('service=a&type=cpu', 400,
                         MALFORMED % 'decompressing profile: unexpected EOF',
                         cpu_profile({'main': 1})[:-12])

    def test_row_12_traces_are_kept_as_they_are(self):
        """Deviation: bodies are limited, see row 13."""
        for body in (b'go 1.22 trace', b'', b'\0' * 100000):
            profile = self.take('service=a&type=trace', body)
            reply = self.ask('GET', '/profiles/' + profile['id'])
            self.assertEqual((reply.status, reply.body), (200, body))

    def test_row_14_time_of_the_profile_wins(self):
        self.assertEqual(
            self.take('service=a&type=cpu&created_at=2020-01-02T03:04:05')
            ['created_at'], '2019-05-30T21:10:05Z')
        late = cpu_profile({'main': 1}, time_nanos=0)
        self.assertEqual(
            self.take('service=a&type=cpu&created_at=2020-01-02T03:04:05',
                      late)['created_at'], '2020-01-02T03:04:05Z')

    def test_rows_15_and_16_bad_created_at(self):
        for text in ('2020-01-02', '2020-01-02T03:04:05Z'):
            self.expect_post(
                'service=a&type=cpu&created_at=' + text, 400,
                bad('bad \\"created_at\\" \\"%s\\": time in unsupported format '
                    '\\"%s\\"' % (text, text)))

    def test_row_17_fractions_of_a_second_are_not_shown(self):
        profile = self.take(
            'service=a&type=trace&created_at=2020-01-02T03:04:05.123', b'x')
        self.assertEqual(profile['created_at'], '2020-01-02T03:04:05Z')

    def test_row_18_other_methods(self):
        """Deviation: 405 instead of an empty 200."""
        for method in ('PUT', 'DELETE', 'PATCH'):
            reply = self.ask(method, '/profiles?service=a&type=cpu')
            self.assertEqual(reply.status, 405, method)
            self.assertIn('POST', reply.headers['Allow'])

    def test_row_19_double_slash(self):
        reply = self.pprofd.request('POST', '/api/0//profiles?service=a', b'x')
        self.assertEqual(reply.status, 301)
        self.assertEqual(reply.headers['Location'],
                         '/api/0/profiles?service=a')

    def test_row_20_service_names(self):
        for query, shown in (('a%2Fb%20%C3%A9', '"a/b é"'),
                             ('%3Ca%26b%3E%22',
                              '"\\u003ca\\u0026b\\u003e\\""'),
                             ('%ff%fe', '"\\ufffd\\ufffd"')):
            reply = self.ask('POST',
                             '/profiles?type=cpu&service=' + query,
                             cpu_profile({'main': 1}))
            self.assertIn('"service":' + shown, reply.text)

    def test_row_36_bad_labels(self):
        for text, escape in (('a=%zz', '%zz'), ('a=%', '%')):
            query = 'service=a&type=cpu&labels=' + text.replace('%', '%25')
            words = bad('bad \\"labels\\" \\"%s\\": invalid URL escape '
                        '\\"%s\\"' % (text, escape))
            self.expect_post(query, 400, words)
            self.expect('GET', '/profiles?' + query + '&' + R, 400, words)


class LimitTest(ProfefeTest):
    ARGS = ('--max-body', '200KB', '--max-inflated', '1MB')

    def test_row_13_bodies_are_limited(self):
        """Deviation: the original reads any amount into memory."""
        bomb = gzip.compress(b'\0' * (64 << 20))
        self.assertLess(len(bomb), 100000)
        reply = self.ask('POST', '/profiles?service=a&type=cpu', bomb)
        self.assertIn(reply.status, (400, 413))
        reply = self.ask('POST', '/profiles?service=a&type=trace',
                         b'\0' * 300000)
        self.assertEqual(reply.status, 413)
        self.take('service=a&type=cpu')


class ListTest(ProfefeTest):
    def setUp(self):
        super().setUp()
        for i, kind in enumerate(('cpu', 'heap', 'cpu')):
            self.stored(cpu_profile({'main': 1}, TIME + i * 10**9),
                        service='svc1', type=kind, labels='n=%d' % i)

    def names(self, query):
        reply = self.ask('GET', '/profiles?' + query)
        self.assertEqual(reply.status, 200, reply.text)
        return [p['labels'][0]['value'] for p in reply.json['body']]

    def expect_bad(self, query, words):
        self.expect('GET', '/profiles?service=svc1&' + query, 400, bad(words))

    def test_rows_21_to_24_list(self):
        self.assertEqual(self.names('service=svc1&' + R), ['0', '1', '2'])
        self.assertEqual(self.names('service=svc1&type=unknown&' + R),
                         ['0', '1', '2'])
        self.assertEqual(self.names('service=svc1&type=heap&' + R), ['1'])
        self.assertEqual(self.names('service=svc1&limit=1&' + R), ['2'])
        self.assertEqual(self.names('service=svc1&limit=2&' + R), ['1', '2'])
        for limit in ('0', '-1'):
            self.assertEqual(
                len(self.names('service=svc1&limit=%s&%s' % (limit, R))), 3)

    def test_row_22_a_type_that_nobody_sent(self):
        """Deviation: type names are free, so it finds nothing instead of
        everything."""
        self.expect('GET', '/profiles?service=svc1&type=blah&' + R, 404,
                    NOTHING)

    def test_rows_25_and_26_bad_limit(self):
        form = ('bad \\"limit\\" \\"%s\\": strconv.Atoi: parsing \\"%s\\": '
                '%s')
        self.expect_bad(R + '&limit=abc',
                        form % ('abc', 'abc', 'invalid syntax'))
        many = '9' * 20
        self.expect_bad(R + '&limit=' + many,
                        form % (many, many, 'value out of range'))

    def test_rows_27_and_28_missing_parameters(self):
        self.expect('GET', '/profiles?' + R, 400,
                    bad('missing \\"service\\"'))
        end = 'to=2030-01-01T00:00:00'
        for query in (end, 'from=&' + end):
            self.expect_bad(query, 'missing \\"from\\"')
        begin = 'from=2018-01-01T00:00:00'
        for query in (begin, begin + '&to='):
            self.expect_bad(query, 'missing \\"to\\"')

    def test_rows_29_and_30_bad_times(self):
        form = ('bad \\"%s\\" timestamp \\"%s\\": time in unsupported format '
                '\\"%s\\"')
        self.expect_bad('from=yesterday&to=2030-01-01T00:00:00',
                        form % ('from', 'yesterday', 'yesterday'))
        for text in ('2030-13-01T00:00:00', '1893456000',
                     '2030-01-01T00:00:00Z', '2030-01-01T00:00:00%2B02:00',
                     '2030-01-01%2000:00:00', '2030-1-01T00:00:00',
                     '2030-02-30T00:00:00', '2030-01-01T00:00:60',
                     '2030-01-01T24:00:00', '0001-01-01T00:00:00'):
            shown = text.replace('%2B', '+').replace('%20', ' ')
            self.expect_bad('from=2018-01-01T00:00:00&to=' + text,
                            form % ('to', shown, shown))

    def test_row_31_forms_of_times(self):
        for text in ('2018-01-01T00:00:00.5', '2018-01-01T00:00:00,5',
                     '2018-01-01T0:00:00'):
            self.assertEqual(len(self.names(
                'service=svc1&to=2030-01-01T00:00:00&from=' + text)), 3)

    def test_row_32_from_after_to(self):
        self.expect_bad(
            'from=2030-01-01T00:00:00&to=2018-01-01T00:00:00',
            'CreatedAtMin after CreatedAtMax: 2030-01-01 00:00:00 +0000 UTC, '
            '2018-01-01 00:00:00 +0000 UTC')

    def test_rows_33_and_34_both_ends_count(self):
        self.expect('GET', '/profiles?service=svc1&from=2019-05-30T21:10:05&'
                    'to=2019-05-30T21:10:05', 404, NOTHING)
        self.assertEqual(self.names(
            'service=svc1&from=2019-05-30T21:10:05.25&'
            'to=2019-05-30T21:10:05.25'), ['0'])
        self.take('service=svc1&type=trace&created_at=2020-01-02T03:04:05&'
                  'labels=n=t', b'x')
        self.assertEqual(self.names('service=svc1&from=2020-01-02T03:04:05&'
                                    'to=2020-01-02T03:04:05'), ['t'])

    def test_row_35_nothing_found(self):
        for query in ('service=other', 'service=svc', 'service=svc1&labels=n=7',
                      'service=svc1&labels=x=0'):
            self.expect('GET', '/profiles?' + query + '&' + R, 404, NOTHING)

    def test_far_times_are_clamped(self):
        """Deviation: the original's index overflows."""
        self.assertEqual(len(self.names(
            'service=svc1&from=1600-01-01T00:00:00&to=9999-01-01T00:00:00')),
                         3)

    def test_labels_are_complete_in_any_order(self):
        """Deviation: the original loses results when profiles arrive in
        another order than they were made."""
        for i in (5, 3, 9, 1, 7):
            self.stored(cpu_profile({'main': 1}, TIME - i * 10**9),
                        service='late', type='cpu',
                        labels='n=%d,half=%s' % (i, i > 4))
        self.stored(cpu_profile({'main': 1}, TIME - 4 * 10**9),
                    service='late', type='cpu')
        reply = self.ask('GET',
                         '/profiles?service=late&labels=half=True&' + R)
        self.assertEqual(
            [p['labels'][1]['value'] for p in reply.json['body']],
            ['9', '7', '5'])


class MergeTest(ProfefeTest):
    def setUp(self):
        super().setUp()
        self.ids = [self.stored(cpu_profile({'main;work': i + 1, 'main': 1},
                                            TIME + i * 10**9),
                                service='svc1', type='cpu')
                    for i in range(3)]
        self.heap = self.stored(heap_profile({'main': (1, 2, 3, 4)}),
                                service='svc1', type='heap')

    def top(self, path):
        url = self.pprofd.url('/api/0' + path)
        result = self.pprof('-top', '-sample_index=samples', url)
        self.assertEqual(result.returncode, 0, result.stderr)
        return {line.split()[-1]: line.split()[0]
                for line in result.stdout.splitlines()[-2:]}

    def test_row_37_merge(self):
        reply = self.ask('GET', '/profiles/merge?service=svc1&type=cpu&' + R)
        self.assertEqual(reply.status, 200)
        self.assertEqual(reply.headers['Content-Type'],
                         'application/octet-stream')
        self.assertEqual(reply.headers['Content-Disposition'],
                         'attachment; filename="cpu"')
        self.assertEqual(reply.body[:2], b'\x1f\x8b')
        self.assertEqual(self.top('/profiles/merge?service=svc1&type=cpu&' + R),
                         {'work': '6', 'main': '3'})

    def test_rows_38_to_40_what_cannot_be_merged(self):
        for kind, name in (('', 'unknown'), ('&type=', 'unknown'),
                           ('&type=unknown', 'unknown'),
                           ('&type=trace', 'trace')):
            self.expect('GET', '/profiles/merge?service=svc1&%s%s' % (R, kind),
                        405, '{"code":405,"error":"can\'t merge profiles of '
                        '%s type"}\n' % name)
        self.expect('GET', '/profiles/merge?service=svc1&type=mutex&' + R, 404,
                    NOTHING)

    def test_row_41_profiles_that_do_not_fit(self):
        """Deviation: the reason instead of an internal server error."""
        self.stored(heap_profile({'main': (1, 2, 3, 4)}), service='svc1',
                    type='cpu')
        reply = self.ask('GET', '/profiles/merge?service=svc1&type=cpu&' + R)
        self.assertIn(reply.status, (400, 422))
        self.assertIn('sample type', reply.text)

    def test_row_42_merge_by_post(self):
        reply = self.ask('POST', '/profiles/merge?service=svc1&type=cpu&' + R)
        self.assertEqual(reply.status, 200)

    def test_merge_with_limit_takes_the_newest(self):
        self.assertEqual(self.top('/profiles/merge?service=svc1&type=cpu&'
                                  'limit=2&' + R), {'work': '5', 'main': '2'})

    def test_row_43_by_id(self):
        for path in ('/profiles/' + self.ids[1],
                     '/profiles/' + self.ids[1] + '/'):
            self.assertEqual(self.top(path), {'work': '2', 'main': '1'})

    def test_several_ids(self):
        for between in ('+', '%2B', '%252B'):
            self.assertEqual(
                self.top('/profiles/' + between.join(self.ids[1:])),
                {'work': '5', 'main': '2'})
        unknown = '0' * 20
        self.assertEqual(
            self.top('/profiles/%s+%s' % (unknown, self.ids[0])),
            {'work': '1', 'main': '1'})
        reply = self.ask('GET', '/profiles/%s+%s' % (self.ids[0], self.heap))
        self.assertIn(reply.status, (400, 422))

    def test_ids_match_exactly(self):
        """Deviation: the original also finds prefixes and longer ids."""
        for path in (self.ids[0][:8], self.ids[0] + '00', '0' * 20, 'UPPER',
                     'a+b', self.ids[0].upper()):
            self.expect('GET', '/profiles/' + path, 404, NOTHING)
        self.expect('GET', '/profiles/%25zz', 400,
                    '{"code":400,"error":"invalid URL escape \\"%zz\\""}\n')

    def test_deleting_is_no_method(self):
        """Deviation: the original answers DELETE with the profile."""
        reply = self.ask('DELETE', '/profiles/' + self.ids[0])
        self.assertEqual(reply.status, 405)


class OtherRoutesTest(ProfefeTest):
    def test_services(self):
        self.expect('GET', '/services', 404, NOTHING)
        for service in ('b', 'a', 'b'):
            self.take('type=cpu&service=' + service)
        self.take('type=heap&service=a')
        self.expect('GET', '/services', 200, '{"code":200,"body":["a","b"]}\n')

    def test_version(self):
        body = self.ask('GET', '/version').json['body']
        self.assertEqual(sorted(body), ['build_time', 'commit', 'go_version',
                                        'version'])

    def test_row_44_unknown_paths(self):
        for path in ('/services/', '/version/', '/', '/nope'):
            self.expect('GET', path, 404, NOTHING)

    def test_row_45_unknown_pages(self):
        """Deviation: /healthz and /metrics exist."""
        reply = self.pprofd.request('GET', '/nowhere')
        self.assertEqual((reply.status, reply.text),
                         (404, '404 page not found\n'))
        self.assertEqual(self.pprofd.request('GET', '/healthz').status, 200)
        self.assertEqual(self.pprofd.request('GET', '/readyz').status, 200)

    def test_api_root_redirects(self):
        reply = self.pprofd.request('GET', '/api/0')
        self.assertEqual((reply.status, reply.headers['Location']),
                         (301, '/api/0/'))

    def test_metrics(self):
        self.take('type=cpu&service=a')
        self.ask('GET', '/profiles/' + '0' * 20)
        for path in ('/debug/metrics', '/metrics'):
            text = self.pprofd.request('GET', path).text
            self.assertIn('profefe_api_requests_total{code="200",method='
                          '"POST",path="/api/0/profiles"} 1\n', text)
            self.assertIn('profefe_api_requests_total{code="404",method='
                          '"GET",path="/api/0/profiles/__pid__"} 1\n', text)
            self.assertIn('profefe_api_request_duration_seconds_bucket', text)


class ClientTest(ProfefeTest):
    """Requests as the original's clients send them."""

    def test_go_agent(self):
        reply = self.pprofd.request(
            'POST', '/api/0/profiles?labels=version%3Dv%2B1%252C0&'
            'service=hotapp-service&type=cpu', cpu_profile({'main': 1}),
            {'User-Agent': 'Go-http-client/1.1'})
        self.assertEqual(reply.json['body']['labels'],
                         [{'key': 'version', 'value': 'v 1,0'}])

    def test_go_agent_without_labels(self):
        self.take('labels=&service=a&type=cpu')

    def test_kprofefe(self):
        reply = self.pprofd.request(
            'POST', '/api/0/profiles?instance_id=10.0.0.1&labels=%2Cfrom%3D'
            'kube-profefe%2Cnamespace%3Dprod%2Cpod%3Dapi-1&service=api&'
            'type=cpu', cpu_profile({'main': 1}),
            {'Content-Type': 'application/octet-stream',
             'UserAgent': 'kubectl-profefe',
             'traceparent': '00-0af7651916cd43dd8448eb211c80319c-'
                            'b7ad6b7169203331-01'})
        body = reply.json['body']
        self.assertEqual([label['key'] for label in body['labels']],
                         ['from', 'namespace', 'pod'])
        for key in ('id', 'type', 'service', 'created_at'):
            self.assertTrue(body[key])


if __name__ == '__main__':
    unittest.main()
