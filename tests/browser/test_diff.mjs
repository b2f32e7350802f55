// A base of the command line: normalised or not, in every view and with the
// terminal's numbers; before beside after, which go together.

import assert from 'node:assert/strict';
import test, { after, afterEach } from 'node:test';
import { boxOf, dotGraph, drawnGraph, finish, keep, open, rowsOf, serve,
  settled, shoot, tableOf, takeComplaints, terminal } from './browser.mjs';
import { encodeProfile, SHOP, SHOP_LATER, TYPES } from './profile_fixture.mjs';

const old = keep('old.pb.gz', encodeProfile(SHOP, TYPES));
const fresh = keep('fresh.pb.gz', encodeProfile(SHOP_LATER, TYPES));
const ui = await serve(`-diff_base=${old}`, fresh);

after(finish);
afterEach(() => assert.deepEqual(takeComplaints(), []));

const word = (page, name) => new URL(page.url()).searchParams.get(name);

/** @param {string} view @param {Record<string, string>} words */
const urlOf = (base, view, words) =>
  `${base}${view}?${new URLSearchParams(words)}`;

// ---- confidence ----

test('each change says whether it is more than the noise of sampling',
  async () => {
    const page = await open(`${ui}diff`);
    const sure = Object.fromEntries((await rowsOf(page)).map((cells) =>
      [cells[7], cells[6]]));
    // 43 samples and 21.5; 21 and 42; none and 7; 6 and 6.
    assert.equal(sure['db::decode'], 'likely 2.7σ');
    assert.equal(sure['text::escape'], 'likely 2.6σ');
    assert.equal(sure['cache::get'], 'likely 2.6σ');
    assert.equal(sure['http::parse'], 'noise 0.0σ');
    await page.getByRole('button', { name: 'Confidence' }).click();
    assert.equal((await rowsOf(page))[0][7], 'db::decode');
    await page.context().close();
  });

test('what grew begins with the largest growth', async () => {
  const page = await open(`${ui}diff?change=grew`);
  const sizes = async (column) => (await rowsOf(page)).map((cells) =>
    Math.abs(parseFloat(cells[column])));
  const falling = (list) => list.length > 2 && list.every((size, i) => i === 0
    || size <= list[i - 1]);
  assert.ok(falling(await sizes(3)), `${await sizes(3)}`);
  // Whoever chose an order keeps it.
  await page.getByRole('button', { name: 'Flat change' }).click();
  await page.getByRole('button', { name: /^All/ }).click();
  await settled(page);
  assert.ok(falling(await sizes(0)), `${await sizes(0)}`);
  await page.context().close();
});

test('without a period the count of the samples tells', async () => {
  const without = (name, stacks, types) => keep(name, encodeProfile(stacks,
    types, { period: 0 }));
  const counted = await serve(`-diff_base=${without('a.pb.gz', SHOP, TYPES)}`,
    without('b.pb.gz', SHOP_LATER, TYPES));
  const page = await open(`${counted}diff`);
  const cellOf = async (name) => (await rowsOf(page)).find((cells) =>
    cells[7] === name)?.[6];
  assert.equal(await cellOf('cache::get'), 'likely 2.6σ');
  await page.goto(`${counted}diff?si=samples`);
  await settled(page);
  assert.equal(await cellOf('cache::get'), 'likely 2.6σ');
  await page.context().close();
  // Nothing counts these: the column is not there.
  const times = (stacks) => stacks.map((stack) => ({ ...stack,
    values: stack.values.slice(1) }));
  const delays = /** @type {[string, string][]} */ ([['delay',
    'nanoseconds']]);
  const unknown = await open(`${await serve(`-diff_base=${without('c.pb.gz',
    times(SHOP), delays)}`, without('d.pb.gz', times(SHOP_LATER),
    delays))}diff`);
  assert.ok((await rowsOf(unknown)).length > 5);
  assert.ok(!await unknown.getByText('Confidence').isVisible());
  assert.equal(await unknown.locator('.table-row .col-sure:visible').count(),
    0);
  await unknown.context().close();
});

// ---- normalised or not ----

/** {name: [flat, cum]}, of what changed, in nanoseconds.
 * @param {[string, string | number, string | number][]} rows */
const changes = (rows) => Object.fromEntries(rows.map(([name, flat, cum]) =>
  [name, [parseInt(String(flat), 10), parseInt(String(cum), 10)]])
  .filter(([, [flat, cum]]) => flat !== 0 || cum !== 0));

const terminalTop = (...flags) => changes(tableOf(terminal('-top',
  '-nodecount=500', '-trim=false', '-unit=ns', ...flags))
  .map(([flat, , , cum, , ...name]) => [name.join(' '), flat, cum]));

const shownTop = async (page) => changes((await rowsOf(page))
  .map(([flat, , , cum, , name]) => [name, flat, cum]));

const shownDiff = async (page) => changes((await rowsOf(page))
  .map((cells) => [cells[7], cells[0], cells[3]]));

const shownFlame = async (page) => changes(await page.evaluate(() => {
  const { sources, sums } = globalThis.pprofPage.view.flame.tree;
  return [...Array(sources.count).keys()].slice(1).map((i) =>
    [sources.strings[sources.name[i]], sums.self[i], sums.total[i]]);
}));

/** All views of a page against the terminal with the same flags. */
async function compareViews(base, words, flags) {
  const top = terminalTop(...flags);
  assert.ok(Object.keys(top).length >= 5);
  const page = await open(urlOf(base, 'top', { ...words, unit: 'ns',
    trim: 'f' }));
  assert.deepEqual(await shownTop(page), top);
  await page.goto(urlOf(base, 'diff', { ...words, unit: 'ns' }));
  await settled(page);
  assert.deepEqual(await shownDiff(page), top);
  await page.goto(urlOf(base, 'flamegraph', words));
  await settled(page);
  assert.deepEqual(await shownFlame(page), top);
  await page.goto(urlOf(base, 'graph', words));
  await settled(page);
  assert.deepEqual(await drawnGraph(page), dotGraph(terminal('-dot',
    ...flags)));
  await page.goto(urlOf(base, 'peek', { ...words, f: 'db::query' }));
  await settled(page);
  assert.equal(await page.locator('.text-pieces').textContent(),
    terminal('-peek=db::query', '-focus=db::query', ...flags));
  await page.context().close();
}

const compared = [`-diff_base=${old}`, fresh];

test('every view has the numbers of the terminal, normalised or not',
  async () => {
    assert.notDeepEqual(terminalTop(...compared),
      terminalTop('-normalize', ...compared));
    await compareViews(ui, {}, compared);
    await compareViews(ui, { norm: 't' }, ['-normalize', ...compared]);
  });

test('started with -normalize, a page can do without', async () => {
  const started = await serve('-normalize', ...compared);
  await compareViews(started, {}, ['-normalize', ...compared]);
  await compareViews(started, { norm: 'f' }, compared);
  const page = await open(`${started}diff`);
  const box = page.getByLabel('Normalise');
  assert.ok(await box.isChecked());
  await box.uncheck();
  await settled(page);
  assert.equal(word(page, 'norm'), 'f');
  await box.check();
  await settled(page);
  assert.equal(word(page, 'norm'), null);
  await page.context().close();
});

test('the box of the table and that of the options are one', async () => {
  const page = await open(`${ui}diff?unit=ns`);
  const summary = () => page.locator('.comparebar').textContent();
  const box = page.locator('.comparebar').getByLabel('Normalise');
  assert.match(await summary(), /old.*1020000000ns.*fresh.*1085000000ns/);
  assert.ok(await box.isEnabled() && !await box.isChecked());
  await box.check();
  await settled(page);
  assert.equal(word(page, 'norm'), 't');
  assert.match(await summary(), /old.*1020000000ns.*fresh.*10200000\d\dns/);
  assert.deepEqual(await shownDiff(page),
    terminalTop('-normalize', ...compared));
  await shoot(page, 'diff-normalised');
  await page.getByRole('button', { name: 'Options' }).click();
  const option = page.getByRole('dialog').getByLabel('Normalise');
  assert.ok(await option.isChecked());
  await option.uncheck();
  await page.getByRole('button', { name: 'Close' }).click();
  await settled(page);
  assert.equal(word(page, 'norm'), null);
  assert.deepEqual(await shownDiff(page), terminalTop(...compared));
  await page.context().close();
});

test('-base subtracts without marks, normalised or not', async () => {
  const subtracted = await serve(`-base=${old}`, fresh);
  for (const [norm, ...flags] of [['f'], ['t', '-normalize']]) {
    const page = await open(urlOf(subtracted, 'top', { norm, unit: 'ns',
      trim: 'f' }));
    assert.deepEqual(await shownTop(page), terminalTop(...flags,
      `-base=${old}`, fresh));
    assert.equal(await page.getByRole('link', { name: 'Diff' }).count(), 0);
    await page.context().close();
  }
});

test('without a base there is nothing to normalise', async () => {
  const single = await serve(fresh);
  const page = await open(`${single}top`);
  await page.keyboard.press('o');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Mean').waitFor();
  assert.equal(await dialog.getByLabel('Normalise').count(), 0);
  await page.context().close();
});

// ---- before beside after ----

const SIDE = 'flamegraph?dm=side&side=flame';

/** The windows of both sides, as shares of what there is. */
function windows(page) {
  return page.evaluate(() => ['second', 'main'].map((side) => {
    const { win, layout } = globalThis.pprofPage.view[side];
    const whole = layout.weight[0];
    return { from: win.from / whole, to: win.to / whole, top: win.top };
  }));
}

/** In every row, the frames at both edges are the same on both sides, as far
 * as they are frames that both have. */
async function expectTogether(page) {
  const edges = await page.evaluate(() => {
    const { main, second } = globalThis.pprofPage.view;
    const { tree } = main;
    const there = (icicle, node) => node >= 0 && icicle.layout.weight[node] > 0;
    const at = (icicle, part, level) => icicle.nodeAt(
      part * icicle.win.width, level * 20 - icicle.win.top + 10);
    const found = [];
    for (let level = 0; level < tree.depth; level++) {
      for (const part of [0.001, 0.999]) {
        const nodes = [second, main].map((side) => at(side, part, level));
        if (nodes.every((node) => there(main, node) && there(second, node))) {
          found.push(nodes.map((node) => tree.addressOf(node)));
        }
      }
    }
    return { found, tops: [second.win.top, main.win.top] };
  });
  assert.ok(edges.found.length >= 4, `${edges.found.length}`);
  for (const [left, right] of edges.found) assert.equal(right, left);
  assert.equal(edges.tops[0], edges.tops[1]);
}

const ALL = [{ from: 0, to: 1, top: 0 }, { from: 0, to: 1, top: 0 }];
const TURN = 500; // milliseconds; what follows sooner is the same turn

test('the wheel on one side zooms both, Escape goes back on both',
  async () => {
    for (const [side, other] of [['second', 'main'], ['main', 'second']]) {
      const page = await open(ui + SIDE);
      assert.deepEqual(await windows(page), ALL);
      const box = await boxOf(page, 'text::escape', side);
      await page.mouse.move(box.x, box.y);
      await page.keyboard.down('Control');
      await page.mouse.wheel(0, -120);
      await page.keyboard.up('Control');
      await settled(page);
      const once = await windows(page);
      for (const { from, to } of once) assert.ok(to - from < 0.95);
      if (side === 'second') await shoot(page, 'diff-side-wheel');
      await expectTogether(page);
      // Nobody moves the one that is moved by hand.
      const now = await boxOf(page, 'text::escape', side);
      assert.ok(Math.abs(now.x - box.x) < 1, `${now.x - box.x}`);
      await page.waitForTimeout(TURN);
      // All at once: one turn, however slow the machine is.
      await page.evaluate(([which, clientX, clientY]) => {
        for (let i = 0; i < 12; i++) {
          globalThis.pprofPage.view[which].element.dispatchEvent(
            new WheelEvent('wheel', { deltaY: -120, clientX, clientY,
              ctrlKey: true, bubbles: true, cancelable: true }));
        }
      }, [side, box.x, box.y]);
      await settled(page);
      await expectTogether(page);
      const wide = await Promise.all([side, other].map((which) =>
        boxOf(page, 'text::escape', which)));
      for (const { width } of wide) assert.ok(width > 400, `${width}`);
      await page.keyboard.press('Escape');
      await settled(page);
      assert.deepEqual(await windows(page), once);
      await page.keyboard.press('Escape');
      await settled(page);
      assert.deepEqual(await windows(page), ALL);
      await page.context().close();
    }
  });

test('drag, keys, two fingers and the overview move both sides', async () => {
  const deeper = (stacks) => encodeProfile(stacks.map((stack) =>
    (stack.frames.at(-1) !== 'db::decode' ? stack : { ...stack,
      frames: [...stack.frames, ...Array(60).fill('db::step')] })), TYPES);
  const deep = await serve(`-diff_base=${keep('d1.pb.gz', deeper(SHOP))}`,
    keep('d2.pb.gz', deeper(SHOP_LATER)));
  const page = await open(deep + SIDE, { hasTouch: true });
  const moves = async (what) => {
    const before = await windows(page);
    await what();
    await settled(page);
    const now = await windows(page);
    for (const i of [0, 1]) assert.notDeepEqual(now[i], before[i]);
    await expectTogether(page);
  };
  const box = await boxOf(page, 'db::query', 'second');
  await page.mouse.move(box.x, box.y);
  await moves(async () => {
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -120);
    await page.keyboard.up('Control');
  });
  await moves(async () => {
    await page.mouse.down();
    await page.mouse.move(box.x - 60, box.y, { steps: 3 });
    await page.mouse.up();
  });
  await page.locator('.icicle').last().focus();
  await moves(() => page.keyboard.press('+'));
  await moves(() => page.keyboard.press('PageDown'));
  await moves(() => page.keyboard.press('-'));
  const strip = await page.locator('.minimap').boundingBox();
  await moves(async () => {
    await page.mouse.move(strip.x + strip.width * 0.3, strip.y + 5);
    await page.mouse.down();
    await page.mouse.move(strip.x + strip.width * 0.4, strip.y + 5,
      { steps: 3 });
    await page.mouse.up();
  });
  await moves(() => page.evaluate(() => {
    const { element } = globalThis.pprofPage.view.second;
    const { left, top } = element.getBoundingClientRect();
    const touch = (type, pointerId, x) => element.dispatchEvent(
      new PointerEvent(type, { pointerId, clientX: left + x,
        clientY: top + 30, pointerType: 'touch', buttons: 1, bubbles: true }));
    touch('pointerdown', 7, 100);
    touch('pointerdown', 8, 140);
    touch('pointermove', 8, 200);
    touch('pointerup', 8, 200);
    touch('pointerup', 7, 100);
  }));
  await page.context().close();
});

test('a frame that fills one side fills the other one, also in motion',
  async () => {
    const page = await open(ui + SIDE, { reducedMotion: 'no-preference' });
    const box = await boxOf(page, 'render::page', 'second');
    await page.mouse.dblclick(box.x, box.y);
    await page.waitForFunction(() =>
      new URL(location.href).searchParams.has('z'));
    const fitted = () => page.evaluate(() => {
      const { main, second } = globalThis.pprofPage.view;
      return [second, main].map(({ win, layout, zoomNode, tree }) =>
        [tree.name(zoomNode), Math.round(layout.weight[zoomNode] /
          (win.to - win.from) * 1e6)]);
    });
    const want = [['render::page', 1e6], ['render::page', 1e6]];
    await page.waitForFunction(() => {
      const { main, second } = globalThis.pprofPage.view;
      return [main, second].every(({ win, layout, zoomNode }) => zoomNode > 0 &&
        win.to - win.from < layout.weight[zoomNode] * 1.0000001);
    });
    await settled(page);
    assert.deepEqual(await fitted(), want);
    await page.reload();
    await settled(page);
    assert.deepEqual(await fitted(), want);
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => !globalThis.pprofPage.view.second
      .isZoomed() && !globalThis.pprofPage.view.main.isZoomed());
    await page.context().close();
  });

test('of a new frame the other side shows where it would be', async () => {
  const page = await open(ui + SIDE);
  const box = await boxOf(page, 'cache::get');
  await page.mouse.dblclick(box.x, box.y);
  await settled(page);
  assert.ok((await boxOf(page, 'cache::get')).width > 500);
  const caller = await boxOf(page, 'serve', 'second');
  assert.ok(caller.width > 500);
  // By keys, too: the side where it is missing keeps its scale.
  await page.keyboard.press('Escape');
  await settled(page);
  await page.evaluate((node) => {
    const { second } = globalThis.pprofPage.view;
    second.select(node, true);
  }, box.node);
  await settled(page);
  assert.deepEqual(await windows(page), ALL);
  await page.context().close();
});
