// The menu of a function: the same wherever it is shown.

import { copyText } from '../base/dom.js';
import { openMenu } from '../base/menu.js';
import { exactly } from '../base/search.js';
import { PLACE_WORDS } from '../base/state.js';
import { addFilter } from './filters.js';

/** @typedef {import('../main.js').App} App */

/**
 * @param {App} app @param {number} x @param {number} y
 * @param {{name: string, isRoot?: boolean, zoom?: (() => void) | null}} frame
 */
export function frameMenu(app, x, y, frame) {
  const { name } = frame;
  const { data, state } = app;
  const filter = (/** @type {string} */ word) => () =>
    addFilter(state, word, exactly(name));
  // These views show the function; the profile stays whole.
  const view = (/** @type {string} */ id) => () =>
    state.set({ fn: name }, { view: id });
  if (frame.isRoot) {
    openMenu(x, y, [{ label: 'Show everything',
      act: frame.zoom ?? (() => {}) }]);
    return;
  }
  openMenu(x, y, [
    ...(frame.zoom ? [{ label: 'Zoom to this frame', key: '⏎',
      act: frame.zoom }] : []),
    { label: 'Callers and callees', key: 'p', act: () => state.set(
      { p: exactly(name), ...PLACE_WORDS }, { view: 'flamegraph' }) },
    { label: 'Inspect', key: 'i', act: () => app.inspector.open(name) },
    { label: '-' },
    ...(data.offline ? [] : [
      { label: 'Focus on it', act: filter('f') },
      { label: 'Ignore stacks with it', act: filter('i') },
      { label: 'Hide the frame', act: filter('h') },
      { label: 'Show from here', act: filter('sf') },
      { label: '-' },
    ]),
    ...[['Source', 'source'], ['Disassembly', 'disasm'], ['Peek', 'peek']]
      .filter(([, id]) => data.has(id))
      .map(([label, id]) => ({ label, act: view(id) })),
    ...(app.hooks.frameItems?.(name) ?? []),
    { label: '-' },
    { label: 'Copy name', key: 'c', act: () => void copyText(name) },
    ...(app.detail.selected?.stack ? [{ label: 'Copy stack', key: 'C',
      act: () => void app.detail.copy('stack') }] : []),
  ]);
}
