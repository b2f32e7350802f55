// The page in another browser's engine: the main views open, top and graph
// with the terminal's numbers, real clicks and keys work, and a saved page.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import test, { after } from 'node:test';
import { Firefox } from './firefox.mjs';
import { boxOf, drawnGraph, rowsOf } from './page.mjs';
import { dotGraph, keep, serve, stopServers, tableOf, terminal }
  from './pprof.mjs';
import { encodeProfile, SHOP, TYPES } from './profile_fixture.mjs';
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

test('Firefox opens a saved page', async () => {
  const path = keep('saved.html', terminal('-html', profile));
  await fox.open(`file://${path}`);
  assert.ok(await fox.evaluate(colours) > 20);
  await fox.open(`file://${path}#top`);
  assert.ok((await shownTop()).length > 5);
});
