// Colours of boxes.  Eight hues that people with any kind of colour vision
// can tell apart; what weighs most gets a hue of its own, the rest is grey.
// A name's hue comes from its hash and only moves when two of the heavy ones
// collide, so that a package keeps its colour from profile to profile.

import { sumBySource } from './tree.js';

/** @typedef {import('./tree.js').Tree} Tree */
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
  light: { hues: LIGHT, other: '#dddad3', root: '#e9e7e2', sliver: '#b9b5ab',
    dim: '#f0eeea', dimText: '#8b877f', text: '#171513', ground: '#ffffff',
    outline: '#171513', hover: '#0b57d0', match: '#c800a1',
    grown: [200, 82, 0], shrunk: [0, 98, 176], same: [226, 223, 217] },
  dark: { hues: DARK, other: '#4a4844', root: '#3a3936', sliver: '#5f5c57',
    dim: '#2a2927', dimText: '#85817a', text: '#f4f1ec', ground: '#181715',
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

/** @param {Tree} tree @param {ColorBy} by */
function columnOf(tree, by) {
  const s = tree.sources;
  return { package: s.pkg, file: s.file, binary: s.binary, name: s.name }[by];
}

/** @param {Tree} tree @param {ColorBy} by @returns {Coloring} */
export function colorSources(tree, by) {
  const { sources } = tree;
  const groupOf = columnOf(tree, by);
  const sums = sumBySource(tree);
  /** @type {Map<number, number>} */
  const weight = new Map();
  for (let i = 1; i < sources.count; i++) {
    weight.set(groupOf[i], (weight.get(groupOf[i]) ?? 0) +
      Math.abs(sums.self[i]));
  }
  const heavy = [...weight].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  /** @type {Map<number, number>} */
  const hues = new Map();
  const taken = new Set();
  for (const [group] of heavy) {
    const name = sources.strings[group];
    if (name === '' || hues.size === LIGHT.length) continue;
    let hue = hash(name) % LIGHT.length;
    while (taken.has(hue)) hue = (hue + 1) % LIGHT.length;
    taken.add(hue);
    hues.set(group, hue);
  }
  const hueOf = new Int8Array(sources.count).fill(-1);
  for (let i = 1; i < sources.count; i++) {
    hueOf[i] = hues.get(groupOf[i]) ?? -1;
  }
  return { hueOf, groupOf, legend: legendOf(heavy, hues, sources.strings) };
}

/**
 * @param {[number, number][]} heavy @param {Map<number, number>} hues
 * @param {string[]} strings @returns {LegendEntry[]}
 */
function legendOf(heavy, hues, strings) {
  /** @type {LegendEntry[]} */
  const legend = [];
  let others = 0;
  let count = 0;
  for (const [group, self] of heavy) {
    const hue = hues.get(group);
    if (hue !== undefined) {
      legend.push({ name: strings[group], hue, self, group });
    } else {
      others += self;
      count++;
    }
  }
  if (count > 0) {
    legend.push({ name: count === 1 ? '1 other' : `${count} others`, hue: -1,
      self: others, group: -1 });
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
