// The table beside the flame graph: one row a function, its own and its total
// value, or before, after and change when there is a base.

import { el, whenQuiet } from './dom.js';
import { countText, percentText, plural, valueText } from './numbers.js';
import { patternOf } from './search.js';
import { Table } from './table.js';

/** @typedef {import('./tree.js').Tree} Tree */
/** @typedef {import('./numbers.js').Measure} Measure */
/** @typedef {import('./colors.js').Coloring} Coloring */

/**
 * @typedef {object} FlameTableEvents rows are told by their source
 * @property {(source: number) => void} select
 * @property {(source: number) => void} open
 * @property {(source: number) => void} hover
 * @property {(source: number, x: number, y: number) => void} menu
 * @property {(key: string, down: boolean) => void} sorted
 */

export class FlameTable {
  /** @param {FlameTableEvents} events */
  constructor(events) {
    this.events = events;
    /** @type {number[]} source of each row */
    this.rows = [];
    /** @type {Int32Array} row of each source, or -1 */
    this.rowOf = new Int32Array(0);
    this.names = /** @type {string[]} */ ([]);
    const filter = whenQuiet(60, () => this.applyFilter());
    this.filter = el('input', { type: 'search', placeholder: 'Filter functions',
      'aria-label': 'Filter the table by a regular expression',
      spellcheck: 'false', autocomplete: 'off', oninput: filter });
    this.count = el('span', { class: 'muted' });
    this.holder = el('div', { class: 'table-holder' });
    this.element = el('section', { class: 'side', 'aria-label': 'Functions' },
      el('div', { class: 'side-bar' }, this.filter, this.count), this.holder);
    /** @type {Table | null} */
    this.table = null;
  }

  /**
   * @param {Tree} tree @param {number} whole @param {Measure} measure
   * @param {Coloring} coloring @param {string} order such as "-self"
   */
  show(tree, whole, measure, coloring, order) {
    const { sums } = tree;
    const { sources } = tree;
    this.rows = [];
    this.rowOf = new Int32Array(sources.count).fill(-1);
    for (let i = 1; i < sources.count; i++) {
      if (sums.total[i] === 0 && sums.self[i] === 0 &&
        !(sums.totalBase[i] > 0)) continue;
      this.rowOf[i] = this.rows.length;
      this.rows.push(i);
    }
    this.names = this.rows.map((i) => sources.strings[sources.name[i]]);
    const at = (/** @type {Float64Array} */ column) =>
      (/** @type {number} */ row) => column[this.rows[row]];
    const swatch = (/** @type {number} */ row) =>
      `hue${coloring.hueOf[this.rows[row]]}`;
    const columns = tree.selfBase
      ? diffColumns(at, sums, measure)
      : plainColumns(at, sums, whole, measure);
    columns.push({ key: 'name', title: 'Function', text: (row) =>
      this.names[row], value: (row) => this.names[row],
    swatch: tree.selfBase ? undefined : swatch });
    const down = !order.startsWith('+');
    const key = order.replace(/^[-+]/, '');
    const { events, rows } = this;
    this.table = new Table(columns, {
      select: (row) => events.select(rows[row]),
      open: (row) => events.open(rows[row]),
      hover: (row) => events.hover(row < 0 ? -1 : rows[row]),
      menu: (row, x, y) => events.menu(rows[row], x, y),
      sorted: events.sorted,
    }, 'Functions');
    this.table.element.classList.toggle('diff', tree.selfBase !== null);
    this.holder.replaceChildren(this.table.element);
    const known = columns.some((c) => c.key === key);
    this.table.keep = this.keeper();
    this.table.show(this.rows.length, known ? key : columns[0].key, down);
    this.sayCount();
  }

  /** Which rows the filter field leaves. */
  keeper() {
    const pattern = patternOf(this.filter.value);
    return (/** @type {number} */ row) =>
      !pattern || pattern.test(this.names[row]);
  }

  applyFilter() {
    this.table?.filter(this.keeper());
    this.sayCount();
  }

  sayCount() {
    const shown = this.table ? this.table.order.length : 0;
    this.count.textContent = this.filter.value
      ? `${countText(shown)} of ${countText(this.rows.length)}`
      : plural(this.rows.length, 'function');
  }

  /** @param {number} source @param {boolean} reveal */
  select(source, reveal) {
    this.table?.select(source < 0 ? -1 : this.rowOf[source], reveal);
  }

  /** @param {number} source */
  hover(source) {
    this.table?.hover(source < 0 ? -1 : this.rowOf[source]);
  }
}

/** @typedef {(column: Float64Array) => (row: number) => number} At */
/** @typedef {Tree['sums']} Sums */
/** @typedef {import('./table.js').Column} Column */

/** @param {At} at @param {Sums} sums @param {number} whole
 * @param {Measure} measure @returns {Column[]} */
function plainColumns(at, sums, whole, measure) {
  const make = (/** @type {string} */ key, /** @type {string} */ title,
    /** @type {Float64Array} */ column, /** @type {string} */ hint) => {
    const value = at(column);
    return { key, title, hint, numeric: true, value,
      bar: (/** @type {number} */ row) => value(row) / (whole || 1),
      text: (/** @type {number} */ row) => valueText(value(row), measure) };
  };
  const total = at(sums.total);
  return [
    make('self', 'Self', sums.self, 'The function alone'),
    make('total', 'Total', sums.total, 'With everything it calls'),
    { key: 'share', title: 'Total %', numeric: true, value: total,
      text: (row) => percentText(total(row), whole) },
  ];
}

/** @param {At} at @param {Sums} sums @param {Measure} measure
 * @returns {Column[]} */
function diffColumns(at, sums, measure) {
  const largest = sums.total.reduce((most, value) =>
    Math.max(most, Math.abs(value)), 0);
  const before = at(sums.totalBase);
  const change = at(sums.total);
  const after = (/** @type {number} */ row) => before(row) + change(row);
  return [
    { key: 'change', title: 'Change', numeric: true, hint: 'After minus before',
      value: (row) => Math.abs(change(row)),
      bar: (row) => change(row) / (largest || 1),
      text: (row) => (change(row) > 0 ? '+' : '') +
        valueText(change(row), measure) },
    { key: 'before', title: 'Before', numeric: true, value: before,
      text: (row) => valueText(before(row), measure) },
    { key: 'after', title: 'After', numeric: true, value: after,
      text: (row) => valueText(after(row), measure) },
  ];
}
