// Values as people read them: the largest unit that keeps the number at one
// or more, two decimals, as the terminal reports print them.

/** @type {Record<string, [string, number][]>} */
const FAMILIES = {
  s: [['hrs', 3600], ['s', 1], ['ms', 1e-3], ['us', 1e-6], ['ns', 1e-9]],
  B: [['PB', 2 ** 50], ['TB', 2 ** 40], ['GB', 2 ** 30], ['MB', 2 ** 20],
    ['kB', 1024], ['B', 1]],
  GCU: [['P*GCU', 1e15], ['T*GCU', 1e12], ['G*GCU', 1e9], ['M*GCU', 1e6],
    ['k*GCU', 1e3], ['GCU', 1], ['m*GCU', 1e-3], ['u*GCU', 1e-6],
    ['n*GCU', 1e-9]],
};

/**
 * @typedef {object} Measure how raw values become text
 * @property {number} scale from a raw value to the base unit
 * @property {string} unit  the base unit
 * @property {string} [wish] the unit that was asked for, if any
 */

/** @param {number} value raw @param {Measure} measure */
export function valueText(value, measure) {
  const scaled = Math.abs(value * measure.scale);
  if (scaled === 0) return '0';
  const sign = value < 0 ? '-' : '';
  const family = FAMILIES[measure.unit];
  if (!family) return sign + decimals(scaled) + measure.unit;
  // A hair of tolerance: 1e9 ns times 1e-9 may be just below one second.
  const wish = measure.wish?.toLowerCase().replace(/^h(ou)?r$/, 'hrs');
  const fit = family.find(([name]) => name.toLowerCase() === wish) ??
    family.find(([, size]) => scaled >= size * (1 - 1e-12)) ??
    family[family.length - 1];
  return sign + decimals(scaled / fit[1]) + fit[0];
}

/**
 * The unit in which reports print all values of a table: that of the smallest
 * one, unless the total is far larger; then one in which the smallest still
 * shows as 0.01.  "" leaves each value its own.
 * @param {number} smallest raw, without its sign @param {number} total raw
 * @param {Measure} measure
 */
export function commonUnit(smallest, total, measure) {
  const family = FAMILIES[measure.unit];
  if (!family) return '';
  const unitOf = (/** @type {number} */ value) => {
    const scaled = Math.abs(value * measure.scale);
    return (family.find(([, size]) => scaled >= size * (1 - 1e-12)) ??
      family[family.length - 1])[0];
  };
  const least = smallest || Math.abs(total);
  return unitOf(least) !== unitOf(total) && least * 100 < Math.abs(total)
    ? unitOf(least * 100) : unitOf(least);
}

/** @param {number} value */
function decimals(value) {
  const text = value.toFixed(2);
  return text.endsWith('.00') ? text.slice(0, -3) : text;
}

/** Of the whole, "12.3%". @param {number} value @param {number} total */
export function percentText(value, total) {
  if (total === 0) return '0%';
  const percent = 100 * value / Math.abs(total);
  const size = Math.abs(percent);
  if (size !== 0 && size < 0.01) return percent < 0 ? '-<0.01%' : '<0.01%';
  return `${percent.toFixed(size < 1 ? 2 : 1).replace(/\.0+$/, '')}%`;
}

/** 12345 as "12,345". @param {number} count */
export function countText(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** @param {number} count @param {string} one @param {string} [many] */
export function plural(count, one, many = `${one}s`) {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

/** As the terminal reports print it, without the padding.
 * @param {number} value @param {number} total */
export function reportPercent(value, total) {
  const percent = total === 0 ? 0 : Math.abs(value / total) * 100;
  if (percent >= 99.95 && percent <= 100.05) return '100%';
  if (percent === 0) return '0%';
  return `${percent >= 1 ? percent.toFixed(2) : general(percent)}%`;
}

/** C's %.2g. @param {number} value */
function general(value) {
  const [digits, power] = value.toExponential(1).split('e');
  if (Number(power) >= -4) return String(Number(value.toPrecision(2)));
  return `${Number(digits)}e${power.replace(/^([-+])(\d)$/, '$10$2')}`;
}
