// The table of functions, with the numbers that `pprof -top` prints.

import { el } from '../base/dom.js';
import { percentText, plural, reportPercent } from '../base/numbers.js';
import { exactly, patternOf } from '../base/search.js';
import { PLACE_WORDS } from '../base/state.js';
import { Table } from '../base/table.js';
import { frameMenu } from '../shell/frame_menu.js';

/** @typedef {import('../main.js').App} App */

/**
 * @typedef {object} TopRow
 * @property {string} name
 * @property {string} inline
 * @property {number} flat
 * @property {number} cum
 * @property {string} flat_text
 * @property {string} cum_text
 * @property {string} flat_pct
 * @property {string} sum_pct
 * @property {string} cum_pct
 */

export class TopView {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** @type {TopRow[]} */
    this.rows = [];
    this.total = 0;
    /** @type {Float64Array} sums of flat, in the order that is shown */
    this.sums = new Float64Array(0);
    /** @type {unknown} */
    this.summed = null;
    this.table = new Table(this.columns(), {
      select: (row) => this.select(row),
      open: (row) => app.state.set({ p: exactly(this.rows[row].name),
        ...PLACE_WORDS }, { view: 'flamegraph' }),
      hover: (row) => app.detail.hover(this.detailOf(row)),
      menu: (row, x, y) => frameMenu(app, x, y, this.rows[row]),
      sorted: (key, down) => app.state.set({ order: (down ? '-' : '+') + key },
        { replace: true, quiet: true }),
    }, 'Functions');
    this.element = el('section', { class: 'top-view', 'aria-label': 'Top' },
      this.table.element);
  }

  /** @returns {import('../base/table.js').Column[]} */
  columns() {
    const row = (/** @type {number} */ i) => this.rows[i];
    const share = (/** @type {number} */ value) =>
      value / (Math.abs(this.total) || 1);
    return [
      { key: 'flat', title: 'Flat', numeric: true, hint: 'The function alone',
        text: (i) => row(i).flat_text, value: (i) => Math.abs(row(i).flat),
        bar: (i) => share(row(i).flat) },
      { key: 'flatpct', title: 'Flat%', numeric: true,
        text: (i) => row(i).flat_pct, value: (i) => Math.abs(row(i).flat) },
      { key: 'sumpct', title: 'Sum%', numeric: true,
        hint: 'Of this row and all above it',
        text: (_, rank) => reportPercent(this.sumTo(rank), this.total) },
      { key: 'cum', title: 'Cum', numeric: true,
        hint: 'With everything it calls',
        text: (i) => row(i).cum_text, value: (i) => Math.abs(row(i).cum),
        bar: (i) => share(row(i).cum) },
      { key: 'cumpct', title: 'Cum%', numeric: true,
        text: (i) => row(i).cum_pct, value: (i) => Math.abs(row(i).cum) },
      { key: 'name', title: 'Function', text: (i) => row(i).name,
        value: (i) => row(i).name, front: true },
      { key: 'inline', title: 'Inlined', text: (i) => row(i).inline },
    ];
  }

  /** @param {number} rank */
  sumTo(rank) {
    const { order } = this.table;
    if (this.summed !== order) {
      this.summed = order;
      this.sums = new Float64Array(order.length);
      let sum = 0;
      for (let i = 0; i < order.length; i++) {
        this.sums[i] = sum += this.rows[order[i]].flat;
      }
    }
    return this.sums[rank];
  }

  /** @param {Set<string> | null} changed */
  async show(changed) {
    const { state, data } = this.app;
    const top = await data.json('top', wholeQuery(this.app));
    if (this.rows !== top.rows || !changed) {
      this.rows = top.rows;
      this.total = top.total;
      const order = state.get('order');
      const key = order.replace(/^[-+]/, '');
      const known = this.columns().some((c) => c.key === key && c.value);
      this.table.show(this.rows.length, known ? key : '',
        !order.startsWith('+'));
      const selected = this.rows.findIndex((r) => r.name === state.get('fn'));
      if (selected >= 0) {
        this.table.select(selected, true);
        this.app.detail.select(this.detailOf(selected));
      }
      this.app.inspector.show(state.get('fn'));
    }
    this.search();
  }

  search() {
    const pattern = patternOf(this.app.state.get('q'));
    const { rows } = this;
    this.table.filter((i) => !pattern || pattern.test(rows[i].name));
    let flat = 0;
    for (const i of this.table.order) flat += rows[i].flat;
    this.app.searchBox.report(pattern && `${plural(this.table.order.length,
      'function')}, ${percentText(flat, this.total)} flat`);
  }

  /** @param {number} row
   * @returns {import('../base/detail.js').Detail | null} */
  detailOf(row) {
    const r = this.rows[row];
    return r ? { name: r.name, facts: [['flat', `${r.flat_text} (${
      r.flat_pct.trim()})`], ['cum', `${r.cum_text} (${r.cum_pct.trim()})`]] }
      : null;
  }

  /** @param {number} row */
  select(row) {
    this.app.detail.select(this.detailOf(row));
    this.app.inspector.show(this.rows[row].name);
    this.app.state.set({ fn: this.rows[row].name },
      { replace: true, quiet: true });
  }

  /** @param {string} name */
  selectName(name) {
    const row = this.rows.findIndex((one) => one.name === name);
    this.table.select(row, true);
    if (row >= 0) this.select(row);
  }

  /** @param {number} step */
  nextHit(step) {
    this.table.onKey(step > 0 ? 'ArrowDown' : 'ArrowUp');
  }

  selectedName() {
    return this.rows[this.table.selected]?.name ?? '';
  }

  focus() {
    this.table.element.focus();
  }
}

/** All rows, as in the table beside the flame graph, unless an option limits
 * them. @param {App} app */
function wholeQuery({ state }) {
  const limited = ['trim', 'n', 'nf'].some((word) => state.get(word));
  return state.dataQuery(limited ? {} : { trim: 'f' });
}
