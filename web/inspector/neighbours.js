// Who calls a function, what it calls, and where it was inlined, from the
// call tree.  Of a recursion the outermost call counts, as in the view of
// callers and callees.

import { FLAG_INLINED } from '../flame/wire.js';

/** @typedef {import('../flame/tree.js').Tree} Tree */
/** @typedef {{name: string, value: number, base: number}} Neighbour */

/**
 * @typedef {object} Surroundings
 * @property {number} flat
 * @property {number} cum
 * @property {number} flatBase  of the base, when there is one
 * @property {number} cumBase
 * @property {Neighbour[]} callers heaviest first; "" is the root
 * @property {Neighbour[]} callees heaviest first
 * @property {Neighbour[]} inlinedInto  where its code is, if it was inlined
 * @property {string} file      "" if it is not known
 * @property {string} binary
 */

/** Sums by name. */
class Sums {
  /** @param {Tree} tree */
  constructor(tree) {
    this.tree = tree;
    /** @type {Map<number, Neighbour>} by the string of the name */
    this.byName = new Map();
  }

  /** @param {number} who a node whose name counts @param {number} node whose
   * value counts */
  add(who, node) {
    const { tree } = this;
    const id = who === 0 ? 0 : tree.sources.name[tree.source[who]];
    let sum = this.byName.get(id);
    if (!sum) {
      sum = { name: who === 0 ? '' : tree.name(who), value: 0, base: 0 };
      this.byName.set(id, sum);
    }
    sum.value += tree.total[node];
    sum.base += tree.totalBase?.[node] ?? 0;
  }

  list() {
    return [...this.byName.values()].sort((a, b) =>
      Math.abs(b.value) + b.base - Math.abs(a.value) - a.base);
  }
}

/** The sources of that name. @param {Tree} tree @param {string} name */
function sourcesNamed({ sources }, name) {
  const wanted = new Uint8Array(sources.count);
  let any = -1;
  for (let i = 1; i < sources.count; i++) {
    if (sources.strings[sources.name[i]] !== name) continue;
    wanted[i] = 1;
    any = i;
  }
  return { wanted, any };
}

/** The frame whose code holds an inlined one. @param {Tree} tree
 * @param {number} node */
function holderOf(tree, node) {
  const { flags } = tree.sources;
  while (node > 0 && flags[tree.source[node]] & FLAG_INLINED) {
    node = tree.parent[node];
  }
  return node;
}

/** @param {Tree} tree @param {string} name
 * @returns {Surroundings | null} null: there is no such function */
export function surroundings(tree, name) {
  const { wanted, any } = sourcesNamed(tree, name);
  if (any < 0) return null;
  const callers = new Sums(tree);
  const callees = new Sums(tree);
  const holders = new Sums(tree);
  const sum = { flat: 0, cum: 0, flatBase: 0, cumBase: 0 };
  const below = new Uint8Array(tree.count);
  for (let i = 1; i < tree.count; i++) {
    below[i] = below[tree.parent[i]];
    if (!wanted[tree.source[i]]) continue;
    sum.flat += tree.self[i];
    sum.flatBase += tree.selfBase?.[i] ?? 0;
    if (below[i]) continue;
    below[i] = 1;
    sum.cum += tree.total[i];
    sum.cumBase += tree.totalBase?.[i] ?? 0;
    callers.add(tree.parent[i], i);
    for (let c = tree.first[i]; c < tree.first[i + 1]; c++) callees.add(c, c);
    if (tree.sources.flags[tree.source[i]] & FLAG_INLINED) {
      holders.add(holderOf(tree, i), i);
    }
  }
  const { strings, file, binary } = tree.sources;
  return { ...sum, callers: callers.list(), callees: callees.list(),
    inlinedInto: holders.list().filter((holder) => holder.name !== ''),
    file: strings[file[any]], binary: strings[binary[any]] };
}
