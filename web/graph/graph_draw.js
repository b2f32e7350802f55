// The call graph as SVG elements: boxes with the text of `pprof -dot`, curved
// edges as thick as their weight.

import { svg } from '../base/dom.js';
import { reportPercent } from '../base/numbers.js';

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
/** @typedef {import('./edge_labels.js').Point} Point */
/** @typedef {import('./edge_labels.js').Box} Box */

const SMALL = 11; // the numbers, and the least size of a name
const LARGE = 19;
const TAG_SIZE = 10;
const PAD = 9;
const EDGE_TEXT = 10.5; // as in the style
const EDGE_TEXT_MINOR = 8.5;
const LOOP = 34; // pixels that a loop reaches beyond its box
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
 * @param {Point[]} points */
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
  return `M${x} ${place.y - 8}C${x + LOOP} ${place.y - 22} ${x + LOOP} ${
    place.y + 22} ${x + 6} ${place.y + 8}`;
}

/** @param {GraphEdge} edge @param {number} total */
function shareOf(edge, total) {
  return total === 0 ? 0 : Math.abs(edge.weight / total);
}

/** @param {GraphEdge} edge */
function edgeText(edge) {
  return edge.text + (edge.inline ? ' (inline)' : '');
}

/** @param {number} share */
function strokeOf(share) {
  return 1 + 6 * Math.min(1, share);
}

/** What the number of an edge needs, to be placed. @param {GraphEdge} edge
 * @param {Point[]} points none for a loop @param {Box} from
 * @param {number} total @returns {import('./edge_labels.js').Label} */
export function measureLabel(edge, points, from, total) {
  const share = shareOf(edge, total);
  const size = share < MINOR ? EDGE_TEXT_MINOR : EDGE_TEXT;
  const width = widthOf(edgeText(edge), size, false);
  const beside = from.x + (from.width + width) / 2 + LOOP;
  return { width, height: size * 1.15, stroke: strokeOf(share),
    heavy: share >= MINOR,
    points: points.length > 0 ? points : [{ x: beside, y: from.y }] };
}

/**
 * @param {GraphEdge} edge @param {Point[]} points none for a loop
 * @param {Box} from @param {Box} label of its number
 * @param {number} total
 */
export function edgeElement(edge, points, from, label, total) {
  const share = shareOf(edge, total);
  const width = strokeOf(share);
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
  const ends = { 'data-from': edge.from, 'data-to': edge.to };
  const arrow = svg('g', { class: 'edge', ...ends },
    svg('path', { d: isLoop ? loop(from) : curve(line),
      class: edge.residual ? 'line residual' : 'line',
      style: { stroke: color, strokeWidth: `${width}px` } }),
    svg('path', { d: tip, style: { fill: color } }));
  const text = svg('text', { x: label.x, y: label.y + label.height * 0.32,
    class: `edge edge-text ${share < MINOR ? 'minor' : ''}`, ...ends },
  edgeText(edge));
  return { arrow, text };
}
