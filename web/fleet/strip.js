// The time strip: the cost of the selection over time.  Dragging selects range
// A, with Shift range B; dragging the ruler and the wheel move through time,
// Ctrl-wheel zooms.

import { el, everyFrame } from '../base/dom.js';
import { plural, valueText } from '../base/numbers.js';
import { compareText, shiftOf } from './compare.js';
import { costText, measureOf } from './cost.js';
import { selectorText } from './selection.js';
import { courseOf, deploysIn, stepFor, sumBetween } from './strip_data.js';
import { StripGestures } from './strip_gestures.js';
import { paintStrip, scaleOf } from './strip_paint.js';
import { DAY, HOUR, spanOf, spanText } from './times.js';

/** @typedef {import('./main.js').Fleet} Fleet */
/** @typedef {import('./selection.js').Selection} Selection */
/** @typedef {import('./times.js').Span} Span */

export class Strip {
  /** @param {Fleet} fleet */
  constructor(fleet) {
    this.fleet = fleet;
    this.canvas = el('canvas', { class: 'strip-canvas' });
    this.note = el('div', { class: 'strip-note', hidden: true });
    this.tip = el('div', { class: 'strip-tip', hidden: true });
    this.frame = el('div', { class: 'strip-frame', tabindex: '0',
      role: 'slider', 'aria-label': 'Time range A' }, this.canvas, this.note,
    this.tip);
    this.legend = el('div', { class: 'strip-legend', hidden: true });
    this.element = el('div', { class: 'strip' }, this.frame);
    /** @type {import('./strip_paint.js').Picture} */
    this.picture = { span: { from: 0, to: 1 }, course: null, plot: [],
      base: [], deploys: [], a: null, b: null, hover: NaN };
    /** What the data are of, as text. */
    this.shown = '';
    this.draw = everyFrame(() => this.paint());
    this.gestures = new StripGestures(this);
    new ResizeObserver(this.draw).observe(this.frame);
  }

  get width() {
    return Math.max(100, this.frame.clientWidth);
  }

  /** What is visible if nobody moved it: the range and what is around it.
   * @param {Selection} a @param {Selection | null} b @param {number} now
   * @returns {Span} */
  static around(a, b, now) {
    const { from, to } = spanOf(a, now);
    const length = to - from;
    const wanted = length <= 2 * HOUR ? 24 * HOUR : length <= 8 * HOUR
      ? 36 * HOUR : length * 1.5;
    const end = Math.min(now, to + (wanted - length) / 2);
    const span = { from: end - wanted, to: end };
    const base = b && !b.id ? spanOf(b, now) : null;
    if (base && span.to - base.from < 2.5 * DAY) {
      span.from = Math.min(span.from, base.from - length / 2);
    }
    return span;
  }

  /** Shows the ranges, and asks for what is not there yet.
   * @param {boolean} [anew] also for what is there */
  show(anew = false) {
    const { a, b, now, state } = this.fleet;
    if (!a || a.id) return;
    const moved = /^(.+?)\.\.(.+)$/.exec(state.get('strip'));
    const span = moved ? spanOf({ from: moved[1], to: moved[2] }, now)
      : Strip.around(a, b, now);
    this.picture.span = Number.isFinite(span.from + span.to) &&
      span.from < span.to ? span : Strip.around(a, b, now);
    this.picture.a = spanOf(a, now);
    this.picture.b = b && !b.id ? spanOf(b, now) : null;
    this.describe();
    this.draw();
    void this.load(a, b, anew);
  }

  /** @param {Selection} a @param {Selection | null} b @param {boolean} anew */
  async load(a, b, anew) {
    const { api, state, now } = this.fleet;
    const { span } = this.picture;
    const query = selectorText(a);
    const step = stepFor(span.to - span.from, this.width);
    const words = { query, from: span.from.toFixed(0), to: span.to.toFixed(0),
      step: `${step}s`, values: a.changes ? 'changes' : null,
      value_type: state.get('si') };
    const by = state.get('split');
    const shift = b && !b.id ? shiftOf(a, b, now) : NaN;
    const asked = JSON.stringify([words, by, state.get('plot'), shift]);
    if (asked === this.shown && !anew) return;
    this.shown = asked;
    const part = (/** @type {Promise<any>} */ answer,
      /** @type {(reply: any) => void} */ use) => answer.then((reply) => {
      if (!reply || this.shown !== asked) return;
      use(reply);
      this.showLegend();
      this.draw();
    }).catch((error) => this.fail(asked, error));
    await part(api.ask('strip', 'series', { ...words, by }), (reply) => {
      this.picture.course = courseOf(reply);
      this.note.hidden = reply.groups.length > 0;
      this.note.textContent = 'No profiles in this time.';
    });
    if (this.shown !== asked) return;
    this.picture.base = [];
    this.picture.plot = [];
    void part(api.ask('deploys', 'series', { ...words, by: 'version' }),
      (reply) => {
        this.picture.deploys = deploysIn(reply);
      });
    if (!Number.isNaN(shift) && b) {
      void part(api.ask('base', 'series', { ...words, query: selectorText(b),
        from: (span.from - shift).toFixed(0),
        to: (span.to - shift).toFixed(0) }), (reply) => {
        const { times, totals } = courseOf(reply);
        this.picture.base = times.map((t, i) => [t + shift + step / 2,
          totals[i]]);
      });
    }
    const plot = state.get('plot');
    if (plot) {
      void part(api.ask('plot', 'function', { ...words, name: plot }),
        (reply) => {
          this.picture.plot = this.plotOf(reply.points, step);
        });
    }
  }

  /** @param {string} asked @param {unknown} error */
  fail(asked, error) {
    if (this.shown !== asked) return;
    this.note.hidden = false;
    this.note.textContent = error instanceof Error ? error.message
      : String(error);
  }

  /** The share of a function, at the height of the whole.
   * @param {[number, number, number, number, number][]} points
   * @param {number} step @returns {[number, number][]} */
  plotOf(points, step) {
    const course = this.picture.course;
    const at = new Map(course?.times.map((t, i) => [t, i]));
    return points.map(([t, , cum, total]) => [t + step / 2, total === 0 ? 0
      : cum / total * (course?.totals[at.get(t) ?? -1] ?? 0)]);
  }

  paint() {
    const { canvas } = this;
    const { clientWidth: width, clientHeight: height } = this.frame;
    const scale = devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * scale) ||
      canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    const g = canvas.getContext('2d');
    if (!g) return;
    g.setTransform(scale, 0, 0, scale, 0, 0);
    paintStrip(g, width, height, this.picture);
  }

  describe() {
    const { span, a } = this.picture;
    if (!a) return;
    const { now } = this.fleet;
    const { frame } = this;
    frame.setAttribute('aria-valuemin', span.from.toFixed(0));
    frame.setAttribute('aria-valuemax', span.to.toFixed(0));
    frame.setAttribute('aria-valuenow', Math.max(span.from, Math.min(span.to,
      a.from)).toFixed(0));
    frame.setAttribute('aria-valuetext', spanText(a, now));
  }

  showLegend() {
    const { a, b, now, state } = this.fleet;
    const { course, base } = this.picture;
    if (!a) return;
    const parts = course?.parts ?? [];
    const split = state.get('split');
    const name = state.get('plot');
    const chip = (/** @type {string} */ text, /** @type {string} */ kind,
      /** @type {string} */ word) => el('span', { class: `legend-chip ${kind}`,
      title: text }, el('span', { class: 'legend-text' }, text),
    el('button', { class: 'quiet', 'aria-label': `Remove ${text}`,
      onclick: () => state.set({ [word]: null }) }, '×'));
    this.legend.replaceChildren(
      ...(split ? [chip(`by ${split}`, '', 'split'), ...parts.map((part) =>
        el('span', { class: 'legend-part' }, el('span', { class: 'swatch',
          style: { background: part.color } }), part.name))] : []),
      ...(name ? [chip(name, 'plot', 'plot')] : []),
      ...(base.length > 0 ? [el('span', { class: 'legend-base' },
        compareText(a, b, now).replace(/^vs /, ''))] : []));
    this.legend.hidden = !split && !name && base.length === 0;
  }

  /** What is at a time. @param {number} time NaN: nothing
   * @param {number} [x] */
  hover(time, x = 0) {
    const { course } = this.picture;
    this.picture.hover = time;
    const at = course?.times.findIndex((t) => t <= time &&
      time < t + (course?.step ?? 0)) ?? -1;
    this.tip.hidden = !course || at < 0;
    if (course && at >= 0) {
      const { times, step, totals, profiles, kind } = course;
      this.tip.textContent = `${spanText({ from: times[at],
        to: times[at] + step }, this.fleet.now)}   ${costText(totals[at],
        kind)}   ${plural(profiles[at], 'profile')}`;
      this.tip.style.left = `${Math.max(4, Math.min(this.width - 260,
        x + 10))}px`;
    }
    this.draw();
  }

  /** While a range is being dragged. @param {Span} span */
  say(span) {
    const { course } = this.picture;
    if (!course) return;
    const { sum, profiles } = sumBetween(course, span.from, span.to);
    this.tip.hidden = false;
    this.tip.textContent = `${spanText(span, this.fleet.now)}   ${valueText(
      sum, measureOf(course.kind.unit))}   ${plural(profiles, 'profile')}`;
    const { x } = scaleOf(this.picture.span, this.width);
    this.tip.style.left = `${Math.max(4, Math.min(this.width - 300,
      x(span.to) + 8))}px`;
  }
}
