// The search field: a regular expression, marked while typing.  The view says
// beside it what share of the profile matches.

import { el, whenQuiet } from './dom.js';
import { PLACE_WORDS } from './state.js';

/** @typedef {import('./main.js').App} App */

export class SearchBox {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    const typed = whenQuiet(120, () => app.state.set({ q: this.input.value },
      { replace: true }));
    this.input = el('input', { type: 'search', placeholder: 'Search  /',
      'aria-label': 'Search functions by a regular expression',
      spellcheck: 'false', autocomplete: 'off', autocapitalize: 'off',
      value: app.state.get('q'), oninput: typed,
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.onKey(event) });
    this.share = el('output', { class: 'search-share' });
    this.element = el('search', { class: 'search' }, this.input, this.share);
    app.state.onChange((changed) => {
      if (changed.has('q') && document.activeElement !== this.input) {
        this.input.value = app.state.get('q');
      }
    });
  }

  /** What was found; null when nothing is searched for.
   * @param {string | null} text */
  report(text) {
    this.share.textContent = text ?? '';
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const { state } = this.app;
    if (event.key === 'Enter' && event.shiftKey) {
      this.app.view?.nextHit?.(-1);
    } else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      // As on pprof's own page: what was searched becomes the filter.
      state.set({ f: this.input.value, q: null, ...PLACE_WORDS });
      this.input.value = '';
    } else if (event.key === 'Enter') {
      state.set({ q: this.input.value }, { replace: true });
      this.app.view?.nextHit?.(1);
    } else if (event.key === 'Escape') {
      if (this.input.value === '') this.input.blur();
      this.input.value = '';
      state.set({ q: null }, { replace: true });
      this.app.view?.focus?.();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  focus() {
    this.input.focus();
    this.input.select();
  }
}
