// What something costs, in a unit that does not depend on how often it was
// profiled: CPU time for each second that was profiled ("0.42 cores"), memory
// and counts for each profile.  A process is the unit: ten processes that use
// half a core each cost "0.5 cores".

import { valueText } from '../base/numbers.js';

/** [value, profiles, seconds] @typedef {[number, number, number]} Sum */

/** @type {Record<string, [string, number]>} */
const BASES = { nanoseconds: ['s', 1e-9], microseconds: ['s', 1e-6],
  milliseconds: ['s', 1e-3], seconds: ['s', 1], bytes: ['B', 1],
  kilobytes: ['B', 1024], megabytes: ['B', 2 ** 20] };

/** How raw values of a unit become text. @param {string} unit */
export function measureOf(unit) {
  const [base, scale] = BASES[unit] ?? ['', 1];
  return { unit: base, scale };
}

/** Can it be divided by the time that was profiled?
 * @param {string} unit @param {Sum} sum */
const isRate = (unit, sum) => measureOf(unit).unit === 's' && sum[2] > 0;

/** NaN without profiles. @param {Sum} sum @param {string} unit */
export function costOf(sum, unit) {
  if (sum[1] === 0) return NaN;
  return isRate(unit, sum) ? sum[0] * measureOf(unit).scale / sum[2]
    : sum[0] / sum[1];
}

/** Three digits. @param {number} value */
function digits(value) {
  if (value === 0) return '0';
  return value >= 100 ? String(Math.round(value))
    : String(Number(value.toPrecision(value < 0.1 ? 2 : 3)));
}

/** @param {number} cost @param {{unit: string, valueType: string,
 *   rate: boolean}} kind */
export function costText(cost, { unit, valueType, rate }) {
  if (Number.isNaN(cost)) return '–';
  if (rate) {
    return `${digits(cost)} ${valueType === 'cpu' ? 'cores' : 's/s'}`;
  }
  return measureOf(unit).unit ? valueText(cost, measureOf(unit))
    : digits(cost).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** @param {{unit: string, valueType: string}} what @param {Sum} sum */
export function kindOf({ unit, valueType }, sum) {
  return { unit, valueType, rate: isRate(unit, sum) };
}

/** "+12%", "×3.1" for large growth, "new". @param {number} now
 * @param {number} before */
export function changeText(now, before) {
  if (Number.isNaN(now) || Number.isNaN(before)) return '–';
  if (before === 0) return now === 0 ? '0%' : 'new';
  const change = now / before - 1;
  if (change >= 2) return `×${(change + 1).toPrecision(2)}`;
  const percent = Math.round(change * 100);
  return percent > 0 ? `+${percent}%` : `${percent}%`.replace('-', '−');
}
