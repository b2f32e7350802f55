// Draws the boxes of a tree on a canvas.  The cost goes with the pixels, not
// with the frames: each row starts with a binary search for the first visible
// box, and boxes narrower than half a pixel are jumped over by another one
// and painted as one grey sliver.  What was jumped over is counted, so that
// the page can say what it does not show in full.

/** @typedef {import('./tree.js').Tree} Tree */
/** @typedef {import('./tree.js').Layout} Layout */
/** @typedef {import('./colors.js').Theme} Theme */

export const ROW = 20;
const THIN = 0.5; // narrower boxes become slivers, in pixels
const TEXT_FROM = 28; // narrower boxes carry no text, in pixels
const PAD = 5;

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
 * sliver(x, width, count) for each run of those that are not.
 * @param {Tree} tree @param {Layout} layout @param {number} level
 * @param {Window} win
 * @param {(node: number, x: number, width: number) => void} box
 * @param {(x: number, width: number, count: number) => void} sliver
 */
export function walkRow(tree, layout, level, win, box, sliver) {
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

/**
 * Paints all visible rows; how many boxes and frames in slivers there were.
 * @param {CanvasRenderingContext2D} context in CSS pixels
 * @param {Tree} tree @param {Layout} layout @param {Window} win
 * @param {Look} look
 */
export function paint(context, tree, layout, win, look) {
  const seen = { boxes: 0, thin: 0 };
  const { theme, up } = look;
  /** @type {[number, number, number, number][]} */
  const texts = []; // node, x, width, y: all texts after all boxes
  context.textBaseline = 'middle';
  let fill = '';
  for (let level = 0; level < tree.depth; level++) {
    const y = rowY(level, win, up);
    if (y + ROW <= 0 || y >= win.height) continue;
    walkRow(tree, layout, level, win, (node, x, width) => {
      seen.boxes++;
      const left = Math.max(0, x);
      const right = Math.min(win.width, x + width);
      // A gap between neighbours, unless it would eat the box.
      const gap = width > 3 ? 1 : width > 1.5 ? 0.5 : 0;
      const color = look.fill(node);
      if (color !== fill) context.fillStyle = fill = color;
      context.fillRect(left, y, right - left - gap, ROW - 1);
      if (look.bar) {
        const bar = look.bar(node);
        if (bar.share > 0) {
          context.fillStyle = fill = bar.color;
          context.fillRect(left, y, (right - left - gap) * bar.share, ROW - 1);
        }
      }
      if (right - left >= TEXT_FROM) texts.push([node, left, right - left, y]);
    }, (x, width, count) => {
      seen.thin += count;
      if (fill !== theme.sliver) context.fillStyle = fill = theme.sliver;
      context.fillRect(x, y, Math.max(width, 1), ROW - 1);
    });
  }
  for (const [node, x, width, y] of texts) {
    const text = fit(context, look.label(node), width - 2 * PAD);
    if (text === '') continue;
    const ink = look.ink(node);
    if (ink !== fill) context.fillStyle = fill = ink;
    context.fillText(text, x + PAD, y + ROW / 2);
  }
  return seen;
}

/** @type {Map<string, number>} width of each text in the canvas font */
const widths = new Map();

/** @param {CanvasRenderingContext2D} context @param {string} text */
function widthOf(context, text) {
  let width = widths.get(text);
  if (width === undefined) {
    if (widths.size > 20000) widths.clear();
    width = context.measureText(text).width;
    widths.set(text, width);
  }
  return width;
}

/**
 * The name as far as it fits: whole, or its last parts, or cut with an
 * ellipsis, or nothing.
 * @param {CanvasRenderingContext2D} context @param {string} name
 * @param {number} room
 */
export function fit(context, name, room) {
  if (room <= 0) return '';
  const width = widthOf(context, name);
  if (width <= room) return name;
  const suffix = shorter(name);
  if (suffix !== name && widthOf(context, suffix) <= room) return suffix;
  // Letters are about equally wide: guess from the average, then go back.
  let keep = Math.floor(suffix.length * (room - 9) /
    widthOf(context, suffix));
  while (keep > 0 && context.measureText(suffix.slice(0, keep)).width >
    room - 9) keep--;
  return keep < 2 ? '' : `${suffix.slice(0, keep)}…`;
}

/** What is behind the last "::" or "." or "/" outside of brackets; what a
 * compiler appends (".part.0") is no part of a name.
 * @param {string} name */
function shorter(name) {
  const open = name.search(/[<([]|\.(part|isra|constprop|cold|lto_priv)\b/);
  const head = open > 0 ? name.slice(0, open) : name;
  const at = Math.max(head.lastIndexOf('::') + 1, head.lastIndexOf('.'),
    head.lastIndexOf('/'));
  return at > 0 && at < name.length - 1 ? name.slice(at + 1) : name;
}

/** Forget the text widths: the font changed. */
export function forgetWidths() {
  widths.clear();
}
