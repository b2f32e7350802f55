// The whole tree in a strip, with the visible part framed.  Drag the frame to
// pan, or draw over the strip to zoom.  Before beside after, both are shown,
// one above the other.  Hits of a search are also marked along the lower
// edge, however deep they are.

import { el, everyFrame, must } from '../base/dom.js';
import { hitFinder, walkRow } from './paint.js';

/** @typedef {import('./icicle.js').Icicle} Icicle */

const MOST_ROWS = 40;
const HIT_ROW = 5; // pixels along the lower edge
const HIT_LEAST = 2;

export class Minimap {
  /** @param {Icicle} icicle that the frame belongs to */
  constructor(icicle) {
    this.icicle = icicle;
    /** All that are drawn. @type {Icicle[]} */
    this.shown = [icicle];
    /** The outermost hits of the search. @type {ArrayLike<number> | null} */
    this.hits = null;
    this.canvas = el('canvas', { 'aria-hidden': 'true' });
    this.frame = el('div', { class: 'minimap-frame' });
    this.element = el('div', { class: 'minimap', 'aria-hidden': 'true',
      title: 'Overview: drag the frame, or draw a new one' }, this.canvas,
    this.frame);
    this.redraw = everyFrame(() => this.draw());
    this.addDrag();
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!this.icicle.tree || width === 0) return;
    const ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const context = must(this.canvas.getContext('2d'), 'canvas');
    context.scale(ratio, ratio);
    const room = (this.hits ? height - HIT_ROW : height) / this.shown.length;
    this.shown.forEach((icicle, i) => {
      context.save();
      context.translate(0, i * room);
      drawRows(context, icicle, width, room - (i > 0 ? 1 : 0));
      context.restore();
    });
    if (this.hits) this.drawHits(context, this.hits, width, height);
    this.follow();
  }

  /** @param {CanvasRenderingContext2D} context @param {ArrayLike<number>} hits
   * @param {number} width @param {number} height */
  drawHits(context, hits, width, height) {
    const { layout, look } = this.icicle;
    const scale = width / this.icicle.whole();
    const columns = new Uint8Array(Math.ceil(width) + HIT_LEAST);
    for (let i = 0; i < hits.length; i++) {
      const x = Math.floor(layout.start[hits[i]] * scale);
      const wide = Math.ceil(layout.weight[hits[i]] * scale);
      columns.fill(1, x, x + Math.max(HIT_LEAST, wide));
    }
    context.fillStyle = must(look, 'look').theme.match;
    for (let x = 0, end = 0; x < columns.length; x = end + 1) {
      for (end = x; columns[end] === 1;) end++;
      if (end > x) {
        context.fillRect(x, height - HIT_ROW + 1, end - x, HIT_ROW - 1);
      }
    }
  }

  /** Moves the frame to where the flame graph's window is. */
  follow() {
    const { win } = this.icicle;
    const whole = this.icicle.whole();
    this.frame.style.left = `${100 * win.from / whole}%`;
    this.frame.style.width = `${100 * (win.to - win.from) / whole}%`;
    this.element.classList.toggle('zoomed', this.icicle.isZoomed());
  }

  addDrag() {
    /** @type {{x: number, from: number, move: boolean} | null} */
    let drag = null;
    const valueAt = (/** @type {PointerEvent} */ event) => {
      const box = this.element.getBoundingClientRect();
      const part = (event.clientX - box.left) / box.width;
      return Math.max(0, Math.min(1, part)) * this.icicle.whole();
    };
    const show = (/** @type {number} */ from, /** @type {number} */ to) => {
      this.icicle.zoomNode = -1; // no frame is fitted any more
      this.icicle.setWindow(from, to, this.icicle.win.top);
    };
    this.element.addEventListener('pointerdown', (event) => {
      const at = valueAt(event);
      const { win } = this.icicle;
      const inside = this.icicle.isZoomed() && at >= win.from && at <= win.to;
      drag = { x: at, from: win.from, move: inside };
      this.icicle.remember();
      this.element.setPointerCapture(event.pointerId);
    });
    this.element.addEventListener('pointermove', (event) => {
      if (!drag) return;
      const at = valueAt(event);
      const { win } = this.icicle;
      if (drag.move) {
        const from = drag.from + at - drag.x;
        show(from, from + win.to - win.from);
      } else if (Math.abs(at - drag.x) > this.icicle.whole() / 200) {
        show(Math.min(at, drag.x), Math.max(at, drag.x));
      }
    });
    const end = () => {
      drag = null;
    };
    this.element.addEventListener('pointerup', end);
    this.element.addEventListener('pointercancel', end);
  }
}

/** @param {CanvasRenderingContext2D} context @param {Icicle} icicle
 * @param {number} width @param {number} height */
function drawRows(context, icicle, width, height) {
  const { tree, layout, look } = icicle;
  if (!tree || !look) return;
  const rows = Math.min(tree.depth, MOST_ROWS);
  const row = Math.min(4, height / rows);
  const win = { from: 0, to: icicle.whole(), top: 0, width, height };
  let y = 0;
  let fill = '';
  const paint = (/** @type {string} */ color, /** @type {number} */ x,
    /** @type {number} */ w) => {
    if (color !== fill) context.fillStyle = fill = color;
    context.fillRect(x, y, Math.max(0.5, w), row);
  };
  const finder = look.hits && hitFinder(look.hits);
  for (let level = 0; level < rows; level++) {
    y = look.up ? height - (level + 1) * row : level * row;
    if (finder) finder.y = y;
    walkRow(tree, layout, level, win, (node, x, w) => {
      paint(look.fill(node), x, w - (w > 3 ? 0.5 : 0));
      finder?.box(node, x, w);
    }, (x, w) => paint(look.theme.sliver, x, w), finder?.piece);
  }
  context.fillStyle = look.theme.match;
  for (const [x, end, at] of finder?.marks ?? []) {
    context.fillRect(x, at, end - x, row);
  }
}
