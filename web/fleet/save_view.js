// What is on the screen as one HTML file that needs no server: the elements as
// they are, canvases as pictures, the style inside.  For views that no saved
// page of a profile can show.

import { el } from '../base/dom.js';

/** @param {import('../main.js').View | null} view
 * @param {string} name of the file */
export function saveScreen(view, name) {
  view?.beforePrint?.();
  const copy = /** @type {HTMLElement} */ (
    document.documentElement.cloneNode(true));
  const shown = document.querySelectorAll('canvas');
  copy.querySelectorAll('canvas').forEach((canvas, i) => {
    const picture = document.createElement('img');
    picture.src = shown[i].toDataURL();
    picture.alt = shown[i].getAttribute('aria-label') ?? '';
    picture.style.cssText = `width:${shown[i].clientWidth}px;height:${
      shown[i].clientHeight}px`;
    canvas.replaceWith(picture);
  });
  view?.afterPrint?.();
  for (const gone of copy.querySelectorAll(
    'script, link, noscript, .skip, .menu, dialog')) gone.remove();
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
