// The order within layers: sweep down and up, sorting each layer by the mean
// position of its neighbours, and keep the best order that was seen.

/** @typedef {import('./layers.js').Place} Place */

const SWEEPS = 12;

/** Sorts each layer in place. @param {Place[][]} layers */
export function orderLayers(layers) {
  /** @type {Map<Place, number>} */
  const rank = new Map();
  const number = () => layers.forEach((layer) =>
    layer.forEach((place, i) => rank.set(place, i)));
  number();
  let best = layers.map((layer) => [...layer]);
  let fewest = crossings(layers, rank);
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep++) {
    const down = sweep % 2 === 0;
    const order = layers.map((_, i) => i);
    for (const i of down ? order : order.reverse()) {
      sortByNeighbours(layers[i], down ? 'up' : 'down', rank);
      layers[i].forEach((place, at) => rank.set(place, at));
    }
    const now = crossings(layers, rank);
    if (now < fewest) {
      fewest = now;
      best = layers.map((layer) => [...layer]);
    }
  }
  best.forEach((layer, i) => {
    layers[i] = layer;
  });
}

/** @param {Place[]} layer @param {'up' | 'down'} side
 * @param {Map<Place, number>} rank */
function sortByNeighbours(layer, side, rank) {
  const wish = new Map(layer.map((place, i) => {
    let sum = 0;
    let weight = 0;
    for (const link of place[side]) {
      const w = 1 + Math.sqrt(Math.abs(link.weight));
      sum += w * (rank.get(link.to) ?? 0);
      weight += w;
    }
    return [place, weight > 0 ? sum / weight : i];
  }));
  layer.sort((a, b) => (wish.get(a) ?? 0) - (wish.get(b) ?? 0) ||
    (rank.get(a) ?? 0) - (rank.get(b) ?? 0));
}

/** Pairs of edges that cross. @param {Place[][]} layers
 * @param {Map<Place, number>} rank */
export function crossings(layers, rank) {
  let count = 0;
  for (const layer of layers) {
    const ends = layer.flatMap((place) => place.down.map((link) =>
      [rank.get(place) ?? 0, rank.get(link.to) ?? 0]));
    ends.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    for (let i = 0; i < ends.length; i++) {
      for (let k = i + 1; k < ends.length; k++) {
        if (ends[k][0] > ends[i][0] && ends[k][1] < ends[i][1]) count++;
      }
    }
  }
  return count;
}
