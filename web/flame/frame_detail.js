// What the detail line says about one frame.

import { percentText, valueText } from '../base/numbers.js';

/** @typedef {import('./panels.js').Panel} Panel */

/**
 * @param {Panel} panel @param {number} node
 * @param {import('../base/numbers.js').Measure} measure
 * @param {number} whole what 100 % is
 * @returns {import('../base/detail.js').Detail}
 */
export function frameDetail(panel, node, measure, whole) {
  const { tree } = panel;
  return {
    name: node === 0 && tree.source[0] === 0 ? panel.rootLabel
      : tree.name(node),
    facts: [...valueFacts(panel, node, measure, whole), ...place(tree, node)],
    stack: () => tree.pathOf(node).filter((step) => tree.source[step] !== 0)
      .map((step) => tree.name(step)).join('\n'),
  };
}

/**
 * @param {Panel} panel @param {number} node
 * @param {import('../base/numbers.js').Measure} measure @param {number} whole
 * @returns {[string, string][]}
 */
function valueFacts({ tree, up }, node, measure, whole) {
  const text = (/** @type {number} */ value) => valueText(value, measure);
  const share = (/** @type {number} */ value) =>
    `${text(value)} (${percentText(value, whole)})`;
  const total = tree.total[node];
  if (tree.totalBase) {
    const before = tree.totalBase[node];
    return [['before', share(before)], ['after', share(before + total)],
      ['change', (total > 0 ? '+' : '') + share(total)]];
  }
  return up ? [['total', share(total)]]
    : [['self', text(tree.self[node])], ['total', share(total)]];
}

/** @param {import('./tree.js').Tree} tree @param {number} node
 * @returns {[string, string][]} */
function place(tree, node) {
  const { strings, file, line, binary } = tree.sources;
  const who = tree.source[node];
  const path = strings[file[who]];
  if (path) return [['in', line[who] ? `${path}:${line[who]}` : path]];
  return strings[binary[who]] ? [['in', strings[binary[who]]]] : [];
}
