// One flame graph: two canvases (boxes, and outlines above them), a window
// onto the tree, a selected and a hovered node.  It knows nothing of the rest
// of the page; what happens is told through the callbacks.

import { everyFrame, el, must, pictureShown, reducedMotion }
  from '../base/dom.js';
import { addGestures } from './gestures.js';
import { Mirror } from './mirror.js';
import { outlineAll } from './outline.js';
import { nodeUnder, paint, ROW, rowY } from './paint.js';
import { placeToSee, topToFit } from './reveal.js';
import { ScrollBar } from './scroll_bar.js';

/** @typedef {import('./tree.js').Tree} Tree */
/** @typedef {import('./tree.js').Layout} Layout */
/** @typedef {import('./paint.js').Window} Window */
/** @typedef {import('./paint.js').Look} Look */

/**
 * @typedef {object} IcicleEvents
 * @property {(node: number) => void} hover  -1: nothing is
 * @property {(node: number) => void} select
 * @property {() => void} moved              the window changed
 * @property {() => void} leads              so must those that go with it
 * @property {() => void} remembers          there is a step back more
 * @property {(node: number, x: number, y: number) => void} menu
 * @property {(node: number) => string} describe for screen readers
 */

const FONT = '12px system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const ZOOM_MS = 160;

export class Icicle {
  /** @param {IcicleEvents} events @param {string} label */
  constructor(events, label) {
    this.events = events;
    this.boxes = el('canvas', { 'aria-hidden': 'true' });
    this.lines = el('canvas', { class: 'overlay', 'aria-hidden': 'true' });
    this.mirror = new Mirror();
    this.bar = new ScrollBar((top) => this.scrollTo(top));
    this.element = el('div', { class: 'icicle', tabindex: '0', role: 'tree',
      'aria-label': label }, this.boxes, this.lines, this.bar.element,
    this.mirror.element);
    /** @type {Tree | null} */
    this.tree = null;
    /** @type {Layout} */
    this.layout = { start: new Float64Array(0), weight: new Float64Array(0) };
    /** @type {Look | null} */
    this.look = null;
    /** @type {Window} */
    this.win = { from: 0, to: 1, top: 0, width: 0, height: 0 };
    this.selected = -1;
    this.hovered = -1;
    /** Outlined wherever it appears, -1 for none. */
    this.hoveredSource = -1;
    this.selectedSource = -1;
    /** @type {number[]} windows to go back to, [from, to, top] each */
    this.history = [];
    /** What the window was fitted to, -1 after any other move. */
    this.zoomNode = -1;
    this.seen = { boxes: 0, thin: 0 };
    /** Of script, for the last picture: what bench/ measures. */
    this.lastFrameMs = 0;
    this.animation = 0;
    this.hasLines = false;
    this.redraw = everyFrame(() => this.drawBoxes());
    this.redrawLines = everyFrame(() => this.drawLines());
    this.element.addEventListener('focus', () => this.onFocus());
    addGestures(this);
    new ResizeObserver(() => {
      const { clientWidth, clientHeight } = this.element;
      if (clientWidth !== this.win.width || clientHeight !== this.win.height) {
        this.resize();
      }
    }).observe(this.element);
  }

  /** @param {Tree} tree @param {Layout} layout @param {Look} look */
  show(tree, layout, look) {
    this.tree = tree;
    this.layout = layout;
    this.look = look;
    this.selected = this.hovered = this.hoveredSource = -1;
    this.selectedSource = -1;
    this.history = [];
    this.zoomNode = -1;
    cancelAnimationFrame(this.animation);
    Object.assign(this.win, { from: 0, to: this.whole(), top: 0 });
    this.resize();
    void pictureShown().then(() => this.showMirror());
  }

  /** What a screen reader reads: the selected frame and those around it. */
  showMirror() {
    if (!this.tree) return;
    this.mirror.show(this.tree, Math.max(0, this.selected),
      this.events.describe, this.element);
  }

  /** New colours on the same tree. @param {Look} look */
  recolor(look) {
    this.look = look;
    this.redraw();
  }

  whole() {
    return this.layout.weight[0] || 1;
  }

  resize() {
    const { clientWidth, clientHeight } = this.element;
    const ratio = devicePixelRatio || 1;
    this.win.width = clientWidth;
    this.win.height = clientHeight;
    for (const canvas of [this.boxes, this.lines]) {
      const width = Math.round(clientWidth * ratio);
      const height = Math.round(clientHeight * ratio);
      if (canvas.width !== width || canvas.height !== height) {
        canvas.width = width;
        canvas.height = height;
      }
    }
    this.clamp(this.win.from, this.win.to, this.win.top);
    // At once: a resized canvas is blank until it is painted.
    this.drawBoxes();
  }

  /** For paper, instead of those that fit the window. @param {boolean} all */
  showAllRows(all) {
    this.element.style.flex = all ? 'none' : '';
    this.element.style.height = all ? `${this.contentHeight()}px` : '';
    this.resize();
  }

  /** @param {HTMLCanvasElement} canvas */
  contextOf(canvas) {
    const context = must(canvas.getContext('2d'), 'canvas');
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.scale(canvas.width / Math.max(1, this.win.width),
      canvas.height / Math.max(1, this.win.height));
    return context;
  }

  drawBoxes() {
    if (!this.tree || !this.look || this.win.width === 0) return;
    const began = performance.now();
    const context = this.contextOf(this.boxes);
    context.font = FONT;
    this.seen = paint(context, this.tree, this.layout, this.win, this.look);
    this.drawLines();
    this.moveBar();
    this.events.moved();
    this.lastFrameMs = performance.now() - began;
  }

  drawLines() {
    const { tree, look, win } = this;
    if (!tree || !look || win.width === 0) return;
    const some = Math.max(this.selected, this.hovered, this.selectedSource,
      this.hoveredSource) >= 0;
    // A canvas that nobody has drawn on costs nothing.
    if (!some && !this.hasLines) return;
    this.hasLines = some;
    const context = this.contextOf(this.lines);
    outlineAll(context, this, tree, look);
  }

  /** The part of the rows that is visible, as a thumb at the right edge. */
  moveBar() {
    this.bar.show(this.contentHeight(), this.win.height, this.win.top,
      this.look?.up ?? false);
  }

  /** @param {number} top */
  scrollTo(top) {
    cancelAnimationFrame(this.animation);
    this.setWindow(this.win.from, this.win.to, top);
  }

  /** Where a box is in the window of the browser, as far as it is seen.
   * @param {number} node */
  placeOf(node) {
    const box = this.element.getBoundingClientRect();
    const { from, to, width, height } = this.win;
    const scale = width / (to - from);
    const left = Math.max(0, (this.layout.start[node] - from) * scale);
    const y = rowY(this.tree?.levelOf(node) ?? 0, this.win,
      this.look?.up ?? false);
    return { x: box.left + Math.min(width - 20, left + 12),
      y: box.top + Math.max(0, Math.min(height - ROW, y)) + ROW };
  }

  contentHeight() {
    return (this.tree ? this.tree.depth : 0) * ROW + ROW;
  }

  /** @param {number} from @param {number} to @param {number} top
   * @param {boolean} [alone] leads nobody */
  setWindow(from, to, top, alone = false) {
    this.clamp(from, to, top);
    this.redraw();
    if (!alone) this.events.leads();
  }

  /** Shows what another one shows.
   * @param {{from: number, to: number}} win @param {Icicle} leader */
  follow(win, leader) {
    cancelAnimationFrame(this.animation);
    this.zoomNode = leader.zoomNode;
    this.setWindow(win.from, win.to, leader.win.top, true);
  }

  /** To what there is. @param {number} from @param {number} to
   * @param {number} top */
  clamp(from, to, top) {
    const whole = this.whole();
    const span = Math.min(whole, Math.max(to - from, whole * 1e-9));
    this.win.from = Math.max(0, Math.min(from, whole - span));
    this.win.to = this.win.from + span;
    this.win.top = Math.max(0, Math.min(top,
      this.contentHeight() - this.win.height));
  }

  /** Moves there smoothly, unless motion is unwelcome.
   * @param {number} from @param {number} to @param {number} top
   * @param {boolean} [alone] leads nobody */
  glideTo(from, to, top, alone = false) {
    cancelAnimationFrame(this.animation);
    if (reducedMotion()) {
      this.setWindow(from, to, top, alone);
      return;
    }
    const was = { ...this.win };
    const began = performance.now();
    const step = () => {
      const part = Math.min(1, (performance.now() - began) / ZOOM_MS);
      const eased = 1 - (1 - part) ** 3;
      const between = (/** @type {number} */ a, /** @type {number} */ b) =>
        part === 1 ? b : a + (b - a) * eased;
      this.setWindow(between(was.from, from), between(was.to, to),
        between(was.top, top), alone);
      if (part < 1) this.animation = requestAnimationFrame(step);
    };
    step();
  }

  /** Keeps this window to come back to. */
  remember() {
    this.keepWindow();
    this.events.remembers();
  }

  keepWindow() {
    this.history.push(this.win.from, this.win.to, this.win.top);
  }

  /** Fits a node to the width. @param {number} node @param {boolean} [now] */
  zoomTo(node, now = false) {
    if (!this.tree || node < 0) return;
    let box = node; // one that is not on this side has no width to fit
    while (box > 0 && this.layout.weight[box] === 0) {
      box = this.tree.parent[box];
    }
    const from = this.layout.start[box];
    const to = from + this.layout.weight[box];
    const top = topToFit(this.tree, this.win, node);
    this.remember();
    this.zoomNode = node;
    if (now) this.setWindow(from, to, top);
    else this.glideTo(from, to, top);
  }

  /** Zooms by a factor around a point. @param {number} x @param {number} by */
  zoomAt(x, by) {
    const { from, to, width, top } = this.win;
    const at = from + x / width * (to - from);
    cancelAnimationFrame(this.animation);
    this.zoomNode = -1;
    this.setWindow(at - (at - from) * by, at + (to - at) * by, top);
  }

  /** @param {number} dx pixels @param {number} dy */
  panBy(dx, dy) {
    const { from, to, width, top } = this.win;
    const move = dx / width * (to - from);
    cancelAnimationFrame(this.animation);
    if (move !== 0) this.zoomNode = -1;
    this.setWindow(from + move, to + move,
      top + (this.look?.up ? -dy : dy));
  }

  /** Back to the window before the last zoom; false if there is none.  Who
   * goes with it has one of its own to go back to. */
  back() {
    if (this.history.length === 0 && !this.isZoomed()) return false;
    const [from, to, top] = this.history.length
      ? this.history.splice(-3) : [0, this.whole(), 0];
    this.zoomNode = -1;
    this.glideTo(from, to, top, true);
    return true;
  }

  fitAll() {
    this.remember();
    this.zoomNode = -1;
    this.glideTo(0, this.whole(), 0);
  }

  isZoomed() {
    return this.win.to - this.win.from < this.whole() * (1 - 1e-9);
  }

  /** @param {number} x @param {number} y */
  nodeAt(x, y) {
    return this.tree && this.look ? nodeUnder(this.tree, this.layout, this.win,
      x, y, this.look.up) : -1;
  }

  /** @param {number} node */
  hover(node) {
    if (node === this.hovered) return;
    this.hovered = node;
    this.events.hover(node);
    this.redrawLines();
  }

  /** @param {number} node @param {boolean} [reveal] bring it into the window */
  select(node, reveal = false) {
    this.selected = node;
    if (this.tree && node >= 0) {
      this.showMirror();
      if (reveal) this.reveal(node);
    }
    this.redrawLines();
  }

  /** Brings a node into the window. @param {number} node */
  reveal(node) {
    const place = this.tree && placeToSee(this.tree, this.layout, this.win,
      node);
    if (place) this.glideTo(place.from, place.to, place.top);
  }

  onFocus() {
    if (this.selected < 0) this.showMirror();
  }
}
