// Pictures of what is seen: the flame graph and the graph as SVG or PNG.

import { svg } from '../base/dom.js';
import { theme } from '../flame/colors.js';
import { fit, ROW, rowY, walkRow } from '../flame/paint.js';

/** @typedef {import('../flame/icicle.js').Icicle} Icicle */

const FONT = 'system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif';

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

/**
 * What stands around a picture: on paper nobody can ask the page.
 * @typedef {object} Caption
 * @property {string} title
 * @property {string[]} lines
 * @property {{color: string, text: string}[]} legend
 */

const LINE = 18; // pixels of a line of the caption

/** For measuring texts. */
function ruler() {
  const context = /** @type {CanvasRenderingContext2D} */ (
    document.createElement('canvas').getContext('2d'));
  context.font = `12px ${FONT}`;
  return context;
}

/** Where each entry of the legend is, in as many lines as that takes.
 * @param {Caption} caption @param {number} width */
function legendPlaces({ legend }, width) {
  const context = ruler();
  let [x, line] = [8, 0];
  return legend.map(({ color, text }) => {
    const wide = 15 + context.measureText(text).width;
    if (x > 8 && x + wide > width) [x, line] = [8, line + 1];
    const place = { color, text, x, line };
    x += wide + 14;
    return place;
  });
}

/** @param {Caption} caption @param {number} width */
function captionHeight(caption, width) {
  const last = legendPlaces(caption, width).pop();
  return LINE * (2 + caption.lines.length + (last ? last.line + 1 : 0));
}

/** @param {SVGSVGElement} drawing @param {Caption} caption
 * @param {number} width */
function addCaption(drawing, caption, width) {
  const { title, lines } = caption;
  const { text: ink } = theme();
  drawing.append(svg('text', { x: 8, y: LINE, 'font-size': '15',
    'font-weight': '600', fill: ink }, title));
  lines.forEach((line, i) => drawing.append(svg('text', { x: 8,
    y: LINE * (i + 2), fill: ink }, line)));
  for (const { color, text, x, line } of legendPlaces(caption, width)) {
    const y = LINE * (lines.length + 2 + line);
    drawing.append(svg('rect', { x, y: y - 10, width: 11, height: 11, rx: 3,
      fill: color }), svg('text', { x: x + 15, y, fill: ink }, text));
  }
}

/** The window of a flame graph over all its rows.
 * @param {Icicle[]} icicles one above the other @param {Caption} caption
 * @param {'svg' | 'png'} kind */
export function flamePicture(icicles, caption, kind) {
  const width = Math.max(...icicles.map((icicle) => icicle.win.width));
  const heights = icicles.map((icicle) => (icicle.tree?.depth ?? 0) * ROW);
  let top = captionHeight(caption, width) + ROW / 2;
  const height = heights.reduce((sum, h) => sum + h + ROW, top);
  const drawing = sheet(width, height);
  addCaption(drawing, caption, width);
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
  const context = ruler();
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
      const text = wide < 28 ? '' : fit(context, look.label(node), wide - 9);
      if (text !== '') {
        box.append(svg('text', { x: (left + 4).toFixed(1), y: y + 14,
          fill: look.ink(node) }, text));
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
 * @param {{width: number, height: number}} size @param {Caption} caption
 * @param {'svg' | 'png'} kind */
export function graphPicture(content, size, caption, kind) {
  const top = captionHeight(caption, size.width);
  const height = size.height + top;
  const drawing = sheet(size.width, height);
  addCaption(drawing, caption, size.width);
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
  copy.setAttribute('transform', `translate(0 ${top})`);
  drawing.append(copy);
  return kind === 'svg' ? Promise.resolve(svgBlob(drawing))
    : pngBlob(drawing, size.width, height);
}
