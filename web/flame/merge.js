// New trees out of an old one: what is called by a function, who calls it, and
// the whole tree turned upside down.
//
// All are the same walk.  An item is a place in the old tree with a value;
// items of one box whose next frame is the same go into one box of the next
// level.  The items of a level are sorted by (box, heaviest next frame), which
// makes the new tree level-ordered from the start.

import { Tree } from './tree.js';

/**
 * @typedef {object} Items places in the old tree, all for one new level
 * @property {number[]} node
 * @property {number[]} value  what the item brings to its box
 * @property {number[]} base   the same of the base
 * @property {number[]} box    which new node of the level above it belongs to
 */

/** @returns {Items} */
const noItems = () => ({ node: [], value: [], base: [], box: [] });

/**
 * @param {Items} items @param {number} node @param {number} value
 * @param {number} base @param {number} box
 */
function addItem(items, node, value, base, box) {
  items.node.push(node);
  items.value.push(value);
  items.base.push(base);
  items.box.push(box);
}

/**
 * @typedef {object} Growing the new tree, level by level
 * @property {number[]} children
 * @property {number[]} source
 * @property {number[]} self
 * @property {number[]} base
 */

/**
 * Makes boxes of the items: those with the same parent box and source are
 * one.  Sets each item's box to its new one.
 * @param {Tree} tree @param {Items} items @param {Growing} out
 */
function addLevel(tree, items, out) {
  const sources = tree.sources.count;
  /** @type {Map<number, number>} */
  const group = new Map();
  const groupOf = new Uint32Array(items.node.length);
  /** @type {number[]} */ const key = [];
  /** @type {number[]} */ const weight = [];
  for (let i = 0; i < items.node.length; i++) {
    const who = items.box[i] * sources + tree.source[items.node[i]];
    let g = group.get(who);
    if (g === undefined) {
      g = key.length;
      group.set(who, g);
      key.push(who);
      weight.push(0);
    }
    groupOf[i] = g;
    weight[g] += Math.abs(items.value[i]) + Math.abs(items.base[i]);
  }
  const parentOf = (/** @type {number} */ g) => Math.floor(key[g] / sources);
  const order = key.map((_, g) => g).sort((a, b) =>
    parentOf(a) - parentOf(b) || weight[b] - weight[a] || a - b);
  const place = new Uint32Array(order.length);
  const start = out.source.length;
  order.forEach((g, rank) => {
    place[g] = start + rank;
    out.source.push(key[g] % sources);
    out.children.push(0);
    out.self.push(0);
    out.base.push(0);
    out.children[parentOf(g)]++;
  });
  for (let i = 0; i < items.node.length; i++) {
    items.box[i] = place[groupOf[i]];
  }
}

/**
 * @param {Tree} tree
 * @param {Items} items of the level below the new root
 * @param {number} rootSource
 * @param {(items: Items, i: number, next: Items, out: Growing) => void} expand
 *   says what follows an item, and gives its own value to its box
 */
function build(tree, items, rootSource, expand) {
  /** @type {Growing} */
  const out = { children: [0], source: [rootSource], self: [0], base: [0] };
  while (items.node.length > 0) {
    addLevel(tree, items, out);
    const next = noItems();
    for (let i = 0; i < items.node.length; i++) expand(items, i, next, out);
    items = next;
  }
  // A root above a single frame says nothing: in level order, leave it out.
  const skip = out.children[0] === 1 ? 1 : 0;
  return new Tree(Uint32Array.from(out.children).subarray(skip),
    Uint32Array.from(out.source).subarray(skip),
    Float64Array.from(out.self).subarray(skip),
    tree.selfBase ? Float64Array.from(out.base).subarray(skip) : null,
    tree.sources);
}

/** Upwards: the caller of the item; without one the value stays here.
 * @param {Tree} tree @param {number} stop do not go to this node */
const towardsRoot = (tree, stop) => (
  /** @type {Items} */ items, /** @type {number} */ i,
  /** @type {Items} */ next, /** @type {Growing} */ out) => {
  const parent = tree.parent[items.node[i]];
  if (items.node[i] === 0 || parent === stop) {
    out.self[items.box[i]] += items.value[i];
    out.base[items.box[i]] += items.base[i];
  } else {
    addItem(next, parent, items.value[i], items.base[i], items.box[i]);
  }
};

/** Downwards: the callees of the item; its own value stays here.
 * @param {Tree} tree */
const towardsLeaves = (tree) => (
  /** @type {Items} */ items, /** @type {number} */ i,
  /** @type {Items} */ next, /** @type {Growing} */ out) => {
  const node = items.node[i];
  out.self[items.box[i]] += tree.self[node];
  if (tree.selfBase) out.base[items.box[i]] += tree.selfBase[node];
  for (let c = tree.first[node]; c < tree.first[node + 1]; c++) {
    addItem(next, c, tree.total[c], tree.totalBase ? tree.totalBase[c] : 0,
      items.box[i]);
  }
};

/**
 * Callers and callees around some functions.  Of a recursion the outermost
 * call counts.  The root of both trees is the function, or, when there are
 * several, a root that is not a frame with one child for each of them.
 * @param {Tree} tree
 * @param {Uint8Array} wanted by source: 1 is one of the functions
 */
export function pivot(tree, wanted) {
  const below = new Uint8Array(tree.count);
  const down = noItems();
  const up = noItems();
  for (let i = 1; i < tree.count; i++) {
    below[i] = below[tree.parent[i]];
    if (below[i] || !wanted[tree.source[i]]) continue;
    below[i] = 1;
    const base = tree.totalBase ? tree.totalBase[i] : 0;
    addItem(down, i, tree.total[i], base, 0);
    addItem(up, i, tree.total[i], base, 0);
  }
  const root = tree.source[0];
  return {
    count: down.node.length,
    callees: build(tree, down, root, towardsLeaves(tree)),
    callers: build(tree, up, root, towardsRoot(tree, 0)),
  };
}

/** Leaves first: where the time is spent, and below it on whose behalf.
 * @param {Tree} tree */
export function invert(tree) {
  const items = noItems();
  for (let i = 1; i < tree.count; i++) {
    const base = tree.selfBase ? tree.selfBase[i] : 0;
    if (tree.self[i] !== 0 || base !== 0) {
      addItem(items, i, tree.self[i], base, 0);
    }
  }
  return build(tree, items, tree.source[0], towardsRoot(tree, 0));
}

/**
 * The tree without the inner nodes: what is theirs becomes their parent's.
 * Boxes of the same function that come together this way are one.
 * @param {Tree} tree @param {Uint8Array} inner
 * @param {Uint32Array} runs how many frames a node then stands for; 0: one
 */
export function foldInto(tree, inner, runs) {
  /** @type {number[]} */
  const folded = [];
  const items = noItems();
  addItem(items, 0, tree.total[0], tree.totalBase?.[0] ?? 0, 0);
  const result = build(tree, items, tree.source[0], (now, i, next, out) => {
    const box = now.box[i];
    const stack = [now.node[i]];
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      out.self[box] += tree.self[node];
      if (tree.selfBase) out.base[box] += tree.selfBase[node];
      for (let c = tree.first[node]; c < tree.first[node + 1]; c++) {
        if (inner[c]) stack.push(c);
        else addItem(next, c, tree.total[c], tree.totalBase?.[c] ?? 0, box);
      }
    }
    // Less the root above the root, which build() leaves out.
    folded[box - 1] = Math.max(folded[box - 1] ?? 0, runs[now.node[i]]);
  });
  result.folded = Uint32Array.from(folded);
  return result;
}
