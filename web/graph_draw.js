// The call graph as SVG elements: boxes with the text of `pprof -dot`, curved
// edges as thick as their weight.

import { svg } from './dom.js';
import { reportPercent } from './numbers.js';

/**
 * @typedef {object} GraphNode
 * @property {number} id
 * @property {string} name
 * @property {string} function
 * @property {string[]} lines
 * @property {number} flat
 * @property {number} cum
 * @property {string} flat_text
 * @property {string} cum_text
 * @property {{name: string, weight: number, text: string, parent: number,
 *   dotted: boolean}[]} tags
 */
/** @typedef {{from: number, to: number, weight: number, text: string,
 *   residual: boolean, inline: boolean}} GraphEdge */
/** @typedef {{total: number, nodes: GraphNode[], edges: GraphEdge[],
 *   candidates: number}} GraphData */

const SMALL = 11; // the numbers, and the least size of a name
const LARGE = 19;
const TAG_SIZE = 10;
const PAD = 9;
const LABEL_DISTANCE = 28;
const MINOR = 0.02; // share of an edge whose number is printed small

/** @type {CanvasRenderingContext2D | null} */
let ruler = null;

/** @param {string} text @param {number} size @param {boolean} bold */
function widthOf(text, size, bold) {
  ruler ??= document.createElement('canvas').getContext('2d');
  if (!ruler) return text.length * size * 0.6;
  ruler.font = `${bold ? '600 ' : ''}${size}px system-ui, sans-serif`;
  return ruler.measureText(text).width;
}

/** What a box says: the name, its own value, and the value with callees.
 * @param {GraphNode} node @param {number} total */
export function linesOf(node, total) {
  const own = node.flat === 0 ? '0'
    : `${node.flat_text} (${reportPercent(node.flat, total)})`;
  const all = `of ${node.cum_text} (${reportPercent(node.cum, total)})`;
  if (node.cum === node.flat) return [own];
  return node.flat === 0 ? [`${own} ${all}`] : [own, all];
}

/** Several labels of one sample come as -dot writes them: with its sign for a
 * new line in between.
 * @param {GraphNode['tags'][number]} tag */
function tagLine(tag) {
  const name = tag.name.replaceAll('\\n', ', ');
  return `${tag.parent >= 0 ? '   ' : ''}${name}  ${tag.text}`;
}

/** @param {GraphNode} node @param {GraphData} graph @param {number} mostFlat */
export function measureNode(node, graph, mostFlat) {
  const size = Math.round(SMALL + (LARGE - SMALL) *
    Math.sqrt(Math.abs(node.flat) / (mostFlat || 1)));
  const numbers = linesOf(node, graph.total);
  const tags = node.tags.map(tagLine);
  const widest = Math.max(
    ...node.lines.map((line) => widthOf(line, size, true)),
    ...numbers.map((line) => widthOf(line, SMALL, false)),
    ...tags.map((line) => widthOf(line, TAG_SIZE, false)));
  const height = node.lines.length * size * 1.22 + numbers.length * SMALL *
    1.35 + (tags.length > 0 ? tags.length * TAG_SIZE * 1.4 + 6 : 0) + 2 * PAD;
  return { width: Math.ceil(widest) + 2 * PAD, height: Math.ceil(height), size,
    numbers, tags };
}

/** How warm a box is, -1 .. 1. @param {number} value @param {number} total */
function heat(value, total) {
  const share = total === 0 ? 0 : value / Math.abs(total);
  return Math.sign(share) * Math.min(1, Math.abs(share)) ** 0.5;
}

/** A colour between a plain one and orange or blue, through CSS variables.
 * @param {number} warmth @param {number} most percent @param {string} plain */
function mix(warmth, most, plain = 'var(--node)') {
  const aim = warmth < 0 ? 'var(--less)' : 'var(--more)';
  return `color-mix(in srgb, ${aim} ${Math.round(Math.abs(warmth) * most)}%, ` +
    `${plain})`;
}

/**
 * @param {GraphNode} node @param {ReturnType<typeof measureNode>} box
 * @param {{x: number, y: number}} place @param {number} total
 */
export function nodeElement(node, box, place, total) {
  const left = -box.width / 2;
  let y = -box.height / 2 + PAD;
  const text = (/** @type {string} */ line, /** @type {number} */ size,
    /** @type {string} */ name, /** @type {number} */ leading) => {
    y += size * leading;
    return svg('text', { class: name, y: y - size * (leading - 0.95),
      style: { fontSize: `${size}px` } }, `${line} `); // read as words
  };
  const warmth = heat(node.cum, total);
  const rect = svg('rect', { x: left, y: -box.height / 2, width: box.width,
    height: box.height, rx: 6, style: { fill: mix(warmth, 42),
      stroke: mix(warmth, 100, 'var(--edge)') } });
  const parts = [
    ...node.lines.map((line) => text(line, box.size, 'node-name', 1.22)),
    ...box.numbers.map((line) => text(line, SMALL, 'node-number', 1.35)),
  ];
  if (box.tags.length > 0) y += 6;
  parts.push(...box.tags.map((line) => text(line, TAG_SIZE, 'node-tag', 1.4)));
  return svg('g', { class: 'node', tabindex: '-1', role: 'treeitem',
    'data-id': node.id, transform: `translate(${place.x} ${place.y})` },
  rect, ...parts);
}

/** A curve through the points that leaves and arrives upright.
 * @param {{x: number, y: number}[]} points */
function curve(points) {
  let d = `M${points[0].x} ${points[0].y}`;
  for (let i = 1; i < points.length; i++) {
    const a = points[i - 1];
    const b = points[i];
    const bend = (b.y - a.y) * 0.5;
    d += `C${a.x} ${a.y + bend} ${b.x} ${b.y - bend} ${b.x} ${b.y}`;
  }
  return d;
}

/** A loop at the right side of a box.
 * @param {{x: number, y: number, width: number}} place */
function loop(place) {
  const x = place.x + place.width / 2;
  return `M${x} ${place.y - 8}C${x + 34} ${place.y - 22} ${x + 34} ${
    place.y + 22} ${x + 6} ${place.y + 8}`;
}

/**
 * @param {GraphEdge} edge @param {{x: number, y: number}[]} points
 * @param {{x: number, y: number, width: number, height: number}} from
 * @param {number} total
 */
export function edgeElement(edge, points, from, total) {
  const share = total === 0 ? 0 : Math.abs(edge.weight / total);
  const width = 1 + 6 * Math.min(1, share);
  const isLoop = points.length === 0;
  const end = isLoop ? { x: from.x + from.width / 2 + 6, y: from.y + 8 }
    : points[points.length - 1];
  const color = mix(heat(edge.weight, total), 100, 'var(--edge)');
  const head = 4 + width;
  const down = isLoop ? 0
    : end.y >= points[points.length - 2].y ? 1 : -1;
  // A copy: the line ends where the arrow's head begins.
  const line = points.map((point) => ({ ...point }));
  if (!isLoop) line[line.length - 1].y -= head * down;
  const tip = isLoop ? `M${end.x - 6} ${end.y}l${head} ${-head / 2}v${head}Z`
    : `M${end.x} ${end.y}l${-head / 2} ${-head * down}h${head}Z`;
  const middle = isLoop ? { x: end.x + 26, y: from.y }
    : labelPlace(points);
  const ends = { 'data-from': edge.from, 'data-to': edge.to };
  const arrow = svg('g', { class: 'edge', ...ends },
    svg('path', { d: isLoop ? loop(from) : curve(line),
      class: edge.residual ? 'line residual' : 'line',
      style: { stroke: color, strokeWidth: `${width}px` } }),
    svg('path', { d: tip, style: { fill: color } }));
  const text = svg('text', { x: middle.x + 3 + width / 2, y: middle.y + 4,
    class: `edge edge-text ${share < MINOR ? 'minor' : ''}`, ...ends },
  edge.text + (edge.inline ? ' (inline)' : ''));
  return { arrow, text };
}

/** On the curve, in the gap next to the first box.
 * @param {{x: number, y: number}[]} points */
function labelPlace([a, b]) {
  const dy = b.y - a.y;
  const t = Math.min(0.5, LABEL_DISTANCE / Math.max(1, Math.abs(dy)));
  return { x: a.x + (b.x - a.x) * t * t * (3 - 2 * t), y: a.y + dy * t };
}
