// Which colour and text each box has: by package, file …, dimmed when a
// search or the legend asks for others, or by what changed.

import { changeColor, inkOn, theme } from './colors.js';

/** @typedef {import('./tree.js').Tree} Tree */
/** @typedef {import('./paint.js').Look} Look */
/** @typedef {import('./colors.js').Coloring} Coloring */
/** @typedef {'color' | 'overlay' | 'side'} DiffMode */

/**
 * @typedef {object} LookWish
 * @property {Tree} tree
 * @property {Coloring} coloring
 * @property {Uint8Array | null} matched  by source, while searching
 * @property {number} group               chosen in the legend, or -1
 * @property {DiffMode | null} diff
 * @property {boolean} up
 * @property {string} [rootLabel]
 */

/** @param {LookWish} wish @returns {Look} */
export function makeLook(wish) {
  const { tree, up } = wish;
  const t = theme();
  const label = (/** @type {number} */ node) =>
    node === 0 ? wish.rootLabel ?? 'all' : tree.display(node);
  const bySource = sourceColors(wish);
  if (!wish.diff) {
    const { source } = tree;
    return { theme: t, up, label, bar: null,
      fill: (node) => bySource.fill[source[node]],
      ink: (node) => bySource.ink[source[node]] };
  }
  return wish.diff === 'overlay' ? overlayLook(wish, label)
    : changeLook(wish, label, bySource.dim);
}

/** @param {LookWish} wish */
function sourceColors(wish) {
  const { tree, coloring, matched, group } = wish;
  const t = theme();
  const count = tree.sources.count;
  /** @type {string[]} */ const fill = new Array(count);
  /** @type {string[]} */ const ink = new Array(count);
  const dim = new Uint8Array(count);
  for (let i = 0; i < count; i++) {
    const hue = coloring.hueOf[i];
    dim[i] = Number((matched !== null && !matched[i]) ||
      (group >= 0 && coloring.groupOf[i] !== group));
    fill[i] = dim[i] ? t.dim : hue >= 0 ? t.hues[hue]
      : t.others[coloring.groupOf[i] % t.others.length];
    ink[i] = dim[i] ? t.dimText : t.text;
  }
  fill[0] = t.root;
  ink[0] = t.text;
  return { fill, ink, dim };
}

/** Relative change of a node, -1 (gone) .. 1 (new or more than doubled).
 * @param {Tree} tree @param {number} node */
export function changeOf(tree, node) {
  const delta = tree.total[node];
  const before = tree.totalBase ? tree.totalBase[node] : 0;
  if (delta === 0) return 0;
  return before === 0 ? Math.sign(delta)
    : Math.max(-1, Math.min(1, delta / before));
}

/** @param {LookWish} wish @param {(node: number) => string} label
 * @param {Uint8Array} dim @returns {Look} */
function changeLook(wish, label, dim) {
  const { tree } = wish;
  const t = theme();
  const colorOf = (/** @type {number} */ node) =>
    dim[tree.source[node]] && node > 0 ? t.dim
      : changeColor(changeOf(tree, node), t);
  return { theme: t, up: wish.up, label, bar: null, fill: colorOf,
    ink: (node) => inkOn(colorOf(node)) };
}

/** Grey boxes as wide as before and after together; the part that is painted
 * is what came or went. @param {LookWish} wish
 * @param {(node: number) => string} label @returns {Look} */
function overlayLook(wish, label) {
  const { tree } = wish;
  const t = theme();
  const grey = `rgb(${t.same.join(' ')})`;
  const more = changeColor(0.35, t);
  const less = changeColor(-0.35, t);
  return { theme: t, up: wish.up, label, fill: () => grey,
    ink: () => inkOn(grey),
    bar: (node) => {
      const delta = tree.total[node];
      const base = tree.totalBase ? tree.totalBase[node] : 0;
      const both = tree.totalBase ? Math.abs(delta + base) + base
        : Math.abs(delta);
      return { share: both === 0 ? 0 : Math.min(1, Math.abs(delta) / both),
        color: delta > 0 ? more : less };
    } };
}
