// Chromium looking at what pprof serves.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { stopServers } from './pprof.mjs';
import { ARTEFACTS, installPackages, packageNamed, skipAll } from './tools.mjs';

export { boxOf, drawnGraph, rowsOf } from './page.mjs';
export { dotGraph, keep, scratch, serve, tableOf, terminal }
  from './pprof.mjs';

const CHROMIUM = '/usr/bin/chromium';
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic',
  '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];

if (!existsSync(CHROMIUM)) skipAll('there is no Chromium');
await installPackages();
const { chromium } = packageNamed('playwright-core');

export const browser = await chromium.launch({ executablePath: CHROMIUM,
  args: FLAGS });

export async function finish() {
  await browser.close();
  stopServers();
}

/** Errors of the page, which no test may cause without saying so. */
const complaints = [];

export function takeComplaints() {
  return complaints.splice(0);
}

/** Opens a page and waits until the view is there.
 * @param {string} url @param {object} [options] of the browser context
 * @param {boolean} [hasView] false: there is none to wait for */
export async function open(url, options = {}, hasView = true) {
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
  if (hasView) await settled(page);
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

/** The first flame graph that grows downwards. */
export function icicle(page) {
  return page.locator('.icicle').last();
}
