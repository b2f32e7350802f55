// What a selection can be compared with, as selections: the window before,
// the same time yesterday or last week, another version.

import { labelsOf, selectionText, withValue } from './selection.js';
import { absoluteRange, DAY, earlier, spanOf } from './times.js';

/** @typedef {import('./selection.js').Selection} Selection */

/** @type {[string, string, number][]} name, words, seconds; 0: as long as the
 * selection */
const SHIFTS = [['previous', 'Previous window', 0],
  ['yesterday', 'Yesterday', DAY], ['week', 'Last week', 7 * DAY]];

/** @param {Selection} a @param {number} seconds @param {number} now
 * @returns {Selection} */
function shifted(a, seconds, now) {
  const { from, to } = spanOf(a, now);
  return { ...a, ...earlier(a, seconds || to - from, now) };
}

/** The base of a choice; null for none. @param {Selection} a
 * @param {string} choice @param {number} now @returns {Selection | null} */
export function baseFor(a, choice, now) {
  const shift = SHIFTS.find(([name]) => name === choice);
  return shift ? shifted(a, shift[2], now) : null;
}

/** A version, where it was seen: in the same time if it was there then, else
 * in the last time of the same length.
 * @param {Selection} a @param {string} version
 * @param {{first: number, last: number}} seen @param {number} now
 * @returns {Selection} */
export function baseOfVersion(a, version, seen, now) {
  const span = spanOf(a, now);
  const base = withValue(a, 'version', version);
  if (seen.last >= span.from && seen.first <= span.to) return base;
  const length = span.to - span.from;
  return { ...base, ...absoluteRange({ from: Math.max(seen.first,
    seen.last - length), to: seen.last + 1 }) };
}

/** Which choice a base is; "" if there is none, "other" for any other.
 * @param {Selection} a @param {Selection | null} b @param {number} now */
export function choiceOf(a, b, now) {
  if (!b) return '';
  const timeless = (/** @type {Selection} */ s) =>
    selectionText({ ...s, from: '', to: '' });
  if (b.id || timeless(a) !== timeless(b)) return 'other';
  const shift = shiftOf(a, b, now);
  const { from, to } = spanOf(a, now);
  const found = SHIFTS.find(([, , seconds]) =>
    Math.abs(shift - (seconds || to - from)) < 2);
  return found?.[0] ?? 'other';
}

/** In a few words. @param {Selection} a @param {Selection | null} b
 * @param {number} now */
export function compareText(a, b, now) {
  const choice = choiceOf(a, b, now);
  if (!b) return 'Compare';
  const known = SHIFTS.find(([name]) => name === choice);
  if (known) return `vs ${known[1].toLowerCase()}`;
  if (b.id) return 'vs one profile';
  const version = labelsOf(b).find(({ name, op }) => name === 'version' &&
    op === '=')?.value;
  const own = labelsOf(a).find(({ name }) => name === 'version')?.value;
  return version && version !== own ? `vs version ${version}`
    : 'vs range B';
}

/** @param {string} current @returns {import('./picker.js').Choice[]} */
export function shiftChoices(current) {
  return [{ value: '', text: 'Nothing', current: current === '' },
    ...SHIFTS.map(([value, text]) => ({ value, text,
      current: value === current }))];
}

/** Seconds between two ranges of the same length; NaN if they are none.
 * @param {Selection} a @param {Selection} b @param {number} now */
export function shiftOf(a, b, now) {
  const [x, y] = [spanOf(a, now), spanOf(b, now)];
  const same = Math.abs((x.to - x.from) - (y.to - y.from)) < 2;
  return same && x.from > y.from ? x.from - y.from : NaN;
}
