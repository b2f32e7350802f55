// What changed, as a table: before, after and change, of each function alone
// and with everything it calls.

import { el } from './dom.js';
import { frameMenu } from './frame_menu.js';
import { plural, reportPercent } from './numbers.js';
import { exactly, patternOf } from './search.js';
import { PLACE_WORDS } from './state.js';
import { isOn, switchTo } from './switches.js';
import { Table } from './table.js';

/** @typedef {import('./main.js').App} App */
/** @typedef {{base: number, new: number, delta: number, base_text: string,
 *   new_text: string, delta_text: string}} Change */
/** @typedef {{name: string, flat: Change, cum: Change}} DiffRow */

export class DiffView {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** @type {DiffRow[]} */
    this.rows = [];
    /** @type {Change | null} */
    this.total = null;
    this.largest = 1;
    this.summary = el('p', { class: 'diff-summary' });
    this.normalise = el('input', { type: 'checkbox', onchange: () =>
      app.state.set({ norm: switchTo(app.meta, 'norm',
        this.normalise.checked) }) });
    this.table = new Table(this.columns(), {
      select: (row) => this.select(row),
      open: (row) => app.state.set({ p: exactly(this.rows[row].name),
        ...PLACE_WORDS }, { view: 'flamegraph' }),
      menu: (row, x, y) => frameMenu(app, x, y, this.rows[row]),
    }, 'Changes');
    this.table.element.classList.add('diff');
    this.element = el('section', { class: 'diff-view',
      'aria-label': 'Changes' }, el('div', { class: 'view-bar' }, this.summary,
      el('span', { class: 'spring' }),
      el('label', { class: 'check' }, this.normalise, ' Normalise'),
      ...[['color', 'As colours'], ['overlay', 'As overlay'],
        ['side', 'Side by side']].map(([mode, text]) => el('button', {
        onclick: () => app.state.set({ dm: mode, p: null, ...PLACE_WORDS },
          { view: 'flamegraph' }) }, text))), this.table.element);
  }

  /** @returns {import('./table.js').Column[]} */
  columns() {
    const row = (/** @type {number} */ i) => this.rows[i];
    const part = (/** @type {'flat' | 'cum'} */ which,
      /** @type {string} */ title) => /** @type {any[]} */ ([
      { key: `${which}delta`, title: `${title} change`, numeric: true,
        text: (/** @type {number} */ i) => signed(row(i)[which]),
        value: (/** @type {number} */ i) => Math.abs(row(i)[which].delta),
        bar: (/** @type {number} */ i) => row(i)[which].delta / this.largest },
      { key: `${which}base`, title: 'Before', numeric: true,
        text: (/** @type {number} */ i) => row(i)[which].base_text,
        value: (/** @type {number} */ i) => row(i)[which].base },
      { key: `${which}new`, title: 'After', numeric: true,
        text: (/** @type {number} */ i) => row(i)[which].new_text,
        value: (/** @type {number} */ i) => row(i)[which].new },
    ]);
    return [...part('flat', 'Flat'), ...part('cum', 'Cum'),
      { key: 'name', title: 'Function', text: (i) => row(i).name,
        value: (i) => row(i).name }];
  }

  /** @param {Set<string> | null} changed */
  async show(changed) {
    const { state, data } = this.app;
    const query = state.dataQuery();
    const [diff, meta] = await Promise.all([data.json('diff', query),
      data.json('meta', query)]);
    this.normalise.checked = isOn(meta, 'norm');
    this.normalise.disabled = data.offline || !meta.can_normalize;
    if (diff.rows !== this.rows || !changed) {
      this.rows = diff.rows;
      this.total = diff.total;
      this.largest = this.rows.reduce((most, row) => Math.max(most,
        Math.abs(row.flat.delta), Math.abs(row.cum.delta)), 0) || 1;
      this.table.show(this.rows.length);
    }
    const t = /** @type {Change} */ (this.total);
    this.summary.textContent = `${t.base_text} before, ${t.new_text} after: ${
      signed(t)} (${reportPercent(t.delta, t.base)})`;
    const pattern = patternOf(state.get('q'));
    this.table.filter((i) => !pattern || pattern.test(this.rows[i].name));
    this.app.searchBox.report(pattern &&
      plural(this.table.order.length, 'function'));
  }

  /** @param {number} row */
  select(row) {
    const { name, flat, cum } = this.rows[row];
    this.app.detail.select({ name, facts: [
      ['flat', `${flat.base_text} → ${flat.new_text}`],
      ['cum', `${cum.base_text} → ${cum.new_text}`]] });
    this.app.state.set({ fn: name }, { replace: true, quiet: true });
  }

  selectedName() {
    return this.rows[this.table.selected]?.name ?? '';
  }

  focus() {
    this.table.element.focus();
  }
}

/** @param {Change} change */
function signed(change) {
  return (change.delta > 0 ? '+' : '') + change.delta_text;
}
