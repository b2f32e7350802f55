// Pieces around the flame graph: the path to a frame, the colours' legend,
// and the bar between the two panes.

import { el, whenQuiet } from '../base/dom.js';
import { recall, remember } from '../base/memory.js';
import { percentText } from '../base/numbers.js';
import { changeColor, colorOf, theme } from './colors.js';
import { OVERLAY_STRENGTH } from './look.js';

/** @typedef {import('./tree.js').Tree} Tree */

const LEAST_WIDTH = 180;
const FIT_MS = 80; // measuring must not delay the first picture

/** The frames from the root to one, each a way back. */
export class Breadcrumb {
  /** @param {(node: number) => void} open */
  constructor(open) {
    this.open = open;
    /** @type {Tree | null} */
    this.tree = null;
    this.node = -1;
    this.list = el('ol');
    this.element = el('nav', { class: 'crumbs', 'aria-label': 'Path' },
      this.list);
    // The end of the path is seen; where the rest is cut off, it fades.
    this.fit = whenQuiet(FIT_MS, () => this.element.classList.toggle('cut',
      this.element.scrollWidth > this.element.clientWidth));
    new ResizeObserver(this.fit).observe(this.element);
  }

  /** @param {Tree} tree @param {number} node @param {string} rootLabel */
  show(tree, node, rootLabel) {
    if (tree === this.tree && node === this.node) return;
    this.tree = tree;
    this.node = node;
    const path = tree.pathOf(node);
    this.list.replaceChildren(...path.map((step, i) => el('li', {},
      el('button', { class: 'crumb', title: tree.name(step),
        'aria-current': i === path.length - 1 ? 'true' : null,
        onclick: () => this.open(step) },
      step === 0 ? rootLabel : tree.display(step)))));
    this.fit();
  }
}

/** The hues and what they stand for; choosing one dims all others.  What does
 * not fit in a line is behind a button. */
export class Legend {
  /** @param {(group: number) => void} choose -1: none */
  constructor(choose) {
    this.choose = choose;
    this.chosen = -1;
    this.list = el('div', { class: 'legend-list' });
    this.more = el('button', { class: 'quiet legend-more', hidden: true,
      onclick: () => this.open(!this.element.classList.contains('open')) });
    this.element = el('div', { class: 'legend', role: 'group',
      'aria-label': 'Colours' }, this.list, this.more);
    this.fit = whenQuiet(FIT_MS, () => this.count());
    // Also when the button takes room from it.
    new ResizeObserver(this.fit).observe(this.list);
  }

  /** How many entries are beyond the first line? */
  count() {
    const [first, ...others] = /** @type {HTMLElement[]} */ (
      [...this.list.children]);
    const hidden = others.filter((entry) =>
      entry.offsetTop > first.offsetTop).length;
    const isOpen = this.element.classList.contains('open');
    this.more.hidden = hidden === 0;
    this.more.textContent = isOpen ? 'Fewer' : `${hidden} more`;
    this.more.setAttribute('aria-expanded', String(isOpen));
    // Not reached by the keys while they cannot be seen.
    for (const entry of others) {
      entry.classList.toggle('beyond', !isOpen &&
        entry.offsetTop > first.offsetTop);
    }
  }

  /** @param {boolean} isOpen */
  open(isOpen) {
    this.element.classList.toggle('open', isOpen);
    this.count();
  }

  /** @param {import('./colors.js').Coloring} coloring @param {number} whole
   * @param {string} what such as "package" */
  show(coloring, whole, what) {
    const t = theme();
    this.chosen = -1;
    this.list.replaceChildren(...coloring.legend.map((entry) =>
      el('button', { class: 'legend-entry', 'aria-pressed': 'false',
        disabled: entry.group < 0,
        title: `${entry.name}: ${percentText(entry.self, whole)} flat`,
        'data-group': entry.group,
        onclick: () => this.toggle(entry.group) },
      entry.group < 0 ? null : swatch(colorOf(entry.name, entry.name, t)),
      el('span', { class: 'legend-name' }, entry.name || `(no ${what})`),
      el('span', { class: 'muted' }, percentText(entry.self, whole)))));
    this.fit();
  }

  /** The same for a difference: the colours that the boxes have.
   * @param {import('./look.js').DiffMode} mode */
  showChange(mode) {
    const t = theme();
    const strength = mode === 'overlay' ? OVERLAY_STRENGTH : 1;
    /** @type {[number, string][]} */
    const kinds = [[-strength, 'less than before'], [0, 'as before'],
      [strength, 'more than before']];
    this.chosen = -1;
    this.list.replaceChildren(...kinds.map(([change, text]) => el('span',
      { class: 'legend-entry' }, swatch(changeColor(change, t)), text)));
    this.fit();
  }

  /** For pictures: the colours and what they stand for. */
  entries() {
    return [...this.list.children].map((entry) => ({
      color: /** @type {HTMLElement | null} */ (
        entry.querySelector('.swatch'))?.style.background ?? '',
      text: [...entry.childNodes].map((part) => part.textContent)
        .filter(Boolean).join(' ') })).filter(({ color }) => color !== '');
  }

  /** @param {number} group */
  toggle(group) {
    this.chosen = this.chosen === group ? -1 : group;
    for (const button of this.list.querySelectorAll('button')) {
      button.setAttribute('aria-pressed', String(
        button.getAttribute('data-group') === String(this.chosen)));
    }
    this.choose(this.chosen);
  }
}

/** @param {string} background */
function swatch(background) {
  return el('span', { class: 'swatch', style: { background } });
}

/**
 * A bar to drag, or to move with the arrow keys, that sets the width of the
 * pane before it, or behind it.  The width is remembered.
 * @param {HTMLElement} pane @param {string} label
 * @param {string} memory where it is kept
 * @param {'before' | 'behind'} [side] where the pane is
 */
export function makeSplitter(pane, label, memory, side = 'before') {
  const bar = el('div', { class: 'splitter', role: 'separator', tabindex: '0',
    'aria-orientation': 'vertical', 'aria-label': label,
    'aria-valuenow': Number(recall(memory)) || LEAST_WIDTH,
    'aria-valuemin': LEAST_WIDTH });
  const set = (/** @type {number} */ width) => {
    const room = (pane.parentElement?.clientWidth ?? 0) - 200;
    const wanted = Math.round(Math.max(LEAST_WIDTH,
      Math.min(room, width)));
    pane.style.flexBasis = `${wanted}px`;
    bar.setAttribute('aria-valuenow', String(wanted));
    remember(memory, String(wanted));
  };
  if (Number(recall(memory)) >= LEAST_WIDTH) {
    pane.style.flexBasis = `min(${Number(recall(memory))}px, 70%)`;
  }
  bar.addEventListener('pointerdown', (event) => {
    event.preventDefault();
    bar.setPointerCapture(event.pointerId);
    const { left, right } = pane.getBoundingClientRect();
    const move = (/** @type {PointerEvent} */ e) => set(side === 'before'
      ? e.clientX - left : right - e.clientX);
    bar.addEventListener('pointermove', move);
    bar.addEventListener('lostpointercapture', () =>
      bar.removeEventListener('pointermove', move), { once: true });
  });
  bar.addEventListener('keydown', (event) => {
    const by = { ArrowLeft: -24, ArrowRight: 24 }[event.key];
    if (!by) return;
    event.preventDefault();
    set(pane.getBoundingClientRect().width + (side === 'before' ? by : -by));
  });
  return bar;
}
