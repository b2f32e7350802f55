// A call tree in typed arrays, in level order: the root, then its children,
// then theirs.  The children of a node are neighbours, heaviest first, so one
// array `first` says where they are, and a level is a range of numbers.
//
// A tree with a million frames is a handful of arrays and no objects; every
// question below is a loop over numbers.

/** @typedef {import('./wire.js').Sources} Sources */
/** @typedef {import('./wire.js').FlameData} FlameData */

export class Tree {
  /**
   * @param {Uint32Array} children how many each node has, in level order
   * @param {Uint32Array} source who each node is
   * @param {Float64Array} self its own value
   * @param {Float64Array | null} selfBase the base's value, when comparing
   * @param {Sources} sources
   */
  constructor(children, source, self, selfBase, sources) {
    const count = children.length;
    this.count = count;
    this.source = source;
    this.self = self;
    this.selfBase = selfBase;
    this.sources = sources;
    /** children of i: first[i] .. first[i + 1] */
    this.first = new Uint32Array(count + 1);
    this.parent = new Uint32Array(count);
    let next = count > 0 ? 1 : 0;
    for (let i = 0; i < count; i++) {
      this.first[i] = next;
      const end = next + children[i];
      if (end > count || next <= i) {
        throw new Error('the call tree is not whole');
      }
      for (; next < end; next++) this.parent[next] = i;
    }
    this.first[count] = next;
    if (next !== count) throw new Error('the call tree is not whole');
    /** How many wrappers a node stands for, see fold.js.
     * @type {Uint32Array | null} */
    this.folded = null;
    /** @type {boolean | undefined} */
    this.negative = undefined;
    /** @type {ReturnType<typeof sumBySource> | undefined} */
    this.sourceSums = undefined;
    this.levelStart = levelsOf(this.first, count);
    this.total = sumUp(self, this.parent);
    this.totalBase = selfBase ? sumUp(selfBase, this.parent) : null;
  }

  get depth() {
    return this.levelStart.length - 1;
  }

  /** @param {number} node */
  levelOf(node) {
    let low = 0;
    let high = this.depth;
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (this.levelStart[middle] <= node) low = middle;
      else high = middle;
    }
    return low;
  }

  /** From the root to the node. @param {number} node @returns {number[]} */
  pathOf(node) {
    const path = [node];
    while (node > 0) path.push(node = this.parent[node]);
    return path.reverse();
  }

  /** Where a node is, as text for a URL: which child at each step.
   * @param {number} node */
  addressOf(node) {
    return this.pathOf(node).slice(1)
      .map((step) => (step - this.first[this.parent[step]]).toString(36))
      .join('.');
  }

  /** The node at an address, or the last one on the way that exists.
   * @param {string} address */
  nodeAt(address) {
    let node = 0;
    for (const step of address ? address.split('.') : []) {
      const child = this.first[node] + parseInt(step, 36);
      if (!(child < this.first[node + 1])) break;
      node = child;
    }
    return node;
  }

  /** Is `node` below `ancestor`, or the same?
   * @param {number} node @param {number} ancestor */
  isWithin(node, ancestor) {
    while (node > ancestor) node = this.parent[node];
    return node === ancestor;
  }

  /** @param {number} node */
  name(node) {
    return this.sources.strings[this.sources.name[this.source[node]]];
  }

  /** @param {number} node */
  display(node) {
    return this.sources.strings[this.sources.display[this.source[node]]];
  }

  /** Are there values below zero, as in a difference? */
  get hasNegative() {
    return this.negative ??= this.self.some((value) => value < 0);
  }

  /** Own values by source. */
  get selfSums() {
    if (this.sourceSums) return this.sourceSums.self;
    const sums = new Float64Array(this.sources.count);
    for (let i = 0; i < this.count; i++) sums[this.source[i]] += this.self[i];
    return sums;
  }

  /** Sums by source, see sumBySource. */
  get sums() {
    return this.sourceSums ??= sumBySource(this);
  }
}

/** @param {FlameData} data */
export function treeOf(data) {
  return new Tree(data.children, data.source, data.self, data.selfBase,
    data.sources);
}

/** @param {Uint32Array} first @param {number} count @returns {number[]} */
function levelsOf(first, count) {
  const starts = [0];
  for (let at = 0; at < count;) {
    at = first[at];
    starts.push(at);
  }
  return starts;
}

/** @param {Float64Array} self @param {Uint32Array} parent */
function sumUp(self, parent) {
  const total = Float64Array.from(self);
  for (let i = total.length - 1; i > 0; i--) total[parent[i]] += total[i];
  return total;
}

/**
 * How wide the boxes are and where they begin, in value units.
 * @typedef {object} Layout
 * @property {Float64Array} start
 * @property {Float64Array} weight
 */

/**
 * "both": the new and the base's values, so that what is gone is seen too.
 * @param {Tree} tree
 * @param {'both' | 'new' | 'base'} [side]
 * @returns {Layout}
 */
export function layOut(tree, side = 'both') {
  const weight = weightOf(tree, side);
  const start = new Float64Array(tree.count);
  for (let i = 0; i < tree.count; i++) {
    let at = start[i];
    const end = tree.first[i + 1];
    for (let child = tree.first[i]; child < end; child++) {
      start[child] = at;
      at += weight[child];
    }
  }
  return { start, weight };
}

/** @param {Tree} tree @param {'both' | 'new' | 'base'} side */
function weightOf(tree, side) {
  const { self, selfBase } = tree;
  if (!selfBase) {
    return tree.hasNegative ? sumUp(self.map(Math.abs), tree.parent)
      : tree.total;
  }
  const own = side === 'base' ? selfBase
    : side === 'new' ? self.map((value, i) => Math.max(0, value + selfBase[i]))
      : self.map((value, i) => Math.abs(value + selfBase[i]) + selfBase[i]);
  return sumUp(own, tree.parent);
}

/** The widest box of a function, or -1; of the same name in any file.
 * @param {Tree} tree @param {Layout} layout @param {number} source */
export function widestOf(tree, layout, source) {
  const { name } = tree.sources;
  let best = -1;
  for (let i = 1; i < tree.count; i++) {
    if (name[tree.source[i]] === name[source] && (best < 0 ||
      layout.weight[i] > layout.weight[best])) best = i;
  }
  return best;
}

/** @param {Tree} tree */
export function sumBySource(tree) {
  const own = Uint32Array.from({ length: tree.sources.count }, (_, i) => i);
  return sumByGroup(tree, own, tree.sources.count);
}

/**
 * Per group of sources: its own value and that of everything below it, where
 * a group that calls itself counts once.
 * @param {Tree} tree @param {Uint32Array} groupOf by source
 * @param {number} count of groups
 */
export function sumByGroup(tree, groupOf, count) {
  const { first, source, self, total, selfBase, totalBase } = tree;
  const sums = {
    self: new Float64Array(count),
    total: new Float64Array(count),
    selfBase: new Float64Array(selfBase ? count : 0),
    totalBase: new Float64Array(selfBase ? count : 0),
  };
  const open = new Uint32Array(count);
  // A node waits in the stack or is open (~node), never both.
  const stack = new Int32Array(tree.count + 1);
  let top = 0;
  stack[top++] = 0;
  while (top > 0) {
    const entry = stack[--top];
    if (entry < 0) {
      open[groupOf[source[~entry]]]--;
      continue;
    }
    const who = groupOf[source[entry]];
    sums.self[who] += self[entry];
    if (selfBase) sums.selfBase[who] += selfBase[entry];
    if (open[who]++ === 0) {
      sums.total[who] += total[entry];
      if (totalBase) sums.totalBase[who] += totalBase[entry];
    }
    stack[top++] = ~entry;
    const end = first[entry + 1];
    for (let child = first[entry]; child < end; child++) stack[top++] = child;
  }
  return sums;
}
