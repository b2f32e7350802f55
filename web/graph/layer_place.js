// The x of each node, given the order within the layers.  Every node wishes
// to be at the mean of its neighbours; the nearest positions that keep order
// and distance are found by pooling neighbours that would collide (isotonic
// regression), which is exact for one layer.

/** @typedef {import('./layers.js').Place} Place */

const GAP = 22;
const ROUNDS = 24;
const STRAIGHT = 4; // steps of long edges pull more: fewer bends

/** @param {Place[][]} layers */
export function placeLayers(layers) {
  for (const layer of layers) {
    let x = 0;
    for (const place of layer) {
      place.x = x + place.width / 2;
      x += place.width + GAP;
    }
    for (const place of layer) place.x -= x / 2;
  }
  for (let round = 0; round < ROUNDS; round++) {
    const down = round % 2 === 0;
    const order = layers.map((_, i) => i);
    /** @type {('up' | 'down')[]} */
    const sides = round < ROUNDS - 4 ? [down ? 'up' : 'down'] : ['up', 'down'];
    for (const i of down ? order : order.reverse()) {
      settle(layers[i], layers[i].map((place) => wishOf(place, sides)));
    }
  }
}

/** @param {Place} place @param {('up' | 'down')[]} sides */
function wishOf(place, sides) {
  let sum = 0;
  let weight = 0;
  for (const side of sides) {
    for (const link of place[side]) {
      const w = (1 + Math.log1p(Math.abs(link.weight))) *
        (place.step || link.to.step ? STRAIGHT : 1);
      sum += w * link.to.x;
      weight += w;
    }
  }
  return weight > 0 ? { x: sum / weight, weight } : { x: place.x, weight: 0.1 };
}

/**
 * Pools that would overlap share one shift: their weighted mean.
 * @param {Place[]} layer @param {{x: number, weight: number}[]} wishes
 */
export function settle(layer, wishes) {
  /** @type {{shift: number, weight: number, count: number}[]} */
  const pools = [];
  /** @type {number[]} */
  const offsets = [];
  let offset = 0;
  layer.forEach((place, i) => {
    if (i > 0) offset += (layer[i - 1].width + place.width) / 2 + GAP;
    offsets.push(offset);
    let pool = { shift: wishes[i].x - offset, weight: wishes[i].weight,
      count: 1 };
    while (pools.length > 0 && pools[pools.length - 1].shift > pool.shift) {
      const left = /** @type {typeof pool} */ (pools.pop());
      const weight = left.weight + pool.weight;
      pool = { weight, count: left.count + pool.count,
        shift: (left.shift * left.weight + pool.shift * pool.weight) / weight };
    }
    pools.push(pool);
  });
  let at = 0;
  for (const pool of pools) {
    for (let k = 0; k < pool.count; k++, at++) {
      layer[at].x = pool.shift + offsets[at];
    }
  }
}
