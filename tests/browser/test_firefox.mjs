// The page in another browser's engine: the main views open, top and graph
// with the terminal's numbers, real clicks and keys work, and a saved page.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import test, { after } from 'node:test';
import { Firefox } from './firefox.mjs';
import { boxOf, drawnGraph, rowsOf } from './page.mjs';
import { dotGraph, keep, serve, stopServers, tableOf, terminal }
  from './pprof.mjs';
import { encodeProfile, SHOP, SHOP_LATER, TYPES } from './profile_fixture.mjs';
import { ARTEFACTS } from './tools.mjs';

mkdirSync(ARTEFACTS, { recursive: true });
const fox = await Firefox.start();
const profile = keep('shop.pb.gz', encodeProfile(SHOP, TYPES));
const ui = await serve(profile);

after(async () => {
  await fox.stop();
  stopServers();
});

/** Colours that the flame graph is painted with. */
const colours = () => {
  const canvas = document.querySelector('.icicle canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width,
    canvas.height);
  return new Set(new Uint32Array(data.buffer)).size;
};

/** Both values and the name, of the table. */
const shownTop = async () => (await rowsOf(fox)).map((cells) =>
  [cells[0], cells[3], cells[5]]);

test('Firefox shows the numbers of the terminal', async () => {
  await fox.open(`${ui}top`);
  assert.deepEqual(await shownTop(), tableOf(terminal('-top', profile))
    .map(([flat, , , cum, , ...name]) => [flat, cum, name.join(' ')]));
  await fox.open(`${ui}graph`);
  assert.deepEqual(await drawnGraph(fox), dotGraph(terminal('-dot', profile)));
  await fox.shoot('firefox-graph');
  for (const view of ['peek', 'tags', 'source', 'raw', 'traces']) {
    await fox.open(`${ui}${view}`);
    const text = await fox.evaluate(() =>
      document.querySelector('main').textContent);
    assert.match(text, view === 'tags' ? /route/ : /db::query/, view);
  }
});

test('in Firefox a double click zooms and Escape goes back', async () => {
  await fox.open(`${ui}flamegraph`);
  await fox.shoot('firefox-flame');
  assert.ok(await fox.evaluate(colours) > 20);
  await fox.doubleClick(await boxOf(fox, 'db::query'));
  await fox.waitFor(() => new URL(location.href).searchParams.has('z'));
  assert.match(await fox.evaluate(() =>
    document.querySelector('.crumbs').textContent), /query/);
  await fox.press('\uE00C'); // Escape
  await fox.waitFor(() => !new URL(location.href).searchParams.has('z'));
});

test('Firefox searches, filters, and says how much that is', async () => {
  await fox.open(`${ui}flamegraph?q=decode`);
  const textOf = (selector) => fox.evaluate((where) =>
    document.querySelector(where).textContent, selector);
  await fox.waitFor(() => document.querySelector('.search-share')
    .textContent !== '');
  assert.equal(await textOf('.search-share'), '42.2% in 2 boxes');
  assert.deepEqual((await rowsOf(fox, '.side')).map((cells) => cells.at(-1)),
    ['db::decode']);
  await fox.open(`${ui}flamegraph?f=serve&i=render`);
  assert.equal(await textOf('.total'), '560ms (54.9%) of 1.02s');
  assert.match(await textOf('.chips'), /with.*serve.*without.*render/);
});

test('in Firefox the keys walk, and the inspector follows', async () => {
  await fox.open(`${ui}flamegraph`);
  for (const key of ['\uE015', '\uE015', '\uE015']) await fox.press(key);
  await fox.press('i');
  await fox.waitFor(() => document.querySelector('.inspector h3') !== null);
  const said = await fox.evaluate(() =>
    document.querySelector('.inspector').textContent);
  assert.match(said, /serve.*Callers.*main.*Callees.*db::query/);
  await fox.waitFor(() => new URL(location.href).searchParams.get('fn') ===
    'serve');
  await fox.evaluate(() => history.back());
  await fox.waitFor(() => new URL(location.href).searchParams.get('fn') !==
    'serve' && globalThis.pprofPage.view.selectedName() !== 'serve');
});

test('Firefox compares two profiles', async () => {
  const later = keep('later.pb.gz', encodeProfile(SHOP_LATER, TYPES));
  const compared = await serve(`-diff_base=${profile}`, later);
  await fox.open(`${compared}diff`);
  const row = (await rowsOf(fox)).find((cells) => cells[7] === 'cache::get');
  assert.deepEqual(row, ['+70ms', '0', '70ms', '+70ms', '0', '70ms',
    'likely 2.6σ', 'cache::get']);
  await fox.open(`${compared}flamegraph?dm=side`);
  assert.equal(await fox.evaluate(() =>
    document.querySelectorAll('.icicle').length), 2);
  await fox.shoot('firefox-diff');
});

test('Firefox opens a saved page', async () => {
  const path = keep('saved.html', terminal('-html', profile));
  await fox.open(`file://${path}`);
  assert.ok(await fox.evaluate(colours) > 20);
  await fox.open(`file://${path}#top`);
  assert.ok((await shownTop()).length > 5);
});
