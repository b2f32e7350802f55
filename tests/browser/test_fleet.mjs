// The collector's page on a real pprofd with a day of twenty services.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { after, afterEach } from 'node:test';
import { barriers, finish, open, rowsOf, scratch, settled, shoot, tableOf,
  takeComplaints, terminal } from './browser.mjs';
import { cpuProfile, fillFleet, LONG_NAME, Sender, SERVICES, startCollector }
  from './fleet_fixture.mjs';
import { cpuOf, openFleet, resting, stripPlace, wordsOf }
  from './fleet_page.mjs';

const empty = await startCollector();
const { url, stop } = await startCollector();
await fillFleet(url);

after(async () => {
  await finish();
  stop();
  empty.stop();
});
afterEach(() => assert.deepEqual(takeComplaints(), []));

const HOUR = 3600;
const explore = (words = {}, options = {}) => openFleet(url, 'flamegraph',
  { a: cpuOf('checkout'), ...words }, options);
const textOf = (page, selector) => page.locator(selector).first()
  .textContent();

// ---- services ----

test('the start page lists every service, the largest change first',
  async () => {
    const page = await openFleet(url, '');
    assert.match(page.url(), /\/ui\/services$/);
    const rows = await rowsOf(page);
    assert.deepEqual([rows[0][0], rows[0][1]], ['checkout', 'cpu']);
    assert.match(rows[0][3], /^0\.\d+ cores$/);
    assert.match(rows[0][4], /^\+\d+%$/);
    assert.equal(rows[0][5], '2.5.0');
    assert.match(rows[0][6], /ago$/);
    assert.equal(await textOf(page, '.services-bar .muted'), '20 services');
    assert.ok(await page.locator('.sparkline-line').count() > 10);
    await page.getByRole('button', { name: 'Service', exact: true }).click();
    const names = (await rowsOf(page)).map(([name]) => name);
    assert.deepEqual(names.slice(0, 4), ['auth', 'auth', 'billing',
      'billing']);
    await page.reload();
    await resting(page);
    assert.equal((await rowsOf(page))[0][0], 'auth');
    await page.close();
  });

test('services are filtered by name and type, and open with a click',
  async () => {
    const page = await openFleet(url, 'services');
    await page.getByRole('button', { name: 'heap', exact: true }).click();
    await page.getByLabel('Filter services').fill('recommendation');
    await page.waitForFunction(() =>
      document.querySelectorAll('main .table-row').length === 1);
    const [row] = await rowsOf(page);
    assert.deepEqual(row.slice(0, 2), [LONG_NAME, 'heap']);
    assert.equal(await textOf(page, '.services-bar .muted'),
      '1 of 20 services');
    assert.match(row[3], /^[\d.]+MB$/);
    await page.locator('main .table-row').click();
    await page.waitForURL(/flamegraph/);
    await resting(page);
    assert.equal(wordsOf(page).get('a'),
      `heap{service="${LONG_NAME}"} now-1h..now`);
    await page.goBack();
    await resting(page);
    assert.equal(await page.getByLabel('Filter services').inputValue(),
      'recommendation');
    await page.close();
  });

test('an empty collector shows the three commands that fill it', async () => {
  const page = await openFleet(empty.url, 'services');
  const commands = await page.locator('.empty pre').allTextContents();
  assert.equal(commands.length, 3);
  assert.ok(commands[1].includes(`${empty.url}/api/0/profiles?service=`));
  assert.deepEqual(await barriers(page), []);
  await shoot(page, 'fleet-empty');
  await page.close();
});

test('pprofd\'s own profiles do not hide the commands', async () => {
  const sender = new Sender(empty.url);
  sender.add({ service: 'pprofd', type: 'cpu', at: Date.now() - 5e3,
    body: cpuProfile('pprofd', 1, false) });
  await sender.finish();
  const page = await openFleet(empty.url, 'services');
  assert.equal((await rowsOf(page))[0][0], 'pprofd');
  assert.equal(await page.locator('.empty pre').count(), 3);
  assert.match(await textOf(page, '.empty h3'), /own profiles/);
  assert.deepEqual(await barriers(page), []);
  await shoot(page, 'fleet-own');
  await page.close();
});

test('the list is there before the rest of the page has started', async () => {
  const page = await open('about:blank', {}, false);
  // What would start the rest never comes.
  await page.addInitScript(() => {
    globalThis.requestAnimationFrame = () => 0;
    const { setTimeout: after } = globalThis;
    globalThis.setTimeout = (work, ms, ...more) => after(work,
      ms === 100 ? 1e6 : ms, ...more);
  });
  await page.goto(`${url}/ui/services`);
  await page.locator('main .table-row').first().waitFor();
  assert.deepEqual(await page.evaluate(() => [
    document.querySelectorAll('script.rest').length,
    document.querySelectorAll('.level').length,
    document.querySelector('main').hasAttribute('aria-busy'),
    globalThis.pprofFleet === undefined]), [2, 2, false, true]);
  // Whoever does something does not wait for it.
  await page.locator('main .table-row').first().click();
  await page.waitForURL(/flamegraph/);
  await page.waitForFunction(() => globalThis.pprofFleet !== undefined, null,
    { polling: 50 });
  await page.close();
});

test('the list asks for its rows where the page came without', async () => {
  for (const words of ['', '?order=-service']) {
    const page = await open('about:blank', {}, false);
    let asked = 0;
    await page.route('**/api/1/overview', (route) => {
      asked++;
      return route.continue();
    });
    await page.goto(`${url}/ui/services${words}`);
    await page.locator('main .table-row').first().waitFor();
    await resting(page);
    const rows = await rowsOf(page);
    assert.equal(asked, 0);
    await page.route('**/ui/services*', async (route) => {
      const answer = await route.fetch();
      const text = await answer.text();
      await route.fulfill({ response: answer, body: text.replace(
        /<script type="application\/json".*?<\/script>/s, '') });
    });
    await page.reload();
    await page.locator('main .table-row').first().waitFor();
    await resting(page);
    assert.ok(asked > 0);
    assert.deepEqual((await rowsOf(page)).map((row) => row[0]),
      rows.map((row) => row[0]));
    await page.close();
  }
});

test('a rest of the page that cannot be had is tried again', async () => {
  const page = await open('about:blank', {}, false);
  await page.route('**/assets/later-*', (route) => route.abort());
  await page.goto(`${url}/ui/services`);
  await page.locator('#messages p').waitFor();
  assert.match(await textOf(page, '#messages'), /could not be loaded/);
  assert.equal(takeComplaints().length, 2); // the browser's own
  assert.ok(await page.locator('main .table-row').count() > 10);
  await page.unroute('**/assets/later-*');
  await page.locator('main .table-row').first().click();
  await page.waitForURL(/flamegraph/);
  await resting(page);
  await page.close();
});

// ---- numbers ----

/** The terminal's table for what Share copies. */
async function terminalTable(page, ...options) {
  const items = await page.evaluate(() => {
    const { a } = globalThis.pprofFleet.absolutePair();
    return { query: a.matchers.map((m) => `${m.name}${m.op}"${m.value}"`),
      type: a.type, from: a.from, to: a.to };
  });
  const query = new URLSearchParams({ from: items.from, to: items.to,
    query: `${items.type}{${items.query}}` });
  return tableOf(terminal('-top', ...options, `${url}/api/1/merge?${query}`))
    .map(([flat, , , cum, , ...name]) => [flat, cum, name.join(' ')]);
}

test('the numbers are those of the terminal for the same selection',
  async () => {
    for (const [service, more] of [['checkout', ''], ['cart',
      'region="eu-west-1"'], [LONG_NAME, 'host!="x"']]) {
      const page = await openFleet(url, 'top', { a: cpuOf(service,
        '2020-01-01..2099-01-01', more) });
      const shown = (await rowsOf(page)).map((cells) =>
        [cells[0], cells[3], cells[5]]);
      const printed = await terminalTable(page);
      assert.ok(shown.length > 8);
      assert.deepEqual(shown, printed.slice(0, shown.length), service);
      await page.close();
    }
  });

// ---- explore ----

test('Explore shows strip, labels and the merged profile', async () => {
  const page = await explore();
  assert.equal(await textOf(page, '.pick.service'), 'checkout');
  assert.equal(await textOf(page, '.pick.range'), '◷Last 1 h');
  assert.deepEqual(await page.locator('.facet-name').allTextContents(),
    ['host', 'region', 'version']);
  const { deploys, parts, points } = await page.evaluate(() => {
    const { picture } = globalThis.pprofFleet.strip;
    return { deploys: picture.deploys, parts: picture.course.parts.length,
      points: picture.course.times.length };
  });
  assert.deepEqual(deploys.map(({ version }) => version), ['2.5.0']);
  assert.equal(parts, 1);
  assert.ok(points > 100, `${points}`);
  assert.match(await textOf(page, '.total'), /^Total \d/);
  await page.close();
});

test('a label value includes, with Alt excludes, and splits the strip',
  async () => {
    const page = await explore();
    const value = page.locator('[data-label=region] .facet-value button');
    const name = await value.first().locator('.facet-text').textContent();
    await value.first().click();
    await resting(page);
    assert.equal(wordsOf(page).get('a'),
      cpuOf('checkout', 'now-1h..now', `region="${name}"`));
    // What else there is stays to be chosen.
    assert.equal(await value.count(), 2);
    await page.locator('.chip-remove').first().click();
    await resting(page);
    await value.first().click({ modifiers: ['Alt'] });
    await resting(page);
    assert.match(wordsOf(page).get('a'), /region!="/);
    await page.locator('[data-label=version] .facet-split').click();
    await resting(page);
    assert.equal(wordsOf(page).get('split'), 'version');
    assert.deepEqual((await page.locator('.legend-part').allTextContents())
      .sort(), ['2.4.1', '2.5.0']);
    await page.close();
  });

test('labels are completed with their counts', async () => {
  const page = await explore({ a: cpuOf('checkout', 'now-1d..now') });
  await page.getByRole('button', { name: '+ Label' }).click();
  await page.getByRole('option', { name: /^version/ }).click();
  const input = page.getByRole('combobox', { name: 'Value of version' });
  await input.fill('2.4');
  const option = page.getByRole('option', { name: /^2\.4\.1/ });
  assert.match(await option.textContent(), /^2\.4\.1\d+$/);
  await input.press('Enter');
  await resting(page);
  assert.match(wordsOf(page).get('a'), /version="2\.4\.1"/);
  // An expression of one's own.
  await page.getByRole('button', { name: '+ Label' }).click();
  await page.getByRole('option', { name: /^host/ }).click();
  await page.locator('.picker input').fill('checkout-[ab]');
  await page.getByRole('option', { name: /regular expression/ }).click();
  await resting(page);
  assert.match(wordsOf(page).get('a'), /host=~"checkout-\[ab\]"/);
  await page.close();
});

test('another service, another type, another range', async () => {
  const page = await explore();
  await page.locator('.pick.service').click();
  await page.locator('.picker input').fill('led');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() =>
    new URL(location.href).searchParams.get('a').includes('ledger'));
  await resting(page);
  await page.locator('.pick.type').click();
  await page.getByRole('option', { name: /^heap/ }).click();
  await resting(page);
  await page.locator('.pick.range').click();
  await page.getByRole('option', { name: 'Last 6 h' }).click();
  await resting(page);
  assert.equal(wordsOf(page).get('a'), 'heap{service="ledger"} now-6h..now');
  await page.locator('.pick.range').click();
  await page.getByRole('option', { name: /From/ }).click();
  const from = page.getByRole('textbox', { name: 'From' });
  await from.fill('yesterday');
  assert.match(await textOf(page, '#range-hint'), /A time is/);
  assert.ok(await page.getByRole('button', { name: 'Apply' }).isDisabled());
  await from.fill('now-3h');
  await page.getByRole('textbox', { name: 'To' }).fill('now-1h');
  await page.getByRole('button', { name: 'Apply' }).click();
  await resting(page);
  assert.equal(wordsOf(page).get('a'),
    'heap{service="ledger"} now-3h..now-1h');
  await page.close();
});

test('comparing with a week ago and with another version', async () => {
  const page = await explore();
  await page.locator('.pick.compare').click();
  await page.getByRole('option', { name: 'Last week' }).click();
  await resting(page);
  assert.equal(wordsOf(page).get('b'), cpuOf('checkout',
    'now-7d1h..now-7d'));
  assert.equal(await textOf(page, '.pick.compare'), 'vs last week');
  assert.match(await textOf(page, '.compare-change'), /^\+.*\(\+\d/);
  await page.locator('.pick.compare').click();
  await page.getByRole('option', { name: 'Version 2.4.1' }).click();
  await resting(page);
  assert.match(wordsOf(page).get('b'), /version="2\.4\.1"/);
  assert.equal(await textOf(page, '.pick.compare'), 'vs version 2.4.1');
  await page.getByRole('link', { name: 'Diff', exact: true }).click();
  await resting(page);
  const rows = await rowsOf(page);
  assert.ok(rows.some((cells) => cells.at(-1) === 'regexp.MustCompile' &&
    cells[3].startsWith('+')), JSON.stringify(rows.slice(0, 3)));
  await page.locator('.pick.compare').click();
  await page.getByRole('option', { name: 'Nothing' }).click();
  await resting(page);
  assert.equal(wordsOf(page).get('b'), null);
  assert.match(page.url(), /flamegraph/);
  await page.close();
});

// ---- the strip ----

test('dragging in the strip selects, with Shift what to compare with',
  async () => {
    const page = await explore();
    const [from, to] = [await stripPlace(page, 10 * HOUR),
      await stripPlace(page, 8 * HOUR)];
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, { steps: 4 });
    await page.mouse.up();
    await resting(page);
    const a = /(\S+)\.\.(\S+)$/.exec(wordsOf(page).get('a'));
    assert.equal(Date.parse(a[2]) - Date.parse(a[1]), 2 * HOUR * 1000);
    const shown = (await rowsOf(page, '.side, main')).length;
    assert.ok(shown > 5);
    const b = await stripPlace(page, 14 * HOUR);
    await page.keyboard.down('Shift');
    await page.mouse.move(b.x, b.y);
    await page.mouse.down();
    await page.mouse.move(from.x, from.y, { steps: 4 });
    await page.mouse.up();
    await page.keyboard.up('Shift');
    await resting(page);
    assert.match(wordsOf(page).get('b'), /^cpu\{service="checkout"\} \d/);
    assert.equal(await textOf(page, '.pick.compare'), 'vs range B');
    // Back undoes one step at a time.
    await page.goBack();
    await resting(page);
    assert.equal(wordsOf(page).get('b'), null);
    await page.goBack();
    await resting(page);
    assert.equal(wordsOf(page).get('a'), cpuOf('checkout'));
    await page.close();
  });

test('while it is dragged one request at a time is on its way', async () => {
  const page = await explore();
  let [busy, most, asked] = [0, 0, 0];
  const isFlame = (request) => request.url().includes('/data/flame');
  page.on('request', (request) => {
    if (!isFlame(request)) return;
    asked++;
    most = Math.max(most, ++busy);
  });
  const done = (request) => {
    if (isFlame(request)) busy--;
  };
  page.on('requestfinished', done);
  page.on('requestfailed', done);
  const [from, to] = [await stripPlace(page, 20 * HOUR),
    await stripPlace(page, 2 * HOUR)];
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  // To and fro until several answers were there, however long that takes.
  for (let i = 0; i < 2000 && asked < 4; i++) {
    await page.mouse.move(from.x + (to.x - from.x) * (1 + i % 30) / 30,
      from.y);
    await page.waitForTimeout(10);
  }
  const during = asked;
  await page.mouse.up();
  await resting(page);
  assert.ok(during >= 4, `${during} requests while dragging`);
  assert.equal(most, 1);
  await page.close();
});

test('wheel and ruler move through time, Ctrl-wheel zooms', async () => {
  const page = await explore();
  const spanOf = () => page.evaluate(() =>
    ({ ...globalThis.pprofFleet.strip.picture.span }));
  const before = await spanOf();
  const { x, y, ruler } = await stripPlace(page, 12 * HOUR);
  await page.mouse.move(x, y);
  await page.mouse.wheel(0, -400);
  await page.waitForFunction(() =>
    new URL(location.href).searchParams.has('strip'));
  const moved = await spanOf();
  assert.ok(moved.from < before.from - HOUR);
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -300);
  await page.keyboard.up('Control');
  await page.waitForFunction((most) => {
    const { span } = globalThis.pprofFleet.strip.picture;
    return span.to - span.from < most;
  }, 0.9 * (moved.to - moved.from));
  const zoomed = await spanOf();
  await page.mouse.move(x, ruler);
  await page.mouse.down();
  await page.mouse.move(x + 200, ruler, { steps: 3 });
  await page.mouse.up();
  await resting(page);
  assert.ok((await spanOf()).from < zoomed.from);
  assert.equal(wordsOf(page).get('a'), cpuOf('checkout'));
  await page.close();
});

test('a function is plotted over time', async () => {
  const page = await explore({ a: cpuOf('checkout', 'now-12h..now'),
    q: 'MustCompile' });
  await page.locator('.table-row', { hasText: 'MustCompile' }).first()
    .click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Plot over time' }).click();
  await resting(page);
  assert.equal(wordsOf(page).get('plot'), 'regexp.MustCompile');
  await page.waitForFunction(() =>
    globalThis.pprofFleet.strip.picture.plot.length > 0);
  const [before, later] = await page.evaluate(() => {
    const { plot } = globalThis.pprofFleet.strip.picture;
    return [plot[0][1], plot.at(-1)[1]];
  });
  assert.equal(before, 0);
  assert.ok(later > 0.05, `${later}`);
  await page.getByRole('button', { name: 'Remove regexp.MustCompile' })
    .click();
  await resting(page);
  assert.equal(wordsOf(page).get('plot'), null);
  await page.close();
});

test('live follows the clock, and a link keeps the time', async () => {
  const page = await explore({}, { permissions: ['clipboard-read',
    'clipboard-write'] });
  await page.getByRole('button', { name: 'Live' }).click();
  await resting(page);
  assert.equal(wordsOf(page).get('live'), 't');
  const before = await page.evaluate(() => globalThis.pprofFleet.app.turn);
  await page.evaluate(() => globalThis.pprofFleet.tick());
  await resting(page);
  assert.ok(await page.evaluate(() => globalThis.pprofFleet.app.turn) >
    before);
  const copy = async (name) => {
    await page.getByRole('button', { name: 'Share' }).click();
    await page.getByRole('menuitem', { name }).click();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const link = new URL(await copy('Copy link, with absolute times'));
  assert.match(link.searchParams.get('a'),
    /^cpu\{service="checkout"\} 20\d\d-\S+Z\.\.20\d\d-\S+Z$/);
  assert.equal(link.searchParams.get('live'), null);
  const command = await copy('Copy as pprof -top');
  assert.match(command, /^pprof -top '\S+\/api\/1\/merge\?query=cpu/);
  const printed = tableOf(terminal('-top', command.split('\'')[1]));
  await page.goto(String(link));
  await resting(page);
  const total = await textOf(page, '.total');
  assert.ok(printed.length > 5);
  assert.match(total, /^Total/);
  assert.match(await copy('Copy as go tool pprof'), /^go tool pprof '/);
  await page.close();
});

test('single profiles can be opened, downloaded and compared', async () => {
  const page = await openFleet(url, 'profiles', { a: cpuOf('checkout') });
  const rows = await rowsOf(page);
  assert.equal(rows.length, 12);
  assert.match(rows[0][1], /^host=checkout-\w, region=\S+, version=2\.5\.0$/);
  await page.locator('main .table-row').first().click();
  const [download] = await Promise.all([page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download' }).click()]);
  assert.match(download.suggestedFilename(), /^checkout\.cpu\.pb\.gz$/);
  const printed = terminal('-top', '-unit=s', await download.path());
  await page.getByRole('button', { name: 'Open', exact: true }).click();
  await page.waitForURL(/flamegraph/);
  await resting(page);
  assert.match(wordsOf(page).get('a'), /^id:\w{20}$/);
  const total = (await textOf(page, '.total')).replace('Total ', '');
  assert.ok(printed.includes(`Total samples = ${total}`), printed);
  // Nothing is offered that needs the strip, and there is a way back.
  assert.equal(await page.locator('.pick.compare').count(), 0);
  assert.equal(await textOf(page, '.querybar strong'), 'checkout cpu');
  await page.getByRole('button', { name: 'Back to the window' }).click();
  await resting(page);
  assert.equal(wordsOf(page).get('a'), cpuOf('checkout'));
  await page.goBack();
  await resting(page);
  await page.goBack();
  await resting(page);
  await page.locator('main .table-row').first().click();
  await page.getByRole('button', { name: /^Compare with the/ }).click();
  await page.waitForURL(/diff/);
  await resting(page);
  assert.equal(await textOf(page, '.pick.compare'), 'vs range B');
  await page.close();
});

test('two profiles are compared with each other, and found by their labels',
  async () => {
    const page = await openFleet(url, 'profiles', { a: cpuOf('checkout') });
    const row = page.locator('main .table-row');
    const totals = async () => (await rowsOf(page)).map((cells) => cells[2]);
    assert.match((await totals())[0], /s$/);
    await page.getByLabel('Sample type').selectOption('samples');
    await resting(page);
    assert.match((await totals())[0], /^\d+$/);
    await page.getByLabel('Sample type').selectOption('cpu');
    await page.getByRole('searchbox').fill('checkout-b');
    await page.waitForFunction(() =>
      document.querySelectorAll('main .table-row').length === 6);
    assert.equal(await textOf(page, '.search-share'), '6 profiles');
    await row.nth(5).click();
    const [first] = (await rowsOf(page)).at(-1);
    await page.getByRole('button', { name: 'Compare with another' }).click();
    assert.match(await textOf(page, '.profile-actions'),
      new RegExp(`Choose what to compare with ${first}`));
    await row.nth(0).click();
    await page.getByRole('button', { name: `Compare with ${first}` }).click();
    await page.waitForURL(/diff/);
    await resting(page);
    assert.match(wordsOf(page).get('a'), /^id:/);
    assert.match(wordsOf(page).get('b'), /^id:/);
    assert.equal(await textOf(page, '.pick.compare'), 'vs one profile');
    await page.close();
  });

test('a range that has no profiles is taken back everywhere', async () => {
  const page = await explore();
  await page.locator('.pick.range').click();
  await page.getByRole('option', { name: /From/ }).click();
  await page.getByRole('textbox', { name: 'From' }).fill('2020-01-01');
  await page.getByRole('textbox', { name: 'To' }).fill('2020-01-02');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.locator('#messages p').waitFor();
  await resting(page);
  takeComplaints(); // the browser reports the status of the answers
  assert.equal(wordsOf(page).get('a'), cpuOf('checkout'));
  assert.match(await textOf(page, '.pick.range'), /Last 1 h$/);
  const { a, now } = await page.evaluate(() => ({
    a: globalThis.pprofFleet.strip.picture.a,
    now: globalThis.pprofFleet.now }));
  assert.equal(Math.round(now - a.from), HOUR);
  await page.close();
});

test('keys of a profile do nothing where there is none', async () => {
  const page = await openFleet(url, 'services');
  for (const key of ['1', '4', 'd', 'f', 'o', 'i', 'L']) {
    await page.keyboard.press(key);
  }
  await resting(page);
  assert.match(page.url(), /\/ui\/services$/);
  assert.equal(await page.getByRole('dialog').count(), 0);
  await page.keyboard.press('/');
  assert.equal(await page.evaluate(() =>
    document.activeElement.getAttribute('aria-label')), 'Filter services');
  await page.close();
});

test('what nothing matches is said, and the page can be left', async () => {
  const page = await explore();
  await page.evaluate(() => globalThis.pprofFleet.state.set(
    { a: 'cpu{service="nobody"} now-1h..now' }));
  await page.waitForFunction(() =>
    document.querySelector('#messages p') !== null);
  assert.match(await textOf(page, '#messages p'), /no profile matches/);
  takeComplaints(); // the browser reports the status of the answers
  await page.getByRole('link', { name: 'Services' }).click();
  await resting(page);
  assert.ok((await rowsOf(page)).length > 10);
  await page.close();
});

/** A download, where it stays after its page. @param {any} download
 * @param {string} name */
async function keepAs(download, name) {
  const path = join(scratch, name);
  await download.saveAs(path);
  return path;
}

test('the screen is saved as it is, with strip and labels', async () => {
  const page = await explore({ split: 'region' });
  await page.getByRole('button', { name: 'Share' }).click();
  const [saved] = await Promise.all([page.waitForEvent('download'),
    page.getByRole('menuitem', { name: /Save this screen/ }).click()]);
  await page.close();
  const still = await open(`file://${await keepAs(saved, 'screen.html')}`, {},
    false);
  for (const text of ['checkout', 'Last 1 h', 'eu-west-1', 'us-east-1',
    'runtime.scanobject', 'Total']) {
    assert.ok((await still.locator('body').innerText()).includes(text), text);
  }
  assert.ok(await still.locator('.strip-frame img').isVisible());
  assert.equal(await still.locator('button:enabled, a[href], input, select')
    .count(), 0);
  await shoot(still, 'fleet-saved-screen');
  await still.close();
});

test('views are saved as one file', async () => {
  const page = await openFleet(url, 'services');
  const [list] = await Promise.all([page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save' }).click()]);
  const text = readFileSync(await list.path(), 'utf8');
  for (const service of SERVICES) assert.ok(text.includes(service), service);
  assert.ok(!/<script|src="http/.test(text));
  await page.close();
  const still = await open(`file://${await keepAs(list, 'list.html')}`, {},
    false);
  // It says when and what, and offers nothing that it cannot do.
  assert.match(await textOf(still, '.fleetbar'), /Saved on \d+ \w{3} 20\d\d/);
  assert.match(await textOf(still, '.services-bar'), /20 services.*24 hours/);
  assert.equal(await still.locator('button:enabled, a[href], input, select')
    .count(), 0);
  assert.deepEqual(await barriers(still), []);
  await shoot(still, 'fleet-saved-list');
  await still.close();
  const profile = await explore();
  await profile.getByRole('button', { name: 'Save' }).click();
  const [saved] = await Promise.all([profile.waitForEvent('download'),
    profile.getByRole('menuitem', { name: 'This page as one HTML file' })
      .click()]);
  const path = await keepAs(saved, saved.suggestedFilename());
  assert.ok(!readFileSync(path, 'utf8').includes('pprofFleet'));
  const total = await textOf(profile, '.total');
  await profile.close();
  const again = await open(`file://${path}`);
  assert.equal(await textOf(again, '.total'), total);
  await again.close();
});

// ---- people ----

test('paper says which service and when, without the bars', async () => {
  const page = await explore({ b: cpuOf('checkout', 'now-25h..now-24h') });
  assert.match(await page.title(), /^checkout cpu · Flame$/);
  const onPaper = async () => {
    await page.emulateMedia({ media: 'print' });
    return page.evaluate(() => {
      dispatchEvent(new Event('beforeprint'));
      return document.body.innerText;
    });
  };
  const text = await onPaper();
  assert.equal(await textOf(page, '.print-head h1'), 'checkout cpu');
  assert.match(text, /s before, [\d.]+m?s after/);
  assert.equal(text.match(/checkout\.cpu, 20\d\d-\d\d-\d\d \d\d:\d\d, 1h/g)
    .length, 2);
  for (const bar of ['#fleet', '#query', '#strip', '#facets', '#header']) {
    assert.ok(await page.locator(bar).isHidden(), bar);
  }
  await shoot(page, 'fleet-paper');
  await page.goto(`${url}/ui/services`);
  await resting(page);
  assert.equal(await page.title(), 'pprofd · Services');
  await onPaper();
  assert.equal(await page.locator('main .table-row').count(),
    2 * SERVICES.length);
  const { bottom } = await page.evaluate(() => [...document.querySelectorAll(
    'main .table-row')].at(-1).getBoundingClientRect().toJSON());
  const { bottom: end } = await page.evaluate(() => document.querySelector(
    'main .table').getBoundingClientRect().toJSON());
  assert.ok(bottom <= end + 1, `${bottom} ${end}`);
  await page.close();
});

test('axe finds nothing on any view, in both schemes', async () => {
  for (const colorScheme of ['light', 'dark']) {
    for (const [path, words] of [['services', {}], ['flamegraph', {}],
      ['callers', {}], ['top', {}], ['graph', {}], ['tags', {}], ['raw', {}],
      ['flamegraph', { split: 'version', b: cpuOf('checkout',
        'now-25h..now-24h') }], ['profiles', {}], ['diff', { b:
        cpuOf('checkout', 'now-25h..now-24h') }]]) {
      const page = await openFleet(url, path, path === 'services' ? {}
        : { a: cpuOf('checkout'), ...words }, { colorScheme });
      assert.deepEqual(await barriers(page), [], `${path} ${colorScheme}`);
      await page.close();
    }
  }
  const page = await explore();
  await page.locator('.pick.service').click();
  await page.locator('.picker-choice').first().waitFor();
  assert.deepEqual(await barriers(page), []);
  await page.close();
});

test('everything can be done with the keys alone', async () => {
  const page = await openFleet(url, 'services');
  const at = () => page.evaluate(() => document.activeElement?.className);
  assert.match(await at(), /table/);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(/flamegraph/);
  await resting(page);
  // To the service picker, from the top.
  await page.locator('.skip').focus();
  for (let i = 0; i < 8 && !/service/.test(await at()); i++) {
    await page.keyboard.press('Tab');
  }
  assert.match(await at(), /pick service/);
  await page.keyboard.press('Enter');
  await page.locator('.picker-choice').first().waitFor();
  await page.keyboard.type('media');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() =>
    new URL(location.href).searchParams.get('a').includes('media'));
  await resting(page);
  assert.match(await at(), /pick service/); // where it was
  await page.locator('.strip-frame').focus();
  await page.keyboard.press('ArrowLeft');
  await resting(page);
  assert.match(wordsOf(page).get('a'), /\.\.20\d\d/);
  const value = await page.locator('.strip-frame')
    .getAttribute('aria-valuetext');
  assert.match(value, /\d\d:\d\d – /);
  await page.keyboard.press('Shift+ArrowRight');
  await resting(page);
  assert.notEqual(await page.locator('.strip-frame')
    .getAttribute('aria-valuetext'), value);
  await page.keyboard.press('L');
  await page.keyboard.press('Escape');
  await page.waitForURL(/profiles/);
  await page.close();
});

test('it fits every window', async () => {
  for (const viewport of [{ width: 1440, height: 900 },
    { width: 2560, height: 1440 }, { width: 390, height: 844 }]) {
    for (const path of ['services', 'flamegraph', 'profiles']) {
      const page = await openFleet(url, path, path === 'services' ? {}
        : { a: cpuOf(LONG_NAME) }, { viewport });
      const { wide, high } = await page.evaluate(() => ({
        wide: document.documentElement.scrollWidth - innerWidth,
        high: document.documentElement.scrollHeight - innerHeight }));
      assert.ok(wide <= 0 && high <= 0, `${path} ${viewport.width}: ${wide
      }, ${high}`);
      assert.ok(path !== 'services' ||
        !await page.locator('.inspector').isVisible());
      await page.close();
    }
  }
});

test('on a phone the profile has four fifths of the screen', async () => {
  const viewport = { width: 390, height: 844 };
  for (const words of [{}, { b: cpuOf('checkout', 'now-25h..now-24h') }]) {
    const page = await explore(words, { viewport, hasTouch: true });
    const top = () => page.evaluate(() => document.querySelector('.icicle')
      .getBoundingClientRect().top);
    assert.ok(await top() <= viewport.height / 5, `${await top()}`);
    const toggle = page.getByRole('button', { name: 'checkout' }).first();
    assert.equal(await toggle.getAttribute('aria-expanded'), 'false');
    await toggle.click();
    await resting(page);
    assert.ok(await page.locator('.strip-frame').isVisible());
    assert.ok(await page.locator('.pick.range').isVisible());
    assert.ok(await page.evaluate(() =>
      globalThis.pprofFleet.strip.picture.course.times.length) > 20);
    assert.deepEqual(await barriers(page), []);
    await toggle.click();
    assert.ok(!await page.locator('.strip-frame').isVisible());
    assert.deepEqual(await barriers(page), []);
    await page.close();
  }
});

test('a page that was left answers nothing late', async () => {
  const page = await explore();
  await page.getByRole('link', { name: 'Services' }).click();
  await page.getByRole('link', { name: 'Explore' }).click();
  await resting(page);
  assert.equal(wordsOf(page).get('a'), cpuOf('checkout'));
  await settled(page);
  await page.close();
});
