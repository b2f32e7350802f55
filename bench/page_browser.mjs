#!/usr/bin/env node
// The page in Chromium: prints one JSON line for each figure.
//
//     node bench/page_browser.mjs [BUILD]
//
// Profiles come from gen-profile: one of about 70 KB, one of about 1 MB, and
// one whose flame graph has a million frames.  Times are from the start of the
// navigation in a new tab, with server and browser running and at rest:
// "first paint" is the browser's own first-contentful-paint (the bars of the
// page), "flame graph" when the first picture of it has been shown, "all of
// it" when the table and everything else are there.  Beside them, in turn, a
// page of one word: what any page takes here.  "script" is what drawing one
// picture costs on the main thread; painting pixels is the browser's.
//
// The fleet's rows are about pprofd: a list of 200 services, and the merge of
// 10,000 profiles of one, from the click on its row (and on another range) to
// the flame graph on the screen.  "fleet" as the last argument runs these alone.
//
// "list of services" ends when the main thread has finished the first frame
// that contains rows of all services: the rows are in the document, then comes
// an animation frame, then the next task.  Nothing of the bench runs in the
// page until then but the observer that notes it.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

if (process.argv[2]) process.env.PPROF_BUILD = resolve(process.argv[2]);
const { BUILD, installPackages, packageNamed, PPROF } =
  await import('../tests/browser/tools.mjs');
await installPackages();
const { chromium } = packageNamed('playwright-core');

const ROUNDS = 15;
const FRAMES = 90;
const scratch = mkdtempSync(join(tmpdir(), 'pprof-bench-'));

const PROFILES = [
  { name: '70 KB', size: [1150, 3000, 1000] },
  { name: '1 MB', size: [18000, 60000, 16000] },
  { name: '1,000,000 frames', size: [60000] },
];

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
const worst = (list) => Math.max(...list);
const round = (ms) => Math.round(ms * 10) / 10;
const say = (line) => console.log(JSON.stringify(line));

function serve(path) {
  const server = spawn(PPROF, ['-http=127.0.0.1:0', '-no_browser',
    '-symbolize=none', path], { stdio: ['ignore', 'ignore', 'pipe'] });
  return new Promise((done) => {
    let said = '';
    server.stderr.on('data', (data) => {
      const url = /Serving web UI on (\S+)/.exec(said += data);
      if (url) done({ server, url: `${url[1]}/ui/flamegraph` });
    });
  });
}

/** Runs in the page, before its own scripts: notes when things are seen. */
function watchTheClock() {
  const texts = CanvasRenderingContext2D.prototype;
  const { fillText } = texts;
  texts.fillText = function first(...args) {
    texts.fillText = fillText;
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        globalThis.flameAt = performance.now();
      };
      port2.postMessage(null);
    });
    return fillText.apply(this, args);
  };
  new MutationObserver((_, watch) => {
    const main = document.querySelector('main');
    if (!main?.firstElementChild || main.hasAttribute('aria-busy')) return;
    globalThis.shownAt = performance.now();
    watch.disconnect();
  }).observe(document, { subtree: true, attributes: true, childList: true });
}

/** Runs in the page, before its own scripts: notes when a list is painted. */
function watchTheList() {
  new MutationObserver((_, watch) => {
    if (!document.querySelector('main .table-row')) return;
    watch.disconnect();
    // Before the page's own tasks, which start the rest of it.
    requestAnimationFrame(() => globalThis.scheduler.postTask(() => {
      globalThis.listAt = performance.now();
    }, { priority: 'user-blocking' }));
  }).observe(document, { subtree: true, childList: true });
}

/** When the list was painted, in a new tab. */
async function listOfServices(browser, url) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.addInitScript(watchTheList);
  await page.waitForTimeout(700);
  await page.goto(`${url}/ui/services`, { waitUntil: 'commit' });
  await page.waitForTimeout(1000); // asking the page would take its time
  await page.waitForFunction(() => globalThis.listAt > 0);
  const at = await page.evaluate(() => globalThis.listAt);
  await page.close();
  return at;
}

async function open(browser, url, isWhole = () => globalThis.shownAt > 0) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.addInitScript(watchTheClock);
  await page.waitForTimeout(700); // a new tab keeps the browser busy
  await page.goto(url);
  await page.waitForFunction(isWhole);
  return page;
}

/** Runs in the page. */
const times = () => ({ flame: globalThis.flameAt, all: globalThis.shownAt,
  paint: performance.getEntriesByName('first-contentful-paint')[0]
    ?.startTime });

async function firstPaint(browser, url, name, bytes) {
  const word = createServer((_, answer) => answer.setHeader('Content-Type',
    'text/html').end('<!doctype html><title>x</title><p>word'));
  await new Promise((done) => word.listen(0, '127.0.0.1', done));
  const empty = [];
  const seen = [];
  for (let i = 0; i < ROUNDS; i++) {
    const plain = await open(browser, `http://127.0.0.1:${word.address().port}`,
      () => performance.getEntriesByType('paint').length > 0);
    empty.push((await plain.evaluate(times)).paint);
    await plain.close();
    const page = await open(browser, url);
    seen.push(await page.evaluate(times));
    await page.close();
  }
  word.close();
  for (const [what, list] of [['first paint', seen.map((s) => s.paint)],
    ['flame graph', seen.map((s) => s.flame)],
    ['all of it', seen.map((s) => s.all)]]) {
    say({ what, profile: name, bytes, median_ms: round(median(list)),
      best_ms: round(Math.min(...list)),
      one_word_median_ms: round(median(empty)) });
  }
}

/** Runs in the page: draws FRAMES pictures while something moves. */
function moveAndDraw([kind, frames]) {
  const icicle = globalThis.pprofPage.view.main;
  const next = () => new Promise(requestAnimationFrame);
  return (async () => {
    const times = [];
    icicle.setWindow(0, icicle.whole(), 0);
    if (kind === 'pan') icicle.zoomAt(300, 0.3);
    for (let i = 0; i < frames; i++) {
      if (kind === 'pan') icicle.panBy(i < frames / 2 ? 9 : -9, 0);
      else icicle.zoomAt(500, i < frames / 2 ? 0.9 : 1 / 0.9);
      await next();
      await next();
      times.push(icicle.lastFrameMs);
    }
    return times;
  })();
}

/** Runs in the page: what typing these words into the search field costs. */
function searchFor(words) {
  const app = globalThis.pprofPage;
  const began = performance.now();
  app.state.params.set('q', words);
  return app.view.show(new Set(['q'])).then(() => performance.now() - began);
}

async function moving(browser, url, name) {
  const page = await open(browser, url);
  const nodes = await page.evaluate(() =>
    globalThis.pprofPage.view.main.tree.count);
  for (const kind of ['pan', 'zoom']) {
    const times = await page.evaluate(moveAndDraw, [kind, FRAMES]);
    say({ what: `script a picture, ${kind}`, profile: name, frames: nodes,
      median_ms: round(median(times)), worst_ms: round(worst(times)) });
  }
  for (const words of ['Decoder', 'a.*e.*i', 'no such name']) {
    const times = [];
    for (let i = 0; i < 5; i++) times.push(await page.evaluate(searchFor, words));
    say({ what: 'search', words, profile: name, frames: nodes,
      median_ms: round(median(times)) });
  }
  const sent = await page.evaluate(() => performance.getEntriesByType(
    'resource').find((entry) => entry.name.includes('data/flame'))
    .encodedBodySize);
  say({ what: 'flame graph data sent', profile: name, frames: nodes,
    bytes: sent });
  await page.close();
}

// ---- the fleet ----

const SERVICES = 200;
const MERGED = 10000;

/** Two hundred small services, and one with many profiles in the last hour. */
async function fill(url) {
  const { cpuProfile, Sender } =
    await import('../tests/browser/fleet_fixture.mjs');
  const now = Date.now();
  const sender = new Sender(url);
  const bodies = Array.from({ length: 50 }, (_, i) =>
    cpuProfile('big', 0.5 + i / 25, i % 2 === 0));
  for (let i = 0; i < SERVICES; i++) {
    for (let hour = 0; hour < 24; hour++) {
      sender.add({ service: `service-${i}`, type: 'cpu', body: bodies[i % 50],
        at: now - hour * 3600e3 - 60e3, labels: { version: `1.${i % 7}` } });
    }
    if (i % 20 === 0) await Promise.all(sender.sent);
  }
  for (let i = 0; i < MERGED; i++) {
    sender.add({ service: 'big', type: 'cpu', body: bodies[i % 50],
      at: now - 60e3 - i / MERGED * 3500e3, labels: { host: `h${i % 20}` } });
    if (i % 500 === 0) await Promise.all(sender.sent);
  }
  await sender.finish();
}

/** Runs in the page: clicks, and waits until another flame graph is there and
 * was painted. */
function clickAndSee([selector, tag]) {
  const tree = () => globalThis.pprofPage.view?.main?.tree;
  const before = tree();
  return new Promise((done) => {
    const began = performance.now();
    const look = () => {
      if (!tree() || tree() === before) {
        requestAnimationFrame(look);
        return;
      }
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => done(performance.now() - began);
        port2.postMessage(null);
      });
    };
    [...document.querySelectorAll(selector)].find((one) =>
      one.textContent.includes(tag)).click();
    look();
  });
}

async function fleet(browser) {
  const { startCollector } =
    await import('../tests/browser/fleet_fixture.mjs');
  const { url, stop } = await startCollector();
  await fill(url);
  const [lists, clicks, again] = [[], [], []];
  for (let i = 0; i < ROUNDS; i++) {
    lists.push(await listOfServices(browser, url));
    const page = await open(browser, `${url}/ui/services?q=big`, () =>
      document.querySelector('main .table-row') !== null);
    clicks.push(await page.evaluate(clickAndSee, ['main .table-row', 'big']));
    // Another content each time: nothing of it is kept.
    await page.waitForTimeout(500);
    again.push(await page.evaluate(([from, seen]) => {
      const click = (0, eval)(`(${seen})`);
      const button = document.createElement('button');
      button.textContent = 'another range';
      button.className = 'bench';
      button.onclick = () => globalThis.pprofFleet.setRange('a',
        { from, to: 'now' });
      document.body.append(button);
      return click(['.bench', 'another range']);
    }, [`now-${3500 - i}s`, String(clickAndSee)]));
    await page.close();
  }
  say({ what: 'fleet: list of services', services: SERVICES + 1,
    median_ms: round(median(lists)), best_ms: round(Math.min(...lists)) });
  say({ what: 'fleet: click to flame graph', profiles: MERGED,
    first_ms: round(clicks[0]), median_ms: round(median(clicks)),
    worst_ms: round(worst(clicks)) });
  say({ what: 'fleet: another range', profiles: MERGED,
    median_ms: round(median(again)), worst_ms: round(worst(again)) });
  stop();
}

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'] });
await fleet(browser);
for (const { name, size } of process.argv[3] === 'fleet' ? [] : PROFILES) {
  const path = join(scratch, `${size[0]}.pb.gz`);
  const options = ['-samples', '-locations', '-functions'];
  execFileSync(join(BUILD, 'bench', 'gen-profile'), [...size.flatMap((n, i) =>
    [options[i], String(n)]), '-o', path], { stdio: 'ignore' });
  const { server, url } = await serve(path);
  if (size.length > 1) {
    await firstPaint(browser, url, name, statSync(path).size);
  } else {
    await moving(browser, url, name);
  }
  server.kill();
}
await browser.close();
rmSync(scratch, { recursive: true });
