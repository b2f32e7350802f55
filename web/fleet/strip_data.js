// What the strip shows: the course of the selection's cost, in parts if it is
// split by a label, and what is drawn over it.

import { colorIn } from './strip_colors.js';
import { measureOf } from './cost.js';

/** [time, value, profiles, seconds] @typedef {[number, number, number,
 *   number]} Point */
/** @typedef {{group: string, type: string, unit: string,
 *   points: Point[]}} Group */
/** @typedef {{from: number, to: number, step: number,
 *   groups: Group[]}} Series */

/**
 * @typedef {object} Part   one area of the strip
 * @property {string} name
 * @property {string} color
 * @property {Float64Array} heights  for each time of the course
 */

/**
 * @typedef {object} Course
 * @property {number[]} times      starts of the steps with profiles
 * @property {number} step
 * @property {Part[]} parts        from the bottom up
 * @property {Float64Array} totals
 * @property {Float64Array} sums   raw values
 * @property {Float64Array} profiles
 * @property {{unit: string, valueType: string, rate: boolean}} kind
 */

const PARTS = 8; // the rest is "other"
const STEPS = [10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600,
  43200, 86400, 604800];

/** The step for a length of time: some pixels wide, and not shorter than the
 * time between two profiles of a process usually is.
 * @param {number} seconds @param {number} width in pixels */
export function stepFor(seconds, width) {
  return STEPS.find((step) => step >= 60 && seconds / step <= width / 5) ??
    STEPS[STEPS.length - 1];
}

/** @param {Series} series @returns {Course} */
export function courseOf(series) {
  const { groups, step } = series;
  const times = [...new Set(groups.flatMap(({ points }) =>
    points.map(([t]) => t)))].sort((a, b) => a - b);
  const at = new Map(times.map((t, i) => [t, i]));
  const sums = new Float64Array(times.length);
  const profiles = new Float64Array(times.length);
  const seconds = new Float64Array(times.length);
  for (const { points } of groups) {
    for (const [t, value, count, length] of points) {
      const i = at.get(t) ?? 0;
      sums[i] += value;
      profiles[i] += count;
      seconds[i] += length;
    }
  }
  const unit = groups[0]?.unit ?? '';
  const { scale, unit: base } = measureOf(unit);
  const rate = base === 's' && seconds.every((length) => length > 0);
  const factor = (/** @type {number} */ i) => (rate ? scale / seconds[i]
    : 1 / profiles[i]);
  return { times, step, sums, profiles, totals: sums.map((sum, i) =>
    sum * factor(i)), kind: { unit, valueType: groups[0]?.type ?? '', rate },
  parts: partsOf(groups, at, factor) };
}

/** The largest groups, and one for the others.
 * @param {Group[]} groups @param {Map<number, number>} at
 * @param {(i: number) => number} factor @returns {Part[]} */
function partsOf(groups, at, factor) {
  const weight = (/** @type {Group} */ { points }) =>
    points.reduce((sum, [, value]) => sum + value, 0);
  const sorted = groups.map((group) => ({ group, weight: weight(group) }))
    .sort((a, b) => b.weight - a.weight).map(({ group }) => group);
  const cut = sorted.length > PARTS ? PARTS - 1 : sorted.length;
  const lists = sorted.slice(0, cut).map((group) => [group]);
  if (cut < sorted.length) lists.push(sorted.slice(cut));
  return lists.map((list, k) => {
    const heights = new Float64Array(at.size);
    for (const { points } of list) {
      for (const [t, value] of points) {
        const i = at.get(t) ?? 0;
        heights[i] += value * factor(i);
      }
    }
    return { heights, color: colorIn(k, groups.length), name: list.length > 1
      ? `${list.length} others` : list[0].group || '(none)' };
  });
}

/** When a version was first seen: a deploy, unless it was there from the
 * start. @param {Series} series by version
 * @returns {{time: number, version: string}[]} */
export function deploysIn(series) {
  const first = Math.min(...series.groups.map(({ points }) =>
    points[0]?.[0] ?? Infinity));
  return series.groups.filter(({ group, points }) => group !== '' &&
    points.length > 0 && points[0][0] > first)
    .map(({ group, points }) => ({ time: points[0][0], version: group }))
    .sort((a, b) => a.time - b.time);
}

/** What lies between two times. @param {Course} course @param {number} from
 * @param {number} to */
export function sumBetween({ times, sums, profiles, step }, from, to) {
  let [sum, count] = [0, 0];
  times.forEach((t, i) => {
    if (t + step > from && t < to) {
      sum += sums[i];
      count += profiles[i];
    }
  });
  return { sum, profiles: count };
}
