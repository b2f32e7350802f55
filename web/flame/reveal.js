// Where the window of a flame graph must be for a frame to be seen.

import { ROW } from './paint.js';

/** @typedef {import('./tree.js').Tree} Tree */
/** @typedef {import('./tree.js').Layout} Layout */
/** @typedef {import('./paint.js').Window} Window */

/**
 * Scrolls, and narrows the window when the box would be too thin to see; null
 * if it is seen as it is.
 * @param {Tree} tree @param {Layout} layout @param {Window} win
 * @param {number} node
 */
export function placeToSee(tree, layout, win, node) {
  const { from, to, width } = win;
  const top = topToSee(tree.levelOf(node), win);
  const start = layout.start[node];
  const weight = layout.weight[node];
  const inside = start < to && start + weight > from;
  if (inside && weight / (to - from) * width >= 3) {
    return top === win.top ? null : { from, to, top };
  }
  const span = spanToSee(weight, win, inside);
  // Of a frame that is not on this side only the place can be shown.
  if (weight === 0 && start >= from && start <= to) return { from, to, top };
  const middle = start + weight / 2;
  return { from: middle - span / 2, to: middle + span / 2, top };
}

/** How many rows there are below a node. @param {Tree} tree
 * @param {number} node */
function rowsBelow(tree, node) {
  let rows = 0;
  let first = tree.first[node];
  let end = tree.first[node + 1];
  while (first < end) {
    rows++;
    [first, end] = [tree.first[first], tree.first[end]];
  }
  return rows;
}

/**
 * How far to scroll when a node is fitted to the width: not at all if its
 * rows fit below those of its callers; else so far that most of them do, with
 * two callers left above it.
 * @param {Tree} tree @param {Window} win @param {number} node
 */
export function topToFit(tree, win, node) {
  const level = tree.levelOf(node);
  const bottom = (level + rowsBelow(tree, node) + 1) * ROW;
  return Math.max(0, Math.min((level - 2) * ROW, bottom - win.height));
}

/** @param {number} level @param {Window} win */
function topToSee(level, { top, height }) {
  const y = level * ROW;
  if (y < top) return y - ROW;
  return y + ROW > top + height ? y + 2 * ROW - height : top;
}

/** @param {number} weight @param {Window} win @param {boolean} inside */
function spanToSee(weight, { from, to, width }, inside) {
  if (weight === 0) return to - from;
  const span = inside || weight > to - from
    ? Math.max(weight * 4, weight / 3 * width / 20) : to - from;
  return weight / span * width < 3 ? weight * width / 60 : span;
}
