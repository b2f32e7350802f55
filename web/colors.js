// Colours of boxes.  Eight hues that people with any kind of colour vision
// can tell apart; what weighs most gets a hue of its own, the rest is grey.
// A name's hue comes from its hash and only moves when two of the heavy ones
// collide, so that a package keeps its colour from profile to profile.

import { plural } from './numbers.js';

/** @typedef {import('./tree.js').Tree} Tree */
/** @typedef {import('./wire.js').Sources} Sources */
/** @typedef {'package' | 'file' | 'binary' | 'name'} ColorBy */

/** @type {[ColorBy, string][]} */
export const COLOR_CHOICES = [
  ['package', 'Package'], ['file', 'File'], ['binary', 'Binary'],
  ['name', 'Function'],
];

/** Boxes on light ground take black text, those on dark ground white text. */
const LIGHT = ['#8fbbe6', '#f2ab88', '#86d3b4', '#eedb84', '#f5b3c4',
  '#c9d36a', '#a8dff2', '#cdb6ea'];
const DARK = ['#2b5f96', '#9a4d26', '#17735a', '#7d6614', '#99445f',
  '#5d691a', '#1c6f86', '#6a4d99'];

/** Everything that is drawn on a canvas, for one colour scheme. */
const THEMES = {
  light: { hues: LIGHT, others: ['#dddad3', '#d2cec5', '#e6e3dd'],
    root: '#eceae6', sliver: '#c4c0b7',
    dim: '#f0eeea', dimText: '#716d66', text: '#171513', ground: '#ffffff',
    outline: '#171513', hover: '#0b57d0', match: '#c800a1',
    grown: [200, 82, 0], shrunk: [0, 98, 176], same: [226, 223, 217] },
  dark: { hues: DARK, others: ['#4a4844', '#534f4a', '#413f3c'],
    root: '#33312e', sliver: '#5a5752',
    dim: '#2a2927', dimText: '#969188', text: '#f4f1ec', ground: '#181715',
    outline: '#ffffff', hover: '#8ab8ff', match: '#ff7be0',
    grown: [214, 104, 30], shrunk: [38, 124, 206], same: [66, 64, 61] },
};

/** @typedef {typeof THEMES.light} Theme */

const darkQuery = globalThis.matchMedia?.('(prefers-color-scheme: dark)');

/** @returns {Theme} */
export function theme() {
  return darkQuery?.matches ? THEMES.dark : THEMES.light;
}

/** @param {() => void} changed */
export function onThemeChange(changed) {
  darkQuery?.addEventListener('change', changed);
}

/** FNV-1a. @param {string} text */
function hash(text) {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  }
  return h >>> 0;
}

/**
 * @typedef {object} LegendEntry
 * @property {string} name
 * @property {number} hue     index, -1 for all others
 * @property {number} self    sum of the own values of its frames
 * @property {number} group
 */

/**
 * @typedef {object} Coloring
 * @property {Int8Array} hueOf      by source; -1 is grey
 * @property {Uint32Array} groupOf  by source: which package, file …
 * @property {LegendEntry[]} legend heaviest first
 */

/** "sort.part.0" is a piece of sort, not in a package "sort". */
const COMPILER_SUFFIX = /^\w+\.(part|isra|constprop|cold|lto_priv)\b/;

/** What a source is coloured by.  Functions of C have no package: their file
 * stands in, or their binary. @param {Sources} s @param {ColorBy} by
 * @param {number} i */
function groupName(s, by, i) {
  const text = (/** @type {Uint32Array} */ column) => s.strings[column[i]];
  switch (by) {
    case 'file': return text(s.file);
    case 'binary': return text(s.binary);
    case 'name': return text(s.name);
    default: return (COMPILER_SUFFIX.test(text(s.name)) ? '' : text(s.pkg)) ||
      text(s.file).replace(/^.*\//, '') || text(s.binary);
  }
}

/** @param {Tree} tree @param {ColorBy} by @returns {Coloring} */
export function colorSources(tree, by) {
  const { sources, selfSums } = tree;
  /** @type {Map<string, LegendEntry>} */
  const groups = new Map();
  const groupOf = new Uint32Array(sources.count);
  for (let i = 1; i < sources.count; i++) {
    const name = groupName(sources, by, i);
    let entry = groups.get(name);
    if (!entry) {
      entry = { name, hue: -1, self: 0, group: groups.size };
      groups.set(name, entry);
    }
    entry.self += Math.abs(selfSums[i]);
    groupOf[i] = entry.group;
  }
  const heavy = [...groups.values()].sort((a, b) => b.self - a.self ||
    a.group - b.group);
  giveHues(heavy);
  const hueOf = new Int8Array(sources.count).fill(-1);
  const byGroup = [...groups.values()];
  for (let i = 1; i < sources.count; i++) hueOf[i] = byGroup[groupOf[i]].hue;
  return { hueOf, groupOf, legend: legendOf(heavy) };
}

/** @param {LegendEntry[]} heavy */
function giveHues(heavy) {
  const taken = new Set();
  for (const entry of heavy) {
    if (entry.name === '' || taken.size === LIGHT.length) continue;
    entry.hue = hash(entry.name) % LIGHT.length;
    while (taken.has(entry.hue)) entry.hue = (entry.hue + 1) % LIGHT.length;
    taken.add(entry.hue);
  }
}

/** Those with a hue, and one entry for all others.
 * @param {LegendEntry[]} heavy @returns {LegendEntry[]} */
function legendOf(heavy) {
  const others = heavy.filter((entry) => entry.hue < 0);
  const legend = heavy.filter((entry) => entry.hue >= 0);
  if (others.length > 0) {
    legend.push({ name: plural(others.length, 'other'), hue: -1, group: -1,
      self: others.reduce((sum, entry) => sum + entry.self, 0) });
  }
  return legend;
}

/**
 * Orange for what grew, blue for what shrank, grey for what stayed: a pair
 * that stays apart for colour-blind eyes.
 * @param {number} change -1 .. 1 @param {Theme} t
 */
export function changeColor(change, t) {
  const strength = Math.min(1, Math.abs(change)) ** 0.5;
  const aim = change > 0 ? t.grown : t.shrunk;
  const mix = t.same.map((from, i) =>
    Math.round(from + (aim[i] - from) * strength));
  return `rgb(${mix.join(' ')})`;
}

/** Black or white, whichever reads better on an rgb(…) or #rrggbb.
 * @param {string} color */
export function inkOn(color) {
  const [r, g, b] = color.startsWith('#')
    ? [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16))
    : color.slice(4, -1).split(' ').map(Number);
  return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? '#171513' : '#ffffff';
}
