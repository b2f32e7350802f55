// The whole tree in a strip, with the visible part framed.  Drag the frame to
// pan, or draw over the strip to zoom.

import { el, must } from './dom.js';
import { walkRow } from './paint.js';

/** @typedef {import('./icicle.js').Icicle} Icicle */

const MOST_ROWS = 40;

export class Minimap {
  /** @param {Icicle} icicle */
  constructor(icicle) {
    this.icicle = icicle;
    this.canvas = el('canvas', { 'aria-hidden': 'true' });
    this.frame = el('div', { class: 'minimap-frame' });
    this.element = el('div', { class: 'minimap', 'aria-hidden': 'true',
      title: 'Overview: drag the frame, or draw a new one' }, this.canvas,
    this.frame);
    this.addDrag();
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  draw() {
    const { tree, layout, look } = this.icicle;
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!tree || !look || width === 0) return;
    const ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const context = must(this.canvas.getContext('2d'), 'canvas');
    context.scale(ratio, ratio);
    const rows = Math.min(tree.depth, MOST_ROWS);
    const row = Math.min(4, height / rows);
    const win = { from: 0, to: this.icicle.whole(), top: 0, width, height };
    for (let level = 0; level < rows; level++) {
      const y = look.up ? height - (level + 1) * row : level * row;
      walkRow(tree, layout, level, win, (node, x, w) => {
        context.fillStyle = look.fill(node);
        context.fillRect(x, y, Math.max(0.5, w - (w > 3 ? 0.5 : 0)), row);
      }, (x, w) => {
        context.fillStyle = look.theme.sliver;
        context.fillRect(x, y, Math.max(0.5, w), row);
      });
    }
    this.follow();
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
