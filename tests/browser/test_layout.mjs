// What is read at first sight: nothing is cut off without a sign, and what is
// shown in several places is the same there.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test, { after, afterEach } from 'node:test';
import { barriers, boxOf, finish, keep, open, rowsOf, serve, settled,
  tableOf, takeComplaints, terminal } from './browser.mjs';
import { encodeProfile, SHOP, SHOP_LATER, TYPES } from './profile_fixture.mjs';

const profile = keep('shop.pb.gz', encodeProfile(SHOP, TYPES));
const later = keep('later.pb.gz', encodeProfile(SHOP_LATER, TYPES));

/** Many packages, and a deep stack with long names. */
const WIDE = Array.from({ length: 40 }, (_, i) => ({
  frames: ['main', `package${i}/some/where.Function${i}`],
  values: [40 - i, (40 - i) * 10e6] })).concat({ frames: ['main',
  ...Array.from({ length: 12 }, (_, i) =>
    `deep/stack.(*HandlerWithAVeryLongName${i}).ServeHTTP`)],
values: [50, 500e6] });
const wide = await serve(keep('wide.pb.gz', encodeProfile(WIDE, TYPES,
  { ending: 'go' })));

after(finish);
afterEach(() => assert.deepEqual(takeComplaints(), []));

/** The boxes of elements in the window. */
const boxesOf = (page, selector) => page.locator(selector).evaluateAll(
  (list) => list.filter((one) => one.checkVisibility(
    { visibilityProperty: true })).map((one) => {
    const { left, right, top, bottom } = one.getBoundingClientRect();
    return { left, right, top, bottom };
  }));

test('the legend shows whole entries, and the others on demand', async () => {
  const page = await open(`${wide}flamegraph`);
  const more = page.locator('.legend-more');
  await more.waitFor();
  const all = await page.locator('.legend-entry').count();
  const counted = () => page.waitForFunction((total) => {
    const list = [...document.querySelectorAll('.legend-entry')];
    const visible = list.filter((one) => one.offsetTop === list[0].offsetTop &&
      !one.classList.contains('beyond')).length;
    return document.querySelector('.legend-more').textContent ===
      `${total - visible} more`;
  }, all);
  await counted();
  const [list] = await boxesOf(page, '.legend-list');
  const seen = await boxesOf(page, '.legend-entry');
  assert.ok(seen.length >= 3 && seen.length < all, `${seen.length}`);
  for (const entry of seen) {
    assert.ok(entry.right <= list.right + 0.5 && entry.bottom <= list.bottom +
      0.5, JSON.stringify(entry));
  }
  await more.click();
  await page.locator('.legend.open').waitFor();
  await page.waitForFunction(() =>
    document.querySelector('.legend-more').textContent === 'Fewer');
  assert.equal((await boxesOf(page, '.legend-entry')).length, all);
  assert.deepEqual(await barriers(page), []);
  await more.click();
  await counted();
  assert.ok((await boxesOf(page, '.legend-entry')).length < all);
  await page.context().close();
});

test('the end of a long path is seen, also beside the inspector', async () => {
  const page = await open(`${wide}flamegraph`);
  const at = await boxOf(page,
    'deep/stack.(*HandlerWithAVeryLongName11).ServeHTTP');
  await page.mouse.click(at.x, at.y);
  const isSeen = async () => {
    await settled(page);
    const [path] = await boxesOf(page, '.crumbs');
    const [last] = await boxesOf(page, '.crumb[aria-current]');
    assert.ok(last.right <= path.right + 0.5 && path.right - path.left >= 100,
      JSON.stringify([path, last]));
  };
  await isSeen();
  await page.locator('.crumbs.cut').waitFor();
  await page.keyboard.press('i');
  await page.locator('.inspector h3').waitFor();
  await isSeen();
  await page.keyboard.press('Escape');
  await page.locator('.crumbs:not(.cut)').waitFor();
  await page.context().close();
});

/** Texts that are painted on canvases from now on. */
const listen = (page) => page.addInitScript(() => {
  globalThis.painted = [];
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function note(text, ...rest) {
    globalThis.painted.push(text);
    return fillText.call(this, text, ...rest);
  };
});

test('the first box says how much everything is', async () => {
  const page = await open('about:blank', {}, false);
  await listen(page);
  await page.goto(`${await serve(profile)}flamegraph`);
  await settled(page);
  assert.ok(await page.evaluate(() =>
    globalThis.painted.includes('all 1.02s')));
  assert.equal(await page.locator('.crumb').textContent(), 'all');
  const compared = await serve(`-diff_base=${profile}`, later);
  await page.goto(`${compared}flamegraph`);
  await settled(page);
  assert.ok(await page.evaluate(() =>
    globalThis.painted.includes('all 1.02s → 1.08s')));
  // Zoomed, the bar says it.
  const { x, y } = await boxOf(page, 'db::query');
  await page.mouse.dblclick(x, y);
  await page.waitForFunction(() => /→/.test(
    document.querySelector('.total').textContent));
  assert.match(await page.locator('.total').textContent(),
    /^420ms → 250ms \(-170ms\)$/);
  await page.context().close();
});

test('the table beside the flame graph is in the order of -top', async () => {
  const page = await open(`${wide}flamegraph`);
  const names = tableOf(terminal('-top', '-nodecount=500',
    keep('wide.pb.gz', encodeProfile(WIDE, TYPES, { ending: 'go' }))))
    .map((cells) => cells[5]);
  const shown = (await rowsOf(page, '.side')).map((cells) => cells.at(-1));
  assert.ok(shown.length > 15);
  assert.deepEqual(shown, names.slice(0, shown.length));
  await page.context().close();
});

test('on a phone no number of a comparison is cut', async () => {
  const page = await open(`${await serve(`-diff_base=${profile}`, later)}diff`,
    { viewport: { width: 390, height: 844 } });
  const [change] = await boxesOf(page, '.compare-change');
  assert.ok(change.right <= 390, JSON.stringify(change));
  const select = page.locator('.filterbar select');
  const text = await select.evaluate((one) => {
    const g = document.createElement('canvas').getContext('2d');
    g.font = getComputedStyle(one).font;
    return g.measureText(one.selectedOptions[0].text).width;
  });
  const { width } = await select.boundingBox();
  assert.ok(width >= text + 20, `${width} for ${text}`);
  await page.context().close();
});

test('on a phone both sides have one scale, and changes fall', async () => {
  const doubled = keep('doubled.pb.gz', encodeProfile(SHOP.map((one) => ({
    ...one, values: one.values.map((value) => value * 2) })), TYPES));
  const phone = { viewport: { width: 390, height: 844 } };
  const page = await open(`${await serve(`-diff_base=${profile}`, doubled)
  }flamegraph?dm=side`, phone);
  const [before, after_] = await boxesOf(page, '.icicle');
  assert.ok(after_.top > before.bottom - 1, 'one above the other');
  assert.ok(Math.abs((after_.right - after_.left) / (before.right -
    before.left) - 2) < 0.05, JSON.stringify([before, after_]));
  await page.context().close();
  // Only the cumulative change has room there: rows are in its order.
  const changes = await open(`${await serve(`-diff_base=${profile}`, later)
  }diff`, phone);
  const sizes = (await rowsOf(changes)).map((cells) =>
    Math.abs(parseFloat(cells[3])));
  assert.ok(sizes.length > 5 && sizes.every((size, i) => i === 0 ||
    size <= sizes[i - 1]), `${sizes}`);
  await changes.context().close();
});

test('on a phone the tab of the view is seen whole', async () => {
  const page = await open('about:blank', { viewport: { width: 390,
    height: 844 } }, false);
  for (const view of ['source', 'disasm', 'raw', 'flamegraph']) {
    await page.goto(`${wide}${view}`);
    await settled(page);
    const [tab] = await boxesOf(page, '.tab[aria-current]');
    const [tabs] = await boxesOf(page, '.tabs');
    assert.ok(tab.left >= tabs.left - 1 && tab.right <= tabs.right + 1,
      `${view} ${JSON.stringify([tab, tabs])}`);
  }
  await page.context().close();
});

test('with the inspector open, graph and table share what is left',
  async () => {
    const page = await open(`${wide}flamegraph`);
    await page.keyboard.press('i');
    await page.locator('.inspector h2').waitFor();
    await settled(page);
    const [side] = await boxesOf(page, '.side');
    const [pane] = await boxesOf(page, '.flame-pane');
    assert.ok(pane.right - pane.left >= side.right - side.left - 10,
      JSON.stringify([side, pane]));
    // Nothing of its foot is written over anything else.
    await page.evaluate(() => {
      document.querySelector('.flame-status').textContent =
        '1,356,775 frames narrower than a pixel, in grey: zoom in';
    });
    const [legend] = await boxesOf(page, '.legend');
    const [status] = await boxesOf(page, '.flame-status');
    assert.ok(legend.right <= status.left + 0.5 && status.right <= pane.right,
      JSON.stringify([legend, status]));
    await page.context().close();
  });

test('on a phone filters and what they leave are seen', async () => {
  const page = await open(`${wide}flamegraph?f=deep`,
    { viewport: { width: 390, height: 844 } });
  const [total] = await boxesOf(page, '.total');
  const [chip] = await boxesOf(page, '.chip');
  const [text] = await boxesOf(page, '.chip-text');
  const [remove] = await boxesOf(page, '.chip-remove');
  const [add] = await boxesOf(page, '.filterbar > button');
  assert.ok(total.left >= 0 && total.right <= chip.left, 'the total');
  assert.ok(text.right - text.left >= 60 && text.right <= remove.left + 1 &&
    remove.right <= 390 && remove.right <= add.left, 'the chip');
  assert.deepEqual(await barriers(page), []);
  // The end of a long name says more than its beginning.
  const at = await boxOf(page,
    'deep/stack.(*HandlerWithAVeryLongName7).ServeHTTP');
  await page.mouse.click(at.x, at.y);
  await settled(page);
  const [name] = await boxesOf(page, '.detail-name');
  const [whole] = await boxesOf(page, '.detail-name bdi');
  assert.ok(Math.abs(whole.right - name.right) < 2 && whole.left < name.left,
    JSON.stringify([name, whole]));
  await page.context().close();
});

test('a comparison leaves names half of the table', async () => {
  const page = await open(`${await serve(`-diff_base=${profile}`, later)
  }flamegraph`, { viewport: { width: 1440, height: 900 } });
  const [side] = await boxesOf(page, '.side');
  const [name] = await boxesOf(page, '.side .table-head .col-name');
  assert.ok(name.right - name.left >= (side.right - side.left) / 2,
    JSON.stringify([side, name]));
  await page.context().close();
});

test('a picture has all of the legend, and no text beyond its box',
  async () => {
    const page = await open(`${wide}flamegraph`);
    const entries = await page.locator('.legend-entry .swatch').count();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const [file] = await Promise.all([page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Picture (SVG)' }).click()]);
    const drawing = readFileSync(await file.path(), 'utf8');
    await page.goto('about:blank');
    const { beyond, boxes, legend } = await page.evaluate((text) => {
      const picture = new DOMParser().parseFromString(text, 'image/svg+xml')
        .documentElement;
      document.body.append(picture);
      const width = picture.getBoundingClientRect().right;
      const right = (one) => one.getBoundingClientRect().right;
      const texts = [...picture.querySelectorAll('g text')];
      return { boxes: texts.length, beyond: texts.filter((one) =>
        right(one) > right(one.parentNode.querySelector('rect')) + 1)
        .map((one) => one.textContent),
      legend: [...picture.querySelectorAll(':scope > text')].filter((one) =>
        /%$/.test(one.textContent) && right(one) <= width).length };
    }, drawing);
    assert.ok(boxes > 10, `${boxes}`);
    assert.deepEqual(beyond, []);
    assert.equal(legend, entries);
    await page.context().close();
  });

test('paper has all of the legend', async () => {
  const page = await open(`${wide}flamegraph`);
  await page.locator('.legend-more').waitFor();
  await page.emulateMedia({ media: 'print' });
  assert.equal((await boxesOf(page, '.legend-entry')).length,
    await page.locator('.legend-entry').count());
  assert.ok(!await page.locator('.legend-more').isVisible());
  await page.context().close();
});

test('headings are whole, also the sorted one', async () => {
  const compared = await serve(`-diff_base=${profile}`, later);
  for (const url of [`${compared}flamegraph`, `${compared}diff`,
    `${wide}flamegraph`, `${wide}top`]) {
    const page = await open(url);
    for (const heading of await page.locator('.table-head button:visible')
      .all()) {
      const title = await heading.textContent();
      await heading.click();
      await page.locator('.table-head button.sorted', { hasText: title })
        .first().waitFor();
      const cut = await page.locator('.table-head button.sorted').evaluateAll(
        (list) => list.filter((one) => one.scrollWidth > one.clientWidth)
          .map((one) => one.textContent));
      assert.deepEqual(cut, [], url);
    }
    await page.context().close();
  }
});

test('a profile without samples says so, and nothing else', async () => {
  const page = await open(`${await serve(keep('none.pb.gz',
    encodeProfile([], TYPES)))}flamegraph`);
  assert.match(await page.locator('.side').textContent(),
    /There is nothing to show/);
  assert.ok(!await page.locator('.minimap').isVisible());
  await page.context().close();
});

test('the open inspector is never blank', async () => {
  const page = await open(`${wide}flamegraph`);
  await page.keyboard.press('i');
  for (const view of ['flamegraph', 'tags', 'raw', 'peek', 'graph']) {
    await page.goto(`${wide}${view}`);
    await settled(page);
    assert.match(await page.locator('.inspector').textContent(),
      /Select a function|Callers/, view);
  }
  await page.context().close();
});
