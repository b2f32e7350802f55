// The small controls at the right above the flame graph.

import { COLOR_CHOICES } from './colors.js';
import { el } from './dom.js';
import { PLACE_WORDS } from './state.js';

/** @param {import('./flame.js').FlameView} view @returns {HTMLElement[]} */
export function flameTools(view) {
  const { state } = view.app;
  const diff = view.flame?.tree.selfBase;
  const tools = [
    diff && !state.get('p') ? diffChoice(state) : colorChoice(view),
    state.get('p') ? el('button', { class: 'quiet', title: 'All stacks again',
      onclick: () => state.set({ p: null, ...PLACE_WORDS },
        { view: 'flamegraph' }) }, 'Show all')
      : state.view === 'callers' ? null : toggle(state, 'invert', 'Invert',
        'Leaves first: where it is spent, then on whose behalf'),
    sideChoice(state),
  ];
  return tools.filter((tool) => tool !== null);
}

/** @typedef {import('./state.js').State} State */

/** @param {State} state @param {string} word @param {string} text
 * @param {string} hint */
function toggle(state, word, text, hint) {
  const on = state.isOn(word);
  return el('button', { class: 'quiet', title: hint,
    'aria-pressed': String(on),
    onclick: () => state.set({ [word]: on ? null : 't', ...PLACE_WORDS }) },
  text);
}

/** @param {string} label @param {[string, string][]} choices
 * @param {string} current @param {(value: string) => void} choose */
export function select(label, choices, current, choose) {
  const box = el('select', { 'aria-label': label, title: label,
    onchange: () => choose(box.value) },
  ...choices.map(([value, text]) => el('option', { value,
    selected: value === current }, text)));
  return box;
}

/** @param {import('./flame.js').FlameView} view */
function colorChoice(view) {
  const { state } = view.app;
  return el('label', { class: 'labelled' }, 'Colour ', select('Colour by',
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
