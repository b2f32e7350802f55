// The strip under the pointer and the keys.

import { RULER, scaleOf } from './strip_paint.js';
import { absoluteRange, isRelative } from './times.js';

/** @typedef {import('./strip.js').Strip} Strip */
/** @typedef {import('./times.js').Span} Span */

const EDGE = 6; // pixels around an edge that take hold of it
const LEAST = 4; // pixels of a new range: less is a click

export class StripGestures {
  /** @param {Strip} strip */
  constructor(strip) {
    this.strip = strip;
    /** @type {{kind: 'a' | 'b' | 'move', anchor: number, x: number,
     *   span: Span, moved: boolean} | null} */
    this.drag = null;
    const { frame } = strip;
    frame.addEventListener('pointerdown', (event) => this.down(event));
    frame.addEventListener('pointermove', (event) => this.move(event));
    frame.addEventListener('pointerup', () => this.up());
    frame.addEventListener('pointercancel', () => this.up());
    frame.addEventListener('pointerleave', () => {
      if (!this.drag) strip.hover(NaN);
    });
    frame.addEventListener('wheel', (event) => this.wheel(event),
      { passive: false });
    frame.addEventListener('keydown', (event) => this.key(event));
  }

  /** @param {MouseEvent} event */
  at(event) {
    const box = this.strip.frame.getBoundingClientRect();
    const x = event.clientX - box.left;
    return { x, onRuler: event.clientY > box.bottom - RULER,
      time: scaleOf(this.strip.picture.span, this.strip.width).t(x) };
  }

  /** To the steps of the course, so that a point is in or out.
   * @param {number} time */
  snap(time) {
    const step = this.strip.picture.course?.step ?? 60;
    return Math.round(time / step) * step;
  }

  /** The other end of range A, if the pointer is at one of its ends.
   * @param {number} x */
  otherEnd(x) {
    const { a, span } = this.strip.picture;
    if (!a) return NaN;
    const scale = scaleOf(span, this.strip.width);
    if (Math.abs(scale.x(a.from) - x) < EDGE) return a.to;
    return Math.abs(scale.x(a.to) - x) < EDGE ? a.from : NaN;
  }

  /** @param {PointerEvent} event */
  down(event) {
    if (event.button !== 0) return;
    const { x, time, onRuler } = this.at(event);
    const other = this.otherEnd(x);
    const isEdge = !onRuler && !event.shiftKey && !Number.isNaN(other);
    this.drag = { kind: onRuler ? 'move' : event.shiftKey ? 'b' : 'a',
      anchor: isEdge ? other : onRuler ? time : this.snap(time), x,
      span: { ...this.strip.picture.span }, moved: isEdge };
    this.strip.frame.setPointerCapture(event.pointerId);
  }

  /** @param {PointerEvent} event */
  move(event) {
    const { x, time, onRuler } = this.at(event);
    const { strip, drag } = this;
    if (!drag) {
      strip.frame.style.cursor = onRuler ? 'grab'
        : Number.isNaN(this.otherEnd(x)) ? 'crosshair' : 'ew-resize';
      strip.hover(time, x);
      return;
    }
    if (!drag.moved && Math.abs(x - drag.x) < LEAST) return;
    drag.moved = true;
    if (drag.kind === 'move') {
      const perPixel = (drag.span.to - drag.span.from) / strip.width;
      const back = (x - drag.x) * perPixel;
      strip.fleet.moveStrip({ from: drag.span.from - back,
        to: drag.span.to - back });
      return;
    }
    const [from, to] = [drag.anchor, this.snap(time)].sort((p, q) => p - q);
    if (from === to) return;
    strip.picture[drag.kind] = { from, to };
    strip.say({ from, to });
    strip.draw();
    strip.fleet.preview(drag.kind, { from, to });
  }

  up() {
    const { drag, strip } = this;
    this.drag = null;
    if (!drag) return;
    if (drag.kind !== 'move' && drag.moved) strip.fleet.endPreview();
    if (drag.kind === 'move' && drag.moved) strip.fleet.endMove();
    strip.tip.hidden = true;
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    const { strip } = this;
    const { span } = strip.picture;
    const length = span.to - span.from;
    event.preventDefault();
    if (event.ctrlKey) {
      const { time } = this.at(event);
      const factor = Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 150);
      strip.fleet.moveStrip({ from: time - (time - span.from) * factor,
        to: time + (span.to - time) * factor });
    } else {
      const by = (event.deltaX || event.deltaY) / strip.width * length;
      strip.fleet.moveStrip({ from: span.from + by, to: span.to + by });
    }
    strip.fleet.endMove();
  }

  /** Arrows move range A, with Shift its end; + and - zoom.
   * @param {KeyboardEvent} event */
  key(event) {
    const { strip } = this;
    const { a, span, course } = strip.picture;
    if (!a || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = course?.step ?? 60;
    const by = { ArrowLeft: -step, ArrowRight: step, PageUp: a.from - a.to,
      PageDown: a.to - a.from }[event.key];
    const zoom = { '+': 0.7, '=': 0.7, '-': 1 / 0.7 }[event.key];
    if (by !== undefined) {
      const to = a.to + by;
      const from = event.shiftKey ? a.from : a.from + by;
      if (from < to) strip.fleet.setRange('a', absoluteRange({ from, to }));
    } else if (zoom) {
      const middle = (a.from + a.to) / 2;
      strip.fleet.moveStrip({ from: middle - (middle - span.from) * zoom,
        to: middle + (span.to - middle) * zoom });
      strip.fleet.endMove();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

/** Does it move with the clock? @param {{from: string, to: string}} range */
export const isSliding = ({ from, to }) => isRelative(from) || isRelative(to);
