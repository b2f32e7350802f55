// Folded stacks from a call tree, one line a stack: "main;work;add 12".  What
// `pprof -folded` prints, for pages that have no server to ask.

/** @typedef {import('../flame/tree.js').Tree} Tree */

/** With a base there are two numbers, before and after.
 * @param {Tree} tree */
export function foldedOf(tree) {
  const { count, self, selfBase, parent } = tree;
  /** @type {string[]} */
  const paths = new Array(count).fill('');
  /** Functions of the same name in two files are one here.
   * @type {Map<string, [number, number]>} */
  const sums = new Map();
  for (let i = 1; i < count; i++) {
    const above = paths[parent[i]];
    paths[i] = above ? `${above};${cleanName(tree.name(i))}`
      : cleanName(tree.name(i));
    const base = selfBase?.[i] ?? 0;
    if (self[i] === 0 && base === 0) continue;
    const sum = sums.get(paths[i]) ?? [0, 0];
    sums.set(paths[i], [sum[0] + base, sum[1] + self[i] + base]);
  }
  return [...sums].filter(([, sum]) => sum[0] !== 0 || sum[1] !== 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, [before, after]]) => (selfBase
      ? `${path} ${before} ${after}\n` : `${path} ${after}\n`)).join('');
}

/** The separator and line ends cannot be part of a name.
 * @param {string} name */
function cleanName(name) {
  return name.replace(/;/g, ':').replace(/[\r\n]/g, ' ');
}
