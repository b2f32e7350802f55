// A small line of a course, as SVG: it needs no size of its own and follows
// the colours of the page.

import { svg } from '../base/dom.js';

const WIDE = 100;
const HIGH = 24;

/**
 * @param {[number, number][]} points time and height, sorted by time
 * @param {{from: number, to: number}} span
 * @param {number} [top] height of the highest; their own
 */
export function sparkline(points, span, top) {
  const max = (top ?? Math.max(...points.map(([, y]) => y))) || 1;
  const x = (/** @type {number} */ t) =>
    ((t - span.from) / (span.to - span.from || 1) * WIDE).toFixed(1);
  const y = (/** @type {number} */ value) =>
    (HIGH - 2 - value / max * (HIGH - 4)).toFixed(1);
  const drawing = svg('svg', { class: 'sparkline', viewBox:
    `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: 'none',
  'aria-hidden': 'true' });
  if (points.length === 0) return drawing;
  const line = points.map(([t, value]) => `${x(t)},${y(value)}`);
  const [first, last] = [points[0][0], points[points.length - 1][0]];
  drawing.append(svg('path', { class: 'sparkline-area',
    d: `M${x(first)},${HIGH} L${line.join(' L')} L${x(last)},${HIGH}Z` }),
  svg('path', { class: 'sparkline-line', d: points.length > 1
    ? `M${line.join(' L')}` : `M${line[0]} h1` }));
  return drawing;
}
