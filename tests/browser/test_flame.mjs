// The flame graph: mouse, keys, search, callers and callees, filters, colours.

import assert from 'node:assert/strict';
import test, { after, afterEach } from 'node:test';
import { boxOf, finish, icicle, keep, open, rowsOf, serve, settled, shoot,
  takeComplaints, terminal } from './browser.mjs';
import { encodeProfile, SHOP, TYPES } from './profile_fixture.mjs';

const profile = keep('shop.pb.gz', encodeProfile(SHOP, TYPES));
const ui = await serve(profile);

after(finish);
afterEach(() => assert.deepEqual(takeComplaints(), []));

const url = (page) => new URL(page.url());
const word = (page, name) => url(page).searchParams.get(name);
const detail = (page) => page.locator('.detail').textContent();
const waitForWord = (page, name, there = true) => page.waitForFunction(
  ([n, t]) => new URL(location.href).searchParams.has(n) === t, [name, there]);

async function click(page, name, options = {}) {
  const box = await boxOf(page, name);
  assert.ok(box, name);
  await page.mouse.click(box.x, box.y, options);
  await settled(page);
}

test('hovering tells at once, clicking selects here and in the table',
  async () => {
    const page = await open(`${ui}flamegraph`);
    const box = await boxOf(page, 'db::decode');
    await page.mouse.move(box.x, box.y);
    assert.match(await detail(page), /db::decode.*self.*340ms.*total.*340ms/);
    assert.ok(await page.locator('.table-row.hovered',
      { hasText: 'db::decode' }).isVisible());
    await click(page, 'render::page');
    assert.match(await detail(page), /render::page.*total 270ms \(26\.5%\)/);
    assert.equal(await page.locator('.table-row[aria-selected=true]')
      .getAttribute('data-rank') !== null, true);
    assert.match(await page.locator('.crumbs').textContent(),
      /all.*main.*serve.*page/);
    await page.context().close();
  });

test('double click zooms, Escape goes back, the URL keeps the place',
  async () => {
    const page = await open(`${ui}flamegraph`);
    const before = (await boxOf(page, 'db::query')).width;
    const box = await boxOf(page, 'db::query');
    await page.mouse.dblclick(box.x, box.y);
    await waitForWord(page, 'z');
    const after_ = (await boxOf(page, 'db::query')).width;
    assert.ok(after_ > before * 2, `${before} ${after_}`);
    await shoot(page, 'flame-zoomed');
    await page.reload();
    await settled(page);
    assert.ok(Math.abs((await boxOf(page, 'db::query')).width - after_) < 2);
    await page.keyboard.press('Escape');
    await waitForWord(page, 'z', false);
    assert.ok(Math.abs((await boxOf(page, 'db::query')).width - before) < 2);
    await page.context().close();
  });

test('what is a double click is the browser\'s word', async () => {
  const page = await open(`${ui}flamegraph`);
  const zoomed = () => page.evaluate(() =>
    globalThis.pprofPage.view.main.isZoomed());
  const press = async (box, clickCount) => {
    await page.mouse.move(box.x, box.y);
    await page.mouse.down({ clickCount });
    await page.mouse.up({ clickCount });
  };
  // Two clicks next to each other are two, however quick.
  const query = await boxOf(page, 'db::query');
  await press(await boxOf(page, 'render::page'), 1);
  await press(query, 1);
  await settled(page);
  assert.equal(await zoomed(), false);
  // Slow fingers set their system to a second.
  await page.waitForTimeout(600);
  await press(query, 2);
  await waitForWord(page, 'z');
  assert.equal(await zoomed(), true);
  // A click and a drag at once: the drag counts.
  await page.keyboard.press('Escape');
  await waitForWord(page, 'z', false);
  await press(query, 1);
  await page.mouse.down({ clickCount: 2 });
  await page.mouse.move(query.x - 40, query.y, { steps: 3 });
  await page.mouse.up({ clickCount: 2 });
  await settled(page);
  assert.equal(await zoomed(), false);
  await page.context().close();
});

test('two taps on a box zoom to it, on two boxes they do not', async () => {
  const page = await open(`${ui}flamegraph`, { hasTouch: true });
  const tap = (at, times = 1) => page.evaluate(([{ x, y }, count]) => {
    const { element } = globalThis.pprofPage.view.main;
    for (let i = 0; i < count; i++) {
      for (const type of ['pointerdown', 'pointerup']) {
        element.dispatchEvent(new PointerEvent(type, { pointerId: 5,
          clientX: x, clientY: y, pointerType: 'touch', bubbles: true,
          buttons: type === 'pointerup' ? 0 : 1 }));
      }
    }
  }, [at, times]);
  await tap(await boxOf(page, 'render::page'));
  await tap(await boxOf(page, 'db::query'));
  await settled(page);
  assert.equal(await page.evaluate(() =>
    globalThis.pprofPage.view.main.isZoomed()), false);
  await tap(await boxOf(page, 'render::page'), 2);
  await waitForWord(page, 'z');
  await page.context().close();
});

test('Ctrl wheel zooms at the pointer, dragging moves, the overview follows',
  async () => {
    const page = await open(`${ui}flamegraph?side=flame`);
    const box = await boxOf(page, 'text::escape');
    await page.mouse.move(box.x, box.y);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -400);
    await page.keyboard.up('Control');
    await waitForWord(page, 'w');
    const zoomed = await boxOf(page, 'text::escape');
    assert.ok(zoomed.width > box.width * 1.2);
    assert.ok(Math.abs(zoomed.x - box.x) < zoomed.width);
    const frame = await page.locator('.minimap-frame').boundingBox();
    const whole = await page.locator('.minimap').boundingBox();
    assert.ok(frame.width < whole.width * 0.85);
    await page.mouse.down();
    await page.mouse.move(box.x + 120, box.y, { steps: 4 });
    await page.mouse.up();
    await settled(page);
    const moved = await boxOf(page, 'text::escape');
    assert.ok(Math.abs(moved.x - zoomed.x - 120) < 3, `${moved.x - zoomed.x}`);
    await page.context().close();
  });

test('arrow keys walk, Enter zooms, the tree is there for screen readers',
  async () => {
    const page = await open(`${ui}flamegraph`);
    await icicle(page).focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown']) {
      await page.keyboard.press(key);
    }
    assert.match(await detail(page), /db::query/);
    await page.keyboard.press('ArrowRight');
    assert.match(await detail(page), /render::page/);
    await page.keyboard.press('ArrowUp');
    assert.match(await detail(page), /serve/);
    const current = await icicle(page).getAttribute('aria-activedescendant');
    const item = page.locator(`[id="${current}"]`);
    assert.equal(await item.getAttribute('role'), 'treeitem');
    assert.equal(await item.getAttribute('aria-level'), '3');
    assert.match(await item.textContent(), /serve, self 0, total 830ms/);
    assert.match(await page.locator('[aria-live]').textContent(), /serve/);
    await page.keyboard.press('Enter');
    await waitForWord(page, 'z');
    await page.keyboard.press('0');
    await waitForWord(page, 'z', false);
    await page.context().close();
  });

test('searching tells the share without counting twice', async () => {
  const page = await open(`${ui}flamegraph`);
  await page.keyboard.press('/');
  await page.keyboard.type('db::|render::page');
  await page.getByText('76.5% in 6 boxes', { exact: true }).waitFor();
  assert.equal(word(page, 'q'), 'db::|render::page');
  await shoot(page, 'flame-search');
  await page.keyboard.press('Enter');
  assert.match(await detail(page), /db::query/);
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => document.querySelector('.search-share')
    .textContent === '');
  await page.keyboard.press('n');
  await page.context().close();
});

test('callers and callees of a function', async () => {
  const page = await open(`${ui}flamegraph`);
  await click(page, 'db::query');
  await page.keyboard.press('p');
  await settled(page);
  assert.equal(word(page, 'p'), '^db::query$');
  assert.equal(await page.locator('.icicle').count(), 2);
  assert.match(await page.locator('.pivot-bar').textContent(),
    /db::query.*510ms \(50%\)/);
  const callers = await page.evaluate(() => {
    const { tree } = globalThis.pprofPage.view.second;
    return [...Array(tree.count).keys()].map((i) =>
      [tree.name(i), tree.total[i] / 1e6]);
  });
  assert.deepEqual(callers, [['db::query', 510], ['serve', 420],
    ['flush', 90], ['main', 420], ['main', 90]]);
  await shoot(page, 'callers');
  assert.equal(await page.locator('.tab[aria-current]').textContent(),
    'Callers');
  await page.goBack();
  await settled(page);
  assert.equal(await page.locator('.icicle').count(), 1);
  await page.goto(`${ui}flamegraph?p=nothing`);
  await settled(page);
  assert.match(await page.locator('#messages').textContent(),
    /No frame matches nothing/);
  await page.context().close();
});

test('filters are chips, work as in the terminal and can be removed',
  async () => {
    const page = await open(`${ui}top`);
    await page.keyboard.press('f');
    await page.getByLabel('Regular expression', { exact: true }).fill('serve');
    await page.getByRole('button', { name: 'Apply' }).click();
    await settled(page);
    assert.equal(word(page, 'f'), 'serve');
    await page.keyboard.press('1');
    await settled(page);
    await click(page, 'text::escape', { button: 'right' });
    await page.getByRole('menuitem', { name: 'Ignore stacks with it' })
      .click();
    await settled(page);
    assert.equal(word(page, 'i'), '^text::escape$');
    await page.keyboard.press('3');
    await settled(page);
    const rows = (await rowsOf(page)).map((row) => row[5]);
    const expected = terminal('-top', '-nodecount=500', '-focus=serve',
      '-ignore=^text::escape$', profile).split('\n')
      .map((line) => /\S+%\s{2}(\S.*)$/.exec(line)?.[1])
      .filter((name) => name);
    assert.deepEqual(rows, expected);
    await shoot(page, 'chips');
    await page.getByRole('button', { name: /Remove without/ }).click();
    await settled(page);
    assert.equal(word(page, 'i'), null);
    assert.equal(await page.locator('.chip').count(), 1);
    await page.context().close();
  });

test('words that match nothing are told, bad ones fail in place', async () => {
  const page = await open(`${ui}flamegraph?f=nowhere`);
  assert.match(await page.locator('#messages').textContent(),
    /[Ff]ocus expression matched no samples/);
  await page.goto(`${ui}top?f=(`);
  await page.locator('.failure').waitFor();
  assert.match(await page.locator('.failure-text').textContent(), /regexp/);
  await page.goto(`${ui}nosuch`);
  await page.locator('.failure').waitFor();
  await page.locator('.failure').getByRole('button', { name: 'Flame graph' })
    .click();
  await settled(page);
  assert.ok(await page.locator('.icicle').isVisible());
  takeComplaints();
  await page.context().close();
});

test('sample type, colours, order of the table and panes are in the URL',
  async () => {
    const page = await open(`${ui}flamegraph`);
    await page.getByLabel('Sample type').selectOption('samples');
    await settled(page);
    assert.equal(word(page, 'si'), 'samples');
    assert.match(await page.locator('.total').textContent(), /Total 102/);
    await page.getByLabel('Colour by').selectOption('file');
    await settled(page);
    assert.match(await page.locator('.legend').textContent(), /src\/db\.c/);
    await page.getByRole('button', { name: 'Cum', exact: true }).click();
    await page.keyboard.press('t');
    await settled(page);
    assert.ok(!await page.locator('.side').isVisible());
    assert.deepEqual([...url(page).searchParams.keys()].sort(),
      ['color', 'order', 'si', 'side']);
    await page.getByRole('button', { name: 'Invert' }).click();
    await settled(page);
    assert.equal(await page.evaluate(() => globalThis.pprofPage.view.main.tree
      .name(1)), 'db::decode');
    await page.context().close();
  });

test('choosing a colour in the legend dims the rest', async () => {
  const page = await open(`${ui}flamegraph`);
  const fillOf = (name) => page.evaluate((wanted) => {
    const { tree, look } = globalThis.pprofPage.view.main;
    return look.fill([...Array(tree.count).keys()].find((i) =>
      tree.name(i) === wanted));
  }, name);
  const before = await fillOf('text::escape');
  const kept = await fillOf('db::decode');
  await page.locator('.legend-entry', { hasText: 'db' }).click();
  assert.notEqual(await fillOf('text::escape'), before);
  assert.equal(await fillOf('db::decode'), kept);
  await page.context().close();
});

test('numbers switch views, ? shows the keys, names can be copied',
  async () => {
    const page = await open(`${ui}flamegraph`, { permissions:
      ['clipboard-read', 'clipboard-write'] });
    await click(page, 'text::escape');
    await page.keyboard.press('Shift+C');
    await page.locator('.flash').waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()),
      'main\nserve\nrender::page\nrender::page\ntext::escape');
    for (const [key, view] of [['3', 'top'], ['4', 'graph'], ['8', 'tags'],
      ['1', 'flamegraph']]) {
      await page.keyboard.press(key);
      await settled(page);
      assert.ok(url(page).pathname.endsWith(view));
    }
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await shoot(page, 'keys');
    await page.keyboard.press('Escape');
    await page.context().close();
  });

test('dark when the system is dark', async () => {
  const page = await open(`${ui}flamegraph`, { colorScheme: 'dark' });
  const ground = () => page.evaluate(() => getComputedStyle(document.body)
    .backgroundColor);
  assert.equal(await ground(), 'rgb(24, 23, 21)');
  const dark = await page.evaluate(() =>
    globalThis.pprofPage.view.main.look.theme.text);
  await shoot(page, 'dark');
  await page.emulateMedia({ colorScheme: 'light' });
  assert.equal(await ground(), 'rgb(255, 255, 255)');
  await page.waitForFunction((was) => globalThis.pprofPage.view.main.look.theme
    .text !== was, dark);
  await page.context().close();
});

test('two fingers zoom, a long press opens the menu', async () => {
  const page = await open(`${ui}flamegraph`, { hasTouch: true });
  const before = await boxOf(page, 'db::query');
  // All at once: on a slow machine, too, no finger rests on a place.
  const touch = (...steps) => page.evaluate((list) => {
    for (const [type, pointerId, clientX, clientY] of list) {
      globalThis.pprofPage.view.main.element.dispatchEvent(new PointerEvent(
        type, { pointerId, clientX, clientY, pointerType: 'touch',
          buttons: type === 'pointerup' ? 0 : 1, bubbles: true }));
    }
  }, steps);
  await touch(['pointerdown', 7, before.x - 20, before.y],
    ['pointerdown', 8, before.x + 20, before.y],
    ['pointermove', 8, before.x + 80, before.y],
    ['pointerup', 8, before.x + 80, before.y],
    ['pointerup', 7, before.x - 20, before.y]);
  await settled(page);
  assert.ok((await boxOf(page, 'db::query')).width > before.width * 2);
  const box = await boxOf(page, 'db::query');
  const middle = Math.min(Math.max(box.x, 500), 1200);
  await touch(['pointerdown', 9, middle, box.y]);
  await page.getByRole('menuitem', { name: 'Callers and callees' }).waitFor();
  await page.keyboard.press('Escape');
  await page.context().close();
});

test('frames below a pixel are counted, and open on zoom', async () => {
  const stacks = Array.from({ length: 4000 }, (_, i) => ({
    frames: ['main', `leaf${i}`], values: [1, 1e6] }));
  const many = await serve(keep('many.pb.gz', encodeProfile(
    [{ frames: ['main'], values: [4e4, 4e10] }, ...stacks], TYPES)));
  const page = await open(`${many}flamegraph`);
  const status = page.locator('.flame-status');
  assert.match(await status.textContent(),
    /^4,000 frames narrower than a pixel/);
  const box = await boxOf(page, 'leaf2000');
  assert.ok(box.width < 0.5);
  await page.mouse.move(box.x, box.y);
  await page.keyboard.down('Control');
  for (let i = 0; i < 26; i++) await page.mouse.wheel(0, -400);
  await page.keyboard.up('Control');
  await settled(page);
  assert.ok((await boxOf(page, 'leaf2000')).width > 5);
  await page.mouse.move(box.x + 1, box.y);
  assert.match(await page.locator('.detail').textContent(), /leaf\d+.*1ms/);
  await page.context().close();
});
