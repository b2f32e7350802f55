// The start page: one row for each service and profile type.  All of it comes
// in one reply.

import { el, select, whenQuiet } from '../base/dom.js';
import { plural } from '../base/numbers.js';
import { PLACE_WORDS } from '../base/state.js';
import { Table } from '../base/table.js';
import { Api } from './api.js';
import { changeText, costOf, costText, kindOf } from './cost.js';
import { selectionText } from './selection.js';
import { sparkline } from './sparkline.js';
import { agoText, DAY, durationText } from './times.js';

/** @typedef {import('./cost.js').Sum} Sum */

/**
 * @typedef {object} Row
 * @property {string} service
 * @property {string} type
 * @property {string} value_type
 * @property {string} unit
 * @property {number} profiles
 * @property {number} last
 * @property {string} [version]
 * @property {number} [version_since]
 * @property {number} [versions]
 * @property {Sum} now
 * @property {Sum} before
 * @property {[number, number, number, number][]} points
 */

/** What is asked for, by the range. @type {Record<string,
 *   Record<string, string>>} */
const RANGES = { '': {}, '7d': { from: 'now-7d', step: '3h' },
  '30d': { from: 'now-30d', step: '12h' } };
const ROW = 40;

/** The page of a service and type, with the last hour.
 * @param {{service: string, type: string}} row */
export function exploreWords({ service, type }) {
  return { a: selectionText({ id: '', type, matchers: [{ name: 'service',
    op: '=', value: service }], from: 'now-1h', to: 'now', changes: false }),
  b: null, si: null, fn: null, q: null, p: null, strip: null, split: null,
  plot: null, order: null, range: null, kind: null, ...PLACE_WORDS };
}

export class ServicesView {
  /** @param {import('../base/state.js').State} state */
  constructor(state) {
    this.state = state;
    this.api = new Api(state.prefix);
    /** @type {Row[]} */
    this.rows = [];
    this.now = 0;
    this.span = { from: 0, to: 0 };
    this.table = new Table(this.columns(), { select: () => {},
      open: (row) => this.open(row), sorted: (key, down) => state.set(
        { order: `${down ? '' : '-'}${key}` }, { replace: true, quiet: true })
    }, 'Services', ROW);
    this.table.space.addEventListener('click', (event) => {
      const row = this.table.rowOf(event);
      if (row >= 0 && getSelection()?.isCollapsed !== false) this.open(row);
    });
    this.count = el('span', { class: 'muted', role: 'status' });
    const typed = whenQuiet(80, () => state.set({ q: this.find.value },
      { replace: true }));
    this.find = el('input', { type: 'search', placeholder: 'Filter services',
      'aria-label': 'Filter services', value: state.get('q'),
      autocomplete: 'off', spellcheck: 'false', oninput: typed });
    this.kinds = el('div', { class: 'segments', role: 'group',
      'aria-label': 'Profile type' });
    this.range = el('span');
    this.bar = el('div', { class: 'services-bar' }, el('h2', {}, 'Services'),
      this.count, el('span', { class: 'spring' }), this.kinds, this.find,
      this.range);
    this.empty = el('div', { class: 'empty', hidden: true });
    this.element = el('div', { class: 'services' }, this.bar,
      this.table.element, this.empty);
  }

  /** @returns {import('../base/table.js').Column[]} */
  columns() {
    const row = (/** @type {number} */ i) => this.rows[i];
    const kind = (/** @type {number} */ i) => kindOf({ unit: row(i).unit,
      valueType: row(i).value_type }, this.last(i));
    return [
      { key: 'service', title: 'Service', text: (i) => row(i).service,
        value: (i) => row(i).service, front: true },
      { key: 'type', title: 'Type', text: (i) => row(i).type,
        value: (i) => row(i).type },
      { key: 'course', title: 'Trend', text: () => '',
        node: (i) => sparkline(this.course(i), this.span) },
      { key: 'cost', title: 'Now', numeric: true, hint: 'CPU time in each ' +
        'second of a process, memory or count of a process: the average of ' +
        'the last hour', text: (i) => costText(this.cost(i), kind(i)),
      value: (i) => orLast(this.cost(i)) },
      { key: 'change', title: 'vs last week', numeric: true,
        hint: 'Change against the same hour a week ago',
        text: (i) => changeText(this.cost(i), this.before(i)),
        bar: (i) => this.change(i),
        value: (i) => orLast(this.cost(i) / this.before(i)) },
      { key: 'version', title: 'Version', text: (i) => row(i).version ?? '–',
        value: (i) => row(i).version ?? '' },
      { key: 'last', title: 'Last profile', text: (i) =>
        agoText(row(i).last, this.now), value: (i) => row(i).last },
    ];
  }

  /** The last hour; the newest there is of what has stopped.
   * @param {number} i @returns {Sum} */
  last(i) {
    const { now, points } = this.rows[i];
    if (now[1] > 0 || points.length === 0) return now;
    const [, ...sum] = points[points.length - 1];
    return sum;
  }

  /** @param {number} i */
  cost(i) {
    return costOf(this.last(i), this.rows[i].unit);
  }

  /** @param {number} i */
  before(i) {
    return costOf(this.rows[i].before, this.rows[i].unit);
  }

  /** -1 .. 1; a doubling is 1. @param {number} i */
  change(i) {
    const change = this.cost(i) / this.before(i) - 1;
    return Number.isFinite(change) ? Math.max(-1, Math.min(1, change)) : 0;
  }

  /** @param {number} i @returns {[number, number][]} */
  course(i) {
    const { points, unit } = this.rows[i];
    return points.map(([t, ...sum]) => [t, costOf(sum, unit)]);
  }

  /** @param {number} i */
  open(i) {
    this.state.set(exploreWords(this.rows[i]), { view: 'flamegraph' });
  }

  /** @param {Set<string> | null} changed */
  async show(changed) {
    if ((!changed || changed.has('view') || changed.has('range')) &&
      !await this.ask()) return;
    this.showAnswer();
  }

  /** False: it was asked anew. */
  async ask() {
    const answer = this.sent() ?? await this.api.ask('overview', 'overview',
      RANGES[this.state.get('range')] ?? {});
    if (!answer) return false;
    this.rows = answer.rows;
    this.now = answer.to;
    this.span = { from: answer.from, to: answer.to };
    this.showRange();
    return true;
  }

  /** The answer that came with the page; it is used once. */
  sent() {
    const block = document.getElementById('overview');
    block?.remove();
    return block && !this.state.get('range')
      ? JSON.parse(block.textContent ?? '') : null;
  }

  showAnswer() {
    const { state } = this;
    if (this.find !== document.activeElement) {
      this.find.value = state.get('q');
    }
    this.showKinds();
    this.showRows();
  }

  showRange() {
    const { state } = this;
    this.range.replaceChildren(select('Time range', [['', 'Last 24 hours'],
      ['7d', 'Last 7 days'], ['30d', 'Last 30 days']], state.get('range'),
    (range) => state.set({ range }, { replace: true })));
  }

  showKinds() {
    const { state } = this;
    const kinds = [...new Set(this.rows.map(({ type }) => type))].sort();
    const chosen = state.get('kind');
    this.kinds.hidden = kinds.length < 2;
    this.kinds.replaceChildren(...['', ...kinds].map((kind) => el('button', {
      'aria-pressed': String(kind === chosen),
      onclick: () => state.set({ kind }, { replace: true }) },
    kind || 'All')));
  }

  showRows() {
    const { state } = this;
    const words = state.get('q').toLowerCase();
    const kind = state.get('kind');
    const order = /^(-?)(.+)$/.exec(state.get('order')) ?? ['', '', 'change'];
    const isEmpty = this.rows.length === 0;
    // pprofd's own profiles are a start, but not what it is for.
    this.empty.hidden = this.rows.some(({ service }) => service !== 'pprofd');
    this.element.classList.toggle('few', !this.empty.hidden);
    if (!this.empty.hidden) this.showEmpty();
    this.table.element.hidden = isEmpty;
    this.kinds.hidden ||= isEmpty;
    this.find.hidden = isEmpty;
    if (isEmpty) {
      this.count.textContent = '';
      return;
    }
    this.table.keep = (i) => (!kind || this.rows[i].type === kind) &&
      `${this.rows[i].service} ${this.rows[i].version ?? ''}`.toLowerCase()
        .includes(words);
    this.table.show(this.rows.length, order[2], order[1] === '');
    this.showCount(words !== '' || kind !== '');
  }

  /** @param {boolean} isPart not all rows are shown */
  showCount(isPart) {
    const all = plural(new Set(this.rows.map(({ service }) => service)).size,
      'service');
    const shown = isPart && new Set([...this.table.order].map((i) =>
      this.rows[i].service)).size;
    this.count.textContent = shown === false ? all : `${shown} of ${all}`;
  }

  showEmpty() {
    const { origin } = location;
    const some = this.state.get('range') || '1d';
    const commands = [
      ['Record a program', 'pprof-run -cpuprofile cpu.pb.gz ' +
        './program'],
      ['Send the profile', 'curl --data-binary @cpu.pb.gz ' +
        `'${origin}/api/0/profiles?service=program&type=cpu'`],
      ['Or take it from a running program', 'curl -s ' +
        '\'127.0.0.1:6060/debug/pprof/profile?seconds=10\' | curl ' +
        `--data-binary @- '${origin}/api/0/profiles?service=program&type=cpu'`],
    ];
    const own = this.rows.length > 0;
    this.empty.replaceChildren(el('h3', {}, own
      ? 'Only pprofd\'s own profiles so far' : 'No profiles yet'),
      el('p', { class: 'muted' }, `Nothing${own ? ' else' : ''
      } was received in the last ${
        some === '1d' ? '24 hours' : durationText(parseInt(some, 10) * DAY)
      }. These commands fill the page:`),
      el('ol', {}, ...commands.map(([what, command]) => el('li', {},
        el('span', {}, what), el('pre', { tabindex: '0' }, command)))));
  }

  focus() {
    this.table.element.focus();
  }

  /** Everything is in the page, for saving it. */
  beforePrint() {
    this.table.drawAll();
  }

  afterPrint() {
    this.table.redraw();
  }
}

/** What is not known comes last. @param {number} value */
function orLast(value) {
  return Number.isFinite(value) ? value : -1;
}
