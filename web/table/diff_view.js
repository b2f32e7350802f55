// What changed, as a table: before, after and change, of each function alone
// and with everything it calls, and whether a change is more than the noise
// of sampling.

import { el, isNarrow } from '../base/dom.js';
import { countText, plural } from '../base/numbers.js';
import { exactly, patternOf } from '../base/search.js';
import { PLACE_WORDS } from '../base/state.js';
import { Table } from '../base/table.js';
import { frameMenu } from '../shell/frame_menu.js';

/** @typedef {import('../main.js').App} App */
/** @typedef {{base: number, new: number, delta: number, base_text: string,
 *   new_text: string, delta_text: string}} Change */
/** @typedef {{name: string, flat: Change, cum: Change}} DiffRow */

/** @type {[string, string, (row: DiffRow) => boolean][]} */
const KINDS = [
  ['', 'All', () => true],
  ['grew', 'Grew', ({ cum }) => cum.base !== 0 && cum.delta > 0],
  ['shrank', 'Shrank', ({ cum }) => cum.new !== 0 && cum.delta < 0],
  ['new', 'New', ({ cum }) => cum.base === 0 && cum.new !== 0],
  ['gone', 'Gone', ({ cum }) => cum.new === 0 && cum.base !== 0],
];

/**
 * How many standard deviations a change is from nothing, when each sample is
 * worth `period`: counts of samples vary by their square root.  -1 if it is
 * not known what a sample is worth.
 * @param {Change} change @param {number} period
 */
export function sigmas({ base, new: after, delta }, period) {
  const spread = Math.sqrt((Math.abs(base) + Math.abs(after)) * period);
  return period > 0 && spread > 0 ? Math.abs(delta) / spread : -1;
}

/** @param {number} sigma */
export function confidenceText(sigma) {
  if (sigma < 0) return '';
  return `${sigma >= 3 ? 'high' : sigma >= 2 ? 'likely' : 'noise'} ${
    sigma.toFixed(1)}σ`;
}

export class DiffView {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** @type {DiffRow[]} */
    this.rows = [];
    this.largest = 1;
    this.period = 0;
    this.usual = ''; // the order that nobody chose
    this.kinds = el('div', { class: 'segments', role: 'group',
      'aria-label': 'Kind of change' });
    this.table = new Table(this.columns(), {
      select: (row) => this.select(row),
      open: (row) => app.state.set({ p: exactly(this.rows[row].name),
        ...PLACE_WORDS }, { view: 'flamegraph' }),
      menu: (row, x, y) => frameMenu(app, x, y, this.rows[row]),
    }, 'Changes');
    this.table.element.classList.add('diff');
    this.element = el('section', { class: 'diff-view',
      'aria-label': 'Changes' }, el('div', { class: 'view-bar' }, this.kinds,
      el('span', { class: 'spring' }),
      ...[['color', 'As colours'], ['overlay', 'As overlay'],
        ['side', 'Side by side']].map(([mode, text]) => el('button', {
        onclick: () => app.state.set({ dm: mode, p: null, ...PLACE_WORDS },
          { view: 'flamegraph' }) }, text))), this.table.element);
  }

  /** @returns {import('../base/table.js').Column[]} */
  columns() {
    const row = (/** @type {number} */ i) => this.rows[i];
    const sigma = (/** @type {number} */ i) => sigmas(row(i).cum, this.period);
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
      { key: 'sure', title: 'Confidence', numeric: true,
        hint: 'How far the cumulative change is beyond the noise of sampling',
        text: (i) => confidenceText(sigma(i)), value: sigma },
      { key: 'name', title: 'Function', text: (i) => row(i).name,
        value: (i) => row(i).name, front: true }];
  }

  /** @param {Set<string> | null} changed */
  async show(changed) {
    const { state, data } = this.app;
    const diff = await data.json('diff', state.dataQuery());
    if (diff.rows !== this.rows || !changed) {
      this.rows = diff.rows;
      this.period = diff.period;
      // Nothing to say in that column.
      this.table.element.classList.toggle('unsure', this.period === 0);
      this.largest = this.rows.reduce((most, row) => Math.max(most,
        Math.abs(row.flat.delta), Math.abs(row.cum.delta)), 0) || 1;
      this.table.show(this.rows.length);
      this.app.inspector.show(state.get('fn'));
    }
    const kind = KINDS.find(([id]) => id === state.get('change')) ?? KINDS[0];
    this.showKinds(kind[0]);
    this.orderFor(kind[0]);
    const pattern = patternOf(state.get('q'));
    this.table.filter((i) => kind[2](this.rows[i]) &&
      (!pattern || pattern.test(this.rows[i].name)));
    this.app.searchBox.report(pattern &&
      plural(this.table.order.length, 'function'));
  }

  /** All changes begin with those of functions alone, which add up, if there
   * is room for that column.  What grew or shrank is told by the cumulative
   * change, and comes in its order, unless somebody chose another one.
   * @param {string} kind */
  orderFor(kind) {
    const wanted = kind === '' && !isNarrow() ? '' : 'cumdelta';
    if (wanted === this.usual || this.table.sortKey !== this.usual) return;
    this.usual = wanted;
    this.table.show(this.rows.length, wanted, true);
  }

  /** @param {string} current */
  showKinds(current) {
    this.kinds.replaceChildren(...KINDS.map(([id, title, fits]) =>
      el('button', { 'aria-pressed': String(id === current),
        onclick: () => this.app.state.set({ change: id }, { replace: true }) },
      `${title} `, el('span', { class: 'muted' },
        countText(this.rows.filter(fits).length)))));
  }

  /** @param {number} row */
  select(row) {
    const { name, flat, cum } = this.rows[row];
    this.app.detail.select({ name, facts: [
      ['flat', `${flat.base_text} → ${flat.new_text}`],
      ['cum', `${cum.base_text} → ${cum.new_text}`]] });
    this.app.inspector.show(name);
    this.app.state.set({ fn: name }, { replace: true, quiet: true });
  }

  /** @param {string} name */
  selectName(name) {
    const row = this.rows.findIndex((one) => one.name === name);
    this.table.select(row, true);
    if (row >= 0) this.select(row);
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
