// Dropping files onto the page opens them; the left half of the target shows
// the file, the right half compares it with the profile that is shown.

import { el } from '../base/dom.js';
import { openFile } from './profiles.js'; // later

/** @param {import('../main.js').App} app */
export function addDrop(app) {
  if (app.data.offline) return;
  const show = el('div', { class: 'drop-part' }, 'Open');
  const compare = el('div', { class: 'drop-part' },
    'Compare with the shown profile');
  const target = el('div', { class: 'drop-target', hidden: true }, show,
    compare);
  document.body.append(target);
  const hasFiles = (/** @type {DragEvent} */ event) =>
    app.meta?.can_add !== false &&
      event.dataTransfer?.types.includes('Files');
  const hide = () => {
    target.hidden = true;
  };
  addEventListener('dragenter', (event) => {
    if (hasFiles(event)) target.hidden = false;
  });
  addEventListener('dragover', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    const over = /** @type {Node} */ (event.target);
    show.classList.toggle('over', show.contains(over));
    compare.classList.toggle('over', compare.contains(over));
  });
  addEventListener('dragleave', (event) => {
    if (!event.relatedTarget) hide();
  });
  addEventListener('drop', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    hide();
    const how = compare.contains(/** @type {Node} */ (event.target))
      ? 'compare' : 'show';
    for (const file of event.dataTransfer?.files ?? []) {
      void openFile(app, file, how);
    }
  });
}
