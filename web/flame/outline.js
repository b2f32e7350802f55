// What is drawn above the boxes of a flame graph: frames around the selected
// and the hovered box, and thin ones around every box of the same function.

import { ROW, rowY, walkRow } from './paint.js';

/** @typedef {import('./icicle.js').Icicle} Icicle */
/** @typedef {import('./tree.js').Tree} Tree */
/** @typedef {import('./paint.js').Look} Look */

/** @param {CanvasRenderingContext2D} context @param {Icicle} icicle
 * @param {Tree} tree @param {Look} look */
export function outlineAll(context, icicle, tree, look) {
  const { win, layout } = icicle;
  const { hover, outline } = look.theme;

  const { name } = tree.sources;

  /** Functions of the same name in several files are one.
   * @param {number} source @param {string} color @param {number} line */
  const aroundSource = (source, color, line) => {
    if (source <= 0) return;
    const wanted = name[source];
    context.strokeStyle = color;
    context.lineWidth = line;
    for (let level = 0; level < tree.depth; level++) {
      const y = rowY(level, win, look.up);
      if (y + ROW <= 0 || y >= win.height) continue;
      walkRow(tree, layout, level, win, (node, x, width) => {
        if (name[tree.source[node]] === wanted) {
          frame(context, x, y, width, line);
        }
      }, () => {});
    }
  };

  /** @param {number} node @param {string} color @param {number} line */
  const aroundNode = (node, color, line) => {
    if (node < 0) return;
    const scale = win.width / (win.to - win.from);
    context.strokeStyle = color;
    context.lineWidth = line;
    frame(context, (layout.start[node] - win.from) * scale,
      rowY(tree.levelOf(node), win, look.up),
      Math.max(2, layout.weight[node] * scale), line);
  };

  aroundSource(icicle.selectedSource, outline, 1);
  aroundSource(icicle.hoveredSource, hover, 1.5);
  aroundNode(icicle.selected, outline, 2.5);
  aroundNode(icicle.hovered, hover, 2);
}

/** @param {CanvasRenderingContext2D} context @param {number} x
 * @param {number} y @param {number} width @param {number} line */
function frame(context, x, y, width, line) {
  const inset = line / 2;
  context.strokeRect(x + inset, y + inset, Math.max(1, width - line - 1),
    ROW - 1 - line);
}
