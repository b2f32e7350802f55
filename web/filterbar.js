// The second bar: sample type, the filters as chips, the total.

import { el } from './dom.js';
import { select } from './flame_tools.js';
import { openOptions } from './options.js';
import { FILTERS, OPTIONS, PLACE_WORDS } from './state.js';

/** @typedef {import('./main.js').App} App */
/** @typedef {import('./main.js').Meta} Meta */

export class FilterBar {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.types = el('div', { class: 'types' });
    this.chips = el('ul', { class: 'chips', 'aria-label': 'Filters' });
    this.total = el('span', { class: 'total' });
    this.about = el('details', { class: 'about' },
      el('summary', { title: 'About this profile' }, 'Details'),
      el('div', { class: 'about-box' }));
    this.add = el('button', { class: 'quiet add-filter', title: 'Filter (f)',
      onclick: () => openFilter(app, 'f') }, '+ Filter');
    this.element = el('div', { class: 'filterbar' }, this.types, this.chips,
      this.add, el('span', { class: 'spring' }), this.total, this.about);
  }

  /** @param {Meta} meta */
  show(meta) {
    this.total.textContent = meta.total_text ? `Total ${meta.total_text}` : '';
    this.add.hidden = this.app.data.offline;
    this.showTypes(meta);
    this.showChips(meta);
    const lines = [...(meta.legend ?? []), ...(meta.comments ?? []),
      `pprof ${meta.version ?? ''}`];
    const help = /^https?:\/\//.test(meta.doc_url ?? '') ? el('p', {}, el('a',
      { href: meta.doc_url, target: '_blank', rel: 'noopener noreferrer' },
      'Documentation of this profile')) : '';
    this.about.lastElementChild?.replaceChildren(...lines.map((line) =>
      el('p', {}, line)), help);
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

  /** @param {Meta} meta */
  showChips(meta) {
    const { state, data } = this.app;
    const set = FILTERS.map((filter) => ({ filter,
      value: state.get(filter.word) || (meta.config?.[filter.word] ?? '') }))
      .filter(({ value }) => value !== '');
    const options = data.offline ? []
      : OPTIONS.filter(([word]) => state.get(word) !== '');
    this.chips.replaceChildren(
      ...set.map(({ filter, value }) => this.chip(filter.word, filter.name,
        value, `${filter.hint}: edit`,
        () => openFilter(this.app, filter.word))),
      ...options.map(([word, name]) => this.chip(word, name, state.get(word),
        'an option: edit', () => openOptions(this.app))));
  }

  /** @param {string} word @param {string} name @param {string} value
   * @param {string} hint @param {() => void} edit */
  chip(word, name, value, hint, edit) {
    const { state, data } = this.app;
    return el('li', { class: 'chip' },
      el('button', { class: 'chip-text', title: hint, disabled: data.offline,
        onclick: edit }, el('span', { class: 'chip-word' }, name), value),
      data.offline || !state.get(word) ? null : el('button', {
        class: 'chip-remove', 'aria-label': `Remove ${name} ${value}`,
        onclick: () => state.set({ [word]: null, ...PLACE_WORDS }) }, '×'));
  }
}

/** A small form for one filter. @param {App} app @param {string} word */
export function openFilter(app, word) {
  const { state } = app;
  const input = el('input', { type: 'text', value: state.get(word),
    'aria-label': 'Regular expression', spellcheck: 'false',
    autocomplete: 'off', autocapitalize: 'off' });
  const hint = el('p', { class: 'muted' });
  const kind = select('Filter', FILTERS.map(({ word: w, name }) => [w, name]),
    word, (chosen) => {
      input.value = state.get(chosen);
      describe();
      input.focus();
    });
  const describe = () => {
    hint.textContent = FILTERS.find((f) => f.word === kind.value)?.hint ?? '';
  };
  const dialog = el('dialog', { class: 'dialog small',
    'aria-label': 'Filter' }, el('form', { method: 'dialog',
    onsubmit: () => state.set({ [kind.value]: input.value, ...PLACE_WORDS }) },
  el('h2', {}, 'Filter'), el('div', { class: 'filter-row' }, kind, input), hint,
  el('div', { class: 'dialog-buttons' },
    el('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel'),
    el('button', { class: 'primary' }, 'Apply'))));
  describe();
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  input.focus();
  input.select();
}
