// Searching in the flame graph: the rest is dimmed, the share is told, and
// the hits are visited, heaviest first.

import { percentText, plural } from './numbers.js';
import { findIn, matchSources, patternOf } from './search.js';

/** @typedef {import('./flame.js').FlameView} FlameView */

/** Finds what the search field says. @param {FlameView} view */
export function search(view) {
  const pattern = patternOf(view.app.state.get('q'));
  const tree = view.flame?.tree;
  const was = view.found;
  view.foundAt = -1;
  view.found = pattern && tree
    ? findIn(tree, matchSources(tree.sources, pattern)) : null;
  view.app.searchBox.report(view.found && `${percentText(view.found.value,
    view.whole())} in ${plural(view.found.boxes, 'box', 'boxes')}`);
  if (was || view.found) view.recolor();
}

/** @param {FlameView} view @param {number} step 1 or -1 */
export function nextHit(view, step) {
  const panel = view.panels[view.panels.length - 1];
  if (!view.found || !panel) return;
  const { tree } = panel;
  const hits = [...(tree === view.flame?.tree ? view.found
    : findIn(tree, view.found.sources)).nodes];
  if (hits.length === 0) return;
  hits.sort((a, b) => Math.abs(tree.total[b]) - Math.abs(tree.total[a]));
  view.foundAt = (view.foundAt + step + hits.length) % hits.length;
  panel.icicle.select(hits[view.foundAt], true);
  view.onSelect(panel.icicle, hits[view.foundAt]);
  view.app.searchBox.report(`${view.foundAt + 1} of ${hits.length}, ` +
    `${percentText(view.found.value, view.whole())}`);
}
