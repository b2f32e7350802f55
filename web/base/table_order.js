// The order of a table's rows: by one of its columns, and rows with equal
// numbers by their names.  Most numbers of a large profile are 0, and sorting
// names takes long: beyond the first rows it waits until somebody looks.

/** Of many rows, so many are in their final order at once. */
export const FIRST = 150;
const FEW = 2000; // names that are sorted at once

/**
 * @param {number} count
 * @param {((row: number) => number | string) | undefined} value none: as given
 * @param {boolean} down @param {(row: number) => string} [tie]
 * @returns {{rows: number[], settle: (() => void) | null}} what puts the rest
 *   of the rows in their final order, if it is not yet
 */
export function orderOf(count, value, down, tie) {
  const rows = Array.from({ length: count }, (_, i) => i);
  if (!value) return { rows, settle: null };
  const keys = rows.map(value);
  const sign = down ? -1 : 1;
  if (typeof keys[0] !== 'number') {
    rows.sort((a, b) => (keys[a] < keys[b] ? -sign : keys[a] > keys[b] ? sign
      : a - b));
    return { rows, settle: null };
  }
  const numbers = /** @type {number[]} */ (keys);
  rows.sort((a, b) => sign * (numbers[a] - numbers[b]) || a - b);
  if (!tie) return { rows, settle: null };
  const settle = (/** @type {number} */ until) => settleTies(rows, numbers, tie,
    until);
  settle(count <= FEW ? count : FIRST);
  return { rows, settle: count <= FEW ? null : () => settle(count) };
}

/** The first rows: equal numbers in the order of their names.
 * @param {number[]} rows sorted @param {number[]} keys
 * @param {(row: number) => string} tie @param {number} until */
function settleTies(rows, keys, tie, until) {
  const byName = (/** @type {number} */ a, /** @type {number} */ b) => {
    const [x, y] = [tie(a), tie(b)];
    return x < y ? -1 : x > y ? 1 : a - b;
  };
  for (let start = 0; start < until;) {
    let end = start + 1;
    while (end < rows.length && keys[rows[end]] === keys[rows[start]]) end++;
    const part = rows.slice(start, end);
    const sorted = end - start > FEW && until < end
      ? firstOf(part, until - start, byName) : part.sort(byName);
    for (let i = start; i < end; i++) rows[i] = sorted[i - start];
    start = end;
  }
}

/** The least ones sorted, and the others behind them.
 * @param {number[]} list @param {number} wanted how many
 * @param {(a: number, b: number) => number} compare */
function firstOf(list, wanted, compare) {
  /** @type {number[]} */
  const first = [];
  for (const one of list) {
    if (first.length === wanted && compare(one, first[wanted - 1]) > 0) {
      continue;
    }
    let [low, high] = [0, first.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(first[middle], one) < 0) low = middle + 1;
      else high = middle;
    }
    first.splice(low, 0, one);
    if (first.length > wanted) first.pop();
  }
  const taken = new Set(first);
  return first.concat(list.filter((one) => !taken.has(one)));
}
