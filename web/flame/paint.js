// Draws the boxes of a tree on a canvas.  The cost goes with the pixels, not
// with the frames: each row starts with a binary search for the first visible
// box, and boxes narrower than half a pixel are jumped over by another one
// and painted as one grey sliver.  What was jumped over is counted, so that
// the page can say what it does not show in full.  Hits of a search are never
// lost: they are painted last, at least two pixels wide.

import { shortenings } from './names.js';

/** @typedef {import('./tree.js').Tree} Tree */
/** @typedef {import('./tree.js').Layout} Layout */
/** @typedef {import('./colors.js').Theme} Theme */

export const ROW = 20;
const THIN = 0.5; // narrower boxes become slivers, in pixels
const TEXT_FROM = 28; // narrower boxes carry no text, in pixels
const PAD = 5;
const HIT_LEAST = 2; // pixels
const ELLIPSIS = 11; // pixels, and a little for what kerning adds

/**
 * @typedef {object} Window what part of the tree is shown
 * @property {number} from    value at the left edge
 * @property {number} to      value at the right edge
 * @property {number} top     pixels scrolled down
 * @property {number} width   pixels
 * @property {number} height  pixels
 */

/**
 * How boxes look.  `fill` gives the colour, `bar` a part of the box to paint
 * over it (in differences).
 * @typedef {object} Look
 * @property {(node: number) => string} fill
 * @property {(node: number) => string} ink
 * @property {((node: number) => {share: number, color: string}) | null} bar
 * @property {(node: number) => string} label
 * @property {Theme} theme
 * @property {boolean} up        rows grow upwards
 * @property {Uint32Array | null} hits how many nodes before each one, and in
 *   all, match the search; null without a search
 */

/** The first node of a row [low, high) that ends right of `value`.
 * @param {Layout} layout @param {number} low @param {number} high
 * @param {number} value */
export function firstVisible(layout, low, high, value) {
  const { start, weight } = layout;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (start[middle] + weight[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first node of a row [low, high) that starts at `value` or later.
 * @param {Float64Array} start @param {number} low @param {number} high
 * @param {number} value */
function firstFrom(start, low, high, value) {
  // Near by most of the time: gallop before halving.
  let step = 1;
  while (low + step < high && start[low + step] < value) step *= 2;
  high = Math.min(high, low + step);
  low += step >> 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (start[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Calls box(node, x, width) for each box of a level that is wide enough and
 * sliver(x, width, count) for each run of those that are not; piece(first,
 * end, x), if it is there, for the nodes of each half pixel of such a run.
 * @param {Tree} tree @param {Layout} layout @param {number} level
 * @param {Window} win
 * @param {(node: number, x: number, width: number) => void} box
 * @param {(x: number, width: number, count: number) => void} sliver
 * @param {((first: number, end: number, x: number) => void) | null} [piece]
 */
export function walkRow(tree, layout, level, win, box, sliver, piece) {
  const { start, weight } = layout;
  const end = tree.levelStart[level + 1];
  const scale = win.width / (win.to - win.from);
  let i = firstVisible(layout, tree.levelStart[level], end, win.from);
  let runX = 0;
  let runEnd = 0;
  let runCount = 0;
  while (i < end && start[i] < win.to) {
    const x = (start[i] - win.from) * scale;
    const width = weight[i] * scale;
    if (width >= THIN) {
      if (runCount > 0) sliver(runX, runEnd - runX, runCount);
      runCount = 0;
      box(i, x, width);
      i++;
      continue;
    }
    let next = firstFrom(start, i + 1, end, start[i] + THIN / scale);
    // Of those that begin within the half pixel, only the last can be wide.
    if (next > i + 1 && weight[next - 1] * scale >= THIN) next--;
    const last = next - 1;
    const to = (start[last] + weight[last] - win.from) * scale;
    if (runCount > 0 && x - runEnd > 1) {
      sliver(runX, runEnd - runX, runCount);
      runCount = 0;
    }
    if (runCount === 0) runX = x;
    runEnd = to;
    runCount += next - i;
    if (piece) piece(i, next, x);
    i = next;
  }
  if (runCount > 0) sliver(runX, runEnd - runX, runCount);
}

/** Where a level is on the canvas.
 * @param {number} level @param {Window} win @param {boolean} up */
export function rowY(level, win, up) {
  return up ? win.height - (level + 1) * ROW + win.top : level * ROW - win.top;
}

/** @param {number} y @param {Window} win @param {boolean} up */
export function levelAt(y, win, up) {
  return Math.floor((up ? win.height - y + win.top : y + win.top) / ROW);
}

/** The node under a point, or -1.
 * @param {Tree} tree @param {Layout} layout @param {Window} win
 * @param {number} x @param {number} y @param {boolean} up */
export function nodeUnder(tree, layout, win, x, y, up) {
  const level = levelAt(y, win, up);
  if (level < 0 || level >= tree.depth) return -1;
  const value = win.from + x / win.width * (win.to - win.from);
  const end = tree.levelStart[level + 1];
  const i = firstVisible(layout, tree.levelStart[level], end, value);
  return i < end && layout.start[i] <= value ? i : -1;
}

/** The hits that would be too thin to see, as [from, to, y]; those that touch
 * are one.  Set `y` before each row. @param {Uint32Array} hits */
export function hitFinder(hits) {
  /** @type {[number, number, number][]} */
  const marks = [];
  const mark = (/** @type {number} */ at) => {
    const x = Math.round(at);
    const last = marks[marks.length - 1];
    if (last && last[2] === finder.y && x <= last[1]) {
      last[1] = Math.max(last[1], x + HIT_LEAST);
    } else {
      marks.push([x, x + HIT_LEAST, finder.y]);
    }
  };
  const finder = {
    marks,
    y: 0,
    box: (/** @type {number} */ node, /** @type {number} */ x,
      /** @type {number} */ width) => {
      if (width < HIT_LEAST && hits[node + 1] > hits[node]) mark(x);
    },
    piece: (/** @type {number} */ first, /** @type {number} */ end,
      /** @type {number} */ x) => {
      if (hits[end] > hits[first]) mark(x);
    },
  };
  return finder;
}

/** Rectangles by colour: changing the colour of a canvas costs more than a
 * rectangle. */
class Rectangles {
  constructor() {
    /** @type {Map<string, number[]>} x, y, width of each */
    this.byColor = new Map();
  }

  /** @param {string} color @param {number} x @param {number} y
   * @param {number} width */
  add(color, x, y, width) {
    let list = this.byColor.get(color);
    if (!list) this.byColor.set(color, list = []);
    list.push(x, y, width);
  }

  /** @param {CanvasRenderingContext2D} context */
  paint(context) {
    for (const [color, list] of this.byColor) {
      context.fillStyle = color;
      for (let i = 0; i < list.length; i += 3) {
        context.fillRect(list[i], list[i + 1], list[i + 2], ROW - 1);
      }
    }
  }
}

/**
 * Paints all visible rows; how many boxes and frames in slivers there were.
 * @param {CanvasRenderingContext2D} context in CSS pixels
 * @param {Tree} tree @param {Layout} layout @param {Window} win
 * @param {Look} look
 */
export function paint(context, tree, layout, win, look) {
  const seen = { boxes: 0, thin: 0 };
  const { theme, up } = look;
  const boxes = new Rectangles();
  const above = new Rectangles(); // parts of boxes, and hits
  /** @type {[number, number, number, number][]} */
  const texts = []; // node, x, width, y
  let y = 0;
  const finder = look.hits && hitFinder(look.hits);
  const addBox = (/** @type {number} */ node, /** @type {number} */ x,
    /** @type {number} */ width) => {
    seen.boxes++;
    const left = Math.max(0, x);
    const right = Math.min(win.width, x + width);
    // A gap between neighbours, unless it would eat the box.
    const gap = width > 3 ? 1 : width > 1.5 ? 0.5 : 0;
    boxes.add(look.fill(node), left, y, right - left - gap);
    if (look.bar) {
      const { share, color } = look.bar(node);
      if (share > 0) above.add(color, left, y, (right - left - gap) * share);
    }
    if (right - left >= TEXT_FROM) texts.push([node, left, right - left, y]);
    finder?.box(node, x, width);
  };
  const addSliver = (/** @type {number} */ x, /** @type {number} */ width,
    /** @type {number} */ count) => {
    seen.thin += count;
    boxes.add(theme.sliver, x, y, Math.max(width, 1));
  };
  for (let level = 0; level < tree.depth; level++) {
    y = rowY(level, win, up);
    if (y + ROW <= 0 || y >= win.height) continue;
    if (finder) finder.y = y;
    walkRow(tree, layout, level, win, addBox, addSliver, finder?.piece);
  }
  for (const [x, end, at] of finder?.marks ?? []) {
    above.add(theme.match, x, at, end - x);
  }
  boxes.paint(context);
  above.paint(context);
  paintTexts(context, texts, look);
  return seen;
}

/** @param {CanvasRenderingContext2D} context
 * @param {[number, number, number, number][]} texts @param {Look} look */
function paintTexts(context, texts, look) {
  let ink = '';
  context.textBaseline = 'middle';
  for (const [node, x, width, y] of texts) {
    const text = fit(context, look.label(node), width - 2 * PAD);
    if (text === '') continue;
    const color = look.ink(node);
    if (color !== ink) context.fillStyle = ink = color;
    context.fillText(text, x + PAD, y + ROW / 2);
  }
}

/** @type {Map<string, number>} widths of texts beyond ASCII */
const foreign = new Map();
/** Of each letter of ASCII in the canvas font; 0: not measured yet. */
const letters = new Float64Array(128);

/** The sum of the letters, up to kerning: asking the browser for each text
 * would take most of the time of a picture.
 * @param {CanvasRenderingContext2D} context @param {string} text */
function widthOf(context, text) {
  let sum = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 128) return foreignWidth(context, text);
    if (letters[code] === 0) {
      letters[code] = context.measureText(text[i]).width || 0.01;
    }
    sum += letters[code];
  }
  return sum;
}

/** @param {CanvasRenderingContext2D} context @param {string} text */
function foreignWidth(context, text) {
  let width = foreign.get(text);
  if (width === undefined) {
    if (foreign.size > 20000) foreign.clear();
    width = context.measureText(text).width;
    foreign.set(text, width);
  }
  return width;
}

/**
 * @typedef {object} Measured a name, its shorter forms, and how wide they are
 * @property {string[]} forms
 * @property {number[]} widths
 * @property {number} room   that the last cut was made for
 * @property {string} cut
 */

/** @type {Map<string, Measured>} */
const measured = new Map();

/** @param {CanvasRenderingContext2D} context @param {string} name */
function measure(context, name) {
  let known = measured.get(name);
  if (!known) {
    if (measured.size > 50000) measured.clear();
    const forms = shortenings(name);
    known = { forms, widths: forms.map((form) => widthOf(context, form)),
      room: -1, cut: '' };
    measured.set(name, known);
  }
  return known;
}

/** The last form with an ellipsis, as far as it fits.
 * @param {CanvasRenderingContext2D} context @param {Measured} known
 * @param {number} room */
function cutOff(context, known, room) {
  const last = known.forms[known.forms.length - 1] ?? '';
  const width = known.widths[known.widths.length - 1];
  // Letters are about equally wide: guess from the average, then go back.
  let keep = Math.floor(last.length * (room - ELLIPSIS) / width);
  while (keep > 0 && widthOf(context, last.slice(0, keep)) >
    room - ELLIPSIS) keep--;
  return keep < 2 ? '' : `${last.slice(0, keep)}…`;
}

/**
 * The name as far as it fits: whole, or without its first parts, or the
 * shortest form cut with an ellipsis, or nothing.
 * @param {CanvasRenderingContext2D} context @param {string} name
 * @param {number} room
 */
export function fit(context, name, room) {
  if (room <= 0) return '';
  const known = measure(context, name);
  const { forms, widths } = known;
  for (let i = 0; i < forms.length; i++) {
    if (widths[i] <= room) return forms[i];
  }
  if (known.room !== room) {
    known.cut = cutOff(context, known, room);
    known.room = room;
  }
  return known.cut;
}
