// Every view opens and shows the numbers that the terminal shows.

import assert from 'node:assert/strict';
import test, { after, afterEach } from 'node:test';
import { barriers, boxOf, dotGraph, drawnGraph, finish, keep, open, rowsOf,
  serve, settled, shoot, tableOf, takeComplaints, terminal }
  from './browser.mjs';
import { encodeProfile, EVIL, SHOP, SHOP_LATER, TYPES }
  from './profile_fixture.mjs';

const profile = keep('shop.pb.gz', encodeProfile(SHOP, TYPES));
const later = keep('later.pb.gz', encodeProfile(SHOP_LATER, TYPES));
const ui = await serve(profile);

after(finish);
afterEach(() => assert.deepEqual(takeComplaints(), []));

test('top shows the rows of -top', async () => {
  const page = await open(`${ui}top`);
  const expected = tableOf(terminal('-top', '-nodecount=500', profile));
  const shown = (await rowsOf(page)).map((row) =>
    row.join(' ').trim().split(/\s+/));
  assert.deepEqual(shown, expected);
  await shoot(page, 'top');
  await page.context().close();
});

test('top sorts, filters and selects', async () => {
  const page = await open(`${ui}top`);
  await page.getByRole('button', { name: 'Cum', exact: true }).click();
  const cum = (await rowsOf(page)).map((row) => row[5]);
  const expected = tableOf(terminal('-top', '-cum', '-nodecount=500', profile),
    'flat%').map((row) => row[5]);
  assert.equal(cum[0], 'main');
  assert.deepEqual(new Set(cum.map((name) => name.split(' ')[0])),
    new Set(expected));
  await page.keyboard.press('/');
  await page.keyboard.type('db::');
  await page.waitForFunction(() =>
    document.querySelectorAll('.table-row').length === 2);
  assert.match(await page.locator('.search-share').textContent(),
    /2 functions, 50% flat/);
  await page.keyboard.press('Escape');
  await page.locator('.table-row', { hasText: 'db::decode' }).click();
  assert.match(await page.locator('.detail').textContent(),
    /db::decode.*430ms/);
  assert.match(page.url(), /fn=db(::|%3A%3A)decode/);
  await page.context().close();
});

test('the flame graph has the totals of -top', async () => {
  const page = await open(`${ui}flamegraph`);
  const rows = await rowsOf(page, '.side');
  const totals = Object.fromEntries(rows.map((row) => [row[3], row]));
  for (const [flat, , , cum, , name] of tableOf(terminal('-top',
    '-nodecount=500', '-unit=auto', profile), 'flat%')) {
    if (name.startsWith('<')) continue;
    assert.deepEqual(totals[name].slice(0, 2), [flat, cum]);
  }
  assert.equal(rows[0][3], 'db::decode');
  await shoot(page, 'flame');
  await page.context().close();
});

/** Pairs of texts in the graph that are written over each other. */
const overlaps = (page) => page.locator('.graph-view text').evaluateAll(
  (all) => {
    const boxes = all.map((text) => text.getBoundingClientRect());
    const pairs = [];
    boxes.forEach((a, i) => boxes.slice(0, i).forEach((b, k) => {
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      // The line of a text is higher than its letters.
      if (wide > 1 && high > 4) {
        pairs.push([all[i].textContent, all[k].textContent]);
      }
    }));
    return pairs;
  });

test('the graph has the nodes, edges and numbers of -dot', async () => {
  const page = await open(`${ui}graph`);
  assert.deepEqual(await drawnGraph(page), dotGraph(terminal('-dot',
    profile)));
  await shoot(page, 'graph');
  await page.locator('.node', { hasText: 'decode' }).click();
  assert.match(await page.locator('.detail').textContent(), /db::decode/);
  await page.locator('.slider input').fill('0');
  await settled(page);
  await page.waitForFunction(() =>
    document.querySelectorAll('.node').length <= 5);
  await page.context().close();
});

test('no text of the graph is written over another', async () => {
  const stacks = Array.from({ length: 12 }, (_, i) => ({
    frames: ['main', `work${i}`, 'shared', `end${i % 3}`],
    values: [1, (i + 1) * 1e8] }));
  const page = await open(`${await serve(keep('dense.pb.gz',
    encodeProfile(stacks, TYPES)))}graph`);
  await shoot(page, 'graph-dense');
  assert.deepEqual(await overlaps(page), []);
  await page.context().close();
});

test('peek, raw and traces are the text of the terminal', async () => {
  const text = (page) => page.locator('.text-pieces').textContent();
  const page = await open(`${ui}peek?f=db::query`);
  assert.equal(await text(page), terminal('-peek=db::query',
    '-focus=db::query', profile));
  await shoot(page, 'peek');
  // Without a wish it is about the costliest function.
  await page.goto(`${ui}peek`);
  await settled(page);
  assert.equal(await text(page), terminal('-peek=^db::decode$', profile));
  await page.goto(`${ui}peek?f=db::query`);
  await settled(page);
  await page.getByRole('link', { name: 'Raw' }).click();
  await settled(page);
  assert.equal(await text(page), terminal('-raw', '-focus=db::query',
    profile));
  await page.goto(`${ui}raw?text=traces`);
  await settled(page);
  assert.equal(await text(page), terminal('-traces', profile));
  await page.context().close();
});

test('tags have the numbers of -tags and become filters', async () => {
  const page = await open(`${ui}tags`);
  const values = await page.locator('.card li').evaluateAll((all) =>
    all.map((item) => [...item.querySelectorAll('.tag-value, .tag-percent, ' +
      '.tag-name')].map((part) => part.textContent).sort()));
  const expected = [...terminal('-tags', profile).matchAll(
    /^\s+(\S+) \(\s*(\S+%)\): (.*)$/gm)].map((m) => m.slice(1).sort());
  assert.deepEqual(values, expected);
  await shoot(page, 'tags');
  await page.getByRole('button', { name: '/cart', exact: true }).click();
  await settled(page);
  assert.match(await page.locator('.chip').textContent(),
    /label\s*route is \/cart/);
  assert.match(await page.locator('.total').textContent(),
    /^\S+ms \(\S+%\) of 1\.02s$/);
  await page.context().close();
});

test('source and disassembly say what is missing, with a way back',
  async () => {
    const page = await open(`${ui}source?f=db::decode`);
    assert.match(await page.locator('main').textContent(),
      /db::decode.*src\/db\.c.*430ms/s);
    await shoot(page, 'source');
    assert.match(await page.locator('.code-missing').first().textContent(),
      /source file src\/db\.c was not found.*-source_path/);
    await page.getByRole('link', { name: 'Disasm' }).click();
    await settled(page);
    assert.match(await page.locator('.empty-note').textContent(),
      /stat \/bin\/shop: no such file.*PPROF_BINARY_PATH/);
    await shoot(page, 'failure');
    await page.keyboard.press('1');
    await settled(page);
    assert.ok(await page.locator('.icicle').isVisible());
    await page.context().close();
  });

test('names are text, and no view has barriers', async () => {
  for (const view of ['flamegraph', 'top', 'graph', 'peek?f=img', 'source',
    'raw', 'tags', 'callers?p=img']) {
    const page = await open(ui + view);
    assert.notEqual(await page.title(), 'owned', view);
    assert.equal(await page.locator('main').locator('img, b, i').count(), 0,
      view);
    const text = await page.locator('main').textContent();
    const expected = { graph: 'onerror', tags: '<i>value</i>' }[view] ?? EVIL;
    assert.ok(text.replaceAll(/\s/g, '').includes(
      expected.replaceAll(/\s/g, '')), view);
    assert.deepEqual(await barriers(page), [], view);
    await page.context().close();
  }
});

test('a difference is shown three ways and as a table', async () => {
  const compared = await serve(`-diff_base=${profile}`, later);
  const page = await open(`${compared}diff`);
  const rows = await rowsOf(page);
  const row = Object.fromEntries(rows.map((cells) => [cells[7], cells]));
  assert.deepEqual(row['text::escape'].slice(0, 3),
    ['+210ms', '210ms', '420ms']);
  assert.deepEqual(row['db::decode'].slice(0, 3), ['-215ms', '430ms', '215ms']);
  const expected = tableOf(terminal('-top', '-nodecount=500',
    `-diff_base=${profile}`, later), 'flat%');
  for (const [flat, , , cum, , name] of expected) {
    if (name.startsWith('<')) continue;
    const value = (text) => parseFloat(text) * (/\dms$/.test(text) ? 1 : 1000);
    assert.equal(value(row[name][0]) || 0, value(flat) || 0, name);
    assert.equal(value(row[name][3]) || 0, value(cum) || 0, name);
  }
  await shoot(page, 'diff-table');
  await page.goto(`${compared}flamegraph`);
  await settled(page);
  assert.match(await page.locator('.legend').textContent(), /less.*more/);
  await shoot(page, 'diff-colors');
  for (const mode of ['overlay', 'side']) {
    await page.getByLabel('Show changes as').selectOption(mode);
    await settled(page);
    assert.equal(await page.locator('.icicle').count(),
      mode === 'side' ? 2 : 1);
    await shoot(page, `diff-${mode}`);
  }
  const after_ = await boxOf(page, 'db::query');
  await page.mouse.dblclick(after_.x, after_.y);
  await settled(page);
  assert.deepEqual(await page.evaluate(() => {
    const { main, second } = globalThis.pprofPage.view;
    return [main.zoomNode === second.zoomNode, second.isZoomed()];
  }), [true, true]);
  await page.context().close();
});
