// Keys that work everywhere.

import { closeMenu } from '../base/menu.js'; // later
import { exactly } from '../base/search.js';
import { PLACE_WORDS, VIEWS } from '../base/state.js';
import { openFilter } from './filter_form.js'; // later
import { openView } from './header.js';
import { showKeys } from './help.js'; // later
import { openOptions } from './options.js'; // later
import { isBare } from './views.js';

/** @typedef {import('../main.js').App} App */

/** What a view handles itself when it has the focus. */
const VIEW_KEYS = /^(Arrow\w+|Home|End|Page\w+|Enter|[+=0-]|ContextMenu|F10)$/;

/** Nothing has the focus: the view gets it, and the key.
 * @param {App} app @param {KeyboardEvent} event */
function passOn(app, event) {
  if (event.target !== document.body || !VIEW_KEYS.test(event.key)) {
    return false;
  }
  app.view?.focus?.();
  const now = document.activeElement;
  if (!now || now === document.body) return false;
  const { key, shiftKey } = event;
  return !now.dispatchEvent(new KeyboardEvent('keydown',
    { key, shiftKey, bubbles: true, cancelable: true }));
}

/** @param {App} app */
export function addKeys(app) {
  addEventListener('keydown', (event) => {
    const target = /** @type {Element} */ (event.target);
    const typing = target.matches?.(
      'input:not([type=range]), textarea, select');
    if (typing || event.defaultPrevented || event.ctrlKey || event.metaKey ||
      event.altKey || document.querySelector('dialog[open], .menu')) return;
    if (onKey(app, event.key) || passOn(app, event)) event.preventDefault();
  });
}

/** @param {App} app @param {string} key */
function onKey(app, key) {
  if (isBare(app.state.view)) return onBareKey(app, key);
  const view = VIEWS.find((v) => v.key === key);
  if (view) {
    const there = app.data.has(view.report) &&
      (view.id !== 'diff' || app.meta?.has_base);
    if (there) openView(app, view.id);
    return true;
  }
  switch (key) {
    case '/': app.searchBox.focus(); return true;
    case 'n': app.view?.nextHit?.(1); return true;
    case 'N': app.view?.nextHit?.(-1); return true;
    case '?': showKeys(); return true;
    case 'o': openOptions(app); return true;
    case 'f': openFilter(app); return true;
    case 'i': app.inspector.toggle(); return true;
    case 'p': return pivotOnSelected(app);
    case 't': nextSide(app); return true;
    case 'c': void app.detail.copy('name'); return true;
    case 'C': void app.detail.copy('stack'); return true;
    case 'Escape': return escape(app);
    default: return false;
  }
}

/** Where there is no profile. @param {App} app @param {string} key */
function onBareKey(app, key) {
  if (key === '?') showKeys();
  else if (key === '/') app.view?.find?.focus();
  else return false;
  return true;
}

/** @param {App} app */
function pivotOnSelected(app) {
  const name = app.view?.selectedName?.() ?? app.state.get('fn');
  if (name) {
    app.state.set({ p: exactly(name), ...PLACE_WORDS },
      { view: 'flamegraph' });
  }
  return Boolean(name);
}

/** @param {App} app */
function nextSide(app) {
  const sides = ['', 'flame', 'table'];
  const at = sides.indexOf(app.state.get('side'));
  app.state.set({ side: sides[(at + 1) % 3] || null }, { replace: true });
}

/** @param {App} app */
function escape(app) {
  closeMenu();
  if (app.view?.escape?.()) return true;
  if (app.state.get('q')) {
    app.state.set({ q: null }, { replace: true });
    return true;
  }
  return false;
}
