// Printing: a heading that only paper shows, and the flame graph with all its
// rows instead of those that fit the window.

import { byId, el } from '../base/dom.js';
import { filtersOf, plainValue } from '../shell/filters.js';
import { FILTERS } from '../base/state.js';

/** @typedef {import('../main.js').App} App */

/** Title, total and filters, for paper and pictures. @param {App} app */
export function headingOf(app) {
  const { meta, state } = app;
  const filters = filtersOf(state, meta?.config).filter(({ on }) => on)
    .map((filter) => `${FILTERS.find(({ word }) => word === filter.word)
      ?.plain} ${plainValue(filter)}`);
  const total = meta?.has_base
    ? `${meta.base_shown_text} before, ${meta.shown_text} after`
    : app.filters.total.textContent ?? '';
  const names = meta?.b ? `${meta.a.name} compared with ${meta.b.name}` : '';
  return { title: meta?.title || 'pprof',
    lines: [total, names, ...filters].filter((line) => line !== '') };
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
