// Colours of boxes.  The module that a function belongs to decides the hue,
// its package the shade; both come from a hash of the name alone.  So a
// package has the same colour in every profile, whatever is filtered, and
// nothing is grey.
//
// Colours are made in OKLCH, where equal lightness looks equally light: one
// ink reads well on all of them.

import { plural } from '../base/numbers.js';
import { isDark } from '../base/theme.js';

/** @typedef {import('./tree.js').Tree} Tree */
/** @typedef {import('./wire.js').Sources} Sources */
/** @typedef {'package' | 'file' | 'binary' | 'name'} ColorBy */

/** @type {[ColorBy, string][]} */
export const COLOR_CHOICES = [
  ['package', 'Package'], ['file', 'File'], ['binary', 'Binary'],
  ['name', 'Function'],
];

/** Everything that is drawn on a canvas, for one colour scheme. */
export const THEMES = {
  light: { root: '#eceae6', sliver: '#c4c0b7', lightness: 0.82, chroma: 0.068,
    dim: '#f0eeea', dimText: '#67635c', text: '#171513', ground: '#ffffff',
    outline: '#171513', hover: '#0b57d0', match: '#c0009a',
    matchText: '#ffffff',
    grown: [200, 82, 0], shrunk: [0, 98, 176], same: [226, 223, 217] },
  dark: { root: '#33312e', sliver: '#5a5752', lightness: 0.42, chroma: 0.068,
    dim: '#2a2927', dimText: '#a19c93', text: '#f4f1ec', ground: '#181715',
    outline: '#ffffff', hover: '#8ab8ff', match: '#ff7be0',
    matchText: '#171513',
    grown: [214, 104, 30], shrunk: [38, 124, 206], same: [66, 64, 61] },
};

/** @typedef {typeof THEMES.light} Theme */

/** @returns {Theme} */
export function theme() {
  return isDark() ? THEMES.dark : THEMES.light;
}

/** FNV-1a, mixed once more: short names differ in few bits.
 * @param {string} text */
export function hash(text) {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  }
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  return (h ^ (h >>> 13)) >>> 0;
}

/** @param {number} lightness 0 .. 1 @param {number} chroma
 * @param {number} hue degrees @returns {string} #rrggbb */
export function oklch(lightness, chroma, hue) {
  const a = chroma * Math.cos(hue * Math.PI / 180);
  const b = chroma * Math.sin(hue * Math.PI / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s];
  return `#${linear.map((part) => {
    const x = Math.max(0, Math.min(1, part));
    const srgb = x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055;
    return Math.round(srgb * 255).toString(16).padStart(2, '0');
  }).join('')}`;
}

const HUES = 24;
const SHADES = 5;

/** @param {string} module decides the hue @param {string} part its shade
 * @param {Theme} t */
export function colorOf(module, part, t) {
  const h = hash(module);
  const hue = (h % HUES) * (360 / HUES);
  // Two modules of the same hue still differ a little.
  const tone = ((h >>> 8) % 3 - 1) * 0.02;
  const shade = part === module ? 0
    : (hash(part) % SHADES - (SHADES - 1) / 2) * 0.022;
  return oklch(t.lightness + tone + shade,
    t.chroma * (1 + ((h >>> 12) % 3) * 0.22), hue);
}

/**
 * @typedef {object} LegendEntry
 * @property {string} name
 * @property {number} self    sum of the own values of its frames
 * @property {number} group   -1: all others
 */

/**
 * @typedef {object} Coloring
 * @property {Uint32Array} paintOf  by source: index into `paints`
 * @property {{module: string, part: string}[]} paints
 * @property {Uint32Array} groupOf  by source: which module, file …
 * @property {LegendEntry[]} legend heaviest first
 */

/** "sort.part.0" is a piece of sort, not in a package "sort". */
const COMPILER_SUFFIX = /^\w+\.(part|isra|constprop|cold|lto_priv)\b/;
/** Hosts whose paths have an owner before the repository. */
const WITH_OWNER = /^(github\.com|gitlab\.com|bitbucket\.org|codeberg\.org)$/;

/** What was released together: the Go module of a package, a part of the
 * standard library, a C++ namespace or a Rust crate.
 * @param {string} pkg */
export function moduleOf(pkg) {
  const parts = pkg.replace(/^.*\bvendor\//, '').split('/');
  if (parts.length === 1 || !parts[0].includes('.')) return parts[0];
  const three = WITH_OWNER.test(parts[0]) || parts[1] === 'x';
  return parts.slice(0, three ? 3 : 2).join('/');
}

/** What a source is coloured by.  Functions of C have no package: their
 * binary stands in for the module, the file for the package.
 * @param {Sources} s @param {ColorBy} by @param {number} i */
function paintFor(s, by, i) {
  const text = (/** @type {Uint32Array} */ column) => s.strings[column[i]];
  const whole = (/** @type {string} */ name) => ({ module: name, part: name });
  switch (by) {
    case 'file': return whole(text(s.file));
    case 'binary': return whole(text(s.binary));
    case 'name': return whole(text(s.name));
    default: {
      const pkg = COMPILER_SUFFIX.test(text(s.name)) ? '' : text(s.pkg);
      if (pkg) return { module: moduleOf(pkg), part: pkg };
      const file = text(s.file);
      return { module: text(s.binary) || file.replace(/^.*\//, ''),
        part: file || text(s.binary) };
    }
  }
}

/** Sources with equal texts in these columns have one paint.
 * @param {Sources} s @param {ColorBy} by @param {number} i */
function keyOf(s, by, i) {
  switch (by) {
    case 'file': return s.file[i];
    case 'binary': return s.binary[i];
    case 'name': return s.name[i];
    default: {
      const pkg = s.pkg[i];
      if (pkg && !COMPILER_SUFFIX.test(s.strings[s.name[i]])) return pkg;
      return (s.file[i] + 1) * s.strings.length + s.binary[i];
    }
  }
}

/** @param {Tree} tree @param {ColorBy} by @returns {Coloring} */
export function colorSources(tree, by) {
  const { sources, selfSums } = tree;
  /** @type {Map<string, LegendEntry>} */
  const groups = new Map();
  /** @type {Map<number, number>} */
  const paintIds = new Map();
  /** @type {LegendEntry[]} by paint */
  const entries = [{ name: '', self: 0, group: 0 }];
  const paints = [{ module: '', part: '' }];
  const groupOf = new Uint32Array(sources.count);
  const paintOf = new Uint32Array(sources.count);
  for (let i = 1; i < sources.count; i++) {
    const key = keyOf(sources, by, i);
    let id = paintIds.get(key);
    if (id === undefined) {
      const paint = paintFor(sources, by, i);
      let entry = groups.get(paint.module);
      if (!entry) {
        entry = { name: paint.module, self: 0, group: groups.size };
        groups.set(paint.module, entry);
      }
      id = paints.push(paint) - 1;
      entries.push(entry);
      paintIds.set(key, id);
    }
    paintOf[i] = id;
    entries[id].self += Math.abs(selfSums[i]);
    groupOf[i] = entries[id].group;
  }
  return { paintOf, paints, groupOf, legend: legendOf([...groups.values()]) };
}

const LEGEND_MOST = 12;

/** The heaviest, and one entry for all others.
 * @param {LegendEntry[]} groups @returns {LegendEntry[]} */
function legendOf(groups) {
  const heavy = groups.sort((a, b) => b.self - a.self || a.group - b.group);
  const legend = heavy.slice(0, LEGEND_MOST);
  const others = heavy.slice(LEGEND_MOST);
  if (others.length > 0) {
    legend.push({ name: plural(others.length, 'other'), group: -1,
      self: others.reduce((sum, entry) => sum + entry.self, 0) });
  }
  return legend;
}

/** @type {WeakMap<Coloring, {theme: Theme, fills: string[]}>} */
const fillsKnown = new WeakMap();

/** The colours of all paints. @param {Coloring} coloring @param {Theme} t */
export function fillsOf(coloring, t) {
  const known = fillsKnown.get(coloring);
  if (known?.theme === t) return known.fills;
  const fills = coloring.paints.map(({ module, part }) =>
    colorOf(module, part, t));
  fillsKnown.set(coloring, { theme: t, fills });
  return fills;
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

/** The parts of an rgb(…) or #rrggbb, 0 .. 255. @param {string} color */
function partsOf(color) {
  return color.startsWith('#')
    ? [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16))
    : color.slice(4, -1).split(' ').map(Number);
}

/** Relative luminance as WCAG defines it. @param {string} color */
export function luminance(color) {
  const [r, g, b] = partsOf(color).map((part) => {
    const x = part / 255;
    return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Black or white, whichever reads better: one of them always has a contrast
 * of at least 4.5. @param {string} color */
export function inkOn(color) {
  return luminance(color) > 0.179 ? '#000000' : '#ffffff';
}
