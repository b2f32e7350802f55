// What the page remembers for a reader, in this browser alone: widths of
// panes, the theme.  Where storage is forbidden it forgets.

const PREFIX = 'pprof.';

/** @param {string} key @returns {string} "" if nothing is known */
export function recall(key) {
  try {
    return localStorage.getItem(PREFIX + key) ?? '';
  } catch {
    return '';
  }
}

/** @param {string} key @param {string} value "" forgets */
export function remember(key, value) {
  try {
    if (value === '') localStorage.removeItem(PREFIX + key);
    else localStorage.setItem(PREFIX + key, value);
  } catch {
    // A saved page or a private window has no storage.
  }
}
