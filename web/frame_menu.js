// The menu of a function: the same wherever it is shown.

import { copyText } from './dom.js';
import { openMenu } from './menu.js';
import { exactly } from './search.js';
import { PLACE_WORDS } from './state.js';

/** @typedef {import('./main.js').App} App */

/** Adds to a filter ("a|b"), or replaces it, as pprof's own page does.
 * @param {App} app @param {string} word @param {string} name */
export function refine(app, word, name) {
  const old = app.state.get(word);
  const more = (word === 'i' || word === 'h') && old !== '';
  app.state.set({ [word]: more ? `${old}|${exactly(name)}` : exactly(name),
    ...PLACE_WORDS });
}

/**
 * @param {App} app @param {number} x @param {number} y
 * @param {{name: string, isRoot?: boolean, zoom?: (() => void) | null}} frame
 */
export function frameMenu(app, x, y, frame) {
  const { name } = frame;
  const { data } = app;
  const { offline } = data;
  const filter = (/** @type {string} */ word) => () => refine(app, word, name);
  // A saved page cannot ask anew: it picks the function from what it has.
  const view = (/** @type {string} */ id) => () => app.state.set(offline
    ? { only: name } : { f: exactly(name), ...PLACE_WORDS }, { view: id });
  const pivot = () => app.state.set({ p: exactly(name), ...PLACE_WORDS },
    { view: 'flamegraph' });
  if (frame.isRoot) {
    openMenu(x, y, [{ label: 'Show everything',
      act: frame.zoom ?? (() => {}) }]);
    return;
  }
  openMenu(x, y, [
    ...(frame.zoom ? [{ label: 'Zoom to this frame', key: '⏎',
      act: frame.zoom }] : []),
    { label: 'Callers and callees', key: 'p', act: pivot },
    { label: '-' },
    { label: 'Focus on it', disabled: offline, act: filter('f') },
    { label: 'Ignore stacks with it', disabled: offline, act: filter('i') },
    { label: 'Hide the frame', disabled: offline, act: filter('h') },
    { label: 'Show from here', disabled: offline, act: filter('sf') },
    { label: '-' },
    { label: 'Source', disabled: !data.has('source'), act: view('source') },
    { label: 'Disassembly', disabled: !data.has('disasm'),
      act: view('disasm') },
    { label: 'Peek', disabled: offline, act: view('peek') },
    { label: '-' },
    { label: 'Copy name', key: 'c', act: () => void copyText(name) },
    { label: 'Copy stack', key: 'C', disabled: !app.detail.selected?.stack,
      act: () => void app.detail.copy('stack') },
  ]);
}
