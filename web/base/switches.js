// Options that are on or off.  Without a word in the URL they are as the
// program was started, which may be on: then it takes a word to end that.

/** @typedef {import('../main.js').Meta} Meta */

/** @param {Meta | null} meta @param {string} word */
export function isOn(meta, word) {
  return meta?.config?.[word] === 'true';
}

/** What the word becomes, null for none. @param {Meta | null} meta
 * @param {string} word @param {boolean} on */
export function switchTo(meta, word, on) {
  if (on === (meta?.default_config?.[word] === 'true')) return null;
  return on ? 't' : 'f';
}
