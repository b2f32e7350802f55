// Source lines with their costs, the instructions of a line below it; and the
// disassembly, which is the same without the source.

import { CodeView, codeLine, headLine, mostOf } from './code_view.js';
import { el } from './dom.js';

/** @typedef {import('./main.js').App} App */
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

/** @param {SourceFunction} part */
function sourceLines(part) {
  const most = mostOf(part.lines);
  return [headLine('line'), ...part.lines.flatMap((line) => {
    const source = line.source === '???' ? '' : line.source;
    const row = codeLine(String(line.line || ''), line, most, source,
      line.cum ? 'hot' : '');
    return line.instructions?.length
      ? expandable(row, line.instructions, most) : [row];
  })];
}

/** A line whose instructions open below it. @param {HTMLElement} row
 * @param {Instruction[]} instructions @param {number} most */
function expandable(row, instructions, most) {
  const below = el('div', { class: 'code-below', hidden: true });
  const button = el('button', { class: 'code-open quiet',
    'aria-expanded': 'false', 'aria-label': 'Instructions',
    onclick: () => {
      if (!below.firstChild) {
        below.append(...instructionLines(instructions, most));
      }
      below.hidden = !below.hidden;
      button.setAttribute('aria-expanded', String(!below.hidden));
    } }, '▸');
  row.prepend(el('span', { role: 'cell' }, button));
  row.addEventListener('dblclick', () => button.click());
  return [row, below];
}

/** @param {Instruction[]} instructions @param {number} most */
function instructionLines(instructions, most) {
  return instructions.flatMap((instruction) => [
    ...(instruction.new_block ? [el('div', { class: 'code-gap' }, '⋮')] : []),
    ...(instruction.calls ?? []).map((call) => codeLine(
      `${call.file}:${call.line}`, {}, 0, call.source.trim(), 'call')),
    codeLine(instruction.address, instruction, most, instruction.text ||
      `${instruction.file}:${instruction.line}`, 'instruction')]);
}

/** @param {CodeSymbol} part */
function symbolLines(part) {
  const most = mostOf(part.instructions);
  let place = '';
  return [headLine('address'), ...part.instructions.map((instruction) => {
    const row = codeLine(instruction.address, instruction, most,
      instruction.text, instruction.cum ? 'hot' : '');
    const here = instruction.line
      ? `${instruction.file}:${instruction.line}` : '';
    row.append(el('span', { class: 'code-place muted', role: 'cell' },
      here === place ? '' : here));
    place = here;
    return row;
  })];
}
