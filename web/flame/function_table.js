// The table beside the flame graph: the rows, columns and units of Top, made
// from the call tree; or before, after and change when there is a base.
// Functions of the same name in several files are one row, as in Top.

import { el, everyFrame } from '../base/dom.js';
import { commonUnit, countText, plural, reportPercent, valueText }
  from '../base/numbers.js';
import { Table } from '../base/table.js';
import { colorOf, theme } from './colors.js';
import { sumByGroup } from './tree.js';
import { FLAG_NO_SYMBOL } from './wire.js';

/** @typedef {import('./tree.js').Tree} Tree */
/** @typedef {import('../base/numbers.js').Measure} Measure */
/** @typedef {import('./colors.js').Coloring} Coloring */

/**
 * @typedef {object} FunctionTableEvents rows are told by one of their sources
 * @property {(source: number) => void} select
 * @property {(source: number) => void} open
 * @property {(source: number) => void} hover
 * @property {(source: number, x: number, y: number) => void} menu
 * @property {(key: string, down: boolean) => void} sorted
 */

/** The columns had other names once; links remember them. */
const OLD_KEYS = new Map([['self', 'flat'], ['total', 'cum'],
  ['share', 'cumpct']]);

/** The name of a row, as Top prints it. @param {Tree} tree
 * @param {number} source @param {string} granularity */
function rowName({ sources }, source, granularity) {
  const { strings, name, file, line, binary, flags } = sources;
  const text = strings[name[source]];
  if (flags[source] & FLAG_NO_SYMBOL) {
    return granularity === 'addresses' ? text
      : strings[binary[source]] ? `[${strings[binary[source]]}]`
        : '<unknown>';
  }
  const path = strings[file[source]];
  switch (granularity) {
    case 'filefunctions': return path ? `${text} ${path}` : text;
    case 'lines': {
      const bare = line[source] ? text.replace(/(:\d+){1,2}$/, '') : text;
      return path ? `${bare} ${path}:${line[source]}` : text;
    }
    default: return text;
  }
}

/** Sources with the same number are one row: equal names have equal numbers,
 * so that texts need not be compared.
 * @param {Tree} tree @param {number} source @param {string} granularity */
function rowKey({ sources }, source, granularity) {
  const { strings, name, file, binary, flags } = sources;
  const bare = flags[source] & FLAG_NO_SYMBOL && granularity !== 'addresses';
  if (bare) return -1 - binary[source];
  return granularity === 'filefunctions' || granularity === 'lines'
    ? name[source] * strings.length + file[source] : name[source];
}

/** @typedef {{names: string[], groupOf: Uint32Array, sums: Sums}} Groups */
/** @type {WeakMap<Tree, {granularity: string, groups: Groups}>} */
const groupsKnown = new WeakMap();

/** The rows of a tree, made once. @param {Tree} tree
 * @param {string} granularity */
function rowsOf(tree, granularity) {
  let known = groupsKnown.get(tree);
  if (known?.granularity !== granularity) {
    known = { granularity, groups: groupRows(tree, granularity) };
    groupsKnown.set(tree, known);
  }
  return known.groups;
}

/** Sources that Top shows as one row. @param {Tree} tree
 * @param {string} granularity @returns {Groups} */
export function groupRows(tree, granularity) {
  /** @type {Map<number, number>} */
  const rows = new Map();
  const names = [''];
  const groupOf = new Uint32Array(tree.sources.count);
  for (let i = 1; i < tree.sources.count; i++) {
    const key = rowKey(tree, i, granularity);
    let row = rows.get(key);
    if (row === undefined) {
      row = names.push(rowName(tree, i, granularity)) - 1;
      rows.set(key, row);
    }
    groupOf[i] = row;
  }
  return { names, groupOf, sums: sumByGroup(tree, groupOf, names.length) };
}

export class FunctionTable {
  /** @param {FunctionTableEvents} events */
  constructor(events) {
    this.events = events;
    /** @type {number[]} a source of each row */
    this.rows = [];
    /** @type {Int32Array} row of each source, or -1 */
    this.rowOf = new Int32Array(0);
    this.names = /** @type {string[]} */ ([]);
    /** What is searched for, by source. @type {Uint8Array | null} */
    this.matched = null;
    // Typing should not wait for it.
    this.refilter = everyFrame(() => {
      this.table?.filter(this.keeper());
      this.sayCount();
    });
    this.count = el('span', { class: 'muted' });
    this.holder = el('div', { class: 'table-holder' });
    this.element = el('section', { class: 'side', 'aria-label': 'Functions' },
      el('div', { class: 'side-bar' }, this.count), this.holder);
    /** @type {Table | null} */
    this.table = null;
  }

  /**
   * @param {Tree} tree @param {number} whole @param {Measure} measure
   * @param {Coloring} coloring @param {string} order such as "-flat"
   * @param {string} granularity
   */
  show(tree, whole, measure, coloring, order, granularity) {
    const groups = rowsOf(tree, granularity);
    const { sums } = groups;
    /** @type {Int32Array} */
    const rowOfGroup = new Int32Array(groups.names.length).fill(-1);
    this.rows = [];
    this.names = [];
    /** @type {number[]} */
    const group = [];
    this.rowOf = new Int32Array(tree.sources.count).fill(-1);
    for (let i = 1; i < tree.sources.count; i++) {
      const g = groups.groupOf[i];
      if (sums.total[g] === 0 && sums.self[g] === 0 &&
        !(sums.totalBase[g] > 0)) continue;
      if (rowOfGroup[g] < 0) {
        rowOfGroup[g] = this.rows.push(i) - 1;
        this.names.push(groups.names[g]);
        group.push(g);
      }
      this.rowOf[i] = rowOfGroup[g];
    }
    const at = (/** @type {Float64Array} */ column) =>
      (/** @type {number} */ row) => column[group[row]];
    const columns = tree.selfBase
      ? diffColumns(at, sums, measure)
      : plainColumns(at, sums, whole, this.unitFor(at, sums, whole, measure));
    columns.push(this.nameColumn(tree.selfBase ? null : coloring));
    this.make(columns, order, tree.selfBase !== null);
  }

  /** @param {Coloring | null} coloring @returns {Column} */
  nameColumn(coloring) {
    const t = theme();
    return { key: 'name', title: 'Function', front: true,
      text: (row) => this.names[row], value: (row) => this.names[row],
      swatch: coloring ? (row) => {
        const { module, part } =
          coloring.paints[coloring.paintOf[this.rows[row]]];
        return colorOf(module, part, t);
      } : undefined };
  }

  /** All values in one unit, as in Top. @param {At} at @param {Sums} sums
   * @param {number} whole @param {Measure} measure @returns {Measure} */
  unitFor(at, sums, whole, measure) {
    if (measure.wish) return measure;
    const flat = at(sums.self);
    const cum = at(sums.total);
    let least = 0;
    for (let row = 0; row < this.rows.length; row++) {
      const value = Math.abs(flat(row)) || Math.abs(cum(row));
      if (value > 0 && (least === 0 || value < least)) least = value;
    }
    return { ...measure, wish: commonUnit(least, whole, measure) };
  }

  /** @param {Column[]} columns @param {string} order @param {boolean} diff */
  make(columns, order, diff) {
    const { events, rows } = this;
    this.table = new Table(columns, {
      select: (row) => events.select(rows[row]),
      tie: (row) => this.names[row],
      open: (row) => events.open(rows[row]),
      hover: (row) => events.hover(row < 0 ? -1 : rows[row]),
      menu: (row, x, y) => events.menu(rows[row], x, y),
      sorted: events.sorted,
    }, 'Functions');
    this.table.element.classList.toggle('diff', diff);
    this.holder.replaceChildren(this.table.element);
    const asked = order.replace(/^[-+]/, '');
    const key = OLD_KEYS.get(asked) ?? asked;
    const known = columns.some((c) => c.key === key);
    this.table.keep = this.keeper();
    this.table.show(this.rows.length, known ? key : columns[0].key,
      !order.startsWith('+'));
    this.sayCount();
  }

  /** Only rows that the search field finds.
   * @param {Uint8Array | null} matched by source */
  filter(matched) {
    if (matched === this.matched) return;
    this.matched = matched;
    this.refilter();
  }

  keeper() {
    if (!this.matched) return null;
    const kept = new Uint8Array(this.rows.length);
    for (let i = 1; i < this.rowOf.length; i++) {
      if (this.matched[i] && this.rowOf[i] >= 0) kept[this.rowOf[i]] = 1;
    }
    return (/** @type {number} */ row) => kept[row] === 1;
  }

  sayCount() {
    const shown = this.table ? this.table.order.length : 0;
    this.count.textContent = this.matched
      ? `${countText(shown)} of ${plural(this.rows.length, 'function')}`
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
/** @typedef {import('../base/table.js').Column} Column */

/** @param {At} at @param {Sums} sums @param {number} whole
 * @param {Measure} measure @returns {Column[]} */
function plainColumns(at, sums, whole, measure) {
  const make = (/** @type {string} */ key, /** @type {string} */ title,
    /** @type {Float64Array} */ column, /** @type {string} */ hint) => {
    const value = at(column);
    return { key, title, hint, numeric: true,
      value: (/** @type {number} */ row) => Math.abs(value(row)),
      bar: (/** @type {number} */ row) => value(row) / (whole || 1),
      text: (/** @type {number} */ row) => valueText(value(row), measure) };
  };
  const cum = at(sums.total);
  return [
    make('flat', 'Flat', sums.self, 'The function alone'),
    make('cum', 'Cum', sums.total, 'With everything it calls'),
    { key: 'cumpct', title: 'Cum%', numeric: true,
      value: (row) => Math.abs(cum(row)),
      text: (row) => reportPercent(cum(row), whole) },
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
