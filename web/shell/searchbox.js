// The search field: a regular expression.  The view marks what it finds while
// one types, and says beside the field what share of the profile that is.  An
// expression that is none is reported below it.

import { el, whenQuiet } from '../base/dom.js';
import { patternError } from '../base/search.js';
import { addFilter } from './filters.js';

/** @typedef {import('../main.js').App} App */

export class SearchBox {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    const typed = whenQuiet(120, () => this.search());
    this.input = el('input', { type: 'search', placeholder: 'Search  /',
      'aria-label': 'Search functions by a regular expression',
      'aria-describedby': 'search-error',
      spellcheck: 'false', autocomplete: 'off', autocapitalize: 'off',
      value: app.state.get('q'),
      oninput: () => {
        this.check();
        typed();
      },
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.onKey(event) });
    this.share = el('output', { class: 'search-share' });
    this.error = el('div', { class: 'search-error', id: 'search-error',
      role: 'status', hidden: true });
    this.element = el('search', { class: 'search' }, this.input, this.share,
      this.error);
    this.check();
    app.state.onChange((changed) => {
      if (changed.has('q') && document.activeElement !== this.input) {
        this.input.value = app.state.get('q');
        this.check();
      }
    });
  }

  /** Says what is wrong with the expression, if anything is. */
  check() {
    const wrong = patternError(this.input.value);
    this.error.hidden = wrong === '';
    this.error.textContent = wrong && `Not a regular expression: ${wrong}`;
    this.input.setAttribute('aria-invalid', String(wrong !== ''));
    return wrong === '';
  }

  search() {
    if (this.check()) {
      this.app.state.set({ q: this.input.value }, { replace: true });
    }
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
      if (this.app.data.offline || !this.check()) return;
      const words = this.input.value;
      this.input.value = '';
      state.set({ q: null }, { replace: true, quiet: true });
      addFilter(state, 'f', words);
    } else if (event.key === 'Enter') {
      this.search();
      this.app.view?.nextHit?.(1);
    } else if (event.key === 'Escape') {
      if (this.input.value === '') this.input.blur();
      this.input.value = '';
      this.check();
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
