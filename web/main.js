// The page: reads the URL, builds the frame around the views, and shows the
// view that the URL names.  Everything hangs off one App.

import { AskError } from './base/ask_error.js';
import { Data } from './base/data.js';
import { DetailLine } from './base/detail.js';
import { byId, el } from './base/dom.js';
import { FILTERS, needsData, PLACE_WORDS, VIEWS } from './base/state.js';
import { onThemeChange } from './base/theme.js';
import { CompareBar } from './shell/comparebar.js';
import { addDrop } from './shell/drop.js';
import { FilterBar } from './shell/filterbar.js';
import { Header } from './shell/header.js';
import { Inspector } from './inspector/inspector.js';
import { addPrinting, titleOf } from './save/print.js';
import { addKeys } from './shell/keys.js';
import { SearchBox } from './shell/searchbox.js';
import { isBare, viewFor } from './shell/views.js';

/** @typedef {import('./base/state.js').State} State */

/** One of the profiles; times are nanoseconds as text.
 * @typedef {{selection: string, name: string, time_ns: string,
 *   duration_ns: string}} Side */

/**
 * What the server says about the profile.
 * @typedef {object} Meta
 * @property {string} title
 * @property {string[]} legend
 * @property {string[]} warnings
 * @property {{type: string, unit: string}[]} sample_types
 * @property {string} sample_index   one of the types
 * @property {number} total
 * @property {string} total_text
 * @property {number} shown             what the filters left
 * @property {string} shown_text
 * @property {number} [base_shown]      the same of a base
 * @property {string} [base_shown_text]
 * @property {string} [change_text]
 * @property {string} unit
 * @property {boolean} has_base
 * @property {string[]} comments
 * @property {string} doc_url
 * @property {Record<string, string>} config
 * @property {Record<string, string>} default_config
 * @property {{name: string, url: string, current: boolean,
 *   user: boolean}[]} configs
 * @property {{id: string, name: string, added: boolean}[]} profiles
 * @property {Side} a
 * @property {Side} [b]                 what it is compared with
 * @property {boolean} can_normalize   there is a base
 * @property {boolean} can_fetch
 * @property {boolean} can_add
 * @property {boolean} is_fleet
 * @property {string} version
 */

/**
 * A view.  show() is called whenever a word of the URL changed, with the
 * words, or with null when everything may have.
 * @typedef {object} View
 * @property {HTMLElement} element
 * @property {(changed: Set<string> | null) => Promise<void>} show
 * @property {() => boolean} [escape]        one step back, if there is one
 * @property {(step: number) => void} [nextHit]
 * @property {() => string} [selectedName]
 * @property {(name: string) => void} [selectName]
 * @property {() => void} [focus]
 * @property {HTMLElement} [find]            the field for "/" of a bare view
 * @property {() => void} [themeChanged]
 * @property {() => void} [beforePrint]
 * @property {() => void} [afterPrint]
 * @property {(kind: 'svg' | 'png') => Promise<Blob>} [picture]
 */

/**
 * What a page around this one adds.
 * @typedef {object} Hooks
 * @property {(changed: Set<string> | null) => void} [before] a refresh
 * @property {() => void} [after] a refresh
 * @property {() => void} [restored] a change was taken back
 * @property {(name: string) => import('./base/menu.js').MenuItem[]}
 *   [frameItems]  for the menu of a function
 */

export class App {
  /** @param {State} state @param {Hooks} [hooks] */
  constructor(state, hooks = {}) {
    this.hooks = hooks;
    this.state = state;
    this.data = new Data(this.state.prefix);
    this.detail = new DetailLine();
    this.searchBox = new SearchBox(this);
    this.header = new Header(this);
    this.filters = new FilterBar(this);
    this.compare = new CompareBar(this);
    this.inspector = new Inspector(this);
    /** @type {Meta | null} */
    this.meta = null;
    /** @type {Map<string, View>} */
    this.views = new Map();
    /** @type {View | null} */
    this.view = null;
    this.turn = 0;
    /** The last state that could be shown.
     * @type {(ReturnType<State['snapshot']> & {meta: Meta | null}) | null} */
    this.good = null;
    /** @type {Map<string, string[]>} */
    this.sentences = new Map();
    takePlace('header', this.header.element);
    takePlace('filters', this.filters.element);
    byId('filters').append(this.compare.element);
    byId('stage').append(this.inspector.element);
    takePlace('detail', this.detail.element);
    this.state.onChange((changed) => void this.refresh(changed));
    onThemeChange(() => this.view?.themeChanged?.());
    addPrinting(this);
    addKeys(this);
    addDrop(this);
  }

  /** Takes over a view that is on the screen already.
   * @param {string} id @param {View} view */
  adopt(id, view) {
    this.views.set(id, view);
    this.view = view;
    this.good = { ...this.state.snapshot(), meta: null };
    void this.refreshMeta(null);
    this.takeFocus();
  }

  /** Shows what the URL says. @param {Set<string> | null} changed */
  async refresh(changed) {
    const turn = ++this.turn;
    this.hooks.before?.(changed);
    const main = byId('view');
    main.setAttribute('aria-busy', 'true');
    this.sentences.clear();
    this.header.markView();
    this.filters.showChips(this.meta);
    const [meta, view] = await Promise.allSettled(this.data.renew(() =>
      [this.refreshMeta(changed), this.refreshView(changed, turn)]));
    if (turn !== this.turn) return;
    if (view.status === 'rejected') {
      this.fail(view.reason);
    } else {
      this.good = { ...this.state.snapshot(), meta: this.meta };
      // The view can do without what is around it.
      if (meta.status === 'rejected') {
        this.say('profile', `About this profile: ${wordsOf(meta.reason)}`);
      }
      if (!changed || changed.has('view')) this.takeFocus();
    }
    main.removeAttribute('aria-busy');
    this.hooks.after?.();
  }

  /** Keys should work at once, unless somebody is typing. */
  takeFocus() {
    const at = document.activeElement;
    if (!at || at === document.body || at.closest('.tabs')) {
      this.view?.focus?.();
      // A ring around it is for those who use the keys.
      const now = document.activeElement;
      now?.classList.add('focused-for-you');
      addEventListener('keydown', () =>
        now?.classList.remove('focused-for-you'), { once: true });
    }
  }

  /** @param {Set<string> | null} changed */
  async refreshMeta(changed) {
    if (isBare(this.state.view)) {
      this.nameView();
      return;
    }
    if (!this.meta || !changed || needsData(changed)) {
      this.meta = await this.data.json('meta', this.state.dataQuery());
    }
    this.showMeta();
    this.say('profile', ...(this.meta?.warnings ?? []));
    this.nameView();
  }

  nameView() {
    const { view: id } = this.state;
    const view = VIEWS.find((v) => v.id === id)?.title ??
      id.charAt(0).toUpperCase() + id.slice(1);
    document.title = `${titleOf(this)} · ${view}`;
    byId('title').textContent = document.title;
  }

  /** In the bars around the view. */
  showMeta() {
    this.filters.show(this.meta);
    if (!this.meta) return;
    this.header.show(this.meta);
    this.compare.show(this.meta);
  }

  /** @param {Set<string> | null} changed @param {number} turn */
  async refreshView(changed, turn) {
    const { id, make } = viewFor(this.state.view);
    let view = this.views.get(id);
    if (!view) {
      view = make(this);
      this.views.set(id, view);
    }
    const other = view !== this.view;
    const main = byId('view');
    // Measured while it is in the page; shown before only if it has content.
    if (other) {
      this.detail.select(null);
      this.filters.zoom('');
      if (main.firstChild !== view.element) main.replaceChildren(view.element);
      this.view = view;
    }
    await view.show(other ? null : changed);
    if (turn === this.turn && main.firstChild !== view.element) {
      main.replaceChildren(view.element);
    }
  }

  /**
   * A change that cannot be shown is taken back: the view and the chips stay
   * as they were.  Where there is nothing to go back to, the failure takes
   * the place of the view.
   * @param {unknown} error
   */
  fail(error) {
    const known = error instanceof AskError || (error instanceof Error &&
      error.message.startsWith('no view'));
    if (!known) console.error(error);
    if (known && this.good && this.view && this.good.view === this.state.view) {
      this.state.restore(this.good);
      this.meta = this.good.meta;
      this.showMeta();
      this.hooks.restored?.();
      this.say('action', wordsOf(error));
      return;
    }
    this.good = null;
    this.view = null;
    byId('view').replaceChildren(this.failure(known, wordsOf(error)));
  }

  /** @param {boolean} known @param {string} text */
  failure(known, text) {
    const { state } = this;
    const filters = FILTERS.map(({ word }) => word)
      .filter((word) => state.get(word));
    const without = Object.fromEntries(filters.map((word) => [word, null]));
    return el('div', { class: 'failure', role: 'alert' },
      el('h1', {}, known ? 'This cannot be shown' : 'Something went wrong'),
      el('p', { class: 'failure-text' }, text),
      el('div', { class: 'failure-ways' },
        history.length > 1 ? el('button', { onclick: () => history.back() },
          'Back') : null,
        filters.length > 0 ? el('button', { onclick: () =>
          state.set(without) }, 'Without filters') : null,
        el('button', { class: 'primary', onclick: () => state.set(
          { ...without, ...PLACE_WORDS, p: null },
          { view: 'flamegraph' }) }, 'Flame graph')));
  }

  /** Shows sentences above the view, instead of the earlier ones about it.
   * @param {'profile' | 'view' | 'action'} about
   * @param {...string} sentences */
  say(about, ...sentences) {
    this.sentences.set(about, sentences);
    byId('messages').replaceChildren(...[...this.sentences.values()].flat()
      .map((sentence) =>
      el('p', {}, sentence, el('button', { class: 'quiet',
        'aria-label': 'Dismiss', onclick: (/** @type {Event} */ event) =>
          /** @type {Element} */ (event.target).parentElement?.remove() },
      '×'))));
  }

  /** Runs something that the user started; errors become a sentence.
   * @param {() => Promise<void>} work */
  async attempt(work) {
    try {
      await work();
    } catch (error) {
      this.say('action', wordsOf(error));
    }
  }

  /** After profiles were added or configurations changed. */
  async reload() {
    this.data.forget();
    await this.refresh(null);
  }
}

/** @param {unknown} error */
function wordsOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/** In place of what index.html shows until the script is there.
 * @param {string} id @param {HTMLElement} element */
function takePlace(id, element) {
  const place = byId(id);
  place.querySelector('.early')?.remove();
  place.append(element);
}
