// The profiles that are loaded: switch, compare, open another, close one.

import { el } from '../base/dom.js';
import { PLACE_WORDS } from '../base/state.js';

/** @typedef {import('../main.js').App} App */

/** @param {App} app @returns {import('../base/menu.js').MenuItem[]} */
export function profileMenu(app) {
  const { state, meta } = app;
  const profiles = (meta?.profiles ?? []).map((profile) =>
    ({ ...profile, name: profile.name.replace(/^.*\//, '') }));
  const current = state.get('a') || profiles[0]?.id;
  const base = state.get('b');
  if (app.data.offline) return [{ label: 'Saved page', disabled: true }];
  return [
    ...profiles.map((profile) => ({ label: profile.name,
      checked: profile.id === current,
      act: () => state.set({ a: profile.id, ...PLACE_WORDS }) })),
    { label: '-' },
    ...profiles.filter((p) => p.id !== current).map((profile) => ({
      label: `Compare with ${profile.name}`, checked: profile.id === base,
      act: () => state.set({ b: profile.id === base ? null : profile.id,
        ...PLACE_WORDS }) })),
    ...(base ? [{ label: 'Stop comparing', act: () =>
      state.set({ b: null, dm: null, norm: null, ...PLACE_WORDS },
        state.view === 'diff' ? { view: 'flamegraph' } : {}) }] : []),
    ...(profiles.length > 1 ? [{ label: '-' }] : []),
    ...(base ? [{ label: 'Swap the two', act: () =>
      state.set({ a: base, b: current, ...PLACE_WORDS }) }] : []),
    ...(meta?.can_add ? [{ label: 'Open a profile…',
      act: () => chooseFile(app) }] : []),
    ...(meta?.can_fetch ? [{ label: 'Fetch again', act: () =>
      void refetch(app) }] : []),
    ...(profiles.find((p) => p.id === current)?.added ? [{
      label: 'Close this profile', act: () => void closeProfile(app, current) }]
      : []),
  ];
}

/** @param {App} app */
function chooseFile(app) {
  const input = el('input', { type: 'file', multiple: true, onchange: () => {
    for (const file of input.files ?? []) void openFile(app, file);
  } });
  input.click();
}

/** Sends a file to the server and shows it. @param {App} app
 * @param {File} file @param {'show' | 'compare'} [how] */
export function openFile(app, file, how = 'show') {
  return app.attempt(async () => {
    const answer = await app.data.send('POST',
      `profiles?name=${encodeURIComponent(file.name)}`, file);
    const { id } = await answer.json();
    app.data.forget();
    const current = app.state.get('a') || app.meta?.profiles?.[0]?.id;
    app.state.set(how === 'compare' && current
      ? { b: current, a: id, ...PLACE_WORDS }
      : { a: id, b: null, si: null, p: null, ...PLACE_WORDS });
  });
}

/** A new profile from where the first one came from. @param {App} app */
function refetch(app) {
  return app.attempt(async () => {
    const { id } = await (await app.data.send('POST', 'refetch')).json();
    app.data.forget();
    app.state.set({ a: id, ...PLACE_WORDS });
  });
}

/** @param {App} app @param {string} id */
function closeProfile(app, id) {
  return app.attempt(async () => {
    await app.data.send('DELETE', `profiles/${encodeURIComponent(id)}`);
    app.data.forget();
    app.state.set({ a: null, b: null, ...PLACE_WORDS });
  });
}
