// What is on the page, in any browser: `page` has evaluate(code, argument).

import { clean } from './pprof.mjs';

/** Rows of a table that is on the page, as lists of texts. */
export function rowsOf(page, selector = 'main') {
  return page.evaluate((where) =>
    [...document.querySelectorAll(`${where} .table-row`)]
      .sort((a, b) => Number(a.dataset.rank) - Number(b.dataset.rank))
      .map((row) => [...row.children].map((cell) => cell.textContent)),
  selector);
}

/** What the graph view shows: texts of nodes and edges. */
export async function drawnGraph(page) {
  const { nodes, edges } = await page.evaluate(() => {
    const textsOf = (/** @type {ParentNode} */ parent, selector) =>
      [...parent.querySelectorAll(selector)].map((text) => text.textContent);
    return { edges: textsOf(document, '.edge-text'),
      nodes: [...document.querySelectorAll('.node')].map((node) =>
        textsOf(node, 'text:not(.node-tag)').join(' ')) };
  });
  return { nodes: nodes.map(clean).sort(), edges: edges.map(clean).sort() };
}

/** Where the box of a function is: its middle, in the window.
 * @param {string} name @param {'main' | 'second'} [which] flame graph */
export function boxOf(page, name, which = 'main') {
  return page.evaluate(([wanted, side]) => {
    const main = globalThis.pprofPage.view[side];
    const { tree, layout, win } = main;
    for (let i = 0; i < tree.count; i++) {
      if (tree.name(i) !== wanted) continue;
      const scale = win.width / (win.to - win.from);
      const frame = main.element.getBoundingClientRect();
      return { x: frame.left + (layout.start[i] + layout.weight[i] / 2 -
        win.from) * scale, y: frame.top + tree.levelOf(i) * 20 - win.top + 10,
      width: layout.weight[i] * scale, node: i };
    }
    return null;
  }, [name, which]);
}
