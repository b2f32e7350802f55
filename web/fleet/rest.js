// The scripts that the list of services does not need.  Its page comes without
// them, and fetches them when the list has been painted.  In every other page
// they are there from the start.

import { byId, el } from '../base/dom.js';

/** @type {Promise<void> | null} */
let fetched = null;

/** @param {HTMLScriptElement} script whose text is in a file */
async function fill(script) {
  const answer = await fetch(script.dataset.from ?? '');
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  script.textContent = await answer.text();
}

/** When every script is there. @returns {Promise<void>} */
export function restFetched() {
  fetched ??= fetchRest();
  return fetched;
}

async function fetchRest() {
  try {
    const scripts = /** @type {HTMLScriptElement[]} */ ([
      ...document.querySelectorAll('script[data-from]')]);
    await Promise.all(scripts.map(fill));
  } catch (error) {
    fetched = null; // the next one tries again
    byId('messages').replaceChildren(el('p', {}, 'The rest of the page could ' +
      'not be loaded. Is pprofd still running? Reload the page to try again.'));
    throw error;
  }
}
