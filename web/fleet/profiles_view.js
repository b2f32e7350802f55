// The single profiles of the window: to open, download or compare.

import { el } from '../base/dom.js';
import { openMenu } from '../base/menu.js';
import { plural, valueText } from '../base/numbers.js';
import { patternOf } from '../base/search.js';
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

/** @param {Profile} profile */
const timeOf = ({ created_at: at }) => Date.parse(at) / 1000;

/** @param {Profile} profile */
const timeText = (profile) => `${dayText(timeOf(profile))} ${
  clockText(timeOf(profile), true)}`;

/** @param {Profile} profile */
const labelText = ({ labels }) => Object.entries(labels)
  .map((pair) => pair.join('=')).join(', ');

export class ProfilesView {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.api = new Api(app.state.prefix);
    /** @type {Profile[]} */
    this.profiles = [];
    this.chosen = -1;
    /** To compare another one with. @type {Profile | null} */
    this.base = null;
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
    return [
      { key: 'time', title: 'Time', value: (i) => timeOf(row(i)),
        text: (i) => timeText(row(i)) },
      { key: 'labels', title: 'Labels', text: (i) => labelText(row(i)) },
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
    const wanted = this.app.state.get('si') || this.app.meta?.sample_index;
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
    const { base } = this;
    const { id } = this.profiles[i];
    const compare = (/** @type {string} */ b) => state.set({ a: `id:${id}`, b,
      ...PLACE_WORDS }, { view: 'diff' });
    const download = () => {
      const link = el('a', { href: `${state.prefix}download?a=id:${id}`,
        download: '' });
      document.body.append(link);
      link.click();
      link.remove();
    };
    return [['Open', () => this.open(i)], ['Download', download],
      ['Compare with the whole window', () => compare(state.get('a'))],
      base && base.id !== id
        ? [`Compare with ${timeText(base)}`, () => compare(`id:${base.id}`)]
        : ['Compare with another', () => this.keepBase(this.profiles[i])]];
  }

  /** @param {Profile | null} base */
  keepBase(base) {
    this.base = base;
    this.choose(this.chosen);
  }

  /** @param {number} i -1: none */
  choose(i) {
    this.chosen = i;
    const { base } = this;
    const say = (/** @type {string} */ text) => el('span', { class: 'muted' },
      text);
    const button = (/** @type {string} */ text, /** @type {() => void} */ act) =>
      el('button', { onclick: act }, text);
    this.buttons.replaceChildren(...(base && (i < 0 ||
      this.profiles[i].id === base.id)
      ? [say(`Choose what to compare with ${timeText(base)}.`),
        button('Cancel', () => this.keepBase(null))]
      : i < 0 ? [say('Choose a profile to open, download or compare it.')]
        : this.actions(i).map(([label, act]) => button(label, act))));
  }

  /** @param {Set<string> | null} changed */
  async show(changed) {
    if (!changed || changed.has('a') || changed.has('view')) {
      const chosen = this.profiles[this.chosen]?.id;
      if (!await this.load()) return;
      this.table.show(this.profiles.length, this.table.sortKey || 'time',
        this.table.down);
      const again = this.profiles.findIndex(({ id }) => id === chosen);
      this.table.select(again);
      this.choose(again);
    } else if (changed.has('si')) {
      this.table.show(this.profiles.length);
      this.table.select(this.chosen);
    }
    this.filter();
  }

  /** False: it was asked anew. */
  async load() {
    const selection = parseSelection(this.app.state.get('a'));
    const isSingle = Boolean(selection?.id);
    this.table.element.hidden = this.buttons.hidden = isSingle;
    const answer = selection && !isSingle
      ? await this.api.ask('profiles', 'profiles', { limit: LIMIT,
        query: selectorText(selection), from: selection.from,
        to: selection.to }) : { profiles: [] };
    if (!answer) return false;
    this.profiles = answer.profiles;
    this.count.textContent = isSingle ? 'This is a single profile.'
      : plural(this.profiles.length, 'profile') + (answer.next
        ? ', the newest of more' : '');
    return true;
  }

  /** By the words of the search field. */
  filter() {
    const pattern = patternOf(this.app.state.get('q'));
    this.table.filter(pattern && ((i) => pattern.test(
      `${labelText(this.profiles[i])} ${this.profiles[i].id}`)));
    this.app.searchBox.report(pattern && plural(this.table.order.length,
      'profile'));
  }

  focus() {
    this.table.element.focus();
  }
}
