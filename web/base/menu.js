// Menus that open at a place or below a button, worked by mouse or keys.

import { el } from './dom.js';

/**
 * @typedef {object} MenuItem
 * @property {string} label       "-" is a line between groups
 * @property {string} [key]       shown at the right
 * @property {boolean} [checked]
 * @property {boolean} [disabled]
 * @property {() => void} [act]
 */

/** @type {(() => void) | null} */
let closeOpen = null;

export function closeMenu() {
  closeOpen?.();
}

/**
 * @param {number} x @param {number} y @param {MenuItem[]} items
 * @param {Element | null} [from] gets the focus back
 */
export function openMenu(x, y, items, from = document.activeElement) {
  closeMenu();
  const menu = el('div', { class: 'menu', role: 'menu', tabindex: '-1' },
    ...items.map(rowOf));
  document.body.append(menu);
  const { width, height } = menu.getBoundingClientRect();
  menu.style.left = `${Math.max(4, Math.min(x, innerWidth - width - 4))}px`;
  menu.style.top = `${Math.max(4, Math.min(y, innerHeight - height - 4))}px`;

  const close = () => {
    if (closeOpen !== close) return;
    closeOpen = null;
    menu.remove();
    removeEventListener('pointerdown', outside, true);
    removeEventListener('blur', close);
    if (from instanceof HTMLElement || from instanceof SVGElement) from.focus();
  };
  const outside = (/** @type {Event} */ event) => {
    if (!menu.contains(/** @type {Node} */ (event.target))) close();
  };
  closeOpen = close;
  addEventListener('pointerdown', outside, true);
  addEventListener('blur', close);
  menu.addEventListener('keydown', (event) => onKey(event, menu, close));
  choices(menu)[0]?.focus();

  /** @param {MenuItem} item */
  function rowOf(item) {
    if (item.label === '-') return el('hr');
    return el('button', {
      role: item.checked === undefined ? 'menuitem' : 'menuitemradio',
      'aria-checked': item.checked === undefined ? null : String(item.checked),
      disabled: item.disabled,
      onclick: () => {
        close();
        item.act?.();
      },
    }, el('span', { class: 'menu-check', 'aria-hidden': 'true' },
      item.checked ? '✓' : ''),
    el('span', { class: 'menu-label' }, item.label),
    item.key ? el('kbd', {}, item.key) : null);
  }
}

/** Below a button. @param {Element} button @param {MenuItem[]} items */
export function openMenuAt(button, items) {
  const box = button.getBoundingClientRect();
  openMenu(box.left, box.bottom + 4, items, button);
}

/** @param {Element} menu @returns {HTMLButtonElement[]} */
function choices(menu) {
  return [...menu.querySelectorAll('button')].filter((b) => !b.disabled);
}

/** @param {KeyboardEvent} event @param {HTMLElement} menu
 * @param {() => void} close */
function onKey(event, menu, close) {
  const all = choices(menu);
  const at = all.indexOf(/** @type {any} */ (document.activeElement));
  const to = { ArrowDown: (at + 1) % all.length,
    ArrowUp: (at - 1 + all.length) % all.length, Home: 0,
    End: all.length - 1 }[event.key];
  if (to !== undefined) all[to]?.focus();
  else if (event.key === 'Escape' || event.key === 'Tab') close();
  else return;
  event.preventDefault();
  event.stopPropagation();
}
