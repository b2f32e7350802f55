// The small controls at the right above the flame graph.

import { el, select } from '../base/dom.js';
import { PLACE_WORDS } from '../base/state.js';
import { COLOR_CHOICES } from './colors.js';

/** @param {import('./flame_view.js').FlameView} view
 * @returns {HTMLElement[]} */
export function flameTools(view) {
  const { state } = view.app;
  const diff = view.flame?.tree.selfBase;
  const tools = [
    diff && !state.get('p') ? diffChoice(state) : colorChoice(view),
    state.get('p') ? el('button', { class: 'quiet', title: 'Show all stacks',
      onclick: () => state.set({ p: null, ...PLACE_WORDS },
        { view: 'flamegraph' }) }, 'Show all')
      : state.view === 'callers' ? null : toggle(state, 'invert', 'Invert',
        'Leaves first: functions by their own cost, then their callers'),
    foldToggle(view),
    sideChoice(state),
  ];
  return tools.filter((tool) => tool !== null);
}

/** @typedef {import('../base/state.js').State} State */

/** @param {State} state @param {string} word @param {string} text
 * @param {string} hint */
function toggle(state, word, text, hint) {
  const on = state.isOn(word);
  return el('button', { class: 'quiet', title: hint,
    'aria-pressed': String(on),
    onclick: () => state.set({ [word]: on ? null : 't', ...PLACE_WORDS }) },
  text);
}

/** Offered where there are wrappers to fold.
 * @param {import('./flame_view.js').FlameView} view */
function foldToggle(view) {
  const { state } = view.app;
  if (state.get('p') || state.view === 'callers' || state.isOn('invert')) {
    return null;
  }
  // Looking for them can wait until everything is shown.
  const longest = view.runsOf === view.flame?.tree || state.isOn('fold')
    ? view.runs().longest : 0;
  return longest === 0 ? null : toggle(state, 'fold', 'Fold',
    `Fold runs of wrappers (up to ${longest} in a row) into one box`);
}

/** @param {import('./flame_view.js').FlameView} view */
function colorChoice(view) {
  const { state } = view.app;
  return el('label', { class: 'labelled by-color' }, 'Colour ', select('Colour by',
    COLOR_CHOICES, view.colorBy(), (by) =>
      state.set({ color: by === 'package' ? null : by }, { replace: true })));
}

/** @param {State} state */
function diffChoice(state) {
  return el('label', { class: 'labelled' }, 'Diff ', select('Show changes as',
    [['color', 'Colours'], ['overlay', 'Overlay'], ['side', 'Side by side']],
    state.get('dm') || 'color', (mode) =>
      state.set({ dm: mode === 'color' ? null : mode }, { replace: true })));
}

/** Table and flame graph, or one of them. @param {State} state */
function sideChoice(state) {
  const current = state.get('side') || 'both';
  /** @type {[string, string][]} */
  const choices = [['both', 'Both'], ['flame', 'Flame'], ['table', 'Table']];
  return el('div', { class: 'segments', role: 'group',
    'aria-label': 'Table and flame graph' },
  ...choices.map(([side, text]) => el('button', {
    'aria-pressed': String(side === current), class: `side-${side}`,
    onclick: () => state.set({ side: side === 'both' ? null : side },
      { replace: true }) }, text)));
}
