// Pieces around the flame graph: the path to a frame, the colours' legend,
// and the bar between the two panes.

import { el } from './dom.js';
import { percentText } from './numbers.js';

/** @typedef {import('./tree.js').Tree} Tree */

const USUAL_WIDTH = 440; // of the table, as in views.css
const LEAST_WIDTH = 180;

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
    this.element.scrollLeft = this.element.scrollWidth;
  }
}

/** The hues and what they stand for; choosing one dims all others. */
export class Legend {
  /** @param {(group: number) => void} choose -1: none */
  constructor(choose) {
    this.choose = choose;
    this.chosen = -1;
    this.element = el('div', { class: 'legend', role: 'group',
      'aria-label': 'Colours' });
  }

  /** @param {import('./colors.js').Coloring} coloring @param {number} whole
   * @param {string} what such as "package" */
  show(coloring, whole, what) {
    this.chosen = -1;
    this.element.replaceChildren(...coloring.legend.map((entry) =>
      el('button', { class: 'legend-entry', 'aria-pressed': 'false',
        disabled: entry.group < 0,
        title: `${entry.name}: ${percentText(entry.self, whole)} self`,
        'data-group': entry.group,
        onclick: () => this.toggle(entry.group) },
      el('span', { class: `swatch hue${entry.hue}` }),
      el('span', { class: 'legend-name' }, entry.name || `(no ${what})`),
      el('span', { class: 'muted' }, percentText(entry.self, whole)))));
  }

  /** The same for a difference. */
  showChange() {
    this.chosen = -1;
    this.element.replaceChildren(
      ...[['less', 'less than before'], ['same', 'as before'],
        ['more', 'more than before']].map(([kind, text]) => el('span',
        { class: 'legend-entry' }, el('span', { class: `swatch ${kind}` }),
        text)));
  }

  /** @param {number} group */
  toggle(group) {
    this.chosen = this.chosen === group ? -1 : group;
    for (const button of this.element.querySelectorAll('button')) {
      button.setAttribute('aria-pressed', String(
        button.getAttribute('data-group') === String(this.chosen)));
    }
    this.choose(this.chosen);
  }
}

/**
 * A bar to drag, or to move with the arrow keys, that sets the width of the
 * element before it.
 * @param {HTMLElement} pane @param {string} label
 */
export function makeSplitter(pane, label) {
  const bar = el('div', { class: 'splitter', role: 'separator', tabindex: '0',
    'aria-orientation': 'vertical', 'aria-label': label,
    'aria-valuenow': USUAL_WIDTH, 'aria-valuemin': LEAST_WIDTH });
  const set = (/** @type {number} */ width) => {
    const room = (pane.parentElement?.clientWidth ?? 0) - 200;
    const wanted = Math.round(Math.max(LEAST_WIDTH,
      Math.min(room, width)));
    pane.style.flexBasis = `${wanted}px`;
    bar.setAttribute('aria-valuenow', String(wanted));
  };
  bar.addEventListener('pointerdown', (event) => {
    event.preventDefault();
    bar.setPointerCapture(event.pointerId);
    const left = pane.getBoundingClientRect().left;
    const move = (/** @type {PointerEvent} */ e) => set(e.clientX - left);
    bar.addEventListener('pointermove', move);
    bar.addEventListener('lostpointercapture', () =>
      bar.removeEventListener('pointermove', move), { once: true });
  });
  bar.addEventListener('keydown', (event) => {
    const by = { ArrowLeft: -24, ArrowRight: 24 }[event.key];
    if (by) set(pane.getBoundingClientRect().width + by);
  });
  return bar;
}
