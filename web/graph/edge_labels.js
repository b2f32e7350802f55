// Where the numbers of the graph's edges are written: next to their line, near
// the caller, and if it can be on nothing else.  Heavy edges choose first.

/** @typedef {{x: number, y: number}} Point */
/** @typedef {{x: number, y: number, width: number, height: number}} Box
 * x, y: the middle */

/**
 * @typedef {object} Label
 * @property {Point[]} points  the edge from caller to callee
 * @property {number} width    of the text
 * @property {number} height
 * @property {number} stroke   how thick the line is
 * @property {boolean} heavy   its line should stay free
 */

const CELL = 64; // pixels of the grid in which neighbours are found
const ASIDE = 3; // pixels between line and text, and between two texts
const DOWN = 24; // pixels below the caller's box that are liked best
const STEP = 6; // to the next place
const MOST = 60; // places that are tried for one label
const TEXT_COST = 5; // a square pixel of text, if one of a line costs 1

/** What is taken, found by where it is. */
class Taken {
  constructor() {
    /** @type {Map<number, {box: Box, cost: number}[]>} */
    this.cells = new Map();
  }

  /** @param {Box} box @param {number} cost of a square pixel */
  add(box, cost) {
    const entry = { box, cost };
    eachCell(box, (cell) => {
      const list = this.cells.get(cell);
      if (list) list.push(entry);
      else this.cells.set(cell, [entry]);
    });
  }

  /** What it would cost to cover a box. @param {Box} box */
  costOf(box) {
    /** @type {Set<{box: Box, cost: number}>} */
    const near = new Set();
    eachCell(box, (cell) => {
      for (const entry of this.cells.get(cell) ?? []) near.add(entry);
    });
    let sum = 0;
    for (const { box: other, cost } of near) {
      const wide = (box.width + other.width) / 2 - Math.abs(box.x - other.x);
      const high = (box.height + other.height) / 2 - Math.abs(box.y - other.y);
      if (wide > 0 && high > 0) sum += wide * high * cost;
    }
    return sum;
  }
}

/** @param {Box} box @param {(cell: number) => void} visit */
function eachCell({ x, y, width, height }, visit) {
  const at = (/** @type {number} */ place) => Math.floor(place / CELL);
  for (let i = at(x - width / 2); i <= at(x + width / 2); i++) {
    for (let k = at(y - height / 2); k <= at(y + height / 2); k++) {
      visit(i * 65536 + k);
    }
  }
}

/** Along an edge from its start, in steps down.
 * @param {Point[]} points
 * @param {(place: Point) => boolean} visit stops by true */
function walk(points, visit) {
  for (let i = 0; i + 1 < points.length; i++) {
    const [a, b] = [points[i], points[i + 1]];
    const length = Math.abs(b.y - a.y);
    for (let done = STEP / 2; done < length; done += STEP) {
      if (visit(pointOn(a, b, done / length))) return;
    }
  }
}

/** On a curve that leaves and arrives upright. @param {Point} a
 * @param {Point} b @param {number} t */
function pointOn(a, b, t) {
  return { x: a.x + (b.x - a.x) * t * t * (3 - 2 * t),
    y: a.y + (b.y - a.y) * t * (1.5 - 1.5 * t + t * t) };
}

/** Right of the line and left of it; those that are liked best first.
 * @param {Label} label */
function placesFor({ points, width, height, stroke }) {
  const aside = (width + stroke) / 2 + ASIDE;
  /** @type {Point[]} */
  const line = [];
  walk(points, (place) => line.push(place) === MOST / 2);
  const reach = Math.ceil(height / 2 / STEP); // where it may lean over
  const found = line.flatMap(({ y }, i) => {
    const xs = line.slice(Math.max(0, i - reach), i + reach + 1)
      .map(({ x }) => x);
    const far = Math.abs(i * STEP - DOWN);
    return [{ x: Math.max(...xs) + aside, y, far },
      { x: Math.min(...xs) - aside, y, far: far + 1 }];
  });
  if (found.length === 0) found.push({ ...points[0], far: 0 }); // a loop
  return found.sort((a, b) => a.far - b.far).map(({ x, y }) =>
    ({ x, y, width, height }));
}

/**
 * Where each label is, in their order; the first choose first.
 * @param {Label[]} labels @param {Box[]} boxes
 * @returns {Box[]}
 */
export function placeLabels(labels, boxes) {
  const taken = new Taken();
  for (const box of boxes) taken.add(box, TEXT_COST);
  for (const { points, stroke, heavy } of labels) {
    if (!heavy) continue;
    walk(points, ({ x, y }) => {
      taken.add({ x, y, width: stroke, height: STEP }, 1);
      return false;
    });
  }
  return labels.map((label) => {
    const places = placesFor(label);
    let [best] = places;
    let least = Infinity;
    for (const place of places) {
      const cost = taken.costOf({ ...place, width: place.width + ASIDE });
      if (cost >= least) continue;
      best = place;
      least = cost;
      if (cost === 0) break;
    }
    taken.add(best, TEXT_COST);
    return best;
  });
}
