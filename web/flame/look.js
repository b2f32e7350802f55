// Which colour and text each box has: by module and package, or by what
// changed.  While searching, hits have a colour of their own and everything
// else steps back.

import { changeColor, fillsOf, inkOn, theme } from './colors.js';
import { foldedLabel } from './fold.js';

/** @typedef {import('./tree.js').Tree} Tree */
/** @typedef {import('./paint.js').Look} Look */
/** @typedef {import('./colors.js').Coloring} Coloring */
/** @typedef {'color' | 'overlay' | 'side'} DiffMode */

/**
 * @typedef {object} LookWish
 * @property {Tree} tree
 * @property {Coloring} coloring
 * @property {import('../base/search.js').Found | null} found in this tree
 * @property {number} group               chosen in the legend, or -1
 * @property {DiffMode | null} diff
 * @property {boolean} up
 * @property {string} [rootLabel]
 */

/** @param {LookWish} wish @returns {Look} */
export function makeLook(wish) {
  const { tree, up, found } = wish;
  const t = theme();
  const label = (/** @type {number} */ node) =>
    node === 0 ? wish.rootLabel ?? 'all'
      : tree.folded?.[node] ? foldedLabel(tree, node) : tree.display(node);
  const colors = sourceColors(wish);
  const look = { theme: t, up, label, hits: found?.before ?? null };
  if (!wish.diff) {
    const { source } = tree;
    return { ...look, bar: null,
      fill: (node) => colors.fill[source[node]],
      ink: (node) => colors.ink[source[node]] };
  }
  return { ...look, ...(wish.diff === 'overlay' ? overlayLook(wish, colors)
    : changeLook(wish, colors)) };
}

/** By source: fill, ink, and whether it is a hit (2) or steps back (1).
 * @param {LookWish} wish */
function sourceColors({ tree, coloring, found, group }) {
  const t = theme();
  const count = tree.sources.count;
  /** @type {string[]} */ const fill = new Array(count);
  /** @type {string[]} */ const ink = new Array(count);
  const state = new Uint8Array(count);
  const fills = fillsOf(coloring, t);
  for (let i = 0; i < count; i++) {
    if (found) state[i] = found.sources[i] ? 2 : 1;
    else if (group >= 0 && coloring.groupOf[i] !== group) state[i] = 1;
    fill[i] = state[i] === 2 ? t.match : state[i] ? t.dim
      : fills[coloring.paintOf[i]];
    ink[i] = state[i] === 2 ? t.matchText : state[i] ? t.dimText : t.text;
  }
  fill[0] = t.root;
  ink[0] = t.text;
  state[0] = 0;
  return { fill, ink, state };
}

/** @typedef {ReturnType<typeof sourceColors>} SourceColors */

/** Relative change of a node, -1 (gone) .. 1 (new or more than doubled).
 * @param {Tree} tree @param {number} node */
export function changeOf(tree, node) {
  const delta = tree.total[node];
  const before = tree.totalBase ? tree.totalBase[node] : 0;
  if (delta === 0) return 0;
  return before === 0 ? Math.sign(delta)
    : Math.max(-1, Math.min(1, delta / before));
}

/** @param {LookWish} wish @param {SourceColors} colors */
function changeLook({ tree }, colors) {
  const t = theme();
  const fill = (/** @type {number} */ node) => {
    const source = tree.source[node];
    return colors.state[source] ? colors.fill[source]
      : changeColor(changeOf(tree, node), t);
  };
  return { bar: null, fill,
    ink: (/** @type {number} */ node) => inkOn(fill(node)) };
}

/** How strong the colour of a part that came or went is. */
export const OVERLAY_STRENGTH = 0.35;

/** Grey boxes as wide as before and after together; the part that is painted
 * is what came or went. @param {LookWish} wish @param {SourceColors} colors */
function overlayLook({ tree }, colors) {
  const t = theme();
  const grey = `rgb(${t.same.join(' ')})`;
  const more = changeColor(OVERLAY_STRENGTH, t);
  const less = changeColor(-OVERLAY_STRENGTH, t);
  const stateOf = (/** @type {number} */ node) =>
    colors.state[tree.source[node]];
  const barOf = (/** @type {number} */ node) => {
    const delta = tree.total[node];
    const base = tree.totalBase ? tree.totalBase[node] : 0;
    const both = tree.totalBase ? Math.abs(delta + base) + base
      : Math.abs(delta);
    return { share: both === 0 ? 0 : Math.min(1, Math.abs(delta) / both),
      color: delta > 0 ? more : less };
  };
  return {
    fill: (/** @type {number} */ node) => (stateOf(node)
      ? colors.fill[tree.source[node]] : grey),
    // A label can lie across both colours: it must read well on the bar,
    // which is the darker one in light and the lighter one in dark.
    ink: (/** @type {number} */ node) => (stateOf(node)
      ? colors.ink[tree.source[node]]
      : inkOn(barOf(node).share > 0 ? barOf(node).color : grey)),
    bar: (/** @type {number} */ node) => (stateOf(node)
      ? { share: 0, color: grey } : barOf(node)),
  };
}
