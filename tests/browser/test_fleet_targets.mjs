// Targets: a collector that scrapes one program that lives (another pprofd,
// which serves its own profiles) and one that does not.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { after, afterEach } from 'node:test';
import { barriers, finish, rowsOf, scratch, shoot, takeComplaints }
  from './browser.mjs';
import { startCollector } from './fleet_fixture.mjs';
import { openFleet, resting, wordsOf } from './fleet_page.mjs';

const live = await startCollector();
const config = join(scratch, 'targets.yaml');
const job = (name, target) => `- job_name: ${name}
  scrape_interval: 1s
  profiles: [heap]
  static_configs:
    - targets: ['${target}']
`;
const address = new URL(live.url).host;
writeFileSync(config, `scrape_configs:\n${job('alive', address)}${
  job('dead', '127.0.0.1:1')}`);
const { url, stop } = await startCollector('--config', config);

after(async () => {
  await finish();
  stop();
  live.stop();
});
afterEach(() => assert.deepEqual(takeComplaints(), []));

const HEALTH = 0;
const SERVICE = 1;
const INSTANCE = 2;
const PROFILES = 5;
const LAST = 7;
const GOOD = 8;
const BAD = 9;
const ERROR = 10;

/** The page, when both were tried; it looks again by itself. */
async function openTargets(options = {}) {
  const page = await openFleet(url, 'targets', {}, options);
  await page.waitForFunction(() => {
    const text = document.querySelector('main').textContent;
    return text.includes('down') && text.includes('up');
  }, null, { timeout: 60000 });
  return page;
}

test('what fails comes first, with the reason', async () => {
  const page = await openTargets();
  const [dead, alive] = await rowsOf(page);
  assert.deepEqual([dead[HEALTH], dead[SERVICE], dead[INSTANCE], dead[GOOD]],
    ['down', 'dead', '127.0.0.1:1', '0']);
  assert.match(dead[ERROR], /^connection refused/);
  assert.match(dead[LAST], /ago$/);
  assert.ok(Number(dead[BAD]) > 0);
  assert.deepEqual([alive[HEALTH], alive[SERVICE], alive[INSTANCE],
    alive[PROFILES], alive[BAD], alive[ERROR]],
  ['up', 'alive', address, 'heap', '0', '']);
  assert.ok(Number(alive[GOOD]) > 0);
  assert.equal(await page.locator('.services-bar .muted').textContent(),
    '2 targets');
  await page.getByRole('button', { name: 'Down 1' }).click();
  await page.waitForFunction(() =>
    document.querySelectorAll('main .table-row').length === 1);
  assert.equal(wordsOf(page).get('kind'), 'down');
  await page.close();
});

test('a target opens its profiles; one without says so', async () => {
  const page = await openTargets();
  await page.locator('main .table-row', { hasText: 'dead' }).click();
  await page.waitForFunction(() =>
    document.querySelector('#messages p') !== null);
  assert.match(await page.locator('#messages p').textContent(),
    /^127\.0\.0\.1:1 has no profiles yet: connection refused/);
  await page.locator('main .table-row', { hasText: 'alive' }).click();
  await page.waitForURL(/flamegraph/);
  await resting(page);
  assert.equal(wordsOf(page).get('a'),
    `heap{service="alive",instance="${address}"} now-1h..now`);
  await page.close();
});

test('without targets the page says how to configure some', async () => {
  const empty = await startCollector();
  const page = await openFleet(empty.url, 'targets');
  assert.match(await page.locator('.empty').textContent(),
    /No targets are configured[^]*scrape_configs:[^]*--config pprofd\.yaml/);
  assert.deepEqual(await barriers(page), []);
  await page.close();
  empty.stop();
});

test('targets fit every window, and axe finds nothing', async () => {
  for (const [name, viewport] of [['', { width: 1440, height: 900 }],
    ['-wide', { width: 2560, height: 1440 }],
    ['-phone', { width: 390, height: 844 }]]) {
    for (const colorScheme of ['light', 'dark']) {
      const page = await openTargets({ viewport, colorScheme });
      const wide = await page.evaluate(() => Math.max(
        document.documentElement.scrollWidth - innerWidth,
        ...[...document.querySelectorAll('main .numeric .cell-text')].map(
          (one) => one.scrollWidth - one.clientWidth - 1)));
      assert.ok(wide <= 0, `${viewport.width}: ${wide}`);
      assert.deepEqual(await barriers(page), [],
        `${viewport.width} ${colorScheme}`);
      await shoot(page, `fleet-targets${name}-${colorScheme}`);
      await page.close();
    }
  }
});
