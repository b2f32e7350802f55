// The second bar: sample type, the filters as chips, and how much of the
// profile is seen.

import { el, select } from '../base/dom.js';
import { percentText } from '../base/numbers.js';
import { FILTERS, OPTIONS, PLACE_WORDS } from '../base/state.js';
import { openDetails } from './details.js'; // later
import { openFilter } from './filter_form.js'; // later
import { changeFilter, filtersOf, plainValue } from './filters.js';
import { openOptions } from './options.js'; // later

/** @typedef {import('../main.js').App} App */
/** @typedef {import('../main.js').Meta} Meta */
/** @typedef {import('./filters.js').Filter} Filter */

export class FilterBar {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.types = el('div', { class: 'types' });
    this.chips = el('ul', { class: 'chips', 'aria-label': 'Filters' });
    this.total = el('span', { class: 'total', role: 'status' });
    /** Of what is zoomed to; "" if nothing is. */
    this.zoomed = '';
    this.add = el('button', { class: 'quiet add-filter', title: 'Filter (f)',
      onclick: () => openFilter(app) }, '+ Filter');
    this.element = el('div', { class: 'filterbar' }, this.types, this.chips,
      this.add, el('span', { class: 'spring' }), this.total,
      el('button', { class: 'quiet', title: 'About this profile',
        onclick: () => openDetails(app) }, 'Details'));
  }

  /** @param {Meta | null} meta null: it cannot be had */
  show(meta) {
    this.add.hidden = this.app.data.offline;
    if (meta) this.showTypes(meta);
    this.showChips(meta);
    this.showTotal();
  }

  /** @param {string} text such as "290ms (13%) of 2.23s"; "" for all */
  zoom(text) {
    if (text === this.zoomed) return;
    this.zoomed = text;
    this.showTotal();
  }

  /** "290ms (13%) of 2.23s" as soon as anything is filtered or zoomed. */
  showTotal() {
    const { meta } = this.app;
    const part = meta && !meta.has_base && meta.shown !== meta.total &&
      meta.total !== 0;
    this.total.textContent = this.zoomed || (!meta?.total_text ? ''
      : part ? `${meta.shown_text} (${percentText(meta.shown, meta.total)
      }) of ${meta.total_text}`
        : meta.has_base ? '' : `Total ${meta.total_text}`);
    this.total.classList.toggle('part', Boolean(this.zoomed || part));
  }

  /** @param {Meta} meta */
  showTypes(meta) {
    const { state } = this.app;
    /** @type {[string, string][]} */
    const choices = (meta.sample_types ?? []).map(({ type, unit }) =>
      [type, unit && unit !== 'count' ? `${type} (${unit})` : type]);
    this.types.replaceChildren(choices.length < 2
      ? el('span', { class: 'one-type' }, choices[0]?.[1] ?? '')
      : select('Sample type', choices, meta.sample_index, (type) =>
        state.set({ si: type, ...PLACE_WORDS })));
  }

  /** @param {Meta | null} meta */
  showChips(meta) {
    const { state, data } = this.app;
    const options = data.offline ? []
      : OPTIONS.filter(([word]) => state.get(word) !== '');
    this.chips.replaceChildren(
      ...filtersOf(state, meta?.config).map((filter) => this.chip(filter)),
      ...options.map(([word, name]) => this.option(word, name)));
  }

  /** @param {Filter} filter */
  chip(filter) {
    const { state, data } = this.app;
    const known = FILTERS.find(({ word }) => word === filter.word);
    const text = plainValue(filter);
    const name = `${known?.plain} ${text}`;
    const canChange = !data.offline && !filter.fixed;
    return el('li', { class: filter.on ? 'chip' : 'chip off' },
      canChange ? el('input', { type: 'checkbox', checked: filter.on,
        'aria-label': `Use filter ${name}`, title: 'Use this filter',
        onchange: () => changeFilter(state, filter, { on: !filter.on }) })
        : null,
      el('button', { class: 'chip-text', disabled: !canChange,
        title: `${known?.hint} (${known?.name}=${filter.value}): edit`,
        onclick: () => openFilter(this.app, filter) },
      el('span', { class: 'chip-word' }, known?.plain), text),
      canChange ? el('button', { class: 'chip-remove',
        'aria-label': `Remove ${name}`,
        onclick: () => changeFilter(state, filter, null) }, '×') : null);
  }

  /** @param {string} word @param {string} name */
  option(word, name) {
    const { state } = this.app;
    return el('li', { class: 'chip' },
      el('button', { class: 'chip-text', title: 'An option: edit',
        onclick: () => openOptions(this.app) },
      el('span', { class: 'chip-word' }, name), state.get(word)),
      el('button', { class: 'chip-remove',
        'aria-label': `Remove ${name} ${state.get(word)}`,
        onclick: () => state.set({ [word]: null, ...PLACE_WORDS }) }, '×'));
  }
}
