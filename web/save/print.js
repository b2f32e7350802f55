// Printing: a heading that only paper shows, and the flame graph with all its
// rows instead of those that fit the window.

import { byId, el } from '../base/dom.js';
import { timeText } from '../shell/comparebar.js';
import { filtersOf, plainValue } from '../shell/filters.js';
import { FILTERS } from '../base/state.js';
import { isBare } from '../shell/views.js';

/** @typedef {import('../main.js').App} App */

/** Of a collector it is the service, whatever its program is called.
 * @param {App} app */
export function titleOf({ meta, state }) {
  if (isBare(state.view)) return 'pprofd';
  return (meta?.is_fleet && meta.a.name.replace(/\.([^.]*)$/, ' $1')) ||
    meta?.title || 'pprof';
}

/** Title, total and filters, for paper and pictures. @param {App} app */
export function headingOf(app) {
  const { meta, state } = app;
  const filters = filtersOf(state, meta?.config).filter(({ on }) => on)
    .map((filter) => `${FILTERS.find(({ word }) => word === filter.word)
      ?.plain} ${plainValue(filter)}`);
  const total = meta?.has_base
    ? `${meta.base_shown_text} before, ${meta.shown_text} after`
    : app.filters.total.textContent ?? '';
  const of = (/** @type {import('../main.js').Side} */ side) =>
    [side.name, timeText(side)].filter(Boolean).join(', ');
  const names = meta?.b ? `${of(meta.a)}, compared with ${of(meta.b)}`
    : timeText(meta?.a);
  return { title: titleOf(app), lines: [total, names, ...filters]
    .filter((line) => line !== '') };
}

/** A file name that says what is in it: "kubelet-cpu-top".
 * @param {App} app */
export function fileStem(app) {
  const { meta, state } = app;
  const stem = (meta?.a?.name ?? '').replace(/^.*\//, '')
    .replace(/\.(pb|pprof|prof|profile|data)?(\.gz)?$/, '') ||
    meta?.title || 'profile';
  return `${stem}-${meta?.sample_index ?? ''}-${state.view}`
    .replace(/[^\w.-]+/g, '_');
}

/** @param {App} app */
export function addPrinting(app) {
  const heading = el('div', { class: 'print-head' });
  byId('stage').before(heading);
  addEventListener('beforeprint', () => {
    const { title, lines } = headingOf(app);
    heading.replaceChildren(el('h1', {}, title),
      ...lines.map((line) => el('p', {}, line)));
    app.view?.beforePrint?.();
  });
  addEventListener('afterprint', () => app.view?.afterPrint?.());
}
