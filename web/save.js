// Saving: the page with its data, the profile in several formats, pictures.

import { AskError } from './data.js';
import { el } from './dom.js';

/** @typedef {import('./main.js').App} App */

/** @param {App} app @returns {import('./menu.js').MenuItem[]} */
export function saveMenu(app) {
  const { data, state } = app;
  const download = (/** @type {string} */ path) => () => {
    const query = state.dataQuery();
    follow(`${state.prefix}${path}${path.includes('?') ? '&' : '?'}${query}`,
      '');
  };
  const picture = (/** @type {'svg' | 'png'} */ kind) => () =>
    void app.attempt(() => savePicture(app, kind));
  return [
    ...(data.offline ? [] : [
      { label: 'This page as one HTML file', act: download('offline') },
      { label: '-' },
      { label: 'Profile (pprof)', act: download('download') },
      { label: 'Folded stacks', act: download('download?format=folded') },
      { label: 'Speedscope', act: download('download?format=speedscope') },
      { label: 'JSON', act: download('download?format=json') },
      { label: '-' },
    ]),
    { label: 'Picture (SVG)', disabled: !app.view?.picture,
      act: picture('svg') },
    { label: 'Picture (PNG)', disabled: !app.view?.picture,
      act: picture('png') },
    { label: 'Print', act: () => print() },
  ];
}

/** @param {string} url @param {string} name "" lets the server decide */
function follow(url, name) {
  const link = el('a', { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
}

/** @param {App} app @param {'svg' | 'png'} kind */
async function savePicture(app, kind) {
  if (!app.view?.picture) throw new AskError('This view has no picture.');
  const url = URL.createObjectURL(await app.view.picture(kind));
  follow(url, `${(app.meta?.title || 'profile').replace(/[^\w.-]+/g, '_')}-${
    app.state.view}.${kind}`);
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
