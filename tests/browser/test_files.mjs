// Files in and out: dropping, comparing, saving, offline; and small windows.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import test, { after, afterEach } from 'node:test';
import { boxOf, finish, keep, open, rowsOf, scratch, serve, settled, shoot,
  takeComplaints, terminal } from './browser.mjs';
import { encodeAddresses, encodeProfile, SHOP, SHOP_LATER, TYPES }
  from './profile_fixture.mjs';
import { ARTEFACTS, PPROF } from './tools.mjs';

const profile = keep('shop.pb.gz', encodeProfile(SHOP, TYPES));
const later = keep('later.pb.gz', encodeProfile(SHOP_LATER, TYPES));
const ui = await serve(profile);

after(finish);
afterEach(() => assert.deepEqual(takeComplaints(), []));

/** Drops a file onto one half of the target. */
async function drop(page, path, half) {
  const content = readFileSync(path).toString('base64');
  await page.evaluate(([data, name, which]) => {
    const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([bytes], name));
    const fire = (type, target) => target.dispatchEvent(new DragEvent(type,
      { dataTransfer, bubbles: true, cancelable: true }));
    fire('dragenter', document.body);
    fire('drop', document.querySelectorAll('.drop-part')[which]);
  }, [content, path.split('/').at(-1), half]);
}

async function saveBy(page, item) {
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const [download] = await Promise.all([page.waitForEvent('download'),
    page.getByRole('menuitem', { name: item }).click()]);
  const path = join(scratch, `saved-${item.replaceAll(/\W/g, '')}.html`);
  await download.saveAs(path);
  return path;
}

test('a dropped profile is shown, compared, and the first one comes back',
  async () => {
    const page = await open(`${ui}top`);
    await drop(page, later, 0);
    await page.waitForURL(/\ba=/);
    await settled(page);
    const flat = async (name) => (await rowsOf(page)).find((row) =>
      row[5] === name)?.[0];
    assert.equal(await flat('text::escape'), '420ms');
    await page.goto(`${ui}top`);
    await settled(page);
    await drop(page, later, 1);
    await page.waitForURL(/\bb=/);
    await settled(page);
    await page.keyboard.press('d');
    await settled(page);
    const rows = Object.fromEntries((await rowsOf(page)).map((row) =>
      [row[7], row]));
    assert.deepEqual(rows['db::decode'].slice(0, 3),
      ['-215ms', '430ms', '215ms']);
    await page.getByLabel('Normalise').check();
    await settled(page);
    const normal = (await rowsOf(page)).find((row) => row[7] === 'db::decode');
    assert.notEqual(normal?.[0], '-215ms');
    await page.locator('.profile-button').click();
    assert.ok(await page.getByRole('menuitemradio').count() >= 4);
    await page.getByRole('menuitem', { name: 'Stop comparing' }).click();
    await page.waitForFunction(() => !/\bb=/.test(location.search));
    await page.context().close();
  });

test('a file that is no profile is refused with a sentence', async () => {
  const page = await open(`${ui}top`);
  await drop(page, keep('letter.txt', Buffer.from('dear reader')), 0);
  await page.locator('#messages p').waitFor();
  assert.match(await page.locator('#messages').textContent(),
    /unrecognized profile format|parsing profile/);
  takeComplaints();
  assert.equal((await rowsOf(page))[0][5], 'db::decode');
  await page.context().close();
});

test('saved as one file it opens without a network', async () => {
  const page = await open(`${ui}flamegraph`);
  const path = await saveBy(page, 'This page as one HTML file');
  await page.context().close();
  const saved = await open(`file://${path}`, { offline: true });
  assert.equal((await rowsOf(saved, '.side'))[0][3], 'db::decode');
  const box = await boxOf(saved, 'db::query');
  await saved.mouse.click(box.x, box.y);
  assert.match(await saved.locator('.detail').textContent(), /db::query/);
  await saved.keyboard.press('3');
  await settled(saved);
  const expected = terminal('-top', '-nodecount=500', profile);
  for (const row of await rowsOf(saved)) assert.ok(expected.includes(row[0]));
  await saved.getByLabel('Sample type').selectOption('samples');
  await settled(saved);
  assert.equal((await rowsOf(saved))[0][0], '43');
  await saved.keyboard.press('4');
  await settled(saved);
  assert.ok(await saved.locator('.node').count() > 5);
  await saved.goBack();
  await settled(saved);
  assert.ok(await saved.locator('.top-view').isVisible());
  await shoot(saved, 'offline');
  // No binary is there, so that there is nothing to disassemble.
  assert.equal(await saved.getByRole('link', { name: 'Disasm' }).count(), 0);
  assert.equal(await saved.getByRole('link', { name: 'Source' }).count(), 1);
  await saved.context().close();
});

const hasBinutils = ['nm', 'objdump'].every((tool) =>
  spawnSync(tool, ['--version']).status === 0);

test('a saved page does not offer what was left out of it', async () => {
  const whole = terminal('-html', profile);
  const part = whole.replaceAll(
    /<script [^>]*data-answer="(download\?|peek\?si=samples)".*\n/g, '');
  assert.ok(part.length < whole.length);
  const page = await open(`file://${keep('part.html', part)}#peek`,
    { offline: true });
  assert.match(await page.locator('main').textContent(), /430ms/);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  assert.equal(await page.getByRole('menuitem', { name: 'Folded' }).count(), 1);
  assert.equal(await page.getByRole('menuitem', { name: 'Profile' }).count(),
    0);
  await page.keyboard.press('Escape');
  // Not the other type's numbers.
  await page.getByLabel('Sample type').selectOption('samples');
  await settled(page);
  await page.locator('#messages p').waitFor();
  assert.match(await page.locator('#messages').textContent(),
    /does not contain this view/);
  assert.equal(await page.getByLabel('Sample type').inputValue(), 'cpu');
  assert.match(await page.locator('main').textContent(), /430ms/);
  await page.context().close();
});

/** Samples in functions of pprof itself. */
function profileOfPprof() {
  const symbols = execFileSync('nm', [PPROF], { encoding: 'utf8',
    maxBuffer: 1 << 28 });
  const at = (name) => parseInt(new RegExp(`^(\\w+) [tT] ${name}$`, 'm')
    .exec(symbols)[1], 16);
  const [main, write, copy, pack] = ['main', 'report_write', 'profile_copy',
    'gzip_deflate'].map(at);
  return encodeAddresses([
    { stack: [main, write], values: [3, 30e6] },
    { stack: [main, write, pack], values: [5, 20e6] },
    { stack: [main, copy], values: [1, 40e6] },
  ], TYPES, { path: PPROF, size: statSync(PPROF).size });
}

const CODE_VIEWS = ['source', 'disasm', 'raw', 'raw?text=traces',
  'source?si=samples', 'disasm?si=samples', 'raw?si=samples',
  'raw?si=samples&text=traces'];

/** What the views of code say. @param {string} where without the view */
async function textsOf(where, options) {
  const page = await open(`${where}flamegraph`, options);
  const texts = {};
  for (const view of CODE_VIEWS) {
    await page.goto(where + view);
    await settled(page);
    texts[view] = await page.locator('main').textContent();
    if (options) await shoot(page, `offline-${view.replaceAll(/\W/g, '-')}`);
  }
  await page.context().close();
  return texts;
}

test('saved, it has the source, the instructions and the profile in it',
  { skip: hasBinutils ? false : 'there are no binutils' },
  async () => {
    const code = keep('code.pb.gz', profileOfPprof());
    const live = await serve('-symbolize=local', code);
    const page = await open(`${live}flamegraph`);
    const path = await saveBy(page, 'This page as one HTML file');
    const profileThere = readFileSync(await saveBy(page, 'Profile (pprof)'));
    const foldedThere = readFileSync(await saveBy(page, 'Folded stacks'),
      'utf8');
    await page.context().close();
    const texts = await textsOf(`file://${path}#`, { offline: true });
    assert.deepEqual(texts, await textsOf(live));
    assert.deepEqual(texts, await textsOf(`file://${keep('written.html',
      terminal('-symbolize=local', '-html', code))}#`, { offline: true }));
    assert.match(texts.source, /profile_copy.*flat 40ms.*struct profile/s);
    assert.match(texts.disasm, /^profile_copy.*40ms.*%r/s);
    assert.match(texts['disasm?si=samples'], /^gzip_deflate.*flat 5/s);
    assert.match(texts.raw, /PeriodType/);
    assert.match(texts['raw?text=traces'], /40ms\s+profile_copy/);

    const saved = await open(`file://${path}`, { offline: true });
    const profileHere = await saveBy(saved, 'Profile (pprof)');
    assert.ok(readFileSync(profileHere).equals(profileThere));
    assert.match(terminal('-top', profileHere), /profile_copy/);
    assert.equal(readFileSync(await saveBy(saved, 'Folded stacks'), 'utf8'),
      foldedThere);
    assert.match(foldedThere, /^main;report_write;gzip_deflate 20000000$/m);

    const box = await boxOf(saved, 'profile_copy');
    await saved.mouse.click(box.x, box.y, { button: 'right' });
    await saved.getByRole('menuitem', { name: 'Source' }).click();
    await settled(saved);
    const names = () => saved.locator('.code-name').allTextContents();
    assert.deepEqual(await names(), ['profile_copy']);
    await shoot(saved, 'offline-only');
    await saved.getByRole('button', { name: 'Show all' }).click();
    await settled(saved);
    assert.equal((await names()).length, 4);
    await saved.context().close();
  });

test('profile, folded stacks, speedscope and pictures can be downloaded',
  async () => {
    const page = await open(`${ui}flamegraph?f=serve`);
    const folded = readFileSync(await saveBy(page, 'Folded stacks'), 'utf8');
    assert.match(folded, /^main;serve;db::query;db::decode 340000000$/m);
    assert.ok(!folded.includes('idle'));
    const again = await saveBy(page, 'Profile (pprof)');
    assert.equal(terminal('-raw', again), terminal('-raw', profile));
    const speedscope = JSON.parse(readFileSync(await saveBy(page, 'Speedscope'),
      'utf8'));
    assert.ok(speedscope.shared.frames.length > 5);
    const svg = readFileSync(await saveBy(page, 'Picture (SVG)'), 'utf8');
    assert.match(svg, /<svg[^>]*>.*db::query, self 80ms, total 420ms/s);
    const png = readFileSync(await saveBy(page, 'Picture (PNG)'));
    assert.equal(png.subarray(1, 4).toString(), 'PNG');
    await page.keyboard.press('4');
    await settled(page);
    const graph = readFileSync(await saveBy(page, 'Picture (SVG)'), 'utf8');
    assert.match(graph, /decode/);
    await page.context().close();
  });

test('configurations are saved, applied and deleted', async () => {
  const page = await open(`${ui}top?f=serve`);
  await page.keyboard.press('o');
  await page.getByLabel('Name of the configuration').fill('serving');
  await page.getByRole('button', { name: /Save the current/ }).click();
  await page.getByRole('button', { name: 'serving', exact: true }).waitFor();
  await shoot(page, 'options');
  await page.getByRole('button', { name: 'Close' }).click();
  await page.goto(`${ui}top`);
  await settled(page);
  await page.keyboard.press('o');
  await page.getByRole('button', { name: 'serving', exact: true }).click();
  await page.waitForURL(/f=serve/);
  await page.getByRole('button', { name: 'Delete serving' }).click();
  await page.getByRole('button', { name: 'serving', exact: true })
    .waitFor({ state: 'detached' });
  await page.context().close();
});

test('on a phone everything is reached by touch', async () => {
  const page = await open(`${ui}flamegraph`, { viewport: { width: 390,
    height: 780 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 });
  const wide = () => page.evaluate(() => document.documentElement.scrollWidth);
  assert.equal(await wide(), 390);
  const box = await boxOf(page, 'db::query');
  await page.touchscreen.tap(box.x, box.y);
  assert.match(await page.locator('.detail').textContent(),
    /db::query.*420ms/);
  await shoot(page, 'phone-flame');
  await page.getByRole('button', { name: 'Table', exact: true }).tap();
  await settled(page);
  assert.ok(await page.locator('.side').isVisible());
  await shoot(page, 'phone-table');
  for (const tab of ['Top', 'Graph', 'Tags', 'Peek']) {
    await page.getByRole('link', { name: tab, exact: true }).tap();
    await settled(page);
    assert.equal(await wide(), 390, tab);
    await shoot(page, `phone-${tab.toLowerCase()}`);
  }
  await page.context().close();
});

test('canvases have the pixels of the screen', async () => {
  const page = await open(`${ui}flamegraph`, { deviceScaleFactor: 2 });
  const [canvas, shown] = await page.evaluate(() => {
    const { boxes } = globalThis.pprofPage.view.main;
    return [boxes.width, boxes.getBoundingClientRect().width];
  });
  assert.equal(canvas, Math.round(shown * 2));
  assert.ok(ARTEFACTS);
  await page.context().close();
});

/** @param {string} text */
const hashOf = (text) => `'sha256-${createHash('sha256').update(text)
  .digest('base64')}'`;

test('what is inline is named by the policy, all of it', async () => {
  const answer = await fetch(`${ui}flamegraph`,
    { headers: { Accept: 'text/html' } });
  const policy = answer.headers.get('content-security-policy') ?? '';
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe|http:|\*/);
  const html = await answer.text();
  const part = (/** @type {string} */ start, /** @type {string} */ end) =>
    html.slice(html.indexOf(start) + start.length).split(end)[0];
  const early = part('<script type="module">', '</script>');
  const program = part('<script type="text/plain" id="program">', '</script>');
  const rest = part('<script type="text/plain" class="rest">', '</script>');
  const style = part('<style>', '</style>');
  for (const text of [program, rest, style]) assert.ok(text.length > 1000);
  assert.ok(policy.includes(`script-src 'self' ${hashOf(early)} ${
    hashOf(program)} ${hashOf(rest)};`));
  assert.ok(policy.includes(`style-src 'self' ${hashOf(style)};`));
  const frame = [early, program, rest, style].reduce((text, inline) =>
    text.replace(inline, ''), html);
  assert.equal(frame.match(/<script|<style/g)?.length, 4);
  assert.doesNotMatch(frame, /\sstyle=|\son\w+=|\ssrc=/);
});

test('the second script is not run before something needs it', async () => {
  const page = await open(`${ui}flamegraph`);
  const waits = () => page.locator('script.rest[type="text/plain"]').count();
  assert.equal(await waits(), 1);
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  assert.equal(await waits(), 0);
  await page.context().close();
});
