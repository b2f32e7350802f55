// Before beside after: one call tree in two layouts.  A box is wider on one
// side than on the other, or missing there, so that a window is carried over
// by the frames at its edges and not by values.

/** @typedef {import('./tree.js').Tree} Tree */
/** @typedef {import('./tree.js').Layout} Layout */
/** @typedef {{from: number, to: number}} Span in values */

/** How much further one side may be zoomed in than the other: of what is not
 * there at all one sees the neighbours. */
const CLOSER = 100;
/** An edge so near to that of a box, as a share of the window, is its edge.
 * Sums of floating-point numbers are not exact. */
const NEAR = 1e-6;

/** The child that has a value, -1 if the value is the node's own.
 * @param {Tree} tree @param {Layout} layout @param {number} node
 * @param {number} value */
function childAt(tree, layout, node, value) {
  const { start, weight } = layout;
  const end = tree.first[node + 1];
  let low = tree.first[node];
  let high = end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (start[middle] + weight[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low < end ? low : -1;
}

/** @param {Layout} layout @param {number} node */
function boxOf({ start, weight }, node) {
  return { from: start[node], to: start[node] + weight[node] };
}

/** The own part of a node is right of its children.
 * @param {Tree} tree @param {Layout} layout @param {number} node */
function ownPart(tree, layout, node) {
  const box = boxOf(layout, node);
  const last = tree.first[node + 1] - 1;
  const from = last < tree.first[node] ? box.from : boxOf(layout, last).to;
  return { from, to: Math.max(from, box.to) };
}

/** As far from the left edge of a frame's own part, in proportion.  A frame
 * that is missing there is where it would be.
 * @param {Tree} tree @param {Layout} here @param {Layout} there
 * @param {number} node @param {number} value */
function sameInOwn(tree, here, there, node, value) {
  const own = ownPart(tree, here, node);
  const other = ownPart(tree, there, node);
  const part = own.to > own.from
    ? Math.max(0, Math.min(1, (value - own.from) / (own.to - own.from))) : 0;
  return part === 1 ? other.to : other.from + part * (other.to - other.from);
}

/**
 * Goes down the frames at an edge of the window.  If that is the edge of a
 * frame which is seen as a whole, it is so there too, with all that the frame
 * has only there; the outermost such frame counts, but none above the one
 * that the window is fitted to.
 * @param {Tree} tree @param {Layout} here @param {Layout} there
 * @param {Span} win @param {'from' | 'to'} side
 * @param {number[]} fitted from the root to what the window is fitted to
 */
function sameEdge(tree, here, there, win, side, fitted) {
  const near = (win.to - win.from) * NEAR;
  const value = win[side];
  const inside = side === 'from' ? value + near : value - near;
  for (let node = 0, level = 0; ; level++) {
    const box = boxOf(here, node);
    const above = level < fitted.length - 1 && fitted[level] === node;
    if (!above && Math.abs(box[side] - value) <= near &&
      box.from >= win.from - near && box.to <= win.to + near) {
      return boxOf(there, node)[side];
    }
    const child = childAt(tree, here, node, inside);
    if (child < 0) return sameInOwn(tree, here, there, node, value);
    node = child;
  }
}

/**
 * The part of the tree that a window shows, in another layout.
 * @param {Tree} tree @param {Layout} here @param {Layout} there
 * @param {Span} win
 * @param {number} [fitted] the frame that the window is made for, if any
 * @returns {Span}
 */
export function sameWindow(tree, here, there, win, fitted = -1) {
  const whole = here.weight[0];
  const wholeThere = there.weight[0];
  if (!(whole > 0)) return { from: 0, to: wholeThere };
  if (!(wholeThere > 0)) return { from: 0, to: 1 }; // nothing was measured
  const path = fitted > 0 ? tree.pathOf(fitted) : [];
  const from = sameEdge(tree, here, there, win, 'from', path);
  const to = sameEdge(tree, here, there, win, 'to', path);
  const least = (win.to - win.from) / whole * wholeThere / CLOSER;
  if (to - from >= least) return { from, to };
  const middle = (from + to) / 2;
  return { from: middle - least / 2, to: middle + least / 2 };
}
