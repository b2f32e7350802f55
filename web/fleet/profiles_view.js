// The single profiles of the window: to open, download or compare.

import { el } from '../base/dom.js';
import { openMenu } from '../base/menu.js';
import { plural, valueText } from '../base/numbers.js';
import { PLACE_WORDS } from '../base/state.js';
import { Table } from '../base/table.js';
import { Api } from './api.js';
import { measureOf } from './cost.js';
import { parseSelection, selectorText } from './selection.js';
import { clockText, dayText } from './times.js';

/** @typedef {import('../main.js').App} App */

/**
 * @typedef {object} Profile
 * @property {string} id
 * @property {string} service
 * @property {string} type
 * @property {Record<string, string>} labels
 * @property {string} created_at
 * @property {number} duration_seconds
 * @property {number} bytes
 * @property {number} samples
 * @property {{type: string, unit: string, sum: number}[]} totals
 */

const LIMIT = 2000;

export class ProfilesView {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.api = new Api(app.state.prefix);
    /** @type {Profile[]} */
    this.profiles = [];
    this.chosen = -1;
    this.table = new Table(this.columns(), {
      select: (row) => this.choose(row), open: (row) => this.open(row),
      menu: (row, x, y) => openMenu(x, y, this.actions(row).map(
        ([label, act]) => ({ label, act }))) }, 'Profiles');
    this.count = el('span', { class: 'muted', role: 'status' });
    this.buttons = el('span', { class: 'profile-actions' });
    this.element = el('div', { class: 'profiles-view' },
      el('div', { class: 'view-bar' }, this.count,
        el('span', { class: 'spring' }), this.buttons), this.table.element);
    this.choose(-1);
  }

  /** @returns {import('../base/table.js').Column[]} */
  columns() {
    const row = (/** @type {number} */ i) => this.profiles[i];
    const time = (/** @type {number} */ i) =>
      Date.parse(row(i).created_at) / 1000;
    return [
      { key: 'time', title: 'Time', value: time, text: (i) =>
        `${dayText(time(i))} ${clockText(time(i), true)}` },
      { key: 'labels', title: 'Labels', text: (i) =>
        Object.entries(row(i).labels).map((pair) => pair.join('='))
          .join('  ') },
      { key: 'total', title: 'Total', numeric: true, text: (i) =>
        this.totalText(i), value: (i) => this.total(i)?.sum ?? 0 },
      { key: 'seconds', title: 'Seconds', numeric: true, text: (i) =>
        (row(i).duration_seconds ? String(Number(row(i).duration_seconds
          .toPrecision(3))) : '–'), value: (i) => row(i).duration_seconds },
      { key: 'samples', title: 'Samples', numeric: true, text: (i) =>
        String(row(i).samples), value: (i) => row(i).samples },
      { key: 'bytes', title: 'Size', numeric: true, text: (i) =>
        valueText(row(i).bytes, measureOf('bytes')),
      value: (i) => row(i).bytes },
      { key: 'id', title: 'Id', text: (i) => row(i).id },
    ];
  }

  /** Of the type that is shown. @param {number} i */
  total(i) {
    const { totals } = this.profiles[i];
    const wanted = this.app.meta?.sample_index;
    return totals.find(({ type }) => type === wanted) ??
      totals[totals.length - 1];
  }

  /** @param {number} i */
  totalText(i) {
    const total = this.total(i);
    return total ? valueText(total.sum, measureOf(total.unit)) : '–';
  }

  /** @param {number} i */
  open(i) {
    this.app.state.set({ a: `id:${this.profiles[i].id}`, b: null,
      ...PLACE_WORDS }, { view: 'flamegraph' });
  }

  /** @param {number} i @returns {[string, () => void][]} */
  actions(i) {
    const { state } = this.app;
    const { id } = this.profiles[i];
    const download = () => {
      const link = el('a', { href: `${state.prefix}download?a=id:${id}`,
        download: '' });
      document.body.append(link);
      link.click();
      link.remove();
    };
    return [['Open', () => this.open(i)], ['Download', download],
      ['Compare with the whole window', () => state.set({ a: `id:${id}`,
        b: state.get('a'), ...PLACE_WORDS }, { view: 'diff' })]];
  }

  /** @param {number} i -1: none */
  choose(i) {
    this.chosen = i;
    this.buttons.replaceChildren(...(i < 0 ? [el('span', { class: 'muted' },
      'Choose a profile to open, download or compare it.')]
      : this.actions(i).map(([label, act]) =>
        el('button', { onclick: act }, label))));
  }

  /** @param {Set<string> | null} changed */
  async show(changed) {
    if (changed && !changed.has('a') && !changed.has('view')) return;
    const selection = parseSelection(this.app.state.get('a'));
    const answer = selection && !selection.id
      ? await this.api.ask('profiles', 'profiles', { limit: LIMIT,
        query: selectorText(selection), from: selection.from,
        to: selection.to }) : { profiles: [] };
    if (!answer) return;
    this.profiles = answer.profiles;
    this.table.show(this.profiles.length, 'time', true);
    this.choose(-1);
    this.count.textContent = selection?.id ? 'This is a single profile.'
      : plural(this.profiles.length, 'profile') + (answer.next
        ? ', the newest of more' : '');
  }

  focus() {
    this.table.element.focus();
  }
}
