// Where the page starts: reads the URL, builds the frame around the views,
// and shows the view that the URL names.  Everything hangs off one App.

import { onThemeChange } from './colors.js';
import { AskError, Data } from './data.js';
import { DetailLine } from './detail.js';
import { byId, el } from './dom.js';
import { addDrop } from './drop.js';
import { FilterBar } from './filterbar.js';
import { Header } from './header.js';
import { addKeys } from './keys.js';
import { SearchBox } from './searchbox.js';
import { needsData, State, VIEWS } from './state.js';
import { viewFor } from './views.js';

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
 * @property {string} unit
 * @property {boolean} has_base
 * @property {string[]} comments
 * @property {string} doc_url
 * @property {Record<string, string>} config
 * @property {Record<string, string>} default_config
 * @property {{name: string, url: string, current: boolean,
 *   user: boolean}[]} configs
 * @property {{id: string, name: string, added: boolean}[]} profiles
 * @property {boolean} can_normalize   there is a base
 * @property {boolean} can_fetch
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
 * @property {() => void} [focus]
 * @property {() => void} [themeChanged]
 * @property {(kind: 'svg' | 'png') => Promise<Blob>} [picture]
 */

export class App {
  constructor() {
    this.state = new State();
    this.data = new Data(this.state.prefix);
    this.detail = new DetailLine();
    this.searchBox = new SearchBox(this);
    this.header = new Header(this);
    this.filters = new FilterBar(this);
    /** @type {Meta | null} */
    this.meta = null;
    /** @type {Map<string, View>} */
    this.views = new Map();
    /** @type {View | null} */
    this.view = null;
    this.turn = 0;
    /** @type {Map<string, string[]>} */
    this.sentences = new Map();
    takePlace('header', this.header.element);
    takePlace('filters', this.filters.element);
    takePlace('detail', this.detail.element);
    this.state.onChange((changed) => void this.refresh(changed));
    onThemeChange(() => this.view?.themeChanged?.());
    addKeys(this);
    addDrop(this);
    void this.refresh(null);
  }

  /** Shows what the URL says. @param {Set<string> | null} changed */
  async refresh(changed) {
    const turn = ++this.turn;
    const main = byId('view');
    main.setAttribute('aria-busy', 'true');
    this.sentences.clear();
    this.header.markView();
    try {
      await Promise.all([this.refreshMeta(changed),
        this.refreshView(changed, turn)]);
      if (turn !== this.turn) return;
    } catch (error) {
      if (turn === this.turn) this.fail(error);
    }
    if (turn === this.turn) main.removeAttribute('aria-busy');
  }

  /** @param {Set<string> | null} changed */
  async refreshMeta(changed) {
    if (!this.meta || !changed || needsData(changed)) {
      this.meta = await this.data.json('meta', this.state.dataQuery());
    }
    const meta = /** @type {Meta} */ (this.meta);
    this.header.show(meta);
    this.filters.show(meta);
    this.say('profile', ...(meta.warnings ?? []));
    const view = VIEWS.find((v) => v.id === this.state.view);
    document.title = `${meta.title || 'pprof'} · ${
      view?.title ?? this.state.view}`;
    byId('title').textContent = document.title;
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
      main.replaceChildren(view.element);
      this.view = view;
    }
    await view.show(other ? null : changed);
    if (turn === this.turn && main.firstChild !== view.element) {
      main.replaceChildren(view.element);
    }
  }

  /** A failure takes the place of the view, with a way back.
   * @param {unknown} error */
  fail(error) {
    const known = error instanceof AskError || (error instanceof Error &&
      error.message.startsWith('no view'));
    const text = error instanceof Error ? error.message : String(error);
    if (!known) console.error(error);
    const words = [...this.state.params.keys()];
    byId('view').replaceChildren(el('div', { class: 'failure', role: 'alert' },
      el('h1', {}, known ? 'This cannot be shown' : 'Something went wrong'),
      el('p', { class: 'failure-text' }, text),
      el('div', { class: 'failure-ways' },
        history.length > 1 ? el('button', { onclick: () => history.back() },
          'Back') : null,
        words.length > 0 ? el('button', { onclick: () => this.state.set(
          Object.fromEntries(words.map((word) => [word, null]))) },
        'Without filters and options') : null,
        el('button', { class: 'primary', onclick: () => this.state.set(
          Object.fromEntries(words.map((word) => [word, null])),
          { view: 'flamegraph' }) }, 'Flame graph'))));
    this.view = null;
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
      this.say('action', error instanceof Error ? error.message
        : String(error));
    }
  }

  /** After profiles were added or configurations changed. */
  async reload() {
    this.data.forget();
    await this.refresh(null);
  }
}

/** In place of what index.html shows until the script is there.
 * @param {string} id @param {HTMLElement} element */
function takePlace(id, element) {
  const place = byId(id);
  place.querySelector('.early')?.remove();
  place.append(element);
}

if (globalThis.document?.getElementById('view')) {
  /** @type {any} */ (globalThis).pprofPage = new App();
}
