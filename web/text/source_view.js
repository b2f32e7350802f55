// Source lines with their costs, the instructions of a line below it; and the
// disassembly, which is the same without the source.

import { el } from '../base/dom.js';
import { CodeView, codeLine, headLine, missingSource } from './code_view.js';

/** @typedef {import('../main.js').App} App */
/** @typedef {import('./code_view.js').Costs} Costs */
/** @typedef {Costs & {address: string, text: string, file: string,
 *   line: number, function?: string, new_block?: boolean,
 *   calls?: {source: string, file: string, line: number}[]}} Instruction */
/** @typedef {Costs & {line: number, source: string,
 *   instructions?: Instruction[]}} SourceLine */
/** @typedef {Costs & {name: string, file: string, cum_pct: string,
 *   lines: SourceLine[]}} SourceFunction */
/** @typedef {Costs & {function: string, names: string[], cum_pct: string,
 *   instructions: Instruction[]}} CodeSymbol */

/** @param {App} app */
export function makeSourceView(app) {
  return new CodeView(app, { report: 'source', label: 'Source',
    partsOf: (answer) => /** @type {SourceFunction[]} */ (answer.functions),
    titleOf: (part) => ({ title: part.name, place: part.file }),
    namesOf: (part) => [part.name],
    linesOf: sourceLines });
}

/** @param {App} app */
export function makeDisasmView(app) {
  return new CodeView(app, { report: 'disasm', label: 'Disassembly',
    partsOf: (answer) => /** @type {CodeSymbol[]} */ (answer.symbols),
    titleOf: (part) => ({ title: part.function,
      place: part.names.filter((name) => name !== part.function).join(', ') }),
    namesOf: (part) => [part.function, ...part.names],
    linesOf: symbolLines });
}

/** @param {SourceFunction} part @param {number} total */
function sourceLines(part, total) {
  const missing = missingSource(part);
  return [...(missing ? [el('p', { class: 'muted code-missing' }, missing)]
    : []), headLine('line'), ...part.lines.flatMap((line) => {
    const source = line.source === '???' ? '' : line.source;
    const row = codeLine(String(line.line || ''), line, total, source,
      line.cum ? 'hot' : '');
    return line.instructions?.length
      ? expandable(row, line.instructions, total) : [row];
  })];
}

/** A line whose instructions open below it. @param {HTMLElement} row
 * @param {Instruction[]} instructions @param {number} total */
function expandable(row, instructions, total) {
  const below = el('div', { class: 'code-below', hidden: true });
  const button = el('button', { class: 'code-open quiet',
    'aria-expanded': 'false', 'aria-label': 'Instructions',
    onclick: () => {
      if (!below.firstChild) {
        below.append(...instructionLines(instructions, total));
      }
      below.hidden = !below.hidden;
      button.setAttribute('aria-expanded', String(!below.hidden));
    } }, '▸');
  row.prepend(el('span', { role: 'cell' }, button));
  row.addEventListener('dblclick', () => button.click());
  return [row, below];
}

/** @param {Instruction[]} instructions @param {number} total */
function instructionLines(instructions, total) {
  return instructions.flatMap((instruction) => [
    ...(instruction.new_block ? [el('div', { class: 'code-gap' }, '⋮')] : []),
    ...(instruction.calls ?? []).map((call) => codeLine(
      `${call.file}:${call.line}`, {}, 0, call.source.trim(), 'call')),
    codeLine(instruction.address, instruction, total, instruction.text ||
      `${instruction.file}:${instruction.line}`, 'instruction')]);
}

/** @param {CodeSymbol} part @param {number} total */
function symbolLines(part, total) {
  let place = '';
  return [headLine('address'), ...part.instructions.map((instruction) => {
    const row = codeLine(instruction.address, instruction, total,
      instruction.text, instruction.cum ? 'hot' : '');
    const here = instruction.line
      ? `${instruction.file}:${instruction.line}` : '';
    row.append(el('span', { class: 'code-place muted', role: 'cell' },
      here === place ? '' : here));
    place = here;
    return row;
  })];
}
