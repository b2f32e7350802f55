// Saving: the page with its data, the profile in several formats, pictures.
// A saved page has the profile in it, if that is not too large, and makes the
// folded stacks itself.

import { AskError } from '../base/ask_error.js';
import { el } from '../base/dom.js';
import { foldedOf } from './folded.js';
import { fileStem } from './print.js';

/** @typedef {import('../main.js').App} App */

/** @param {App} app @returns {import('../base/menu.js').MenuItem[]} */
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
    ...(data.offline ? savedItems(app) : [
      { label: 'This page as one HTML file', act: download('offline') },
      { label: '-' },
      { label: 'Profile (pprof)', act: download('download') },
      { label: 'Folded stacks', act: download('download?format=folded') },
      { label: 'Speedscope', act: download('download?format=speedscope') },
      { label: 'JSON', act: download('download?format=json') },
      { label: '-' },
    ]),
    ...(app.view?.picture ? [
      { label: 'Picture (SVG)', act: picture('svg') },
      { label: 'Picture (PNG)', act: picture('png') }] : []),
    { label: 'Print', act: () => print() },
  ];
}

/** What a saved page can give back. @param {App} app
 * @returns {import('../base/menu.js').MenuItem[]} */
function savedItems(app) {
  const { data, state } = app;
  const saveProfile = async () => {
    const bytes = data.savedBytes('download');
    if (bytes) saveBlob(new Blob([bytes]), `${fileStem(app)}.pb.gz`);
  };
  const saveFolded = async () => {
    const { tree } = await data.flame(state.dataQuery());
    saveBlob(new Blob([foldedOf(tree)], { type: 'text/plain' }),
      `${fileStem(app)}.folded`);
  };
  return [
    ...(data.has('download') ? [{ label: 'Profile (pprof)',
      act: () => void app.attempt(saveProfile) }] : []),
    { label: 'Folded stacks', act: () => void app.attempt(saveFolded) },
    { label: '-' },
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
  saveBlob(await app.view.picture(kind), `${fileStem(app)}.${kind}`);
}

/** @param {Blob} blob @param {string} name */
function saveBlob(blob, name) {
  const url = URL.createObjectURL(blob);
  follow(url, name);
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
