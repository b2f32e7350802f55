"""Sums of expired days on ClickHouse: the same answers as from the profiles,
whatever happens while they are made."""

import gzip
import os
import re
import signal
import subprocess
import threading
import time
import unittest

from clickhouse import Proxy, StoreTest
from collector import (PPROFD, SECOND, Pprofd, cpu_profile, heap_profile,
                       profilepb)

MINUTE, HOUR, DAY = 60 * SECOND, 3600 * SECOND, 86400 * SECOND


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """(number, value) of a message; numbers or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        yield key >> 3, value


def numbers(message, wanted):
    """Of a repeated field, packed or not."""
    found = []
    for number, value in message:
        at = 0
        if number == wanted and isinstance(value, int):
            found.append(value)
        while number == wanted and isinstance(value, bytes) and at < len(value):
            one, at = varint(value, at)
            found.append(one)
    return [one - (1 << 64) if one >> 63 else one for one in found]


def samples_of(body):
    """{(names of the stack, labels): values} of a gzip'd profile, and what its
    header says."""
    texts, functions, locations, samples, header = [], {}, {}, [], {}
    for number, value in fields(gzip.decompress(body)):
        if number == 6:
            texts.append(value.decode())
        elif number == 5:
            message = dict(fields(value))
            functions[message[1]] = message[2]
        elif number == 4:
            message = dict(fields(value))
            locations[message[1]] = dict(fields(message[4]))[1]
        elif number == 2:
            samples.append(list(fields(value)))
        elif number in (9, 10, 12):
            header[number] = value
    sums = {}
    for sample in samples:
        names = tuple(texts[functions[locations[i]]]
                      for i in numbers(sample, 1))
        labels = tuple(sorted(
            (texts[label[1]], texts[label.get(2, 0)], label.get(3, 0))
            for label in (dict(fields(value)) for number, value in sample
                          if number == 3)))
        key = names, labels
        sums[key] = [a + b for a, b in zip(numbers(sample, 2), sums.get(
            key, [0] * 99))]
    return sums, header


class SumsTest(StoreTest):
    def setUp(self):
        super().setUp()
        # Midnight, some days ago.
        self.day = time.time_ns() // DAY * DAY - 6 * DAY
        self.config = self.path('config.yaml')
        self.turns = 0
        self.retain('0')

    def retain(self, raw, more=''):
        with open(self.config, 'w') as f:
            f.write('scrape:\n  self: false\nretention:\n  raw: %s\n'
                    '  minute: 60d\n  hour: 90d\n  day: 36500d\n%s'
                    % (raw, more))

    def collector(self, *args, **more):
        return super().collector('--config', self.config, *args, **more)

    def turn(self, *pprofds):
        """Has the collectors look for what has expired."""
        self.turns += 1
        with open(self.config, 'a') as f:
            f.write('# %d\n' % self.turns)
        for pprofd in pprofds:
            pprofd.process.send_signal(signal.SIGHUP)

    def states(self):
        """Of services and types on a day, how far their sums are."""
        return [int(line) for line in self.sql(
            'SELECT max(state) FROM DB.pprofd_builds WHERE state > 1 GROUP BY '
            'day, service, type').split()]

    def age(self):
        """An hour passes for the states of the sums."""
        self.sql('ALTER TABLE DB.pprofd_builds UPDATE at = at - 3600 WHERE '
                 'at > 0')
        self.wait_for(lambda: self.sql(
            "SELECT count() FROM system.mutations WHERE database = '%s' AND "
            'NOT is_done' % self.database) == '0\n')

    def number(self, sql):
        return int(self.sql(sql))

    def profiles(self):
        return self.number('SELECT count() FROM DB.pprofd_profiles')

    def make_sums(self, pprofd, pieces=6):
        self.retain('1d')
        self.turn(pprofd)
        self.wait_for(lambda: self.states() == pieces * [2])

    def advance(self, pprofd, is_done):
        """More than once if another collector has made the same sums: then
        the later ones have to be sealed, too."""
        for _ in range(4):
            self.age()
            self.turn(pprofd)
            end = time.monotonic() + 15
            while time.monotonic() < end:
                if is_done():
                    return
                time.sleep(0.1)
        self.fail('it does not happen')

    def seal_sums(self, pprofd, pieces=6):
        self.advance(pprofd, lambda: self.states() == pieces * [3])

    def drop_profiles(self, pprofd):
        self.advance(pprofd, lambda: not self.profiles())

    def fill(self, *pprofds):
        """Two days of several processes and kinds; the collectors in turn."""
        n = 0

        def put(body, **query):
            nonlocal n
            n += 1
            self.stored(pprofds[n % len(pprofds)], body, **query)

        for day in range(2):
            for minute in (0, 1, 61, 700, 1439):
                t = self.day + day * DAY + minute * MINUTE
                for pod in 'xyz':
                    put(cpu_profile({'main;a': minute + 1, 'main;b;a': 2,
                                     'main;%s' % pod: 7}, t + SECOND),
                        labels='pod=' + pod)
                put(cpu_profile({'main;a': 5}, t + 2 * SECOND,
                                labels={'user': 'u%d' % (minute % 2)}),
                    labels='pod=x')
                # A process that starts anew after the second midnight.
                count = (100 + minute if day == 0 else
                         minute if minute else 2000)
                put(heap_profile({'main;make': (count, 8 * count, 3, 24),
                                  'main;other': (1, 8, day, 8 * day)},
                                 t + SECOND), type='heap', labels='pod=x')
            put(self.wide(t), type='wide')

    def wide(self, t):
        p = profilepb.Profile([('t%d' % i, 'count') for i in range(6)])
        p.time_nanos = t
        for name in 'fg':
            p.sample([p.location(p.function(name, name + '.c'), line=1)],
                     [1, 2, 3, 4, 5, 6])
        return gzip.compress(p.encode())

    def between(self, start, end):
        return {'from': str((self.day + start) // SECOND),
                'to': str((self.day + end) // SECOND)}

    def merged(self, pprofd, query, **more):
        reply = pprofd.get('/api/1/merge', query=query,
                           **{**self.between(0, 2 * DAY), **more})
        self.assertEqual(reply.status, 200, reply.text)
        return samples_of(reply.body)

    def rows(self, pprofd, path, query, **more):
        reply = pprofd.get('/api/1/' + path, query=query,
                           **{**self.between(0, 2 * DAY), **more})
        self.assertEqual(reply.status, 200, reply.text)
        return reply.json

    def points(self, pprofd, query, **more):
        """[time, sum, profiles] of each step."""
        groups = self.rows(pprofd, 'series', query, **more)['groups']
        return [[point[:3] for point in group['points']] for group in groups]

    def answers(self, pprofd):
        """To some of the questions in which sums can go wrong."""
        changes = {'values': 'changes', 'value_type': 'alloc_space'}
        return {
            'cpu': self.merged(pprofd, 'cpu'),
            'labels': self.merged(pprofd, 'cpu{service="api",pod=~"x|y"}'),
            'wide': self.merged(pprofd, 'wide'),
            'changes': self.merged(pprofd, 'heap', values='changes'),
            'second day': self.merged(pprofd, 'heap', values='changes',
                                      **self.between(DAY, 2 * DAY - 1)),
            'series': self.points(pprofd, 'cpu', step='1m'),
            'series of changes': self.points(pprofd, 'heap', step='1h',
                                             **changes),
            'function': self.rows(pprofd, 'function', 'heap', name='make',
                                  step='1m', **changes),
        }

    def all_answers(self, pprofd):
        """To all kinds of questions."""
        found = self.answers(pprofd)

        def note(kind, answer, *question):
            found[(kind, *question)] = answer

        for query in ('cpu{service="api"}', 'cpu{service="api",pod="x"}',
                      'heap{service="api"}', 'wide{service="api"}'):
            for step in ('1m', '1h', '1d'):
                note('series', self.points(pprofd, query, step=step), query,
                     step)
        for start, end in ((0, DAY), (MINUTE, 2 * HOUR), (HOUR, 25 * HOUR)):
            for query in ('cpu', 'heap'):
                note('merge', self.merged(
                    pprofd, query, **self.between(start, end - SECOND)),
                    query, start)
        for step in ('1m', '1d'):
            note('function', self.rows(pprofd, 'function', 'cpu', name='a',
                                       step=step, value_type='samples'), step)
            for kind in ('alloc_objects', 'inuse_space'):
                note('changes', self.points(
                    pprofd, 'heap', step=step, value_type=kind,
                    values='changes'), kind, step)
                note('changes of', self.rows(
                    pprofd, 'function', 'heap', name='make', step=step,
                    value_type=kind, values='changes'), kind, step)
        return found

    def check(self, pprofd, before):
        self.compare(self.answers(pprofd), before)

    def check_all(self, pprofd, before):
        self.compare(self.all_answers(pprofd), before)

    def compare(self, now, before):
        for question, answer in before.items():
            self.assertEqual(now[question], answer, question)


class KillingProxy(Proxy):
    """Kills a collector when it is about to insert sums for the n-th time."""

    def __init__(self, server, n):
        self.left, self.victim = n, None
        super().__init__(server)

    def requests(self, client, server):
        with client, server:
            try:
                while data := client.recv(1 << 16):
                    self.left -= data.count(b'INSERT INTO pprofd_sums')
                    if self.left <= 0:
                        self.victim.process.kill()
                        return
                    server.sendall(data)
            except OSError:
                pass


class TwoKinds:
    """Runs on the old server and on the current engine."""

    def embedded(self):
        pprofd = Pprofd(self.path('embedded'), '--config', self.config)
        self.addCleanup(pprofd.stop)
        return pprofd

    def test_same_answers_when_the_profiles_are_gone(self):
        one, two, embedded = (self.collector(), self.collector(),
                              self.embedded())
        self.fill(one, two)
        self.fill(embedded)
        before = self.all_answers(one)
        self.check_all(embedded, before)
        self.make_sums(one)
        self.assertGreater(self.profiles(), 0)
        self.check_all(two, before)
        self.seal_sums(two)
        self.check_all(one, before)
        self.drop_profiles(one)
        reply = one.get('/api/1/profiles', **self.between(0, 2 * DAY))
        self.assertEqual(reply.json['profiles'], [])
        for pprofd in (one, two):
            self.check_all(pprofd, before)

    def test_midnight_between_sums_and_profiles(self):
        """Changes of cumulative values go on across it."""
        pprofd = self.collector()
        self.fill(pprofd)
        before = self.answers(pprofd)
        n = self.profiles()
        self.retain('5d')
        self.turn(pprofd)
        self.wait_for(lambda: self.states() == 3 * [2])
        self.check(pprofd, before)
        self.seal_sums(pprofd, 3)
        self.age()
        self.turn(pprofd)
        # Profiles of the first day stay for the changes of the second.
        self.retain('1d')
        self.turn(pprofd)
        self.wait_for(lambda: sorted(self.states()) == [2, 2, 2, 3, 3, 3])
        self.assertEqual(self.profiles(), n)
        self.check(pprofd, before)
        self.seal_sums(pprofd)
        self.drop_profiles(pprofd)
        self.check(pprofd, before)

    def test_what_came_twice_counts_once(self):
        pprofd = self.collector()
        self.fill(pprofd)
        before = self.answers(pprofd)
        self.sql('INSERT INTO DB.pprofd_profiles SELECT * FROM '
                 'DB.pprofd_profiles')
        self.make_sums(pprofd)
        self.check(pprofd, before)
        # Two collectors that did not see each other.
        for table in ('sums', 'builds'):
            columns = [line.split('\t')[0] for line in self.sql(
                'DESCRIBE TABLE DB.pprofd_' + table).splitlines()]
            self.sql('INSERT INTO DB.pprofd_%s (%s) SELECT %s FROM '
                     'DB.pprofd_%s' % (table, ', '.join(columns), ', '.join(
                         'build + 1' if name == 'build' else name
                         for name in columns), table))
        self.check(pprofd, before)
        # An insert that was repeated.
        self.sql('INSERT INTO DB.pprofd_sums SELECT * FROM DB.pprofd_sums')
        self.check(pprofd, before)
        self.seal_sums(pprofd)
        self.drop_profiles(pprofd)
        self.check(pprofd, before)

    def test_late_profiles(self):
        with open(self.path('forever.yaml'), 'w') as f:
            f.write('scrape:\n  self: false\nretention:\n  raw: 0\n')
        pprofd = self.collector()
        other = StoreTest.collector(self, '--config',
                                    self.path('forever.yaml'),
                                    url=self.server.url())
        self.fill(pprofd)
        self.fill(other)
        self.make_sums(pprofd)
        for to in (pprofd, other):
            self.stored(to, cpu_profile({'main;late': 3}, self.day + 5 * HOUR),
                        labels='pod=late')
            self.stored(to, heap_profile({'main;make': (110, 880, 1, 8)},
                                         self.day + 30 * SECOND),
                        type='heap', labels='pod=x')
        self.age()
        self.turn(pprofd)
        self.wait_for(lambda: self.number(
            'SELECT count() FROM DB.pprofd_builds WHERE state = 2') == 8)
        self.check(pprofd, self.answers(other))
        self.seal_sums(pprofd)
        # It comes too late.
        self.stored(pprofd, cpu_profile({'main;late': 100},
                                        self.day + 5 * HOUR))
        self.drop_profiles(pprofd)
        self.check(pprofd, self.answers(other))

    def test_killed_in_the_middle(self):
        proxy = KillingProxy(self.server, 3)
        self.addCleanup(proxy.stop)
        victim = self.collector(url=self.url.replace(
            ':%d/' % self.server.port, ':%d/' % proxy.port))
        proxy.victim = victim
        self.fill(victim)
        before = self.answers(victim)
        self.retain('1d')
        self.turn(victim)
        victim.process.wait(60)
        dead = self.number('SELECT uniqExact(build) FROM DB.pprofd_sums')
        self.assertEqual(dead, 1)
        self.assertEqual(self.states(), [])
        pprofd = self.collector()
        self.check(pprofd, before)
        self.age()  # until then somebody might still be at it
        self.make_sums(pprofd)
        self.check(pprofd, before)
        self.seal_sums(pprofd)
        self.wait_for(lambda: self.number(
            'SELECT uniqExact(build) FROM DB.pprofd_sums') == 2)
        self.drop_profiles(pprofd)
        self.check(pprofd, before)

    def test_levels_expire(self):
        pprofd = self.collector()
        self.fill(pprofd)
        before = {step: self.points(pprofd, 'cpu', step=step)
                  for step in ('1h', '1d')}
        merged = self.merged(pprofd, 'cpu')
        self.make_sums(pprofd)
        self.seal_sums(pprofd)
        self.drop_profiles(pprofd)
        level = 'SELECT count() FROM DB.pprofd_sums WHERE level = %d'
        for number, name, step in ((1, 'minute', '1h'), (2, 'hour', '1d')):
            self.assertGreater(self.number(level % number), 0)
            with open(self.config) as f:
                text = f.read()
            with open(self.config, 'w') as f:
                f.write(re.sub('%s: .*' % name, name + ': 2d', text))
            self.turn(pprofd)
            self.wait_for(lambda: not self.number(level % number))
            self.assertEqual(self.points(pprofd, 'cpu', step=step),
                             before[step])
            self.assertEqual(self.merged(pprofd, 'cpu'), merged)
        self.assertEqual(self.points(pprofd, 'cpu', step='1h'), [])

    def test_rules_for_services(self):
        pprofd = self.collector()
        self.fill(pprofd)
        self.stored(pprofd, cpu_profile({'main;kept': 9}, self.day + HOUR),
                    service='o\'ther')
        before = self.merged(pprofd, 'cpu')
        self.assertIn((('kept', 'main'), ()), before[0])
        keep = '  rules:\n    - service: "o\'ther"\n      raw: 300d\n'
        self.retain('1d', keep)
        self.turn(pprofd)
        self.wait_for(lambda: self.states() == 6 * [2])
        self.seal_sums(pprofd)
        self.age()
        self.turn(pprofd)
        self.wait_for(lambda: self.profiles() == 1)
        self.assertEqual(self.merged(pprofd, 'cpu'), before)
        self.assertEqual(self.merged(pprofd, 'cpu{service=~"a.*"}')[0],
                         {key: values for key, values in before[0].items()
                          if 'kept' not in key[0]})

    def old_tables(self):
        """Those of version 1."""
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                            'clickhouse_schema_1.sql')
        with open(path) as f:
            text = f.read()
        if self.KIND == '18.16':
            text = re.sub(r' CODEC\([^)]*\)+', '', text)
            text = re.sub(r',(\n +INDEX .*)+', '', text)
            text = text.replace('LowCardinality(String)', 'String')
        self.server.query('CREATE DATABASE ' + self.database)
        for statement in text.split(';\n'):
            if statement.strip():
                self.sql(statement)

    def test_tables_of_version_1(self):
        """Two collectors bring them forward at once while others write."""
        writer = self.collector()
        self.fill(writer)
        before = self.answers(writer)
        writer.stop()
        source, self.url = self.database, self.server.url()
        self.database = self.url.rpartition('/')[2]
        self.old_tables()
        self.assertEqual(self.sql('SELECT max(version) FROM '
                                  'DB.pprofd_schema'), '1\n')
        self.sql('INSERT INTO DB.pprofd_records SELECT * FROM '
                 '%s.pprofd_records' % source)
        # As a collector that knows only those tables goes on writing.
        parts = [threading.Thread(target=self.sql, args=(
            'INSERT INTO DB.pprofd_profiles SELECT * FROM %s.pprofd_profiles '
            'WHERE series %% 8 = %d' % (source, i),)) for i in range(8)]
        starts = [threading.Thread(target=self.collector, daemon=True)
                  for _ in range(2)]
        for thread in (*parts[:4], *starts, *parts[4:]):
            thread.start()
        for thread in (*parts, *starts):
            thread.join()
        self.assertEqual(self.sql('SELECT max(version) FROM '
                                  'DB.pprofd_schema'), '2\n')
        pprofd = self.collector()
        self.check(pprofd, before)
        self.make_sums(pprofd)
        self.seal_sums(pprofd)
        self.drop_profiles(pprofd)
        self.check(pprofd, before)


class OldServer(TwoKinds, SumsTest):
    pass


class CurrentEngine(TwoKinds, SumsTest):
    KIND = '26.x'


if __name__ == '__main__':
    unittest.main()
