// Empty profiles, one sample, graphs without nodes, parts that fail, requests
// that nobody wants any more; paper, pictures, phones, saved pages.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { after, afterEach } from 'node:test';
import { barriers, boxOf, finish, keep, open, scratch, serve, settled,
  shoot, takeComplaints, terminal } from './browser.mjs';
import { encodeProfile, SHOP, SHOP_LATER, TYPES } from './profile_fixture.mjs';

const profile = keep('shop.pb.gz', encodeProfile(SHOP, TYPES));
const ui = await serve(profile);

after(finish);
afterEach(() => assert.deepEqual(takeComplaints(), []));

const VIEWS = ['flamegraph', 'callers', 'top', 'graph', 'peek', 'tags', 'raw',
  'source'];

test('no view stumbles over nothing, or over one sample', async () => {
  const files = {
    empty: encodeProfile([], TYPES),
    zero: encodeProfile([{ frames: ['main'], values: [0, 0] }], TYPES),
    frameless: encodeProfile([{ frames: [], values: [1, 5e6] }], TYPES),
    one: encodeProfile([{ frames: ['main'], values: [1, 1e7] }], TYPES),
  };
  for (const [name, bytes] of Object.entries(files)) {
    const base = await serve(keep(`${name}.pb.gz`, bytes));
    const page = await open(`${base}flamegraph`);
    for (const view of VIEWS) {
      await page.goto(base + view);
      await settled(page);
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      const found = takeComplaints();
      // A server may refuse; the page must not break.
      assert.deepEqual(found.filter((text) => !/status of 400/.test(text)), [],
        `${name} ${view}`);
      if (view === 'graph' && name === 'empty') {
        assert.ok(await page.getByText('There are no nodes').isVisible());
      }
    }
    await page.context().close();
  }
});

test('a view does without what is around it', async () => {
  const page = await open(`${ui}top`);
  await page.route('**/data/meta?*', (route) => route.fulfill({ status: 500,
    body: '{"error":"out of order"}' }));
  await page.goto(`${ui}flamegraph?f=serve`);
  await settled(page);
  assert.ok(await page.locator('.icicle').isVisible());
  assert.match(await page.locator('#messages').textContent(), /out of order/);
  assert.deepEqual(await page.locator('.chip-text').allTextContents(),
    ['withserve']);
  takeComplaints();
  await page.context().close();
});

test('a request that nobody wants any more is ended', async () => {
  const page = await open(`${ui}top`);
  const aborted = [];
  page.on('requestfailed', (request) => aborted.push(
    new URL(request.url()).searchParams.get('f')));
  let release = () => {};
  const held = new Promise((done) => {
    release = done;
  });
  await page.route('**/data/top?*f=serve*', async (route) => {
    await held;
    await route.continue().catch(() => {});
  });
  const sent = page.waitForRequest(/data\/top\?.*f=serve/);
  await page.evaluate(() => globalThis.pprofPage.state.set({ f: 'serve' }));
  await sent;
  await page.evaluate(() => globalThis.pprofPage.state.set({ f: 'idle' }));
  await settled(page);
  release();
  assert.ok(aborted.includes('serve'), `${aborted}`);
  assert.match(page.url(), /f=idle/);
  takeComplaints();
  await page.context().close();
});

test('on a phone the profile has four fifths of the screen', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const page = await open(`${ui}flamegraph`, { viewport: { width: 390,
      height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2,
    colorScheme });
    const { height } = await page.locator('.icicle').boundingBox();
    assert.ok(height >= 844 * 0.8, `${height}`);
    await shoot(page, `phone-${colorScheme}`);
    await page.getByRole('button', { name: 'More' }).tap();
    await page.getByRole('menuitem', { name: 'Options' }).waitFor();
    await page.keyboard.press('Escape');
    for (const view of ['top', 'tags', 'graph', 'peek']) {
      await page.goto(ui + view);
      await settled(page);
      const main = await page.locator('main').boundingBox();
      assert.ok(main.height >= 844 * 0.8, `${view} ${main.height}`);
      assert.equal(await page.evaluate(() =>
        document.documentElement.scrollWidth), 390, view);
    }
    await page.context().close();
  }
});

test('paper has a title, a total and all rows', async () => {
  const frames = ['main', ...Array.from({ length: 70 }, (_, i) => `f${i}`)];
  const deep = await serve(keep('deep.pb.gz', encodeProfile(
    [{ frames, values: [1, 1e9] }], TYPES)));
  const page = await open(`${deep}flamegraph`);
  await page.emulateMedia({ media: 'print' });
  const height = await page.evaluate(() => {
    dispatchEvent(new Event('beforeprint'));
    return document.querySelector('.icicle').getBoundingClientRect().height;
  });
  assert.ok(height >= 72 * 20, `${height}`);
  assert.match(await page.locator('.print-head').textContent(),
    /shop cpu.*Total 1s/);
  assert.ok(await page.locator('.print-head').isVisible());
  for (const hidden of ['.header', '.filterbar', '.side']) {
    assert.ok(await page.locator(hidden).isHidden(), hidden);
  }
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  await page.context().close();
});

async function download(page, item) {
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const [file] = await Promise.all([page.waitForEvent('download'),
    page.getByRole('menuitem', { name: item }).click()]);
  const path = join(scratch, 'download');
  await file.saveAs(path);
  return { name: file.suggestedFilename(), text: readFileSync(path, 'utf8') };
}

test('pictures say what they show, and files have telling names', async () => {
  const page = await open(`${ui}flamegraph?f=serve`);
  const picture = await download(page, 'Picture (SVG)');
  assert.equal(picture.name, 'shop-cpu-flamegraph.svg');
  assert.match(picture.text, />shop cpu</);
  assert.match(picture.text, />830ms \(81\.4%\) of 1\.02s</);
  assert.match(picture.text, />with serve</);
  assert.match(picture.text, />db \d/); // the legend
  assert.equal((await download(page, 'Folded stacks')).name, 'shop.folded');
  assert.equal((await download(page, 'This page as one HTML file')).name,
    'shop.html');
  await page.context().close();
});

test('a saved page offers only what it can do', async () => {
  const path = keep('saved.html', terminal('-html', profile));
  const page = await open(`file://${path}`, { offline: true });
  await page.keyboard.press('f');
  assert.equal(await page.getByRole('dialog').count(), 0);
  assert.equal(await page.getByRole('button', { name: '+ Filter' }).count(),
    0);
  const box = await boxOf(page, 'db::query');
  await page.mouse.click(box.x, box.y, { button: 'right' });
  await page.getByRole('menuitem', { name: 'Callers and callees' }).waitFor();
  assert.equal(await page.getByRole('menuitem', { name: 'Focus' }).count(), 0);
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await page.keyboard.type('decode');
  await page.keyboard.press('Control+Enter');
  await settled(page);
  assert.doesNotMatch(page.url(), /[?&]f=/);
  await page.keyboard.press('Escape');
  await page.keyboard.press('i');
  await page.locator('.inspector').getByText('Callees', { exact: true })
    .waitFor();
  assert.equal(await page.locator('.inspector').getByText('Labels').count(),
    0);
  await page.context().close();
});

test('no barriers in light or dark, at any size', async () => {
  const later = keep('later.pb.gz', encodeProfile(SHOP_LATER, TYPES));
  const compared = await serve(`-diff_base=${profile}`, later);
  for (const colorScheme of ['light', 'dark']) {
    for (const [width, height] of [[1440, 900], [2560, 1440], [390, 844]]) {
      const context = { colorScheme, viewport: { width, height } };
      const page = await open(`${ui}flamegraph?q=db&off=i:x&fn=db::query`,
        context);
      assert.deepEqual(await barriers(page), [], `${colorScheme} ${width}`);
      await shoot(page, `flame-${colorScheme}-${width}`);
      await page.goto(`${compared}diff`);
      await settled(page);
      assert.deepEqual(await barriers(page), [], `${colorScheme} ${width}`);
      await shoot(page, `diff-${colorScheme}-${width}`);
      await page.context().close();
    }
  }
});
