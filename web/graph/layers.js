// A layered drawing of a directed graph, computed here: no Graphviz.
//
//   1. turn some edges round until there are no cycles
//   2. give each node a layer below all its callers
//   3. cut long edges into steps, one a layer
//   4. order each layer so that few heavy edges cross
//   5. place the nodes of a layer as near to their neighbours as their order
//      and width allow
//
// Nodes come with a size and in order of importance, the first matters most.

import { orderLayers } from './layer_order.js';
import { placeLayers } from './layer_place.js';

/** @typedef {{width: number, height: number}} Box */
/** @typedef {{from: number, to: number, weight: number}} Arc */

/**
 * A node of the drawing: a real one, or a step of a long edge.
 * @typedef {object} Place
 * @property {number} layer
 * @property {number} width
 * @property {number} height
 * @property {number} x         middle
 * @property {number} y         middle
 * @property {boolean} step
 * @property {{to: Place, weight: number}[]} down
 * @property {{to: Place, weight: number}[]} up
 */

/**
 * @typedef {object} Drawing
 * @property {Place[]} places  one for each box
 * @property {{x: number, y: number}[][]} paths  one for each arc
 * @property {number} width
 * @property {number} height
 */

const LAYER_GAP = 56;
const STEP_WIDTH = 14;
const MARGIN = 24;

/** @param {Box[]} boxes @param {Arc[]} arcs @returns {Drawing} */
export function drawLayers(boxes, arcs) {
  const turned = turnCycles(boxes.length, arcs);
  const layer = assignLayers(boxes.length, arcs, turned);
  const places = boxes.map((box, i) => newPlace(layer[i], box, false));
  const chains = arcs.map((arc, i) => arc.from === arc.to ? []
    : connect(places, arc, turned[i]));
  const layers = intoLayers([...places, ...chains.flatMap((chain) =>
    chain.slice(1, -1))]);
  orderLayers(layers);
  placeLayers(layers);
  const { width, height } = stackUp(layers);
  return { places, width, height, paths: chains.map((chain, i) =>
    chain.length === 0 ? [] : pathOf(chain, turned[i])) };
}

/** @param {number} layer @param {Box} box @param {boolean} step
 * @returns {Place} */
function newPlace(layer, box, step) {
  return { layer, width: box.width, height: box.height, x: 0, y: 0, step,
    down: [], up: [] };
}

/** Which arcs point back in a walk from the important nodes.
 * @param {number} count @param {Arc[]} arcs @returns {boolean[]} */
function turnCycles(count, arcs) {
  /** @type {number[][]} */
  const out = Array.from({ length: count }, () => []);
  const incoming = new Array(count).fill(0);
  arcs.forEach((arc, i) => {
    if (arc.from === arc.to) return;
    out[arc.from].push(i);
    incoming[arc.to]++;
  });
  for (const list of out) list.sort((a, b) => arcs[b].weight - arcs[a].weight);
  const turned = arcs.map(() => false);
  const mark = new Uint8Array(count); // 1: on the way, 2: done
  const visit = (/** @type {number} */ start) => {
    const stack = [{ node: start, next: 0 }];
    mark[start] = 1;
    while (stack.length > 0) {
      const top = stack[stack.length - 1];
      if (top.next === out[top.node].length) {
        mark[top.node] = 2;
        stack.pop();
        continue;
      }
      const arc = out[top.node][top.next++];
      const { to } = arcs[arc];
      if (mark[to] === 1) turned[arc] = true;
      else if (mark[to] === 0) {
        mark[to] = 1;
        stack.push({ node: to, next: 0 });
      }
    }
  };
  for (let i = 0; i < count; i++) if (!incoming[i] && !mark[i]) visit(i);
  for (let i = 0; i < count; i++) if (!mark[i]) visit(i);
  return turned;
}

/** Longest path from the top; callers without callers sink to their callees.
 * @param {number} count @param {Arc[]} arcs @param {boolean[]} turned */
function assignLayers(count, arcs, turned) {
  const ends = arcs.map((arc, i) => turned[i] ? [arc.to, arc.from]
    : [arc.from, arc.to]).filter(([from, to]) => from !== to);
  /** @type {number[][]} */
  const out = Array.from({ length: count }, () => []);
  const waiting = new Array(count).fill(0);
  for (const [from, to] of ends) {
    out[from].push(to);
    waiting[to]++;
  }
  const roots = waiting.map((n, i) => (n === 0 ? i : -1)).filter((i) => i >= 0);
  const layer = new Array(count).fill(0);
  const ready = [...roots];
  while (ready.length > 0) {
    const node = /** @type {number} */ (ready.pop());
    for (const to of out[node]) {
      layer[to] = Math.max(layer[to], layer[node] + 1);
      if (--waiting[to] === 0) ready.push(to);
    }
  }
  for (const root of roots) {
    if (out[root].length > 0) {
      layer[root] = Math.min(...out[root].map((to) => layer[to])) - 1;
    }
  }
  return layer;
}

/** A chain of places from the upper end of an arc to the lower one.
 * @param {Place[]} places @param {Arc} arc @param {boolean} turned */
function connect(places, arc, turned) {
  const upper = places[turned ? arc.to : arc.from];
  const lower = places[turned ? arc.from : arc.to];
  const chain = [upper];
  for (let layer = upper.layer + 1; layer < lower.layer; layer++) {
    chain.push(newPlace(layer, { width: STEP_WIDTH, height: 0 }, true));
  }
  chain.push(lower);
  for (let i = 0; i + 1 < chain.length; i++) {
    const weight = arc.weight;
    chain[i].down.push({ to: chain[i + 1], weight });
    chain[i + 1].up.push({ to: chain[i], weight });
  }
  return chain;
}

/** @param {Place[]} places @returns {Place[][]} */
function intoLayers(places) {
  /** @type {Place[][]} */
  const layers = [];
  for (const place of places) {
    (layers[place.layer] ??= []).push(place);
  }
  return Array.from(layers, (layer) => layer ?? []);
}

/** Gives the layers their heights and moves everything to positive numbers.
 * @param {Place[][]} layers */
function stackUp(layers) {
  let y = MARGIN;
  let left = Infinity;
  let right = -Infinity;
  for (const layer of layers) {
    const height = Math.max(0, ...layer.map((place) => place.height));
    for (const place of layer) {
      place.y = y + height / 2;
      left = Math.min(left, place.x - place.width / 2);
      right = Math.max(right, place.x + place.width / 2);
    }
    y += height + LAYER_GAP;
  }
  for (const layer of layers) {
    for (const place of layer) place.x += MARGIN - left;
  }
  return { width: right - left + 2 * MARGIN, height: y - LAYER_GAP + MARGIN };
}

/** From the caller's edge to the callee's. @param {Place[]} chain
 * @param {boolean} turned */
function pathOf(chain, turned) {
  const last = chain.length - 1;
  const points = chain.map((place, i) => ({ x: place.x, y: i === 0
    ? place.y + place.height / 2 : i === last ? place.y - place.height / 2
      : place.y }));
  points[0].x += port(chain[0], chain[1], 'down');
  points[last].x += port(chain[last], chain[last - 1], 'up');
  return turned ? points.reverse() : points;
}

/** Edges leave a box side by side, in the order of where they go.
 * @param {Place} place @param {Place} other @param {'up' | 'down'} side */
function port(place, other, side) {
  const all = place[side].map((link) => link.to).sort((a, b) => a.x - b.x);
  const room = Math.min(place.width * 0.7, all.length * 22);
  const at = (all.indexOf(other) + 0.5) / all.length - 0.5;
  return at * room;
}
