"""Targets from DNS: SRV, A and AAAA records that come, change and go, answers
that are too long for UDP, and a nameserver that fails."""

import unittest

import nameserver
from test_scrape import ScrapeTest

NAME = '_pprof._tcp.web.test'


class Dns(ScrapeTest):
    def setUp(self):
        super().setUp()
        self.dns = nameserver.Nameserver()
        self.addCleanup(self.dns.close)

    def start_names(self, *lines, names=NAME, **keys):
        """`keys` are those of dns_sd_configs."""
        keys = {'names': '[%s]' % names, 'nameserver': self.dns.address,
                'refresh_interval': '200ms', **keys}
        self.start('\n'.join((
            '- job_name: d', '  scrape_interval: 1s', '  profiles: [heap]',
            '  dns_sd_configs: [{%s}]' % ', '.join(
                '%s: %s' % item for item in keys.items()), *lines, '')))

    def instances(self):
        return sorted(t['instance'] for t in self.targets())

    def wait_instances(self, *expected):
        self.wait(lambda: self.instances() == sorted(expected),
                  'not ' + ' '.join(expected))

    def job(self):
        return self.pprofd.get('/api/1/targets').json['jobs'][0]

    def test_services(self):
        e = self.endpoint()
        self.dns.names[NAME] = [nameserver.service('localhost', e.port),
                                nameserver.service('127.0.0.9', 1)]
        self.start_names(
            '  relabel_configs:',
            '  - {source_labels: [__meta_dns_name], target_label: asked}',
            '  - {source_labels: [__meta_dns_srv_record_target, '
            '__meta_dns_srv_record_port], target_label: record}')
        here = 'localhost:%d' % e.port
        self.wait_instances(here, '127.0.0.9:1')
        self.wait_good('heap', instance=here, asked=NAME,
                       record='localhost.;%d' % e.port)
        self.wait_bad('connection refused', 'nothing listens',
                      instance='127.0.0.9:1')
        # Another order is no change; a record that goes takes its target along.
        good = self.profiles(instance=here)['heap']['good']
        self.dns.names[NAME].reverse()
        self.wait_good('heap', more_than=good, instance=here)
        self.dns.names[NAME] = self.dns.names[NAME][1:]
        self.wait_instances(here)
        self.assertGreater(self.profiles(instance=here)['heap']['good'], good)

    def test_a_name_that_goes_away(self):
        self.dns.names[NAME] = [nameserver.service('localhost', 81)]
        self.start_names()
        self.wait_instances('localhost:81')
        del self.dns.names[NAME]
        self.wait_instances()
        self.assertNotIn('discovery_error', self.job())
        self.dns.names[NAME] = []
        asked = len(self.dns.asked)
        self.wait(lambda: len(self.dns.asked) > asked + 1, 'not asked again')
        self.assertEqual(self.instances(), [])
        self.assertNotIn('discovery_error', self.job())

    def test_a_nameserver_that_fails(self):
        self.dns.names[NAME] = [nameserver.service('localhost', 81)]
        self.start_names()
        self.wait_instances('localhost:81')
        self.dns.names[NAME] = nameserver.SERVFAIL
        self.wait(lambda: NAME in self.job().get('discovery_error', ''),
                  'the failure is not told')
        self.assertEqual(self.instances(), ['localhost:81'])
        self.dns.names[NAME] = [nameserver.service('localhost', 82)]
        self.wait_instances('localhost:82')
        self.assertNotIn('discovery_error', self.job())

    def test_an_answer_that_is_too_long_for_udp(self):
        self.dns.names[NAME] = [nameserver.service('127.0.0.9', 1 + i)
                                for i in range(300)]
        self.start_names()
        self.wait(lambda: len(self.targets()) == 300, 'not all 300')
        self.assertIn((NAME, nameserver.SRV, True), self.dns.asked)

    def test_addresses(self):
        e = self.endpoint()
        self.dns.names['web.test'] = [nameserver.address('127.0.0.1'),
                                      nameserver.address('::1')]
        self.dns.names['more.test'] = [nameserver.address('127.0.0.2')]
        self.start_names(names='web.test, more.test', type='A', port=e.port)
        self.wait_instances(e.address, '127.0.0.2:%d' % e.port)
        self.wait_good('heap', instance=e.address)

    def test_addresses_of_version_6(self):
        self.dns.names['web.test'] = [nameserver.address('127.0.0.1'),
                                      nameserver.address('::1')]
        self.start_names(names='web.test', type='AAAA', port=81)
        self.wait_instances('[::1]:81')

    def test_the_resolver_of_the_system(self):
        e = self.endpoint()
        self.start('- job_name: d\n  scrape_interval: 1s\n  profiles: [heap]\n'
                   '  dns_sd_configs: [{names: [localhost], type: A, port: %d}]'
                   '\n' % e.port)
        self.wait_good('heap', instance=e.address)


if __name__ == '__main__':
    unittest.main()
