// Folds runs of wrappers: fourteen ServeHTTP in a row, each calling the next
// through a closure, say less than one box "14 × ServeHTTP".  The same rule
// folds recursion.
//
// A run begins at a frame whose heaviest path comes to the same method name
// again within a few steps, and again.  The frames in between belong to the
// run.  What branches off becomes a child of the folded box, so that every
// sum stays as it was.

import { foldInto } from './merge.js'; // later
import { methodOf } from './names.js';

/** @typedef {import('./tree.js').Tree} Tree */

const STEPS = 4; // from a wrapper to the next one, at most
const LEAST = 3; // wrappers that make a run

/** The method of each source, as a number; upper and lower case are one.
 * @param {Tree} tree */
function methodsOf(tree) {
  const { strings, display, count } = tree.sources;
  /** @type {Map<string, number>} */
  const ids = new Map();
  const known = new Uint32Array(strings.length);
  const methods = new Uint32Array(count);
  for (let i = 1; i < count; i++) {
    if (known[display[i]] === 0) {
      const name = methodOf(strings[display[i]]).toLowerCase();
      let id = ids.get(name);
      if (id === undefined) ids.set(name, id = ids.size + 1);
      known[display[i]] = id;
    }
    methods[i] = known[display[i]];
  }
  return methods;
}

/**
 * For each node: how many wrappers the run from here has, and the next one.
 * Children are heaviest first and stand behind their parents.
 * @param {Tree} tree
 */
function findRuns(tree) {
  const { first, source, count } = tree;
  const methods = methodsOf(tree);
  const length = new Uint32Array(count);
  const next = new Uint32Array(count);
  for (let i = count - 1; i > 0; i--) {
    const wanted = methods[source[i]];
    length[i] = 1;
    for (let at = i, step = 0; step < STEPS; step++) {
      if (first[at] === first[at + 1]) break;
      at = first[at];
      if (methods[source[at]] !== wanted) continue;
      length[i] = length[at] + 1;
      next[i] = at;
      break;
    }
  }
  return { length, next };
}

/**
 * @typedef {object} Runs
 * @property {Uint8Array} inner    1: the node disappears into its parent
 * @property {Uint32Array} count   wrappers in the run that starts at a node
 * @property {number} longest
 */

/** @param {Tree} tree @returns {Runs} */
export function wrapperRuns(tree) {
  const { length, next } = findRuns(tree);
  const inner = new Uint8Array(tree.count);
  const count = new Uint32Array(tree.count);
  let longest = 0;
  for (let i = 1; i < tree.count; i++) {
    if (inner[i] || length[i] < LEAST) continue;
    count[i] = length[i];
    longest = Math.max(longest, length[i]);
    for (let at = i; next[at] > 0;) {
      const end = next[at];
      while (at !== end) inner[at = tree.first[at]] = 1;
    }
  }
  return { inner, count, longest };
}

/** @param {Tree} tree @param {Runs} runs */
export function foldWrappers(tree, runs) {
  return foldInto(tree, runs.inner, runs.count);
}

/** @param {Tree} tree @param {number} node */
export function foldedLabel(tree, node) {
  return `${tree.folded?.[node]} × ${methodOf(tree.display(node))}`;
}
