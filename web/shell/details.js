// What is known about the profile as a whole, in a dialog.

import { openDialog } from '../base/dialog.js';
import { el } from '../base/dom.js';

/** @typedef {import('../main.js').App} App */

/** @param {App} app */
export function openDetails(app) {
  const { meta } = app;
  const rows = (meta?.legend ?? []).map((line) => {
    const at = line.indexOf(': ');
    return at > 0 ? [line.slice(0, at), line.slice(at + 2)] : ['', line];
  });
  const help = /^https?:\/\//.test(meta?.doc_url ?? '') ? el('p', {}, el('a',
    { href: meta?.doc_url, target: '_blank', rel: 'noopener noreferrer' },
    'Documentation of this profile')) : null;
  openDialog('Details', 'small details', el('dl', {},
    ...rows.flatMap(([name, text]) => [el('dt', {}, name),
      el('dd', {}, text)])),
  ...(meta?.comments ?? []).map((line) => el('p', {}, line)), help,
  el('p', { class: 'muted' }, `pprof ${meta?.version ?? ''}`));
}
