// What the inspector says about a function.  Callers and callees come from the
// call tree at once; code and labels are asked for when their part is open.

import { el } from '../base/dom.js';
import { recall, remember } from '../base/memory.js';
import { percentText, valueText } from '../base/numbers.js';
import { exactly } from '../base/search.js';
import { PLACE_WORDS } from '../base/state.js';
import { addFilter, labelFilter } from '../shell/filters.js';
import { fillAssembly, fillSource } from './code_part.js';
import { surroundings } from './neighbours.js';

/** @typedef {import('./inspector.js').Inspector} Inspector */
/** @typedef {import('./neighbours.js').Neighbour} Neighbour */
/** @typedef {import('./neighbours.js').Surroundings} Surroundings */

const MOST_ROWS = 12; // of callers, callees, and values of a label

export class Contents {
  /** @param {Inspector} inspector */
  constructor(inspector) {
    this.inspector = inspector;
    this.app = inspector.app;
    this.body = inspector.body;
    this.turn = 0;
  }

  /** Another function, or none, is selected. */
  leave() {
    this.turn++;
  }

  /** @param {string} name of a function */
  async draw(name) {
    const { app, body } = this;
    const turn = ++this.turn;
    try {
      const flame = await app.data.flame(app.state.dataQuery());
      if (turn !== this.turn) return;
      const around = surroundings(flame.tree, name);
      const { scale, unit, total } = flame.header;
      this.measure = { scale, unit, wish: app.state.get('unit') };
      this.whole = total;
      this.hasBase = flame.tree.selfBase !== null;
      body.replaceChildren(...(around ? this.parts(name, around)
        : [el('p', { class: 'muted inspector-hint' },
          `${name} has no samples here.`)]));
    } catch (error) {
      if (turn !== this.turn) return;
      body.replaceChildren(el('p', { class: 'inspector-hint' },
        error instanceof Error ? error.message : String(error)));
    }
  }

  /** @param {number} value @param {number} [base] */
  text(value, base = 0) {
    const measure = this.measure ?? { scale: 1, unit: '' };
    if (this.hasBase) {
      return `${valueText(base, measure)} → ${
        valueText(base + value, measure)}`;
    }
    return `${valueText(value, measure)} (${percentText(value,
      this.whole ?? 0)})`;
  }

  /** @param {string} name @param {Surroundings} around */
  parts(name, around) {
    const { data } = this.app;
    const { offline } = data;
    return [
      this.head(name, around),
      this.neighbours('Callers', around.callers),
      this.neighbours('Callees', around.callees),
      ...(data.has('source') ? [this.part('Source', (box) =>
        fillSource(this.app, name, around, box))] : []),
      ...(data.has('disasm') ? [this.part('Assembly', (box) =>
        fillAssembly(this.app, name, around, box,
          (other) => this.inspector.go(other)))] : []),
      ...(offline ? [] : [this.part('Labels', (box) =>
        this.fillLabels(name, box))]),
    ];
  }

  /** @param {string} name @param {Surroundings} around */
  head(name, around) {
    const { state } = this.app;
    const fact = (/** @type {string} */ what, /** @type {string} */ text) =>
      [el('dt', {}, what), el('dd', {}, text)];
    return el('div', { class: 'inspector-head' },
      el('h3', {}, name),
      el('dl', {}, ...fact('flat', this.text(around.flat, around.flatBase)),
        ...fact('cum', this.text(around.cum, around.cumBase)),
        ...(around.file ? fact('file', around.file) : []),
        ...(around.binary ? fact('binary', around.binary) : [])),
      el('div', { class: 'inspector-acts' },
        el('button', { onclick: () => state.set({ p: exactly(name),
          ...PLACE_WORDS }, { view: 'flamegraph' }) }, 'Callers and callees'),
        this.app.data.offline ? null : el('button', { onclick: () =>
          addFilter(state, 'f', exactly(name)) }, 'Focus'),
        this.app.data.offline ? null : el('button', { onclick: () =>
          addFilter(state, 'i', exactly(name)) }, 'Ignore')));
  }

  /** A part that folds; it remembers whether it was open.
   * @param {string} title @param {(box: HTMLElement) => unknown} fill */
  part(title, fill) {
    const memory = `inspector.${title}`;
    const box = el('div', { class: 'inspector-part-body' });
    const part = el('details', { class: 'inspector-part',
      open: recall(memory) !== 'closed' }, el('summary', {}, title), box);
    const show = () => {
      if (part.open && !box.firstChild) void fill(box);
    };
    part.addEventListener('toggle', () => {
      remember(memory, part.open ? '' : 'closed');
      show();
    });
    show();
    return part;
  }

  /** @param {string} title @param {Neighbour[]} list */
  neighbours(title, list) {
    return this.part(`${title}`, (box) => {
      if (list.length === 0) {
        box.append(el('p', { class: 'muted' }, 'none'));
        return;
      }
      const most = Math.max(...list.map((one) => Math.abs(one.value) +
        one.base)) || 1;
      box.append(el('ul', { class: 'neighbours' },
        ...list.slice(0, MOST_ROWS).map((one) => el('li', {},
          el('span', { class: 'bar', style: { width: `${100 *
            (Math.abs(one.value) + one.base) / most}%` } }),
          one.name ? el('button', { class: 'neighbour', title: one.name,
            onclick: () => this.inspector.go(one.name) }, el('bdi', {}, one.name))
            : el('span', { class: 'neighbour muted' }, '(root)'),
          el('span', { class: 'neighbour-value' },
            this.text(one.value, one.base))))));
      if (list.length > MOST_ROWS) {
        box.append(el('p', { class: 'muted' },
          `and ${list.length - MOST_ROWS} more`));
      }
    });
  }

  /** @param {string} name @param {HTMLElement} box */
  async fillLabels(name, box) {
    const { state, data } = this.app;
    box.append(el('p', { class: 'muted' }, '…'));
    const { keys } = await data.json('labels', state.dataQuery(
      { f: [...state.all('f'), exactly(name)] }))
      .catch(() => ({ keys: [] }));
    box.replaceChildren(...keys.flatMap((/** @type {any} */ key) => [
      el('h4', {}, key.key), el('ul', { class: 'neighbours' },
        ...key.values.slice(0, MOST_ROWS).map((/** @type {any} */ value) =>
          el('li', {}, el('span', { class: 'bar', style: { width: `${
            Math.min(100, 100 * Math.abs(value.weight) /
              (Math.abs(key.weight) || 1))}%` } }),
          el('button', { class: 'neighbour',
            title: `Only samples with ${key.key} ${value.value}`,
            onclick: () => addFilter(state, 'tf', labelFilter(key.key,
              value.value, value.number)) }, value.value),
          el('span', { class: 'neighbour-value' }, value.text))))]),
    keys.length === 0 ? el('p', { class: 'muted' }, 'none') : '');
  }
}
