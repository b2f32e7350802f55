// Source and assembly of the selected function in the inspector: the lines
// around the hottest one, with a way to the whole listing.

import { AskError } from '../base/ask_error.js';
import { el } from '../base/dom.js';
import { codeLine, functionPattern, hottest, missingSource }
  from '../text/code_view.js';

/** @typedef {import('../main.js').App} App */
/** @typedef {import('./neighbours.js').Surroundings} Surroundings */
/** @typedef {import('../text/code_view.js').Costs} Costs */

const AROUND = 7; // lines before and after the hottest one

/** @param {App} app @param {string} report @param {string} name */
function ask(app, report, name) {
  const { state, data } = app;
  return data.json(report, data.offline ? state.dataQuery()
    : state.dataQuery({ sym: functionPattern(name) }));
}

/** @template {Costs} T @param {T[]} lines */
function excerpt(lines) {
  const at = hottest(lines);
  return lines.slice(Math.max(0, at - AROUND), at + AROUND + 1);
}

/** @param {App} app @param {string} view @param {string} name */
function wholeLink(app, view, name) {
  return el('button', { class: 'quiet', onclick: () =>
    app.state.set({ fn: name }, { view }) },
  view === 'source' ? 'Whole source' : 'Whole disassembly');
}

/** @param {HTMLElement} box @param {unknown} error */
function sayWhy(box, error) {
  box.replaceChildren(el('p', { class: 'muted' }, error instanceof AskError
    ? error.message : 'It cannot be shown.'));
}

/** @param {App} app @param {string} name @param {Surroundings} around
 * @param {HTMLElement} box */
export async function fillSource(app, name, around, box) {
  box.append(el('p', { class: 'muted' }, '…'));
  try {
    const { functions, total, missing: why } = await ask(app, 'source', name);
    if (why) throw new AskError(why);
    const found = functions.filter((/** @type {any} */ f) => f.name === name);
    if (found.length === 0) throw new AskError('There are no lines for it.');
    const part = found[0];
    const missing = missingSource(part);
    box.replaceChildren(missing ? el('p', { class: 'muted' }, missing) : '',
      el('div', { class: 'code-body small', role: 'table' },
        ...excerpt(part.lines).map((/** @type {any} */ line) => codeLine(
          String(line.line || ''), line, total,
          line.source === '???' ? '' : line.source, line.cum ? 'hot' : ''))),
      wholeLink(app, 'source', name));
  } catch (error) {
    sayWhy(box, error);
  }
}

/** @param {App} app @param {string} name @param {Surroundings} around
 * @param {HTMLElement} box @param {(name: string) => void} go */
export async function fillAssembly(app, name, around, box, go) {
  box.append(el('p', { class: 'muted' }, '…'));
  try {
    const { symbols, total, missing } = await ask(app, 'disasm', name);
    if (missing) throw new AskError(missing);
    const part = symbols.find((/** @type {any} */ s) => s.function === name ||
      s.names.includes(name));
    if (!part) throw new AskError('There are no instructions for it.');
    box.replaceChildren(el('div', { class: 'code-body small disasm',
      role: 'table' }, ...excerpt(part.instructions).map(
      (/** @type {any} */ line) => codeLine(line.address, line, total,
        line.text, line.cum ? 'hot' : ''))),
    wholeLink(app, 'disasm', name));
  } catch (error) {
    if (around.inlinedInto.length === 0) sayWhy(box, error);
    else box.replaceChildren(inlinedNote(around.inlinedInto, go));
  }
}

/** An inlined function has no instructions of its own: its callers do.
 * @param {{name: string}[]} holders @param {(name: string) => void} go */
export function inlinedNote(holders, go) {
  return el('div', { class: 'inlined-note' },
    el('p', {}, 'It was inlined. Its instructions are in:'),
    el('ul', {}, ...holders.slice(0, 20).map(({ name }) => el('li', {},
      el('button', { class: 'quiet', onclick: () => go(name) }, name)))));
}
