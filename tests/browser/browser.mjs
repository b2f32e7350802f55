// pprof serving a profile, and Chromium looking at it.

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ARTEFACTS, installPackages, packageNamed, PPROF, skipAll }
  from './tools.mjs';

const CHROMIUM = '/usr/bin/chromium';
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic',
  '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];

if (!existsSync(CHROMIUM)) skipAll('there is no Chromium');
await installPackages();
const { chromium } = packageNamed('playwright-core');

/** For files of these tests; settings are kept there too. */
export const scratch = mkdtempSync(join(tmpdir(), 'pprof-page-'));
const env = { ...process.env, XDG_CONFIG_HOME: scratch, PPROF_TMPDIR: scratch };

export const browser = await chromium.launch({ executablePath: CHROMIUM,
  args: FLAGS });

/** @param {string} name @param {Uint8Array} content */
export function keep(name, content) {
  const path = join(scratch, name);
  writeFileSync(path, content);
  return path;
}

/** What the terminal prints. @param {...string} args */
export function terminal(...args) {
  return execFileSync(PPROF, ['-symbolize=none', ...args], { env,
    encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 1 << 28 });
}

/** @type {import('node:child_process').ChildProcess[]} */
const servers = [];

/** Serves a profile; the URL of the page. @param {...string} args */
export function serve(...args) {
  const server = spawn(PPROF, ['-http=127.0.0.1:0', '-no_browser',
    '-symbolize=none', ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  servers.push(server);
  let said = '';
  return new Promise((done, failed) => {
    server.stderr?.on('data', (data) => {
      const url = /Serving web UI on (\S+)/.exec(said += data);
      if (url) done(`${url[1]}/ui/`);
    });
    server.on('exit', () => failed(new Error(`pprof ended: ${said}`)));
  });
}

export async function finish() {
  for (const server of servers) {
    server.removeAllListeners('exit');
    server.kill();
  }
  await browser.close();
  rmSync(scratch, { recursive: true, force: true });
}

/** Errors of the page, which no test may cause without saying so. */
const complaints = [];

export function takeComplaints() {
  return complaints.splice(0);
}

/** Opens a page and waits until the view is there.
 * @param {string} url @param {object} [options] of the browser context */
export async function open(url, options = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce',
    acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.setDefaultTimeout(20000);
  await page.goto(url);
  await settled(page);
  return page;
}

/** Until nothing is being loaded or moved. */
export async function settled(page) {
  await page.waitForFunction(() => {
    const main = document.querySelector('main');
    return main && !main.hasAttribute('aria-busy') && main.firstElementChild;
  });
  await page.evaluate(() => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(done))));
}

const axe = packageNamed('axe-core').source;

/** What is wrong with the page for people who do not see or point. */
export async function barriers(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  return violations.map((rule) => `${rule.id}: ${rule.nodes.map((node) =>
    node.target.join(' ')).slice(0, 3).join(', ')}`);
}

/** @param {string} name */
export function shoot(page, name) {
  return page.screenshot({ path: join(ARTEFACTS, `${name}.png`) });
}

/** Rows of a table that is on the page, as lists of texts. */
export function rowsOf(page, selector = 'main') {
  return page.locator(`${selector} .table-row`).evaluateAll((rows) =>
    rows.sort((a, b) => Number(a.dataset.rank) - Number(b.dataset.rank))
      .map((row) => [...row.children].map((cell) => cell.textContent)));
}

/** The first flame graph that grows downwards. */
export function icicle(page) {
  return page.locator('.icicle').last();
}

/** Lines of a report without its header, split at spaces.
 * @param {string} text @param {string} header a word of it */
export function tableOf(text, header = 'flat%') {
  return text.slice(text.indexOf(header)).split('\n').slice(1)
    .filter((line) => line.trim() !== '')
    .map((line) => line.trim().split(/\s+/));
}

/** What the graph view shows, and what -dot says: texts of nodes and edges. */
export async function drawnGraph(page) {
  const nodes = await page.locator('.node').evaluateAll((all) =>
    all.map((node) => [...node.querySelectorAll('text:not(.node-tag)')]
      .map((text) => text.textContent).join(' ')));
  const edges = await page.locator('.edge-text').allTextContents();
  return { nodes: nodes.map(clean).sort(), edges: edges.map(clean).sort() };
}

/** @param {string} dot */
export function dotGraph(dot) {
  return { nodes: [...dot.matchAll(/^N\d+ \[label="(.*?)" id="node/gm)]
    .map((match) => clean(match[1].replaceAll('\\"', '"'))).sort(),
  edges: [...dot.matchAll(/^N\d+ -> N\d+ \[label=" (.*?)"/gm)]
    .map((match) => clean(match[1])).sort() };
}

const clean = (text) => text.replaceAll(/\\n|\s+/g, ' ').trim();

/** Where the box of a function is: its middle, in the window.
 * @param {string} name @param {'main' | 'second'} [which] flame graph */
export function boxOf(page, name, which = 'main') {
  return page.evaluate(([wanted, side]) => {
    const main = globalThis.pprofPage.view[side];
    const { tree, layout, win } = main;
    for (let i = 0; i < tree.count; i++) {
      if (tree.name(i) !== wanted) continue;
      const scale = win.width / (win.to - win.from);
      const frame = main.element.getBoundingClientRect();
      return { x: frame.left + (layout.start[i] + layout.weight[i] / 2 -
        win.from) * scale, y: frame.top + tree.levelOf(i) * 20 - win.top + 10,
      width: layout.weight[i] * scale, node: i };
    }
    return null;
  }, [name, which]);
}
