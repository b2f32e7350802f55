// A button that opens a list with a field to narrow it.  Typing filters,
// arrows move, Enter chooses, Escape closes; what is typed can itself be a
// choice where `free` allows it.

import { el } from '../base/dom.js';

/** @typedef {{value: string, text: string, hint?: string,
 *   current?: boolean}} Choice */

/**
 * @typedef {object} PickerOptions
 * @property {string} label
 * @property {() => Promise<Choice[]> | Choice[]} load
 * @property {(value: string) => void} choose
 * @property {(text: string) => Choice | null} [free]
 * @property {string} [placeholder]  of the field
 */

const SHOWN = 200; // choices at once
let lists = 0;
/** @type {(() => void) | null} */
let closeOpen = null;

/** @param {Element} button @param {PickerOptions} options */
export async function openPicker(button, options) {
  closeOpen?.();
  const id = `picker${lists++}`;
  /** @type {Choice[]} */
  let all = [];
  /** @type {Choice[]} */
  let shown = [];
  let at = 0;
  let isLoaded = false;
  let isChosen = false; // by Enter, before there was anything to choose
  const list = el('div', { role: 'listbox', id, class: 'picker-list',
    'aria-label': options.label });
  const input = el('input', { type: 'text', role: 'combobox',
    'aria-expanded': 'true', 'aria-controls': id, 'aria-label': options.label,
    'aria-autocomplete': 'list', placeholder: options.placeholder ?? 'Filter',
    autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false',
    oninput: () => draw(0) });
  const popup = el('div', { class: 'picker menu', role: 'dialog',
    'aria-label': options.label }, input, list);
  document.body.append(popup);
  place(popup, button);
  input.focus();

  const close = () => {
    if (closeOpen !== close) return;
    closeOpen = null;
    popup.remove();
    button.setAttribute('aria-expanded', 'false');
    removeEventListener('pointerdown', outside, true);
    if (button instanceof HTMLElement && button.isConnected) button.focus();
  };
  const outside = (/** @type {Event} */ event) => {
    if (!popup.contains(/** @type {Node} */ (event.target))) close();
  };
  const choose = (/** @type {Choice | undefined} */ choice) => {
    if (!choice) return;
    close();
    options.choose(choice.value);
  };

  /** @param {number} [to] the active one; without it the current one */
  function draw(to) {
    const words = input.value.toLowerCase().trim();
    const free = words ? options.free?.(input.value.trim()) : null;
    shown = [...all.filter(({ text }) => text.toLowerCase().includes(words))
      .slice(0, SHOWN), ...(free ? [free] : [])];
    at = Math.max(0, to ?? shown.findIndex(({ current }) => current));
    list.replaceChildren(...shown.map((choice, i) => el('div', {
      role: 'option', id: `${id}-${i}`, class: 'picker-choice',
      'aria-selected': String(Boolean(choice.current)),
      onpointermove: () => mark(i), onclick: () => choose(choice) },
    el('span', { class: 'picker-text', title: choice.text }, choice.text),
    choice.hint ? el('span', { class: 'picker-hint' }, choice.hint) : null)));
    if (shown.length === 0) {
      list.append(el('div', { class: 'picker-none', role: 'option',
        'aria-disabled': 'true', 'aria-selected': 'false' },
      'Nothing matches.'));
    }
    mark(at);
    place(popup, button);
  }

  /** @param {number} i */
  function mark(i) {
    at = i;
    [...list.children].forEach((child, k) =>
      child.classList.toggle('active', k === at && shown.length > 0));
    if (shown.length > 0) {
      input.setAttribute('aria-activedescendant', `${id}-${at}`);
      list.children[at]?.scrollIntoView({ block: 'nearest' });
    }
  }

  input.addEventListener('keydown', (event) => {
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + 10,
      PageUp: at - 10 }[event.key];
    if (to !== undefined && shown.length > 0) {
      mark(Math.max(0, Math.min(shown.length - 1, to)));
    } else if (event.key === 'Enter') {
      isChosen = !isLoaded;
      choose(shown[at]);
    } else if (event.key === 'Escape' || event.key === 'Tab') {
      close();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  });
  closeOpen = close;
  button.setAttribute('aria-expanded', 'true');
  addEventListener('pointerdown', outside, true);
  const loaded = await options.load();
  if (closeOpen !== close) return;
  all = loaded;
  isLoaded = true;
  draw();
  if (isChosen) choose(shown[at]);
}

/** Below the button, within the window. @param {HTMLElement} popup
 * @param {Element} button */
function place(popup, button) {
  const box = button.getBoundingClientRect();
  const { width } = popup.getBoundingClientRect();
  popup.style.left = `${Math.max(4, Math.min(box.left,
    innerWidth - width - 4))}px`;
  popup.style.top = `${box.bottom + 4}px`;
  popup.style.maxHeight = `${Math.max(160, innerHeight - box.bottom - 12)}px`;
}

/** A button for a picker. @param {string} name a class @param {string} label
 * @param {(button: HTMLButtonElement) => void} open
 * @param {...import('../base/dom.js').Child} content */
export function pickerButton(name, label, open, ...content) {
  const button = el('button', { class: `pick ${name}`, title: label,
    'aria-haspopup': 'listbox', 'aria-expanded': 'false',
    onclick: () => open(button) },
  ...content, el('span', { class: 'caret', 'aria-hidden': 'true' }));
  return button;
}
