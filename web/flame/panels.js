// Which trees the flame graph view shows, and how they stand: all stacks, the
// same upside down, callers above callees, or before beside after.

import { el } from '../base/dom.js';
import { percentText, plural, valueText } from '../base/numbers.js';
import { matchSources, strictPatternOf } from '../base/search.js';
import { sameWindow } from './beside.js'; // later
import { foldWrappers } from './fold.js';
import { invert, pivot } from './merge.js'; // later
import { ROW } from './paint.js';

/** @typedef {import('./flame_view.js').FlameView} FlameView */
/** @typedef {import('./icicle.js').Icicle} Icicle */
/** @typedef {import('./tree.js').Tree} Tree */

/**
 * @typedef {object} Panel
 * @property {Icicle} icicle
 * @property {Tree} tree
 * @property {'both' | 'new' | 'base'} side
 * @property {boolean} up
 * @property {string} rootLabel
 * @property {string} [rootText] in the root's box, if that is another
 * @property {string} label      for screen readers
 */

/** Of the wider pane; what is next to nothing must still be found. */
const LEAST_SHARE = 0.12;

/** @typedef {{kind: string, panels: Panel[], elements: HTMLElement[]}} Plan */

/** The main icicle is always the last panel. @param {FlameView} view
 * @returns {Plan} */
export function planPanels(view) {
  for (const { element } of [view.main, view.second]) {
    element.style.flex = element.style.maxHeight = '';
  }
  const tree = /** @type {import('../base/data.js').Flame} */ (view.flame).tree;
  const { state } = view.app;
  if (state.get('p') || state.view === 'callers') {
    const plan = planPivot(view, tree);
    if (plan) return plan;
    view.app.say('view', `No frame matches ${state.get('p')}.`);
  }
  /** @type {Panel} */
  const main = { icicle: view.main, tree, side: 'both', up: false,
    rootLabel: 'all', rootText: `all ${totalText(view, tree)}`,
    label: 'Flame graph' };
  if (state.isOn('invert')) main.tree = invert(tree);
  else if (state.isOn('fold')) main.tree = foldWrappers(tree, view.runs());
  if (view.diffMode() !== 'side' || state.isOn('invert')) {
    return { kind: '', panels: [main], elements: [main.icicle.element] };
  }
  return planBeside(view, main);
}

/** What the root stands for. @param {FlameView} view @param {Tree} tree */
function totalText(view, tree) {
  const [total, before] = [tree.total[0], tree.totalBase?.[0]];
  const text = (/** @type {number} */ value) => valueText(value,
    view.measure());
  return before === undefined ? text(total)
    : `${text(before)} → ${text(before + total)}`;
}

/** Both sides on one scale: a pane is as wide as its total.
 * @param {FlameView} view @param {Panel} main @returns {Plan} */
function planBeside(view, main) {
  const { tree } = main;
  const before = tree.totalBase?.[0] ?? 0;
  const totals = { base: before, new: before + tree.total[0] };
  const most = Math.max(totals.base, totals.new, 1);
  const pane = (/** @type {'base' | 'new'} */ side,
    /** @type {string} */ label, /** @type {Icicle} */ icicle) => {
    const value = valueText(totals[side], view.measure());
    const share = Math.max(LEAST_SHARE, totals[side] / most);
    return { panel: { ...main, icicle, side, label, rootText: undefined,
      rootLabel: `${label.toLowerCase()} ${value}` },
    element: paneOf(share, el('p', { class: 'beside-head' },
      el('strong', {}, label), ` ${value}`), icicle.element) };
  };
  const left = pane('base', 'Before', view.second);
  const right = pane('new', 'After', view.main);
  return { kind: 'beside', panels: [left.panel, right.panel],
    elements: [left.element, right.element] };
}

/** The pane of one side; the style sheet says what its share is of.
 * @param {number} share @param {...HTMLElement} content */
function paneOf(share, ...content) {
  const pane = el('div', { class: 'beside-pane' }, ...content);
  pane.style.setProperty('--share', String(share));
  return pane;
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
    el('span', { class: 'muted' }, '▲ callers'), el('strong', {},
      el('bdi', {}, rootLabel)), el('span', {}, `${valueText(value, view.measure())} (${
      percentText(value, view.whole())})`),
    el('span', { class: 'muted' }, '▼ callees'));
  /** @type {Panel} */
  const callers = { icicle: view.second, tree: around.callers, side: 'both',
    up: true, rootLabel, label: 'Callers' };
  const callees = { ...callers, icicle: view.main, tree: around.callees,
    up: false, label: 'Callees' };
  shareRows(around.callers, around.callees, callers.icicle.element,
    callees.icicle.element);
  return { kind: 'pivot', panels: [callers, callees],
    elements: [callers.icicle.element, bar, callees.icicle.element] };
}

/** Each pane gets as many rows as it needs; the rest is shared.
 * @param {Tree} above @param {Tree} below @param {HTMLElement} upper
 * @param {HTMLElement} lower */
function shareRows(above, below, upper, lower) {
  upper.style.flex = `1 1 ${(above.depth + 1) * ROW}px`;
  upper.style.maxHeight = `${(above.depth + 1) * ROW}px`;
  lower.style.flex = `1 1 ${(below.depth + 1) * ROW}px`;
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
