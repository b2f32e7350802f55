// What the flame graph says about itself: how much is zoomed to, and what is
// not drawn in full.

import { percentText, plural, valueText } from '../base/numbers.js';

/** @typedef {import('./flame_view.js').FlameView} FlameView */

/** How much of the profile the frame has that is zoomed to.
 * @param {FlameView} view */
export function sayZoom(view) {
  const { tree, zoomNode } = view.main;
  const header = view.flame?.header;
  if (!tree || !header || zoomNode <= 0) {
    view.app.filters.zoom('');
    return;
  }
  const text = (/** @type {number} */ value) => valueText(value,
    view.measure());
  const value = tree.total[zoomNode];
  const before = tree.totalBase?.[zoomNode];
  view.app.filters.zoom(before === undefined
    ? `${text(value)} (${percentText(value, view.whole())}) of ${
      header.total_text}`
    : `${text(before)} → ${text(before + value)} (${value > 0 ? '+' : ''}${
      text(value)})`);
}

/** @param {FlameView} view */
export function sayThin(view) {
  const frames = view.main.seen.thin;
  const text = frames === 0 ? ''
    : `${plural(frames, 'frame')} narrower than a pixel, in grey: zoom in`;
  if (view.status.textContent !== text) view.status.textContent = text;
}
