// Drawing the strip on a canvas: areas, lines over them, deploys, the two
// ranges, and a ruler of times.

import { costText } from './cost.js';
import { stripTheme } from './strip_colors.js';
import { clockText, DAY, dayText, HOUR, MINUTE } from './times.js';

/** @typedef {import('./strip_data.js').Course} Course */
/** @typedef {import('./times.js').Span} Span */

export const RULER = 18; // pixels at the bottom
const TOP = 16; // room for flags
const EDGE = 6;
const LETTER = 17; // pixels: a range's letter and a little room
const FONT = '11px system-ui, sans-serif';

/**
 * @typedef {object} Picture
 * @property {Span} span               what is visible
 * @property {Course | null} course
 * @property {[number, number][]} plot  a function: time and cost
 * @property {[number, number][]} base  what it is compared with, moved here
 * @property {{time: number, version: string}[]} deploys
 * @property {Span | null} a
 * @property {Span | null} b
 * @property {number} hover            a time; NaN: none
 */

/** @param {Span} span @param {number} width */
export function scaleOf(span, width) {
  const perSecond = width / (span.to - span.from);
  return { x: (/** @type {number} */ t) => (t - span.from) * perSecond,
    t: (/** @type {number} */ x) => span.from + x / perSecond };
}

/** @param {Picture} p */
function highest({ course, plot, base }) {
  return Math.max(...(course?.totals ?? []), ...plot.map(([, y]) => y),
    ...base.map(([, y]) => y)) * 1.05 || 1;
}

/** @param {CanvasRenderingContext2D} g @param {number} width
 * @param {number} height @param {Picture} p */
export function paintStrip(g, width, height, p) {
  const t = stripTheme();
  const { x } = scaleOf(p.span, width);
  const bottom = height - RULER;
  const top = highest(p);
  const y = (/** @type {number} */ value) =>
    bottom - value / top * (bottom - TOP);
  g.fillStyle = t.ground;
  g.fillRect(0, 0, width, height);
  g.font = FONT;
  g.textBaseline = 'middle';
  paintGrid(g, p, width, y, top / 1.05);
  if (p.course) paintAreas(g, p.course, x, y);
  paintLine(g, p.base, x, y, t.base, [4, 3]);
  paintLine(g, p.plot, x, y, t.plot, []);
  paintVeil(g, [p.a, p.b], x, bottom, width);
  if (p.b) paintRange(g, p.b, x, bottom, width, t.b, 'B');
  if (p.a) paintRange(g, p.a, x, bottom, width, t.a, 'A');
  paintScale(g, p, x, y, top / 1.05);
  paintDeploys(g, p.deploys, x, bottom, width);
  paintRuler(g, p.span, x, bottom, width, height);
  if (!Number.isNaN(p.hover)) {
    g.fillStyle = t.muted;
    g.fillRect(Math.round(x(p.hover)), TOP, 1, bottom - TOP);
  }
}

/** Steps beside each other; a hole stays a hole.
 * @param {CanvasRenderingContext2D} g @param {Course} course
 * @param {(t: number) => number} x @param {(value: number) => number} y */
function paintAreas(g, { times, step, parts }, x, y) {
  const below = new Float64Array(times.length);
  for (const { heights, color } of parts) {
    g.fillStyle = color;
    for (let i = 0; i < times.length; i++) {
      const [low, high] = [below[i], below[i] + heights[i]];
      // To the next step, if that is where the next profiles are.
      const gap = i + 1 < times.length ? times[i + 1] - times[i] : step;
      const wide = gap <= 3 * step ? gap : step;
      const left = x(times[i]);
      const right = x(times[i] + wide);
      const space = right - left > 4 ? 0.75 : 0;
      g.fillRect(left, y(high), right - left - space, y(low) - y(high));
      below[i] = high;
    }
  }
}

/** @param {CanvasRenderingContext2D} g @param {Picture} p
 * @param {number} width @param {(value: number) => number} y
 * @param {number} top */
function paintGrid(g, { course }, width, y, top) {
  if (!course || course.times.length === 0) return;
  g.fillStyle = stripTheme().line;
  for (const value of [top, top / 2]) {
    g.fillRect(0, Math.round(y(value)), width, 1);
  }
}

/** Where numbers are written: at the left, but not over the letter of a
 * range. @param {(Span | null)[]} ranges @param {(t: number) => number} x
 * @param {number} wide of the numbers, in pixels */
export function scalePlace(ranges, x, wide) {
  let left = EDGE;
  const letters = ranges.filter((range) => range && x(range.to) > 0)
    .map((range) => /** @type {Span} */ (range)).map((range) => Math.max(0, x(range.from))).sort((a, b) => a - b);
  for (const at of letters) {
    if (at < left + wide + EDGE && at + LETTER > left) left = at + LETTER + EDGE;
  }
  return left;
}

/** @param {CanvasRenderingContext2D} g @param {Picture} p
 * @param {(t: number) => number} x @param {(value: number) => number} y
 * @param {number} top */
function paintScale(g, { course, a, b }, x, y, top) {
  const t = stripTheme();
  if (!course || course.times.length === 0) return;
  const texts = [top, top / 2].map((value) => costText(value, course.kind));
  const left = scalePlace([a, b], x, Math.max(...texts.map((text) =>
    g.measureText(text).width)));
  texts.forEach((text, i) => boxedText(g, text, left,
    y(i === 0 ? top : top / 2) + 8, t.muted, t.ground));
}

/** @param {CanvasRenderingContext2D} g @param {string} text
 * @param {number} x left @param {number} y middle @param {string} ink
 * @param {string} ground */
function boxedText(g, text, x, y, ink, ground) {
  g.globalAlpha = 0.8;
  g.fillStyle = ground;
  g.fillRect(x - 3, y - 7, g.measureText(text).width + 6, 14);
  g.globalAlpha = 1;
  g.fillStyle = ink;
  g.fillText(text, x, y);
}

/** @param {CanvasRenderingContext2D} g @param {[number, number][]} points
 * @param {(t: number) => number} x @param {(value: number) => number} y
 * @param {string} color @param {number[]} dash */
function paintLine(g, points, x, y, color, dash) {
  if (points.length === 0) return;
  g.strokeStyle = color;
  g.lineWidth = 1.75;
  g.setLineDash(dash);
  g.beginPath();
  points.forEach(([t, value], i) => (i === 0 ? g.moveTo(x(t), y(value))
    : g.lineTo(x(t), y(value))));
  g.stroke();
  g.setLineDash([]);
}

/** What is in no range steps back. @param {CanvasRenderingContext2D} g
 * @param {(Span | null)[]} ranges @param {(t: number) => number} x
 * @param {number} bottom @param {number} width */
function paintVeil(g, ranges, x, bottom, width) {
  g.fillStyle = stripTheme().veil;
  g.beginPath();
  g.rect(0, TOP, width, bottom - TOP);
  for (const range of ranges) {
    const left = range ? Math.max(0, x(range.from)) : 0;
    const right = range ? Math.min(width, x(range.to)) : 0;
    if (right > left) g.rect(left, TOP, right - left, bottom - TOP);
  }
  g.fill('evenodd');
}

/** Its edges and name. @param {CanvasRenderingContext2D} g
 * @param {Span} range @param {(t: number) => number} x
 * @param {number} bottom @param {number} width @param {string} color
 * @param {string} name */
function paintRange(g, range, x, bottom, width, color, name) {
  const t = stripTheme();
  const [left, right] = [x(range.from), x(range.to)];
  if (right < 0 || left > width) return;
  g.globalAlpha = 0.12;
  g.fillStyle = color;
  g.fillRect(left, TOP, right - left, bottom - TOP);
  g.globalAlpha = 1;
  g.fillRect(Math.round(left), TOP, 2, bottom - TOP);
  g.fillRect(Math.round(right) - 2, TOP, 2, bottom - TOP);
  g.fillRect(left, bottom - 2, right - left, 2);
  const at = Math.max(2, Math.min(width - 16, left));
  g.fillRect(at, TOP, 15, 15);
  g.fillStyle = t.ground;
  g.textAlign = 'center';
  g.font = `600 ${FONT}`;
  g.fillText(name, at + 7.5, TOP + 8);
  g.font = FONT;
  g.textAlign = 'left';
}

/** @param {CanvasRenderingContext2D} g
 * @param {{time: number, version: string}[]} deploys
 * @param {(t: number) => number} x @param {number} bottom
 * @param {number} width */
function paintDeploys(g, deploys, x, bottom, width) {
  const t = stripTheme();
  let free = -Infinity;
  for (const { time, version } of deploys) {
    const at = Math.round(x(time));
    if (at < 0 || at > width) continue;
    g.fillStyle = t.ink;
    for (let top = TOP; top < bottom; top += 5) g.fillRect(at, top, 1, 3);
    g.beginPath();
    g.moveTo(at, 4);
    g.lineTo(at + 6, 8);
    g.lineTo(at, 12);
    g.fill();
    g.fillRect(at, 4, 1, TOP - 4);
    const wide = g.measureText(version).width;
    if (at < free || at + 10 + wide > width) continue;
    g.fillText(version, at + 9, 8);
    free = at + 18 + wide;
  }
}

const TICKS = [MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE,
  HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY];

/** @param {CanvasRenderingContext2D} g @param {Span} span
 * @param {(t: number) => number} x @param {number} bottom
 * @param {number} width @param {number} height */
function paintRuler(g, span, x, bottom, width, height) {
  const t = stripTheme();
  g.fillStyle = t.line;
  g.fillRect(0, bottom, width, 1);
  const wanted = (span.to - span.from) / (width / 90);
  const tick = TICKS.find((one) => one >= wanted) ?? TICKS[TICKS.length - 1];
  const zone = new Date(span.from * 1000).getTimezoneOffset() * 60;
  const first = Math.ceil((span.from - zone) / tick) * tick + zone;
  for (let at = first; at < span.to; at += tick) {
    const left = x(at);
    g.fillStyle = t.line;
    g.fillRect(Math.round(left), bottom, 1, 5);
    const isMidnight = (at - zone) % DAY === 0;
    g.fillStyle = isMidnight ? t.ink : t.muted;
    if (left > width - 34) continue;
    g.fillText(isMidnight ? dayText(at) : clockText(at), left + 4,
      height - RULER / 2 + 1);
  }
}
