// The form for one filter: a new one, or one to edit.

import { el, select } from '../base/dom.js';
import { FILTERS } from '../base/state.js';
import { addFilter, changeFilter, filterError } from './filters.js';

/** @typedef {import('../main.js').App} App */
/** @typedef {import('./filters.js').Filter} Filter */

/** @param {App} app @param {Filter} [old] */
export function openFilter(app, old) {
  const { state } = app;
  if (app.data.offline) return;
  const input = el('input', { type: 'text', value: old?.value ?? '',
    'aria-label': 'Regular expression', spellcheck: 'false',
    'aria-describedby': 'filter-hint', autocomplete: 'off',
    autocapitalize: 'off', oninput: () => describe() });
  const hint = el('p', { class: 'muted', id: 'filter-hint' });
  const apply = el('button', { class: 'primary' }, 'Apply');
  const kind = select('Filter', FILTERS.map(({ word, plain, name }) =>
    [word, `${plain} (${name})`]), old?.word ?? 'f', () => {
    describe();
    input.focus();
  });
  const describe = () => {
    const wrong = filterError(kind.value, input.value);
    hint.textContent = wrong ? `Not a regular expression: ${wrong}`
      : FILTERS.find((f) => f.word === kind.value)?.hint ?? '';
    hint.classList.toggle('wrong', wrong !== '');
    input.setAttribute('aria-invalid', String(wrong !== ''));
    apply.disabled = wrong !== '';
  };
  const submit = () => {
    const value = input.value;
    if (old) {
      changeFilter(state, old, value ? { word: kind.value, value } : null);
    } else if (value) {
      addFilter(state, kind.value, value);
    }
  };
  const dialog = el('dialog', { class: 'dialog small',
    'aria-label': 'Filter' }, el('form', { method: 'dialog',
    onsubmit: submit }, el('h2', {}, old ? 'Edit the filter' : 'Filter'),
  el('div', { class: 'filter-row' }, kind, input), hint,
  el('div', { class: 'dialog-buttons' },
    el('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel'),
    apply)));
  describe();
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  input.focus();
  input.select();
}
