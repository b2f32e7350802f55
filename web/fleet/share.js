// Links and commands that lead others to the same numbers.  All of them have
// absolute times: "the last hour" is another one for whoever gets the link.

import { copyText } from '../base/dom.js';
import { selectorText } from './selection.js';

/** @typedef {import('./selection.js').Selection} Selection */

/** @param {Selection} selection with absolute times @param {string} root of
 * the server, with no slash at its end */
export function profileUrl(selection, root) {
  if (selection.id) return `${root}/api/0/profiles/${selection.id}`;
  const words = new URLSearchParams({ query: selectorText(selection),
    from: selection.from, to: selection.to });
  if (selection.changes) words.set('values', 'changes');
  return `${root}/api/1/merge?${words}`;
}

/** For a shell. @param {string} text */
const quoted = (text) => `'${text.replaceAll('\'', '\'\\\'\'')}'`;

/** @param {string} tool @param {Selection} a @param {Selection | null} b
 * @param {string} root */
export function commandFor(tool, a, b, root) {
  return [tool, ...(b ? ['-diff_base', quoted(profileUrl(b, root))] : []),
    quoted(profileUrl(a, root))].join(' ');
}

/** The URL of the page with these selections instead of its own.
 * @param {string} href @param {string} a @param {string} b */
export function absoluteUrl(href, a, b) {
  const url = new URL(href);
  url.searchParams.set('a', a);
  if (b) url.searchParams.set('b', b);
  url.searchParams.delete('live');
  return String(url);
}

/** @param {import('../main.js').App} app @param {string} text
 * @param {string} what */
export async function copied(app, text, what) {
  app.detail.flash(await copyText(text) ? `Copied ${what}`
    : 'The browser did not let this page copy');
}
