// The dialog that lists all keys.

import { openDialog } from '../base/dialog.js';
import { el } from '../base/dom.js';
import { VIEWS } from '../base/state.js';

/** @typedef {[string, [string, string][]]} Keys  of a part of the page */

/** @type {Keys[]} */
const HELP = [
  ['Search and filters', [
    ['/', 'Search'], ['n  N', 'Next, previous hit'],
    ['Ctrl ⏎', 'In the search field: make it the focus'],
    ['f', 'Add a filter'], ['o', 'Options'],
    ['i', 'Inspector: callers, callees, code and labels'],
    ['Esc', 'One step back']]],
  ['Flame graph', [
    ['↑ ↓', 'Caller, callee'], ['← →', 'Neighbours'], ['⏎', 'Zoom to it'],
    ['+  -  0', 'Zoom in, out, show all'], ['Wheel', 'Scroll'],
    ['Ctrl wheel', 'Zoom at the pointer'], ['Shift wheel', 'Move sideways'],
    ['Drag', 'Move'], ['Double click', 'Zoom to the box'],
    ['Right click', 'Menu'], ['Shift F10', 'Menu of the selected box'],
    ['p', 'Callers and callees of the selected function'],
    ['t', 'Table, flame graph, or both'],
    ['c  C', 'Copy the name, the stack']]],
];

/** Of a page around this one. @param {Keys} keys */
export function addHelp(keys) {
  HELP.push(keys);
}

export function showKeys() {
  /** @type {Keys} */
  const views = ['Views', VIEWS.map((view) => [view.key, view.hint])];
  openDialog('Keys', 'keys',
    el('div', { class: 'keys-columns' }, ...[views, ...HELP].map(([title,
      rows]) =>
      el('section', {}, el('h3', {}, title), el('dl', {},
        ...rows.flatMap(([key, what]) => [
          el('dt', {}, ...key.split('  ').map((k) => el('kbd', {}, k))),
          el('dd', {}, what)]))))));
}
