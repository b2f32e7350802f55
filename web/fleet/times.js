// Times of a selection: "now-1h", or absolute.  What is relative stays
// relative in the URL, so that a link to "the last hour" means that.

/** @typedef {{from: string, to: string}} Range */
/** Seconds since 1970. @typedef {{from: number, to: number}} Span */

/** @type {Record<string, number>} */
const UNITS = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86400, w: 604800 };

export const MINUTE = 60;
export const HOUR = 3600;
export const DAY = 86400;

/** "1h30m" in seconds, NaN if it is none. @param {string} text */
export function secondsOf(text) {
  if (!/^(\d+(\.\d+)?(ms|[smhdw]))+$/.test(text)) return NaN;
  return [...text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/g)].reduce((sum,
    [, count, unit]) => sum + Number(count) * UNITS[unit], 0);
}

/** 5400 as "1h30m". @param {number} seconds */
export function durationText(seconds) {
  let rest = Math.round(seconds);
  let text = '';
  for (const unit of ['d', 'h', 'm', 's']) {
    const count = Math.floor(rest / UNITS[unit]);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * UNITS[unit];
  }
  return text || '0s';
}

/** @param {string} text */
export const isRelative = (text) => text.startsWith('now');

/** Seconds since 1970; NaN if it is no time. @param {string} text
 * @param {number} now */
export function timeOf(text, now) {
  if (text === 'now') return now;
  const relative = /^now([-+])(.+)$/.exec(text);
  if (relative) {
    return now + (relative[1] === '-' ? -1 : 1) * secondsOf(relative[2]);
  }
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  const zoned = /[Zz]$|[-+]\d\d:\d\d$/.test(text) ? text
    : text.includes('T') ? `${text}Z` : text;
  return Date.parse(zoned) / 1000;
}

/** @param {Range} range @param {number} now @returns {Span} */
export function spanOf(range, now) {
  return { from: timeOf(range.from, now), to: timeOf(range.to, now) };
}

/** "2026-01-31T08:00:00Z" @param {number} seconds */
export function absolute(seconds) {
  return new Date(Math.round(seconds) * 1000).toISOString()
    .replace('.000Z', 'Z');
}

/** @param {Span} span @returns {Range} */
export function absoluteRange(span) {
  return { from: absolute(span.from), to: absolute(span.to) };
}

/** A range that lies some seconds before another one, in the same manner.
 * @param {Range} range @param {number} seconds @param {number} now
 * @returns {Range} */
export function earlier(range, seconds, now) {
  const back = (/** @type {string} */ text) => {
    if (!isRelative(text)) return absolute(timeOf(text, now) - seconds);
    const age = now - timeOf(text, now) + seconds;
    return `now-${durationText(age)}`;
  };
  return { from: back(range.from), to: back(range.to) };
}

const two = (/** @type {number} */ n) => String(n).padStart(2, '0');

/** "14:05", with seconds where they matter.
 * @param {number} seconds @param {boolean} [exact] */
export function clockText(seconds, exact = false) {
  const d = new Date(seconds * 1000);
  return `${two(d.getHours())}:${two(d.getMinutes())}${
    exact || d.getSeconds() !== 0 ? `:${two(d.getSeconds())}` : ''}`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep',
  'Oct', 'Nov', 'Dec'];

/** "18 Nov" @param {number} seconds */
export function dayText(seconds) {
  const d = new Date(seconds * 1000);
  return `${d.getDate()} ${MONTHS[d.getMonth()]}`;
}

const dayOf = (/** @type {number} */ seconds) =>
  new Date(seconds * 1000).toDateString();

/** "18 Nov 14:05 – 15:05" @param {Span} span @param {number} now */
export function spanText(span, now) {
  const sameDay = dayOf(span.from) === dayOf(span.to);
  const today = sameDay && dayOf(span.from) === dayOf(now);
  return `${today ? '' : `${dayText(span.from)} `}${clockText(span.from)} – ${
    sameDay ? '' : `${dayText(span.to)} `}${clockText(span.to)}`;
}

/** "Last 6 h", or the times. @param {Range} range @param {number} now */
export function rangeText(range, now) {
  const length = isRelative(range.from) && range.to === 'now'
    ? secondsOf(range.from.slice(4)) : NaN;
  if (Number.isNaN(length)) return spanText(spanOf(range, now), now);
  const text = durationText(length).replace(/(\d)([dhms])/g, '$1 $2 ').trim();
  return `Last ${text}`;
}

/** "4 min ago" @param {number} seconds @param {number} now */
export function agoText(seconds, now) {
  const age = Math.max(0, now - seconds);
  if (age < 90) return `${Math.round(age)} s ago`;
  if (age < 90 * MINUTE) return `${Math.round(age / MINUTE)} min ago`;
  if (age < 36 * HOUR) return `${Math.round(age / HOUR)} h ago`;
  return `${Math.round(age / DAY)} d ago`;
}
