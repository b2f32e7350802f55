// Keys that work everywhere, and the page that lists all keys.

import { el } from './dom.js';
import { openFilter } from './filterbar.js';
import { openView } from './header.js';
import { closeMenu } from './menu.js';
import { openOptions } from './options.js';
import { exactly } from './search.js';
import { PLACE_WORDS, VIEWS } from './state.js';

/** @typedef {import('./main.js').App} App */

/** @type {[string, [string, string][]][]} */
const HELP = [
  ['Views', VIEWS.map((view) => [view.key, view.hint])],
  ['Search and filters', [
    ['/', 'Search'], ['n  N', 'Next, previous hit'],
    ['Ctrl ⏎', 'In the search field: make it the focus'],
    ['f', 'Add a filter'], ['o', 'Options'], ['Esc', 'One step back']]],
  ['Flame graph', [
    ['↑ ↓', 'Caller, callee'], ['← →', 'Neighbours'], ['⏎', 'Zoom to it'],
    ['+  -  0', 'Zoom in, out, show all'], ['Wheel', 'Zoom at the pointer'],
    ['Shift wheel', 'Scroll'], ['Drag', 'Move'],
    ['Double click', 'Zoom to the box'], ['Right click', 'Menu'],
    ['p', 'Callers and callees of the selected function'],
    ['t', 'Table, flame graph, or both'],
    ['c  C', 'Copy the name, the stack']]],
];

export function showKeys() {
  const dialog = el('dialog', { class: 'dialog keys', 'aria-label': 'Keys' },
    el('h2', {}, 'Keys'),
    el('div', { class: 'keys-columns' }, ...HELP.map(([title, rows]) =>
      el('section', {}, el('h3', {}, title), el('dl', {},
        ...rows.flatMap(([key, what]) => [
          el('dt', {}, ...key.split('  ').map((k) => el('kbd', {}, k))),
          el('dd', {}, what)]))))),
    el('form', { method: 'dialog', class: 'dialog-buttons' },
      el('button', { class: 'primary' }, 'Close')));
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** @param {App} app */
export function addKeys(app) {
  addEventListener('keydown', (event) => {
    const target = /** @type {Element} */ (event.target);
    const typing = target.matches?.(
      'input:not([type=range]), textarea, select');
    if (typing || event.defaultPrevented || event.ctrlKey || event.metaKey ||
      event.altKey || document.querySelector('dialog[open], .menu')) return;
    if (onKey(app, event.key)) event.preventDefault();
  });
}

/** @param {App} app @param {string} key */
function onKey(app, key) {
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
    case 'f': openFilter(app, 'f'); return true;
    case 'p': return pivotOnSelected(app);
    case 't': nextSide(app); return true;
    case 'c': void app.detail.copy('name'); return true;
    case 'C': void app.detail.copy('stack'); return true;
    case 'Escape': return escape(app);
    default: return false;
  }
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
