// The fleet's modules without a browser: selections, times, costs, what is
// compared with what, the strip's numbers, links and commands.

import assert from 'node:assert/strict';
import test from 'node:test';
import { baseFor, baseOfVersion, choiceOf, compareText, shiftOf }
  from '../../web/fleet/compare.js';
import { changeText, costOf, costText, kindOf } from '../../web/fleet/cost.js';
import { parseSelection, parseSelector, selectionText, selectorText, serviceOf,
  withMatcher, without, withValue } from '../../web/fleet/selection.js';
import { absoluteUrl, commandFor, profileUrl }
  from '../../web/fleet/share.js';
import { courseOf, deploysIn, stepFor, sumBetween }
  from '../../web/fleet/strip_data.js';
import { scalePlace } from '../../web/fleet/strip_paint.js';
import { jobText, lastScrape, profilesText, troubleOf }
  from '../../web/fleet/targets_view.js';
import { absolute, durationText, earlier, rangeText, secondsOf, spanOf,
  timeOf } from '../../web/fleet/times.js';

const NOW = Date.parse('2026-01-31T08:00:00Z') / 1000;

test('selections are read and written as the server does', () => {
  const text = 'cpu{service="api",region!="eu"} now-1h..now';
  const selection = parseSelection(text);
  assert.equal(selection.type, 'cpu');
  assert.equal(serviceOf(selection), 'api');
  assert.equal(selectionText(selection), text);
  for (const [given, canonical] of [
    [' heap { a =~ \'x|y\' , "k8s.pod"=`q` } 1..2 changes',
      'heap{a=~"x|y","k8s.pod"="q"} 1..2 changes'],
    ['{a="x y..z \\"q\\""} sent', '{a="x y..z \\"q\\""} now-1h..now'],
    ['cpu', 'cpu{} now-1h..now'], ['', '{} now-1h..now'],
    ['id:abc', 'id:abc']]) {
    assert.equal(selectionText(parseSelection(given)), canonical);
  }
  for (const wrong of ['cpu{a}', 'cpu{a="1"', 'cpu{a="1"}x', '{="1"}']) {
    assert.equal(parseSelector(wrong), null, wrong);
  }
});

test('conditions are added, replaced and removed', () => {
  const selection = parseSelection('cpu{service="api",v="1",r="eu"}');
  assert.equal(selectorText(withValue(selection, 'v', '2')),
    'cpu{service="api",v="2",r="eu"}');
  const not = { name: 'r', op: '!=', value: 'us' };
  const more = withMatcher(selection, not);
  assert.equal(selectorText(more), 'cpu{service="api",v="1",r="eu",r!="us"}');
  assert.equal(withMatcher(more, { ...not }), more);
  assert.equal(selectorText(without(more, 'r')), 'cpu{service="api",v="1"}');
});

test('times are relative, absolute, and moved in their own manner', () => {
  assert.equal(secondsOf('1h30m'), 5400);
  assert.ok(Number.isNaN(secondsOf('soon')));
  assert.equal(durationText(90061), '1d1h1m1s');
  assert.equal(timeOf('now-1d', NOW), NOW - 86400);
  assert.equal(timeOf('2026-01-31T08:00:00', NOW), NOW);
  assert.equal(timeOf('2026-01-31T09:00:00+01:00', NOW), NOW);
  assert.equal(absolute(NOW), '2026-01-31T08:00:00Z');
  assert.deepEqual(earlier({ from: 'now-1h', to: 'now' }, 86400, NOW),
    { from: 'now-1d1h', to: 'now-1d' });
  assert.deepEqual(earlier({ from: absolute(NOW - 60), to: absolute(NOW) },
    60, NOW), { from: absolute(NOW - 120), to: absolute(NOW - 60) });
  assert.equal(rangeText({ from: 'now-6h', to: 'now' }, NOW), 'Last 6 h');
  assert.match(rangeText({ from: 'now-6h', to: 'now-1h' }, NOW), /–/);
});

test('what a selection is compared with has a name', () => {
  const a = parseSelection('cpu{service="api"} now-1h..now');
  for (const [choice, range, words] of [
    ['previous', 'now-2h..now-1h', 'vs previous window'],
    ['yesterday', 'now-1d1h..now-1d', 'vs yesterday'],
    ['week', 'now-7d1h..now-7d', 'vs last week']]) {
    const b = baseFor(a, choice, NOW);
    assert.equal(selectionText(b), `cpu{service="api"} ${range}`);
    assert.equal(choiceOf(a, b, NOW), choice);
    assert.equal(compareText(a, b, NOW), words);
  }
  assert.equal(baseFor(a, '', NOW), null);
  const there = baseOfVersion(a, '1.2', { first: NOW - 9e4, last: NOW - 60 },
    NOW);
  assert.equal(selectionText(there),
    'cpu{service="api",version="1.2"} now-1h..now');
  assert.equal(compareText(a, there, NOW), 'vs version 1.2');
  const gone = spanOf(baseOfVersion(a, '1.1', { first: NOW - 9e4,
    last: NOW - 8e4 }, NOW), NOW);
  assert.equal(gone.to, NOW - 8e4 + 1);
  assert.equal(shiftOf(a, baseFor(a, 'week', NOW), NOW), 7 * 86400);
});

test('a cost does not depend on how often it was profiled', () => {
  const cpu = { unit: 'nanoseconds', valueType: 'cpu' };
  assert.equal(costOf([5e9, 1, 10], 'nanoseconds'), 0.5);
  assert.equal(costOf([50e9, 10, 100], 'nanoseconds'), 0.5);
  assert.equal(costText(0.5, kindOf(cpu, [5e9, 1, 10])), '0.5 cores');
  assert.equal(costText(2.5e9, kindOf(cpu, [5e9, 2, 0])), '2.50s');
  assert.equal(costText(3 * 2 ** 20, kindOf({ unit: 'bytes',
    valueType: 'inuse_space' }, [1, 1, 0])), '3MB');
  assert.equal(costText(12345.6, kindOf({ unit: 'count',
    valueType: 'goroutine' }, [1, 1, 0])), '12,346');
  assert.ok(Number.isNaN(costOf([0, 0, 0], 'bytes')));
  assert.deepEqual([[1.1, 1], [0.9, 1], [3.14, 1], [1, 0], [NaN, 1]].map(
    ([now, before]) => changeText(now, before)),
  ['+10%', '−10%', '×3.1', 'new', '–']);
});

const group = (name, points) => ({ group: name, type: 'cpu',
  unit: 'nanoseconds', points });

test('parts of a course add up to the whole', () => {
  const course = courseOf({ from: 0, to: 200, step: 60, groups: [
    group('a', [[0, 2e9, 1, 10], [60, 4e9, 2, 20]]),
    group('b', [[60, 4e9, 2, 20]])] });
  assert.deepEqual(course.times, [0, 60]);
  assert.deepEqual([...course.totals], [0.2, 0.2]);
  assert.deepEqual(course.parts.map(({ name, heights }) => [name,
    [...heights]]), [['a', [0.2, 0.1]], ['b', [0, 0.1]]]);
  assert.deepEqual(sumBetween(course, 60, 120), { sum: 8e9, profiles: 4 });
  const many = courseOf({ from: 0, to: 60, step: 60, groups: Array.from(
    { length: 20 }, (_, i) => group(`g${i}`, [[0, (i + 1) * 1e9, 1, 10]])) });
  assert.equal(many.parts.length, 8);
  assert.equal(many.parts[7].name, '13 others');
  assert.ok(Math.abs(many.parts.reduce((sum, { heights }) => sum + heights[0],
    0) - many.totals[0]) < 1e-9);
  assert.equal(courseOf({ from: 0, to: 1, step: 1, groups: [] }).parts.length,
    0);
});

test('numbers of the strip are not written over the letter of a range', () => {
  const x = (t) => t;
  const range = (from, to) => ({ from, to });
  assert.equal(scalePlace([null, null], x, 60), 6);
  assert.equal(scalePlace([range(200, 300), null], x, 60), 6);
  assert.equal(scalePlace([range(20, 50), null], x, 60), 43);
  // One after the other, one that begins before, one that is not visible.
  assert.equal(scalePlace([range(60, 90), range(20, 50)], x, 60), 83);
  assert.equal(scalePlace([range(-30, 400), null], x, 60), 23);
  assert.equal(scalePlace([range(-30, -5), null], x, 60), 6);
});

test('a version that appears is a deploy', () => {
  assert.deepEqual(deploysIn({ from: 0, to: 9, step: 1, groups: [
    group('', [[3, 1, 1, 1]]), group('1', [[0, 1, 1, 1]]),
    group('2', [[5, 1, 1, 1]]), group('1.5', [[4, 1, 1, 1]])] }),
  [{ time: 4, version: '1.5' }, { time: 5, version: '2' }]);
  assert.deepEqual(deploysIn({ from: 0, to: 9, step: 1, groups: [] }), []);
  assert.equal(stepFor(86400, 1000), 600);
  assert.equal(stepFor(600, 1000), 60);
});

test('links and commands have absolute times', () => {
  const a = parseSelection('cpu{service="it\'s"} 1..2');
  const url = new URL(profileUrl(a, 'http://c:1'));
  assert.equal(url.pathname, '/api/1/merge');
  assert.equal(url.searchParams.get('query'), 'cpu{service="it\'s"}');
  assert.ok(!/[^\\]'[^']*s"/.test(commandFor('pprof', a, null, 'http://c:1')));
  assert.equal(commandFor('go tool pprof', { ...a, id: 'x' }, { ...a, id: 'y' },
    'http://c:1'), 'go tool pprof -diff_base ' +
    '\'http://c:1/api/0/profiles/y\' \'http://c:1/api/0/profiles/x\'');
  const link = new URL(absoluteUrl('http://c:1/ui/top?a=x&live=t&f=y', 'p q',
    ''));
  assert.deepEqual([...link.searchParams], [['a', 'p q'], ['f', 'y']]);
});

test('a target has one row: its profiles, its last scrape, its errors',
  () => {
    const target = { job: 'api', service: 'api', instance: 'a:1', url: '',
      interval_seconds: 60, health: 'down', profiles: [
        { profile: 'index', good: 1, bad: 0, last_scrape: 5 },
        { profile: 'cpu', type: 'cpu', good: 0, bad: 2, last_scrape: 7,
          error: 'connection refused' },
        { profile: 'heap', type: 'heap', good: 0, bad: 1, last_scrape: 9,
          error: 'connection refused' },
        { profile: 'mutex', type: 'mutex', good: 0, bad: 0 }] };
    assert.equal(profilesText(target), 'cpu, heap, mutex');
    assert.equal(lastScrape(target), 9);
    assert.equal(troubleOf(target), 'connection refused');
    assert.equal(lastScrape({ ...target, profiles: [] }), 0);
  });

test('a job says what is wrong with it, or nothing', () => {
  const job = { job: 'api', ready: true, dropped: 0, wrong: 0 };
  assert.equal(jobText(job), '');
  assert.equal(jobText({ ...job, dropped: 2 }),
    'api: relabelling dropped 2 targets');
  assert.equal(jobText({ ...job, wrong: 1, error: 'no address' }),
    'api: 1 target cannot be scraped: no address');
  assert.equal(jobText({ ...job, discovery_error: 'no such file' }),
    'api: no such file');
});
