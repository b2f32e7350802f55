// The bar at the top: which profile, the views, the search field, and the
// menus for saving and options.

import { el, isNarrow } from '../base/dom.js';
import { openMenuAt } from '../base/menu.js'; // later
import { PLACE_WORDS, VIEWS } from '../base/state.js';
import { themeItems } from '../base/theme.js';
import { saveMenu } from '../save/save.js'; // later
import { showKeys } from './help.js'; // later
import { openOptions } from './options.js'; // later
import { profileMenu } from './profiles.js'; // later

/** @typedef {import('../main.js').App} App */
/** @typedef {import('../main.js').Meta} Meta */

export class Header {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.title = el('span', { class: 'profile-name' }, 'pprof');
    this.profile = this.menuButton('profile-button', 'Profiles',
      () => profileMenu(app), this.title);
    this.tabs = el('nav', { class: 'tabs', 'aria-label': 'Views' });
    this.element = el('div', { class: 'header' }, this.profile, this.tabs,
      app.searchBox.element, el('div', { class: 'header-menus' },
        this.menuButton('', 'Save and download', () => saveMenu(app), 'Save'),
        el('button', { class: 'menu-button', title: 'Options (o)',
          onclick: () => openOptions(app) }, 'Options'),
        this.menuButton('theme', 'Theme', themeItems, '◐'),
        this.menuButton('more', 'More', () => [...saveMenu(app),
          { label: '-' }, { label: 'Options', act: () => openOptions(app) },
          { label: '-' }, ...themeItems()], '⋯'),
        el('button', { class: 'menu-button help', title: 'Keys (?)',
          'aria-label': 'Keyboard help', onclick: () => showKeys() }, '?')));
    this.hasBase = false;
    this.drawTabs();
  }

  /** @param {string} name @param {string} label
   * @param {() => import('../base/menu.js').MenuItem[]} items
   * @param {Node | string} content */
  menuButton(name, label, items, content) {
    const isSign = typeof content === 'string' && content.length === 1;
    const button = el('button', { class: `menu-button ${name}`, title: label,
      'aria-label': isSign ? label : null, 'aria-haspopup': 'menu', onclick: () => openMenuAt(button, items()) },
    content, el('span', { class: 'caret', 'aria-hidden': 'true' }));
    return button;
  }

  /** @param {Meta} meta */
  show(meta) {
    const id = this.app.state.get('a');
    const loaded = meta.profiles?.find((profile) => profile.id === id);
    this.title.textContent = loaded?.name.replace(/^.*\//, '') ||
      meta.title || 'pprof';
    this.title.title = (meta.legend ?? []).join('\n');
    if (this.hasBase !== meta.has_base) {
      this.hasBase = meta.has_base;
      this.drawTabs();
    }
    if (isNarrow()) this.reveal(); // the name has taken some of the room
  }

  /** The current tab, where the tabs scroll sideways; when there is time for
   * a layout. */
  reveal() {
    requestAnimationFrame(() => this.tabs.querySelector('[aria-current]')
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' }));
  }

  drawTabs() {
    const { state } = this.app;
    this.tabs.replaceChildren(...VIEWS
      .filter((view) => (view.id !== 'diff' || this.hasBase) &&
        this.app.data.has(view.report))
      .map((view) => el('a', { class: 'tab', 'data-view': view.id,
        href: state.urlOf(view.id, state.params),
        title: `${view.hint} (${view.key})`,
        onclick: (/** @type {MouseEvent} */ event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey) return;
          event.preventDefault();
          openView(this.app, view.id);
        } }, view.title)));
    this.markView();
  }

  markView() {
    const { state } = this.app;
    const current = currentTab(this.app);
    for (const tab of this.tabs.querySelectorAll('a')) {
      const id = tab.dataset.view ?? '';
      tab.href = state.urlOf(id, state.params);
      if (id === current) {
        if (tab.hasAttribute('aria-current')) continue;
        tab.setAttribute('aria-current', 'page');
        this.reveal();
      } else {
        tab.removeAttribute('aria-current');
      }
    }
  }
}

/** A flame graph with a pivot is the callers' view, as old links have it.
 * @param {App} app */
export function currentTab(app) {
  const { view } = app.state;
  return view === 'flamegraph' && app.state.get('p') ? 'callers' : view;
}

/** What is selected stays selected.
 * @param {App} app @param {string} id */
export function openView(app, id) {
  const fn = app.view?.selectedName?.() || app.state.get('fn') || null;
  app.state.set({ fn, ...(id === 'flamegraph' ? { p: null, ...PLACE_WORDS }
    : currentTab(app) === 'flamegraph' ? PLACE_WORDS : {}) }, { view: id });
}
