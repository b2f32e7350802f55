// Finding one's way: filters that combine, can be edited and switched off;
// what is seen of how much; Back; changes that fail; search.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import test, { after, afterEach } from 'node:test';
import { boxOf, finish, icicle, keep, open, rowsOf, scratch, serve, settled,
  shoot, tableOf, takeComplaints, terminal } from './browser.mjs';
import { encodeProfile, SHOP, TYPES } from './profile_fixture.mjs';

const profile = keep('shop.pb.gz', encodeProfile(SHOP, TYPES));
const ui = await serve(profile);

after(finish);
afterEach(() => assert.deepEqual(takeComplaints(), []));

const words = (page, name) => new URL(page.url()).searchParams.getAll(name);
const total = (page) => page.locator('.total').textContent();
const waitForWord = (page, name, there = true) => page.waitForFunction(
  ([n, t]) => new URL(location.href).searchParams.has(n) === t, [name, there]);

test('filters combine with AND, and each chip can be switched off', async () => {
  const page = await open(`${ui}top?f=serve`);
  assert.match(await total(page), /^830ms \(81\.4%\) of 1\.02s$/);
  await page.keyboard.press('f');
  await page.getByLabel('Regular expression', { exact: true }).fill('escape');
  await page.getByRole('button', { name: 'Apply' }).click();
  await settled(page);
  assert.deepEqual(words(page, 'f'), ['serve', 'escape']);
  const both = (await rowsOf(page)).map((row) => row[5]).sort();
  assert.deepEqual(both, ['main', 'render::page', 'serve', 'text::escape']);
  // The terminal gets there in two steps.
  const step = join(scratch, 'serve.pb.gz');
  terminal('-proto', '-focus=serve', `-output=${step}`, profile);
  assert.deepEqual(both, tableOf(terminal('-top', '-trim=false',
    '-focus=escape', step)).map((row) => row[5]).sort());
  await page.getByLabel('Use filter with serve').uncheck();
  await settled(page);
  assert.deepEqual(words(page, 'f'), ['escape']);
  assert.deepEqual(words(page, 'off'), ['f:serve']);
  assert.equal(await page.locator('.chip.off').count(), 1);
  await page.reload();
  await settled(page);
  await page.getByLabel('Use filter with serve').check();
  await settled(page);
  assert.deepEqual(words(page, 'f').sort(), ['escape', 'serve']);
  await shoot(page, 'chips-and');
  await page.context().close();
});

test('a second label narrows further', async () => {
  const stacks = [['/cart', 'a', 4], ['/cart', 'b', 3], ['/item', 'b', 2]]
    .map(([route, worker, n]) => ({ frames: ['main'], values: [n, n * 1e9],
      labels: { route, worker } }));
  const labelled = await serve(keep('labels.pb.gz', encodeProfile(stacks,
    TYPES)));
  const page = await open(`${labelled}tags`);
  const choose = async (name) => {
    await page.getByRole('button', { name, exact: true }).click();
    await settled(page);
  };
  await choose('/cart');
  assert.equal(await total(page), '7s (77.8%) of 9s');
  await choose('b');
  assert.equal(words(page, 'tf').length, 2);
  assert.deepEqual(await page.locator('.chip-text').allTextContents(),
    ['labelroute is /cart', 'labelworker is b']);
  assert.equal(await total(page), '3s (33.3%) of 9s');
  await page.context().close();
});

test('a chip has a plain name and is edited in place', async () => {
  const page = await open(`${ui}top?f=%5Edb%3A%3Aquery%24&i=idle`);
  const chip = page.locator('.chip').first();
  assert.equal(await chip.locator('.chip-text').textContent(),
    'withdb::query');
  await chip.locator('.chip-text').click();
  const field = page.getByLabel('Regular expression', { exact: true });
  assert.equal(await field.inputValue(), '^db::query$');
  await field.fill('(');
  assert.match(await page.locator('#filter-hint').textContent(),
    /Not a regular expression/);
  assert.ok(await page.getByRole('button', { name: 'Apply' }).isDisabled());
  await field.fill('text');
  await page.getByRole('button', { name: 'Apply' }).click();
  await settled(page);
  assert.deepEqual([words(page, 'f'), words(page, 'i')], [['text'], ['idle']]);
  await page.context().close();
});

test('a change that fails leaves the view and truthful chips', async () => {
  const page = await open(`${ui}top?f=serve`);
  const before = await rowsOf(page);
  // RE2 knows no look-ahead; the browser does.
  await page.keyboard.press('f');
  await page.getByLabel('Regular expression', { exact: true })
    .fill('a(?=b)');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.locator('#messages p').waitFor();
  assert.match(await page.locator('#messages').textContent(), /regexp/);
  assert.deepEqual(words(page, 'f'), ['serve']);
  assert.deepEqual(await page.locator('.chip-text').allTextContents(),
    ['withserve']);
  assert.deepEqual(await rowsOf(page), before);
  takeComplaints(); // the console reports the status 400
  await page.context().close();
});

test('on a page that cannot be shown, the way out keeps what is no filter',
  async () => {
    const page = await open(`${ui}top?si=samples&f=a(?%3Db)`);
    await page.locator('.failure').waitFor();
    assert.deepEqual(await page.locator('.chip-text').allTextContents(),
      ['witha(?=b)']);
    await page.getByRole('button', { name: 'Without filters' }).click();
    await settled(page);
    assert.deepEqual([words(page, 'f'), words(page, 'si')],
      [[], ['samples']]);
    assert.equal(await page.locator('.failure').count(), 0);
    takeComplaints();
    await page.context().close();
  });

test('zoom says how much it is, keeps the callers, and Back undoes it',
  async () => {
    const page = await open(`${ui}flamegraph`);
    const box = await boxOf(page, 'db::query');
    await page.mouse.click(box.x, box.y);
    await waitForWord(page, 'sel');
    await page.mouse.dblclick(box.x, box.y);
    await waitForWord(page, 'z');
    assert.equal(await total(page), '420ms (41.2%) of 1.02s');
    const { top } = await page.evaluate(() =>
      globalThis.pprofPage.view.main.win);
    assert.equal(top, 0); // its callers fit above it
    await page.goBack();
    await waitForWord(page, 'z', false);
    await settled(page);
    assert.equal(await page.evaluate(() =>
      globalThis.pprofPage.view.main.isZoomed()), false);
    assert.match(await total(page), /^Total 1\.02s$/);
    assert.ok(words(page, 'sel').length === 1);
    await page.goBack();
    await waitForWord(page, 'sel', false);
    await settled(page);
    assert.equal(await page.evaluate(() =>
      globalThis.pprofPage.view.main.selected), -1);
    await page.goForward();
    await waitForWord(page, 'sel');
    await settled(page);
    assert.ok(await page.evaluate(() =>
      globalThis.pprofPage.view.main.selected) > 0);
    await page.context().close();
  });

// ---- search ----

/** How many pixels of a canvas have a colour. */
const pixelsOf = (page, selector, color) => page.evaluate(([where, wanted]) => {
  const canvas = document.querySelector(where);
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width,
    canvas.height);
  const [r, g, b] = [1, 3, 5].map((at) =>
    parseInt(wanted.slice(at, at + 2), 16));
  let found = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (data[i] === r && data[i + 1] === g && data[i + 2] === b) found++;
  }
  return found;
}, [selector, color]);

test('hits stand out, also as slivers and in the overview', async () => {
  const stacks = Array.from({ length: 4000 }, (_, i) => ({
    frames: ['main', 'deep', `leaf${i}`], values: [1, 1e6] }));
  const many = await serve(keep('slivers.pb.gz', encodeProfile(stacks,
    TYPES)));
  for (const colorScheme of ['light', 'dark']) {
    const page = await open(`${many}flamegraph`, { colorScheme });
    const match = await page.evaluate(() =>
      globalThis.pprofPage.view.main.look.theme.match);
    assert.equal(await pixelsOf(page, '.icicle canvas', match), 0);
    await page.keyboard.press('/');
    await page.keyboard.type('leaf2345$');
    await page.getByText('0.03% in 1 box', { exact: true }).waitFor();
    await settled(page);
    assert.ok((await boxOf(page, 'leaf2345')).width < 0.5);
    assert.ok(await pixelsOf(page, '.icicle canvas', match) >= 30);
    assert.ok(await pixelsOf(page, '.minimap canvas', match) >= 8);
    // One box for both: the table has the hit alone.
    assert.deepEqual((await rowsOf(page, '.side')).map((row) => row[3]),
      ['leaf2345']);
    assert.match(await page.locator('.side-bar').textContent(),
      /1 of 4,002 functions/);
    await page.context().close();
  }
});

test('the count stays the same from hit to hit', async () => {
  const page = await open(`${ui}flamegraph?q=page`);
  const share = page.locator('.search-share');
  const boxes = /(\d+) boxes/.exec(await share.textContent())?.[1];
  assert.ok(Number(boxes) > 1);
  await page.keyboard.press('n');
  assert.match(await share.textContent(), new RegExp(`^1 of ${boxes} boxes`));
  await page.keyboard.press('n');
  assert.match(await share.textContent(), new RegExp(`^2 of ${boxes} boxes`));
  await page.context().close();
});

test('an invalid expression is reported while typing', async () => {
  const page = await open(`${ui}flamegraph`);
  await page.keyboard.press('/');
  await page.keyboard.type('(unclosed');
  const error = page.locator('.search-error');
  await error.waitFor();
  assert.match(await error.textContent(), /Unterminated group/);
  assert.equal(await page.locator('.search input').getAttribute(
    'aria-invalid'), 'true');
  await page.waitForTimeout(250);
  assert.deepEqual(words(page, 'q'), []);
  await page.keyboard.type(')');
  await waitForWord(page, 'q');
  assert.ok(await error.isHidden());
  await page.context().close();
});

// ---- hands ----

test('the wheel scrolls, the thumb can be dragged', async () => {
  const frames = ['main', ...Array.from({ length: 90 }, (_, i) => `f${i}`)];
  const deep = await serve(keep('deep.pb.gz', encodeProfile(
    [{ frames, values: [1, 1e9] }], TYPES)));
  const page = await open(`${deep}flamegraph`);
  const top = () => page.evaluate(() =>
    globalThis.pprofPage.view.main.win.top);
  const area = await icicle(page).boundingBox();
  await page.mouse.move(area.x + 200, area.y + 100);
  await page.mouse.wheel(0, 120);
  await settled(page);
  assert.equal(await top(), 120);
  assert.equal(await page.evaluate(() =>
    globalThis.pprofPage.view.main.isZoomed()), false);
  const thumb = await page.locator('.scroll-thumb').boundingBox();
  await page.mouse.move(thumb.x + 2, thumb.y + 10);
  await page.mouse.down();
  await page.mouse.move(thumb.x + 2, thumb.y + 2000, { steps: 4 });
  await page.mouse.up();
  await settled(page);
  const most = await page.evaluate(() => {
    const { main } = globalThis.pprofPage.view;
    return main.contentHeight() - main.win.height;
  });
  assert.equal(Math.round(await top()), Math.round(most));
  assert.equal(await page.evaluate(() =>
    globalThis.pprofPage.view.main.selected), -1);
  await page.context().close();
});

test('keys work at once, and Shift F10 opens the menu of the selected box',
  async () => {
    const page = await open(`${ui}flamegraph`);
    for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowDown');
    assert.match(await page.locator('.detail').textContent(), /db::query/);
    await page.keyboard.press('Shift+F10');
    await page.getByRole('menuitem', { name: 'Focus on it' }).waitFor();
    const menu = await page.locator('.menu').boundingBox();
    const box = await boxOf(page, 'db::query');
    assert.ok(Math.abs(menu.y - box.y) < 40, `${menu.y} ${box.y}`);
    assert.match(await page.locator('.detail').textContent(), /db::query/);
    await page.keyboard.press('Escape'); // closes the menu alone
    assert.equal(await page.locator('.menu').count(), 0);
    assert.match(await page.locator('.detail').textContent(), /db::query/);
    await page.keyboard.press('3');
    await settled(page);
    await page.keyboard.press('Home');
    assert.equal(await page.locator('.table-row[aria-selected=true]').count(),
      1);
    await page.keyboard.press('Shift+F10');
    await page.getByRole('menuitem', { name: 'Focus on it' }).waitFor();
    await page.keyboard.press('Escape');
    await page.context().close();
  });

test('every control is reached by Tab and shows that it has the focus',
  async () => {
    for (const colorScheme of ['light', 'dark']) {
      const page = await open(`${ui}flamegraph?f=serve`, { colorScheme });
      for (const key of ['ArrowDown', 'ArrowDown', 'i']) {
        await page.keyboard.press(key);
      }
      await page.locator('.inspector h3').waitFor();
      await page.locator('.skip').focus();
      const ringless = new Set();
      for (let i = 0; i < 150; i++) {
        await page.keyboard.press('Tab');
        const { name, ring, seen } = await page.evaluate(() => {
          const at = document.activeElement;
          const style = getComputedStyle(at);
          const again = at.hasAttribute('data-reached') ||
            at === document.body;
          at.setAttribute('data-reached', '');
          return { seen: again, name: at.className || at.tagName,
            ring: style.outlineStyle !== 'none' &&
              parseFloat(style.outlineWidth) >= 1 };
        });
        if (seen) break;
        if (!ring) ringless.add(name);
      }
      assert.deepEqual([...ringless], []);
      const left = await page.evaluate(() => [...document.querySelectorAll(
        'button, a[href], input, select, summary, [tabindex="0"]')]
        .filter((one) => !one.disabled && one.tabIndex >= 0 &&
          one.checkVisibility({ visibilityProperty: true }) &&
          !one.hasAttribute('data-reached') && !one.closest('.skip'))
        .map((one) => one.outerHTML.slice(0, 90)));
      assert.deepEqual(left, []);
      await page.context().close();
    }
  });

test('details are a dialog, and Escape closes that alone', async () => {
  const page = await open(`${ui}flamegraph`);
  const box = await boxOf(page, 'db::query');
  await page.mouse.click(box.x, box.y);
  await page.getByRole('button', { name: 'Details' }).click();
  const dialog = page.getByRole('dialog', { name: 'Details' });
  await dialog.waitFor();
  assert.match(await dialog.textContent(), /Type.*cpu/);
  await page.keyboard.press('Escape');
  assert.equal(await dialog.count(), 0);
  assert.match(await page.locator('.detail').textContent(), /db::query/);
  await page.getByRole('button', { name: 'Details' }).click();
  await dialog.waitFor();
  await page.mouse.click(4, 400); // beside it
  assert.equal(await dialog.count(), 0);
  await page.context().close();
});

test('the theme can be chosen and is remembered', async () => {
  const page = await open(`${ui}flamegraph`, { colorScheme: 'light' });
  const ground = () => page.evaluate(() =>
    getComputedStyle(document.body).backgroundColor);
  await page.getByRole('button', { name: 'Theme' }).click();
  await page.getByRole('menuitemradio', { name: 'Dark' }).click();
  assert.equal(await ground(), 'rgb(24, 23, 21)');
  assert.equal(await page.evaluate(() =>
    globalThis.pprofPage.view.main.look.theme.ground), '#181715');
  await page.reload();
  await settled(page);
  assert.equal(await ground(), 'rgb(24, 23, 21)');
  await page.getByRole('button', { name: 'Theme' }).click();
  await page.getByRole('menuitemradio', { name: 'System' }).click();
  assert.equal(await ground(), 'rgb(255, 255, 255)');
  await page.context().close();
});

test('the width of the table is remembered', async () => {
  const page = await open(`${ui}flamegraph`);
  const width = async () => Math.round((await page.locator('.side')
    .boundingBox()).width);
  await page.getByRole('separator', { name: 'Width of the table' }).focus();
  for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowRight');
  const wide = await width();
  assert.ok(wide > 480, `${wide}`);
  await page.reload();
  await settled(page);
  assert.equal(await width(), wide);
  await page.context().close();
});

test('names are cut at the front, numbers never', async () => {
  const long = `k8s.io/${'very/'.repeat(30)}long.Handler`;
  const page = await open(`${await serve(keep('long.pb.gz', encodeProfile(
    [{ frames: ['main', long], values: [1, 1e9] },
      { frames: ['main'], values: [123456, 123456789012345] }], TYPES)))
  }flamegraph`);
  const cut = await page.locator('.side .table-row .cell-text').evaluateAll(
    (all) => all.filter((cell) => cell.scrollWidth > cell.clientWidth + 1)
      .map((cell) => [cell.className, getComputedStyle(cell).direction]));
  assert.deepEqual(cut, [['cell-text front', 'rtl']]);
  await page.context().close();
});
