// One selection and one hovered function for the whole flame graph view: all
// panels, the table, the detail line and the inspector.

import { frameMenu } from '../shell/frame_menu.js'; // later
import { widestOf } from './tree.js';

/** @typedef {import('./flame_view.js').FlameView} FlameView */
/** @typedef {import('./icicle.js').Icicle} Icicle */

/** @param {FlameView} view @param {Icicle} icicle @param {number} node */
export function hoverNode(view, icicle, node) {
  const tree = view.panelOf(icicle)?.tree;
  view.app.detail.hover(view.detailOf(icicle, node));
  hoverSource(view, tree && node > 0 ? tree.source[node] : -1);
}

/** @param {FlameView} view @param {number} source */
export function hoverSource(view, source) {
  for (const { icicle } of view.panels) {
    if (icicle.hoveredSource === source) continue;
    icicle.hoveredSource = source;
    icicle.redrawLines();
  }
  view.table.hover(source);
}

/** What was selected in one panel. @param {FlameView} view
 * @param {Icicle} icicle @param {number} node */
export function selectNode(view, icicle, node) {
  const tree = view.panelOf(icicle)?.tree;
  const source = tree && node >= 0 ? tree.source[node] : -1;
  view.app.detail.select(view.detailOf(icicle, node));
  outline(view, source);
  view.table.select(source, true);
  for (const panel of view.panels) {
    if (panel.icicle === icicle) continue;
    panel.icicle.select(panel.tree === tree ? node : -1);
  }
  view.showCrumbs();
  view.keepPlace();
}

/** From the table: outline it everywhere and go to its largest box.
 * @param {FlameView} view @param {number} source */
export function selectSource(view, source) {
  outline(view, source);
  const panel = view.panels[view.panels.length - 1];
  if (!panel) return;
  const best = widestOf(panel.tree, panel.icicle.layout, source);
  panel.icicle.select(best, best >= 0);
  view.app.detail.select(view.detailOf(panel.icicle, best));
  view.showCrumbs();
  view.keepPlace();
}

/** @param {FlameView} view @param {string} name */
export function selectNamed(view, name) {
  const sources = view.flame?.tree.sources;
  const source = sources ? sources.name.findIndex((id, i) => i > 0 &&
    sources.strings[id] === name) : -1;
  if (source < 0) return;
  selectSource(view, source);
  view.table.select(source, true);
}

/** @param {FlameView} view @param {number} source */
function outline(view, source) {
  for (const { icicle } of view.panels) {
    icicle.selectedSource = source;
    icicle.redrawLines();
  }
  const tree = view.flame?.tree;
  view.chosen = tree && source > 0
    ? tree.sources.strings[tree.sources.name[source]] : '';
  view.app.inspector.show(view.chosen);
}

/** @param {FlameView} view @param {number} source @param {number} x
 * @param {number} y */
export function menuOfSource(view, source, x, y) {
  const sources = view.flame?.tree.sources;
  if (!sources) return;
  frameMenu(view.app, x, y, { name: sources.strings[sources.name[source]] });
}

/** @param {FlameView} view @param {Icicle} icicle @param {number} node
 * @param {number} x @param {number} y */
export function menuOfNode(view, icicle, node, x, y) {
  const tree = view.panelOf(icicle)?.tree;
  if (!tree) return;
  frameMenu(view.app, x, y, { name: tree.name(node),
    isRoot: tree.source[node] === 0, zoom: () => icicle.zoomTo(node) });
}
