// Which trees the flame graph view shows, and how they stand: all stacks, the
// same upside down, callers above callees, or before beside after.

import { sameWindow } from './beside.js';
import { el } from './dom.js';
import { invert, pivot } from './merge.js';
import { percentText, plural, valueText } from './numbers.js';
import { matchSources, strictPatternOf } from './search.js';

/** @typedef {import('./flame.js').FlameView} FlameView */
/** @typedef {import('./icicle.js').Icicle} Icicle */
/** @typedef {import('./tree.js').Tree} Tree */

/**
 * @typedef {object} Panel
 * @property {Icicle} icicle
 * @property {Tree} tree
 * @property {'both' | 'new' | 'base'} side
 * @property {boolean} up
 * @property {string} rootLabel
 * @property {string} label      for screen readers
 */

/** @typedef {{kind: string, panels: Panel[], elements: HTMLElement[]}} Plan */

/** The main icicle is always the last panel. @param {FlameView} view
 * @returns {Plan} */
export function planPanels(view) {
  const tree = /** @type {import('./data.js').Flame} */ (view.flame).tree;
  const { state } = view.app;
  if (state.get('p') || state.view === 'callers') {
    const plan = planPivot(view, tree);
    if (plan) return plan;
    view.app.say('view', `No frame matches ${state.get('p')}.`);
  }
  /** @type {Panel} */
  const main = { icicle: view.main, tree, side: 'both', up: false,
    rootLabel: 'all', label: 'Flame graph' };
  if (state.isOn('invert')) main.tree = invert(tree);
  if (view.diffMode() !== 'side' || state.isOn('invert')) {
    return { kind: '', panels: [main], elements: [main.icicle.element] };
  }
  /** @type {Panel} */
  const before = { ...main, icicle: view.second, side: 'base',
    rootLabel: 'before', label: 'Before' };
  Object.assign(main, { side: 'new', rootLabel: 'after', label: 'After' });
  return { kind: 'beside', panels: [before, main],
    elements: [before.icicle.element, main.icicle.element] };
}

/** Before and after go together: the other side of the same tree.
 * @param {Panel[]} panels @param {Icicle} icicle */
export function twinOf(panels, icicle) {
  return panels.find((panel) => panel.icicle !== icicle &&
    panel.tree === icicle.tree)?.icicle;
}

/** Shows the same part of the tree on the other side.
 * @param {Panel[]} panels @param {Icicle} icicle */
export function leadTwin(panels, icicle) {
  const { tree, layout, win, zoomNode } = icicle;
  const twin = twinOf(panels, icicle);
  if (!tree || !twin) return;
  twin.follow(sameWindow(tree, layout, twin.layout, win, zoomNode), icicle);
}

/** @param {FlameView} view @param {Tree} tree @returns {Plan | null} */
function planPivot(view, tree) {
  const { sources } = tree;
  const pattern = strictPatternOf(view.app.state.get('p'));
  const wanted = pattern ? matchSources(sources, pattern)
    : likely(view, tree);
  const around = pivot(tree, wanted);
  if (around.count === 0) return null;
  const names = [...wanted.keys()].filter((i) => wanted[i])
    .map((i) => sources.strings[sources.name[i]]);
  const rootLabel = names.length === 1 ? names[0]
    : plural(names.length, 'function');
  const value = around.callees.total[0];
  const bar = el('div', { class: 'pivot-bar' },
    el('span', { class: 'muted' }, '▲ callers'), el('strong', {}, rootLabel),
    el('span', {}, `${valueText(value, view.measure())} (${
      percentText(value, view.whole())})`),
    el('span', { class: 'muted' }, '▼ callees'));
  /** @type {Panel} */
  const callers = { icicle: view.second, tree: around.callers, side: 'both',
    up: true, rootLabel, label: 'Callers' };
  const callees = { ...callers, icicle: view.main, tree: around.callees,
    up: false, label: 'Callees' };
  return { kind: 'pivot', panels: [callers, callees],
    elements: [callers.icicle.element, bar, callees.icicle.element] };
}

/** Without a wish: the selected function, or the first of the table.
 * @param {FlameView} view @param {Tree} tree */
function likely(view, tree) {
  const { strings, name, count } = tree.sources;
  const selected = view.app.state.get('fn');
  let best = selected ? name.findIndex((id, i) => i > 0 &&
    strings[id] === selected) : -1;
  if (best < 0) {
    const row = view.table.table?.order[0];
    best = row === undefined ? tree.source[1] ?? 0 : view.table.rows[row];
  }
  const wanted = new Uint8Array(count);
  if (best > 0) wanted[best] = 1;
  return wanted;
}
