// A dialog with a heading and a button to close it.  Escape and a click
// beside it close it, too; the browser gives the focus back.

import { el } from './dom.js';

/**
 * @param {string} title @param {string} kind a class
 * @param {...import('./dom.js').Child} content
 */
export function openDialog(title, kind, ...content) {
  return showDialog(title, kind, ...content,
    el('form', { method: 'dialog', class: 'dialog-buttons' },
      el('button', { class: 'primary' }, 'Close')));
}

/** One with buttons of its own.
 * @param {string} title @param {string} kind a class
 * @param {...import('./dom.js').Child} content
 */
export function showDialog(title, kind, ...content) {
  const dialog = el('dialog', { class: `dialog ${kind}`, 'aria-label': title },
    el('h2', {}, title), ...content);
  dialog.addEventListener('close', () => dialog.remove());
  dialog.addEventListener('click', (event) => {
    if (event.target !== dialog) return;
    const box = dialog.getBoundingClientRect();
    const inside = event.clientX >= box.left && event.clientX <= box.right &&
      event.clientY >= box.top && event.clientY <= box.bottom;
    if (!inside) dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
