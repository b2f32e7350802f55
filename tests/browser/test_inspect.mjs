// The inspector, code that filters nothing, comparisons, and tables that
// agree.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { after, afterEach } from 'node:test';
import { barriers, boxOf, finish, keep, open, rowsOf, scratch, serve,
  settled, shoot, takeComplaints } from './browser.mjs';
import { encodeProfile, SHOP, SHOP_LATER, TYPES } from './profile_fixture.mjs';
import { ROOT } from './tools.mjs';

const profile = keep('shop.pb.gz', encodeProfile(SHOP, TYPES));
const later = keep('later.pb.gz', encodeProfile(SHOP_LATER, TYPES));
const ui = await serve(profile);

after(finish);
afterEach(() => assert.deepEqual(takeComplaints(), []));

const word = (page, name) => new URL(page.url()).searchParams.get(name);
const inspector = (page) => page.locator('.inspector');

async function inspect(page, name) {
  const box = await boxOf(page, name);
  await page.mouse.click(box.x, box.y);
  await page.keyboard.press('i');
  await inspector(page).getByRole('heading', { name, exact: true }).waitFor();
  await settled(page);
}

test('the inspector has callers, callees and labels of the selection',
  async () => {
    const page = await open(`${ui}flamegraph`);
    assert.ok(await inspector(page).isHidden());
    await inspect(page, 'db::query');
    const part = (title) => inspector(page).locator('details',
      { has: page.locator('summary', { hasText: title }) });
    assert.match(await inspector(page).locator('dl').textContent(),
      /flat80ms \(7\.8%\)cum510ms \(50%\)/);
    assert.deepEqual(await part('Callers').locator('li').allTextContents(),
      ['serve420ms (41.2%)', 'flush90ms (8.8%)']);
    assert.deepEqual(await part('Callees').locator('li').allTextContents(),
      ['db::decode430ms (42.2%)']);
    await part('Labels').getByRole('button', { name: '/cart' }).waitFor();
    assert.match(await part('Source').textContent(),
      /src\/db\.c was not found.*-source_path/);
    await part('Assembly').getByText(/no such file/).waitFor();
    await shoot(page, 'inspector');
    assert.deepEqual(await barriers(page), []);
    // A caller is one click away, here and in the flame graph.
    await part('Callers').getByRole('button', { name: 'serve' }).click();
    await inspector(page).getByRole('heading', { name: 'serve', exact: true })
      .waitFor();
    assert.match(await page.locator('.detail').textContent(), /^serve/);
    // A label becomes a filter.
    await part('Labels').getByRole('button', { name: '/cart' }).click();
    await settled(page);
    assert.equal(word(page, 'tf'), 'route=^/cart$');
    await page.keyboard.press('i');
    assert.ok(await inspector(page).isHidden());
    await page.context().close();
  });

test('it follows the selection in other views, and stays open', async () => {
  const page = await open(`${ui}top`);
  await page.keyboard.press('i');
  await page.locator('.table-row', { hasText: 'text::escape' }).click();
  await inspector(page).getByRole('heading', { name: 'text::escape' })
    .waitFor();
  await page.keyboard.press('4');
  await settled(page);
  await page.locator('.node', { hasText: 'decode' }).click();
  await inspector(page).getByRole('heading', { name: 'db::decode' }).waitFor();
  await page.reload();
  await settled(page);
  assert.ok(await inspector(page).isVisible());
  await page.context().close();
});

test('source and assembly show the selected function and filter nothing',
  async () => {
    const page = await open(`${ui}flamegraph`);
    const box = await boxOf(page, 'db::query');
    await page.mouse.click(box.x, box.y);
    await page.keyboard.press('6');
    await settled(page);
    assert.deepEqual(await page.locator('.code-name').allTextContents(),
      ['db::query']);
    assert.equal(word(page, 'f'), null);
    assert.match(await page.locator('.total').textContent(), /Total 1\.02s/);
    await page.keyboard.press('1');
    await settled(page);
    assert.equal(await page.evaluate(() =>
      globalThis.pprofPage.view.main.tree.total[0]), 1.02e9);
    await page.context().close();
  });

test('an inlined function links to where it was inlined', async () => {
  const inlined = await serve(keep('inlined.pb.gz', encodeProfile([
    { frames: ['main', 'outer', 'inner'], values: [1, 1e9] }], TYPES)));
  const page = await open(`${inlined}flamegraph`);
  await page.evaluate(() => {
    const { sources } = globalThis.pprofPage.view.flame.tree;
    const inner = [...sources.name].findIndex((id) =>
      sources.strings[id] === 'inner');
    sources.flags[inner] |= 1;
    globalThis.pprofPage.state.set({ fn: 'inner' }, { view: 'disasm' });
  });
  await page.getByText('It was inlined').waitFor();
  await page.locator('.inlined-note').getByRole('button', { name: 'outer' })
    .click();
  await settled(page);
  assert.equal(word(page, 'fn'), 'outer');
  await page.context().close();
});

test('code opens at the hottest line, with bars relative to the profile',
  async () => {
    mkdirSync(join(scratch, 'src'));
    writeFileSync(join(scratch, 'src/hot.c'), Array.from({ length: 400 },
      (_, i) => `line ${i + 1}`).join('\n'));
    const samples = [['hot.work@20', 1], ['hot.work@150', 3],
      ...Array.from({ length: 20 }, (_, i) => [`hot.work@${160 + 10 * i}`, 0.1]),
      ['idle', 4]].map(([frame, n]) => ({ frames: ['main', String(frame)],
      values: [Number(n) * 10, Number(n) * 100e6] }));
    const hot = await serve(`-source_path=${scratch}`, keep('hot.pb.gz',
      encodeProfile(samples, TYPES)));
    const page = await open(`${hot}source?fn=hot.work`,
      { viewport: { width: 1200, height: 500 } });
    const hottest = page.locator('.code-line.hottest');
    assert.match(await hottest.textContent(), /300ms\s*300ms\s*150line 150$/);
    const { y } = await hottest.boundingBox();
    assert.ok(y > 100 && y < 460, `${y}`);
    // 300ms of 1s: the whole is the profile, not the function.
    const { width } = await hottest.locator('.code-bar').boundingBox();
    const [flat, cum] = await hottest.locator('.code-cost').evaluateAll(
      (all) => all.map((one) => one.getBoundingClientRect().width));
    assert.ok(Math.abs(width / (flat + cum) - 0.3) < 0.02, `${width}`);
    await page.context().close();
  });

// ---- tables that agree ----

const cellsOf = (rows, name, ...columns) => new Map(rows.map((row) =>
  [row[name], columns.map((i) => row[i])]));

/** Both tables of a page, all rows. */
async function bothTables(base, words = '') {
  const page = await open(`${base}flamegraph?${words}`,
    { viewport: { width: 1500, height: 6000 } });
  const beside = cellsOf(await rowsOf(page, '.side'), 3, 0, 1, 2);
  const besideHead = await page.locator('.side [role=columnheader]')
    .allTextContents();
  await page.keyboard.press('3');
  await settled(page);
  const top = cellsOf(await rowsOf(page), 5, 0, 3, 4);
  const topHead = await page.locator('.top-view [role=columnheader]')
    .allTextContents();
  await page.context().close();
  return { beside, top, besideHead, topHead };
}

/** Profiles of real programs, where they are. */
const SHARED = process.env.PPROF_SHARED ?? join(ROOT, '..', 'shared');
const REAL = ['kubelet.cpu.10.pb.gz', 'scheduler.heap.25.pb.gz']
  .map((name) => join(SHARED, 'fleet-data', name)).filter(existsSync);

test('the table beside the flame graph is Top', async () => {
  const twice = keep('twice.pb.gz', encodeProfile([...SHOP,
    { frames: ['main', 'db::query'], values: [2, 20e6] }], TYPES));
  for (const file of [profile, twice, ...REAL]) {
    const base = await serve(file);
    const own = REAL.includes(file) ? [] : ['si=samples'];
    for (const words of ['', 'f=main', 'g=lines', ...own]) {
      const { beside, top, besideHead, topHead } = await bothTables(base,
        words);
      assert.deepEqual(beside, top, `${file} ${words}`);
      for (const title of besideHead) {
        assert.ok(topHead.includes(title), title);
      }
    }
  }
});

// ---- comparisons ----

test('a comparison says what is compared, in every view', async () => {
  const compared = await serve(`-diff_base=${profile}`, later);
  const page = await open(`${compared}flamegraph`);
  const bar = page.locator('.comparison');
  await bar.locator('.compare-words').getByText(/grew|shrank|new|gone/)
    .waitFor();
  for (const key of ['1', '3', '4', 'd']) {
    await page.keyboard.press(key);
    await settled(page);
    assert.match(await bar.textContent(),
      /Before shop\.pb\.gz 1\.02s.*After later\.pb\.gz 1\.0\ds.*\+\d+ms/);
    assert.ok(await bar.getByLabel('Normalise').isEnabled());
  }
  const sentences = (await bar.locator('.compare-words').textContent())
    .split(/\.(?:\s|$)/).filter(Boolean);
  assert.ok(sentences.length <= 3, `${sentences}`);
  await shoot(page, 'diff-header');
  assert.deepEqual(await barriers(page), []);
  await page.context().close();
});

test('changes come by kind, and say whether they are noise', async () => {
  const compared = await serve(`-diff_base=${profile}`, later);
  const page = await open(`${compared}diff`);
  const kinds = page.getByRole('group', { name: 'Kind of change' });
  const names = async () => (await rowsOf(page)).map((row) => row[7]);
  const all = await names();
  let sum = 0;
  for (const kind of ['Grew', 'Shrank', 'New', 'Gone']) {
    await kinds.getByRole('button', { name: kind }).click();
    await settled(page);
    const some = await names();
    assert.ok(some.every((name) => all.includes(name)));
    sum += some.length;
    assert.match(await kinds.locator('[aria-pressed=true]').textContent(),
      new RegExp(`${kind} ${some.length}$`));
  }
  assert.ok(sum <= all.length && sum > 0);
  await kinds.getByRole('button', { name: 'New' }).click();
  await settled(page);
  assert.deepEqual(await names(), ['cache::get']);
  assert.match(page.url(), /change=new/);
  await page.context().close();
});

test('side by side has one scale, with numbers', async () => {
  const doubled = keep('doubled.pb.gz', encodeProfile(SHOP.map((s) => ({ ...s,
    values: s.values.map((value) => value * 2) })), TYPES));
  const compared = await serve(`-diff_base=${profile}`, doubled);
  const page = await open(`${compared}flamegraph?dm=side&side=flame`);
  const [before, after_] = await page.locator('.beside-pane').evaluateAll(
    (all) => all.map((pane) => pane.getBoundingClientRect().width));
  assert.ok(Math.abs(after_ / before - 2) < 0.1, `${before} ${after_}`);
  assert.deepEqual(await page.locator('.beside-head').allTextContents(),
    ['Before 1.02s', 'After 2.04s']);
  assert.equal(await page.evaluate(() =>
    globalThis.pprofPage.view.minimap.shown.length), 2);
  await page.context().close();
});

test('numbers of changes are never cut', async () => {
  const big = (scale) => encodeProfile([
    { frames: ['main', 'grow'], values: [1, 831.61 * 1e6 * scale] },
    { frames: ['main', 'x'], values: [1, 1010.42 * 1e6 * scale] }], TYPES);
  const compared = await serve(`-diff_base=${keep('b1.pb.gz', big(1))}`,
    keep('b2.pb.gz', big(1234.5)));
  for (const view of ['flamegraph', 'diff']) {
    const page = await open(compared + view);
    const cut = await page.locator('.table-row .cell.numeric').evaluateAll(
      (cells) => cells.filter((cell) => cell.scrollWidth >
        cell.clientWidth + 1).map((cell) => cell.textContent));
    assert.deepEqual(cut, []);
    await page.context().close();
  }
});
