// The filters of the URL as a list: each is one chip, all must match.  One
// that is switched off is kept under the word `off`, as "f:regexp".

import { patternError, quote } from '../base/search.js';
import { FILTERS, PLACE_WORDS } from '../base/state.js';

/** @typedef {import('../base/state.js').State} State */

/**
 * @typedef {object} Filter
 * @property {string} word
 * @property {string} value
 * @property {boolean} on
 * @property {boolean} fixed  of the command line: the page cannot remove it
 */

/** @param {State} state @param {Record<string, string>} [config] of the
 * command line @returns {Filter[]} */
export function filtersOf(state, config = {}) {
  const off = state.all('off').map((text) => ({
    word: text.slice(0, text.indexOf(':')),
    value: text.slice(text.indexOf(':') + 1) }));
  return FILTERS.flatMap(({ word }) => {
    const own = state.all(word);
    const given = own.length === 0 && config[word]
      ? [{ word, value: config[word], on: true, fixed: true }] : [];
    return [...given,
      ...own.map((value) => ({ word, value, on: true, fixed: false })),
      ...off.filter((f) => f.word === word)
        .map((f) => ({ ...f, on: false, fixed: false }))];
  });
}

/** Writes the list to the URL. @param {State} state @param {Filter[]} list */
function write(state, list) {
  /** @type {import('../base/state.js').Changes} */
  const words = { ...PLACE_WORDS,
    off: list.filter((f) => !f.on).map((f) => `${f.word}:${f.value}`) };
  for (const { word } of FILTERS) {
    words[word] = list.filter((f) => f.on && !f.fixed && f.word === word)
      .map((f) => f.value);
  }
  state.set(words);
}

/** @param {State} state @param {string} word @param {string} value */
export function addFilter(state, word, value) {
  const list = filtersOf(state).filter((f) => f.word !== word ||
    f.value !== value);
  write(state, [...list, { word, value, on: true, fixed: false }]);
}

/** @param {State} state @param {Filter} old
 * @param {Partial<Filter> | null} change null removes it */
export function changeFilter(state, old, change) {
  write(state, filtersOf(state).flatMap((f) =>
    (f.word !== old.word || f.value !== old.value || f.on !== old.on ? [f]
      : change ? [{ ...f, ...change }] : [])));
}

/** What a label must be. Numbers are ranges to pprof, all else is a pattern.
 * @param {string} key @param {string} value @param {boolean} isNumber */
export function labelFilter(key, value, isNumber) {
  return isNumber ? `${key}=${value}`
    : `${key}=^${quote(value).replaceAll(',', '\\x2c')}$`;
}

/** A pattern as people read it: "^main\.run$" is main.run.
 * @param {string} pattern */
function plainPattern(pattern) {
  const inner = /^\^(.*)\$$/s.exec(pattern)?.[1];
  if (inner === undefined) return pattern;
  const plain = inner.replaceAll('\\x2c', ',').replace(/\\([^\w\s])/g, '$1');
  return quote(plain).replaceAll(',', '\\x2c') === inner ||
    quote(plain) === inner ? plain : pattern;
}

/** @param {Filter} filter */
export function plainValue({ word, value }) {
  const label = /^t[fi]$/.test(word) && /^([^=]+)=(.*)$/s.exec(value);
  return label ? `${label[1]} is ${plainPattern(label[2])}`
    : plainPattern(value);
}

/** What is wrong with a value, before the server says so.
 * @param {string} word @param {string} value */
export function filterError(word, value) {
  return /^t[fi]$/.test(word) ? '' : patternError(value);
}
