// The fleet's page in a browser: opening it, and waiting until it is at rest.

import { open, settled } from './browser.mjs';

/** "last hour of checkout's CPU" and the like. @param {string} service
 * @param {string} [range] @param {string} [more] matchers */
export const cpuOf = (service, range = 'now-1h..now', more = '') =>
  `cpu{service="${service}"${more && `,${more}`}} ${range}`;

/** @param {string} url of the collector @param {string} path
 * @param {Record<string, string>} [words] @param {object} [options] */
export async function openFleet(url, path, words = {}, options = {}) {
  const query = String(new URLSearchParams(words));
  const page = await open(`${url}/ui/${path}${query ? `?${query}` : ''}`,
    options);
  await resting(page);
  return page;
}

/** Until view, strip and labels have what they asked for. */
export async function resting(page) {
  await settled(page);
  await page.waitForFunction(() => {
    const fleet = globalThis.pprofFleet; // comes after the list of services
    return fleet && fleet.api.pending.size === 0 &&
      (fleet.level !== 'explore' || fleet.a?.id || fleet.strip.picture.course);
  });
  await settled(page);
}

/** Where a time is in the strip: a place in the window.
 * @param {number} seconds before now */
export function stripPlace(page, seconds) {
  return page.evaluate((age) => {
    const { strip, now } = globalThis.pprofFleet;
    const box = strip.frame.getBoundingClientRect();
    const { from, to } = strip.picture.span;
    return { x: box.left + (now - age - from) / (to - from) * box.width,
      y: box.top + box.height / 2, ruler: box.bottom - 6 };
  }, seconds);
}

/** The words of the address bar. */
export const wordsOf = (page) => new URL(page.url()).searchParams;
