// Light or dark: as the system says, unless the reader chose one.  Styles
// follow by light-dark(); what is drawn on a canvas asks here.

import { recall, remember } from './memory.js';

/** @typedef {'' | 'light' | 'dark'} ThemeChoice  "" is the system's */

/** @type {[ThemeChoice, string][]} */
const THEME_CHOICES = [['', 'System'], ['light', 'Light'],
  ['dark', 'Dark']];

const darkQuery = globalThis.matchMedia?.('(prefers-color-scheme: dark)');
/** @type {(() => void)[]} */
const listeners = [];
/** @type {ThemeChoice} */
let choice = '';

export function isDark() {
  return choice === '' ? Boolean(darkQuery?.matches) : choice === 'dark';
}

/** @param {() => void} changed */
export function onThemeChange(changed) {
  listeners.push(changed);
}

/** The choices as a menu. */
export function themeItems() {
  return THEME_CHOICES.map(([id, label]) => ({ label, checked: id === choice,
    act: () => chooseTheme(id) }));
}

/** @param {ThemeChoice} wanted */
function chooseTheme(wanted) {
  remember('theme', wanted);
  apply(wanted);
  for (const changed of listeners) changed();
}

/** @param {ThemeChoice} wanted */
function apply(wanted) {
  choice = wanted;
  document.documentElement.style.colorScheme = wanted;
}

/** Takes what was chosen before; call it once, before anything is drawn. */
export function startTheme() {
  const known = recall('theme');
  apply(known === 'light' || known === 'dark' ? known : '');
  darkQuery?.addEventListener('change', () => {
    for (const changed of listeners) changed();
  });
}
