// Searching in the flame graph: hits have their own colour, the rest steps
// back, the share is told, and the hits are visited, heaviest first.

import { percentText, plural } from '../base/numbers.js';
import { findIn, matchSources, patternOf } from '../base/search.js';

/** @typedef {import('./flame_view.js').FlameView} FlameView */
/** @typedef {import('./tree.js').Tree} Tree */
/** @typedef {import('../base/search.js').Found} Found */

/** Finds what the search field says. @param {FlameView} view */
export function search(view) {
  const pattern = patternOf(view.app.state.get('q'));
  const tree = view.flame?.tree;
  const was = view.matched;
  view.foundAt = -1;
  view.foundIn = new WeakMap();
  view.matched = pattern && tree ? matchSources(tree.sources, pattern) : null;
  view.table.filter(view.matched);
  view.app.searchBox.report(view.matched && resultText(view));
  if (was || view.matched) view.recolor();
}

/** What is found in one of the trees that are shown.
 * @param {FlameView} view @param {Tree} tree @returns {Found | null} */
export function foundIn(view, tree) {
  if (!view.matched) return null;
  let found = view.foundIn.get(tree);
  if (!found) {
    found = findIn(tree, view.matched);
    view.foundIn.set(tree, found);
  }
  return found;
}

/** @param {FlameView} view */
function lastPanel(view) {
  return view.panels[view.panels.length - 1];
}

/** "5.7% in 5,403 boxes", or which of them is selected.
 * @param {FlameView} view */
function resultText(view) {
  const found = foundIn(view, lastPanel(view).tree);
  if (!found) return '';
  if (found.boxes === 0) return 'no match';
  const boxes = plural(found.boxes, 'box', 'boxes');
  const share = percentText(found.value, view.whole());
  return view.foundAt < 0 ? `${share} in ${boxes}`
    : `${view.foundAt + 1} of ${boxes}, ${share}`;
}

/** @param {FlameView} view @param {number} step 1 or -1 */
export function nextHit(view, step) {
  const panel = lastPanel(view);
  const found = panel && foundIn(view, panel.tree);
  if (!found || found.boxes === 0) return;
  const { tree } = panel;
  if (view.hitsOf !== found) {
    view.hitsOf = found;
    view.hits = [];
    for (let i = 1; i < tree.count; i++) {
      if (found.before[i + 1] > found.before[i]) view.hits.push(i);
    }
    view.hits.sort((a, b) => Math.abs(tree.total[b]) -
      Math.abs(tree.total[a]) || a - b);
  }
  const count = view.hits.length;
  view.foundAt = (view.foundAt + step + count) % count;
  panel.icicle.select(view.hits[view.foundAt], true);
  view.onSelect(panel.icicle, view.hits[view.foundAt]);
  view.app.searchBox.report(resultText(view));
}
