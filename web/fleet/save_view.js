// What is on the screen as one HTML file that needs no server: the elements as
// they are, canvases as pictures, the style inside.  For views that no saved
// page of a profile can show.  Nothing in the file does anything, so it offers
// nothing: controls that show a state stay, without doing anything; the others
// are left out.

import { el } from '../base/dom.js';
import { clockText, dayText } from './times.js';

const LEFT_OUT = 'script, link, noscript, dialog, .skip, .menu, .caret, ' +
  '.save-screen, .theme, .help, .header-menus, .search, .search-share, ' +
  '.share, .live, .splitter, .query-toggle, .add-filter, .add-label, ' +
  '.chip-remove, .facet-split, .legend-chip button, .profile-actions, ' +
  '.detail-buttons, .detail.idle, .flame-tools, .graph-tools, ' +
  '.filterbar > .quiet, .pick.compare:not(.on), ' +
  '.segments [aria-pressed=false], .level:not([aria-current]), ' +
  '.tab:not([aria-current]), [aria-label^="Close"], [aria-label="Dismiss"]';

/** @param {HTMLElement} copy of the page */
function drawCanvases(copy) {
  const shown = document.querySelectorAll('canvas');
  copy.querySelectorAll('canvas').forEach((canvas, i) => {
    const picture = document.createElement('img');
    picture.src = shown[i].toDataURL();
    picture.alt = shown[i].getAttribute('aria-label') ?? '';
    picture.style.cssText = `width:${shown[i].clientWidth}px;height:${
      shown[i].clientHeight}px`;
    canvas.replaceWith(picture);
  });
}

/** What is chosen and typed, as text. @param {HTMLElement} copy */
function writeFields(copy) {
  const shown = document.querySelectorAll('select, input');
  copy.querySelectorAll('select, input').forEach((field, i) => {
    const now = shown[i];
    const text = now instanceof HTMLSelectElement
      ? now.selectedOptions[0]?.text
      : now instanceof HTMLInputElement && now.type !== 'checkbox'
        ? now.value : '';
    if (text) field.replaceWith(el('span', { class: 'muted' }, text));
    else field.remove();
  });
}

/** @param {HTMLElement} copy */
function makeStill(copy) {
  for (const gone of copy.querySelectorAll(LEFT_OUT)) gone.remove();
  for (const button of copy.querySelectorAll('button')) {
    button.disabled = true;
    button.removeAttribute('title');
  }
  for (const link of copy.querySelectorAll('a')) link.removeAttribute('href');
  for (const stop of copy.querySelectorAll('[tabindex]')) {
    // What scrolls is still reached by the keys.
    if (stop.matches('.table-body')) stop.setAttribute('tabindex', '0');
    else stop.removeAttribute('tabindex');
  }
}

/** @param {import('../main.js').View | null} view
 * @param {string} name of the file */
export function saveScreen(view, name) {
  view?.beforePrint?.();
  const copy = /** @type {HTMLElement} */ (
    document.documentElement.cloneNode(true));
  drawCanvases(copy);
  writeFields(copy);
  view?.afterPrint?.();
  makeStill(copy);
  const now = Date.now() / 1000;
  copy.querySelector('.fleetbar')?.append(el('span', { class: 'muted' },
    `Saved on ${dayText(now)} ${new Date().getFullYear()}, ${
      clockText(now - now % 60)}`));
  const scheme = document.documentElement.style.colorScheme;
  const text = `<!doctype html>\n<html lang="en" class="saved-screen"${
    scheme ? ` style="color-scheme: ${scheme}"` : ''}>${copy.getHTML()}</html>`;
  const url = URL.createObjectURL(new Blob([text], { type: 'text/html' }));
  const link = el('a', { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
