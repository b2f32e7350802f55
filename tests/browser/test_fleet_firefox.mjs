// The collector's page in another engine: services, explore, and the
// terminal's numbers.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import test, { after } from 'node:test';
import { Firefox } from './firefox.mjs';
import { fillFleet, startCollector } from './fleet_fixture.mjs';
import { rowsOf } from './page.mjs';
import { stopServers, tableOf, terminal } from './pprof.mjs';
import { ARTEFACTS } from './tools.mjs';

mkdirSync(ARTEFACTS, { recursive: true });
const fox = await Firefox.start();
const { url, stop } = await startCollector();
await fillFleet(url, { hours: 8, services: ['checkout', 'cart'] });

after(async () => {
  await fox.stop();
  stopServers();
  stop();
});

test('Firefox shows services, and opens one', async () => {
  await fox.open(`${url}/ui/services`);
  const rows = await rowsOf(fox);
  assert.deepEqual(rows[0].slice(0, 2), ['checkout', 'cpu']);
  await fox.evaluate(() => document.querySelector('.table-row').click());
  await fox.waitFor(() => location.pathname.endsWith('/flamegraph') &&
    globalThis.pprofFleet.strip.picture.course?.times.length > 20 &&
    document.querySelectorAll('.facet-value').length >= 4);
  await fox.shoot('firefox-fleet');
});

test('Firefox shows the numbers of the terminal', async () => {
  const range = { from: '2020-01-01', to: '2099-01-01' };
  const query = 'cpu{service="checkout"}';
  await fox.open(`${url}/ui/top?${new URLSearchParams({
    a: `${query} ${range.from}..${range.to}` })}`);
  const shown = (await rowsOf(fox)).map((cells) =>
    [cells[0], cells[3], cells[5]]);
  const printed = tableOf(terminal('-top', `${url}/api/1/merge?${
    new URLSearchParams({ query, ...range })}`)).map(([flat, , , cum, ,
    ...name]) => [flat, cum, name.join(' ')]);
  assert.ok(shown.length > 8);
  assert.deepEqual(shown, printed.slice(0, shown.length));
});

test('in Firefox a range is brushed and compared', async () => {
  const a = 'cpu{service="checkout"} now-1h..now';
  await fox.open(`${url}/ui/flamegraph?${new URLSearchParams({ a })}`);
  await fox.waitFor(() =>
    globalThis.pprofFleet.strip.picture.course?.times.length > 20);
  const [from, to] = await fox.evaluate(() => {
    const { strip, now } = globalThis.pprofFleet;
    const box = strip.frame.getBoundingClientRect();
    const { span } = strip.picture;
    return [4, 2].map((hours) => ({ y: box.top + box.height / 2,
      x: box.left + (now - hours * 3600 - span.from) / (span.to - span.from) *
        box.width }));
  });
  await fox.drag(from, to);
  await fox.waitFor(() => /\.\.20\d\d-/.test(
    new URL(location.href).searchParams.get('a')));
  await fox.waitFor(() => !document.querySelector('main')
    .hasAttribute('aria-busy'));
  await fox.evaluate(() => globalThis.pprofFleet.compareWith({
    ...globalThis.pprofFleet.a, from: 'now-8h', to: 'now-6h' }));
  await fox.waitFor(() => /→/.test(
    document.querySelector('.comparebar').textContent) &&
    document.querySelector('.compare-change').textContent !== '');
  await fox.shoot('firefox-fleet-compare');
});
