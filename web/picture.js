// Pictures of what is seen: the flame graph and the graph as SVG or PNG.

import { theme } from './colors.js';
import { svg } from './dom.js';
import { ROW, rowY, walkRow } from './paint.js';

/** @typedef {import('./icicle.js').Icicle} Icicle */

const FONT = 'system-ui, sans-serif';
const LETTER = 6.7; // mean width at 12 pixels

/** @param {SVGSVGElement} drawing */
function svgBlob(drawing) {
  const text = new XMLSerializer().serializeToString(drawing);
  return new Blob([text], { type: 'image/svg+xml' });
}

/** @param {SVGSVGElement} drawing @param {number} width
 * @param {number} height @returns {Promise<Blob>} */
async function pngBlob(drawing, width, height) {
  const url = URL.createObjectURL(svgBlob(drawing));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement('canvas');
    // Sharp on dense screens, within what browsers allow for a canvas.
    const scale = Math.min(2, 16000 / Math.max(width, height));
    canvas.width = Math.ceil(width * scale);
    canvas.height = Math.ceil(height * scale);
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width,
      canvas.height);
    return await new Promise((done, failed) => canvas.toBlob((blob) =>
      blob ? done(blob) : failed(new Error('The picture is too large.'))));
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** @param {number} width @param {number} height */
function sheet(width, height) {
  return svg('svg', { xmlns: 'http://www.w3.org/2000/svg', width, height,
    viewBox: `0 0 ${width} ${height}`, 'font-family': FONT,
    'font-size': '12' }, svg('rect', { width, height, fill: theme().ground }));
}

/** The window of a flame graph over all its rows.
 * @param {Icicle[]} icicles one above the other @param {'svg' | 'png'} kind */
export function flamePicture(icicles, kind) {
  const width = Math.max(...icicles.map((icicle) => icicle.win.width));
  const heights = icicles.map((icicle) => (icicle.tree?.depth ?? 0) * ROW);
  const height = heights.reduce((sum, h) => sum + h + ROW, ROW);
  const drawing = sheet(width, height);
  let top = ROW / 2;
  icicles.forEach((icicle, i) => {
    drawing.append(flameGroup(icicle, top, heights[i]));
    top += heights[i] + ROW;
  });
  return kind === 'svg' ? Promise.resolve(svgBlob(drawing))
    : pngBlob(drawing, width, height);
}

/** @param {Icicle} icicle @param {number} top @param {number} height */
function flameGroup(icicle, top, height) {
  const { tree, look, layout } = icicle;
  const group = svg('g', { transform: `translate(0 ${top})` });
  if (!tree || !look) return group;
  const win = { ...icicle.win, top: 0, height };
  for (let level = 0; level < tree.depth; level++) {
    const y = rowY(level, win, look.up);
    walkRow(tree, layout, level, win, (node, x, w) => {
      const left = Math.max(0, x);
      const wide = Math.min(win.width, x + w) - left;
      const box = svg('g', {}, svg('title', {},
        icicle.events.describe(node)),
      svg('rect', { x: left.toFixed(1), y, width: Math.max(0.3,
        wide - (wide > 3 ? 1 : 0)).toFixed(1), height: ROW - 1,
      fill: look.fill(node) }));
      const letters = Math.floor((wide - 8) / LETTER);
      const label = look.label(node);
      if (letters >= 3) {
        box.append(svg('text', { x: (left + 4).toFixed(1), y: y + 14,
          fill: look.ink(node) }, label.length <= letters ? label
          : `${label.slice(0, letters - 1)}…`));
      }
      group.append(box);
    }, (x, w) => group.append(svg('rect', { x: x.toFixed(1), y,
      width: Math.max(0.5, w).toFixed(1), height: ROW - 1,
      fill: look.theme.sliver })));
  }
  return group;
}

const STYLES = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray',
  'font-size', 'font-weight', 'text-anchor', 'opacity'];

/** The graph as it is on the page, with its computed colours written out.
 * @param {SVGGElement} content
 * @param {{width: number, height: number}} size @param {'svg' | 'png'} kind */
export function graphPicture(content, size, kind) {
  const drawing = sheet(size.width, size.height);
  const copy = /** @type {SVGGElement} */ (content.cloneNode(true));
  const from = [content, ...content.querySelectorAll('*')];
  const to = [copy, ...copy.querySelectorAll('*')];
  to.forEach((element, i) => {
    const style = getComputedStyle(from[i]);
    element.removeAttribute('style');
    for (const name of STYLES) {
      element.setAttribute(name, style.getPropertyValue(name));
    }
  });
  copy.removeAttribute('transform');
  drawing.append(copy);
  return kind === 'svg' ? Promise.resolve(svgBlob(drawing))
    : pngBlob(drawing, size.width, size.height);
}
