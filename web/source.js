// Source lines with their costs, and the instructions of each line; and the
// disassembly, which is the same without the source.

import { el } from './dom.js';
import { Marks } from './marks.js';
import { patternOf } from './search.js';

/** @typedef {import('./main.js').App} App */

/**
 * @typedef {object} Costs
 * @property {number} [flat]
 * @property {number} [cum]
 * @property {string} [flat_text]
 * @property {string} [cum_text]
 */
/** @typedef {Costs & {address: string, text: string, file: string,
 *   line: number, function?: string, new_block?: boolean,
 *   calls?: {source: string, file: string, line: number}[]}} Instruction */
/** @typedef {Costs & {line: number, source: string,
 *   instructions?: Instruction[]}} SourceLine */
/** @typedef {Costs & {name: string, file: string, cum_pct: string,
 *   lines: SourceLine[]}} SourceFunction */
/** @typedef {Costs & {names: string[], cum_pct: string,
 *   instructions: Instruction[]}} CodeSymbol */

const OPEN_AT_ONCE = 3;
const BAR_WIDTH = 184; // behind both columns of numbers

/** What the source and the disassembly view share: a list of parts that fold.
 * @template {Costs & {cum_pct: string}} T */
class CodeView {
  /** @param {App} app @param {string} report @param {string} label */
  constructor(app, report, label) {
    this.app = app;
    this.report = report;
    this.element = el('section', { class: 'code-view', tabindex: '0',
      'aria-label': label });
    this.marks = new Marks(this.element);
    /** @type {unknown} */
    this.shown = null;
  }

  async show() {
    const { state, data } = this.app;
    const answer = await data.json(this.report,
      state.dataQuery({ f: state.get('f') || '.' }));
    if (answer !== this.shown) this.draw(answer);
    this.app.searchBox.report(this.marks.show(patternOf(state.get('q'))));
  }

  /** @param {any} answer */
  draw(answer) {
    this.shown = answer;
    /** @type {T[]} */
    const parts = this.partsOf(answer);
    this.element.replaceChildren(...parts.map((part, i) =>
      this.fold(part, i < OPEN_AT_ONCE)));
    if (parts.length === 0) {
      this.element.append(el('p', { class: 'muted empty-note' },
        'Nothing to show.'));
    }
  }

  /** The lines are made when the part is opened. @param {T} part
   * @param {boolean} open */
  fold(part, open) {
    const body = el('div', { class: 'code-body', role: 'table' });
    const { title, place } = this.titleOf(part);
    const details = el('details', { class: 'code-part', open },
      el('summary', {}, el('span', { class: 'code-name' }, title),
        el('span', { class: 'muted code-file' }, place),
        el('span', { class: 'code-sum' }, `flat ${part.flat_text}`),
        el('span', { class: 'code-sum' },
          `cum ${part.cum_text} (${part.cum_pct.trim()})`)), body);
    const fill = () => {
      if (details.open && !body.firstChild) body.append(...this.linesOf(part));
    };
    details.addEventListener('toggle', fill);
    fill();
    return details;
  }

  /** @param {any} answer @returns {T[]} */
  partsOf(answer) {
    void answer;
    throw new Error('not here');
  }

  /** @param {T} part @returns {{title: string, place: string}} */
  titleOf(part) {
    void part;
    throw new Error('not here');
  }

  /** @param {T} part @returns {HTMLElement[]} */
  linesOf(part) {
    void part;
    throw new Error('not here');
  }

  /** @param {number} step */
  nextHit(step) {
    const said = this.marks.next(step);
    if (said) this.app.searchBox.report(said);
  }

  focus() {
    this.element.focus();
  }
}

/** What the columns are. @param {string} where */
function headLine(where) {
  const cell = (/** @type {string} */ name, /** @type {string} */ text) =>
    el('span', { class: name, role: 'columnheader' }, text);
  return el('div', { class: 'code-line code-head', role: 'row' },
    cell('code-cost', 'flat'), cell('code-cost', 'cum'),
    cell('code-where', where));
}

/** @param {string} where @param {Costs} costs @param {number} most
 * @param {string} text @param {string} name */
function codeLine(where, costs, most, text, name) {
  const share = most > 0 ? Math.abs(costs.cum ?? 0) / most : 0;
  return el('div', { class: `code-line ${name}`, role: 'row' },
    el('span', { class: 'code-bar', style: {
      width: `${(share * BAR_WIDTH).toFixed(1)}px` } }),
    el('span', { class: 'code-cost', role: 'cell' },
      costs.flat_text && costs.flat_text !== '0' ? costs.flat_text : ''),
    el('span', { class: 'code-cost', role: 'cell' },
      costs.cum_text && costs.cum_text !== '0' ? costs.cum_text : ''),
    el('span', { class: 'code-where', role: 'cell' }, where),
    el('code', { role: 'cell' }, text));
}

/** @param {Costs[]} all */
function mostOf(all) {
  return all.reduce((most, c) => Math.max(most, Math.abs(c.cum ?? 0)), 0);
}

/** @extends {CodeView<SourceFunction>} */
export class SourceView extends CodeView {
  /** @param {App} app */
  constructor(app) {
    super(app, 'source', 'Source');
  }

  /** @param {any} answer @returns {SourceFunction[]} */
  partsOf(answer) {
    return answer.functions;
  }

  /** @param {SourceFunction} part */
  titleOf(part) {
    return { title: part.name, place: part.file };
  }

  /** @param {SourceFunction} part */
  linesOf(part) {
    const most = mostOf(part.lines);
    return [headLine('line'), ...part.lines.flatMap((line) => {
      const source = line.source === '???' ? '' : line.source;
      const row = codeLine(String(line.line || ''), line, most, source,
        line.cum ? 'hot' : '');
      return line.instructions?.length
        ? this.expandable(row, line.instructions, most) : [row];
    })];
  }

  /** A line whose instructions open below it. @param {HTMLElement} row
   * @param {Instruction[]} instructions @param {number} most */
  expandable(row, instructions, most) {
    const below = el('div', { class: 'code-below', hidden: true });
    const button = el('button', { class: 'code-open quiet',
      'aria-expanded': 'false', 'aria-label': 'Instructions',
      onclick: () => {
        if (!below.firstChild) below.append(...instructionLines(instructions,
          most));
        below.hidden = !below.hidden;
        button.setAttribute('aria-expanded', String(!below.hidden));
      } }, '▸');
    row.append(button);
    row.addEventListener('dblclick', () => button.click());
    return [row, below];
  }
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

/** @extends {CodeView<CodeSymbol>} */
export class DisasmView extends CodeView {
  /** @param {App} app */
  constructor(app) {
    super(app, 'disasm', 'Disassembly');
  }

  /** @param {any} answer @returns {CodeSymbol[]} */
  partsOf(answer) {
    return answer.symbols;
  }

  /** @param {CodeSymbol} part */
  titleOf(part) {
    return { title: part.names[0], place: part.names.slice(1).join(', ') };
  }

  /** @param {CodeSymbol} part */
  linesOf(part) {
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
}
