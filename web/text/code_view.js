// What the source and the disassembly views share: a list of parts that fold,
// with lines that have costs.  What a part is comes as a plan.  With a
// selected function they show that one; the profile stays whole.

import { el } from '../base/dom.js';
import { Marks } from '../base/marks.js';
import { plural } from '../base/numbers.js';
import { patternOf, quote } from '../base/search.js';
import { inlinedNote } from '../inspector/code_part.js';
import { surroundings } from '../inspector/neighbours.js';

/** @typedef {import('../main.js').App} App */

/**
 * @typedef {object} Costs
 * @property {number} [flat]
 * @property {number} [cum]
 * @property {string} [flat_text]
 * @property {string} [cum_text]
 */

/**
 * @template {Costs & {cum_pct: string}} T
 * @typedef {object} CodePlan
 * @property {string} report            the server's name for it
 * @property {string} label
 * @property {(answer: any) => T[]} partsOf
 * @property {(part: T) => {title: string, place: string}} titleOf
 * @property {(part: T) => string[]} namesOf  of the function, to find it by
 * @property {(part: T, total: number) => HTMLElement[]} linesOf
 */

const OPEN_AT_ONCE = 3;
const BAR_WIDTH = 184; // behind both columns of numbers

/** @template {Costs & {cum_pct: string}} T */
export class CodeView {
  /** @param {App} app @param {CodePlan<T>} plan */
  constructor(app, plan) {
    this.app = app;
    this.plan = plan;
    this.element = el('section', { class: `code-view ${plan.report}`,
      tabindex: '0', 'aria-label': plan.label });
    this.marks = new Marks(this.element);
    /** @type {unknown} */
    this.shown = null;
    this.only = '';
    this.total = 0;
  }

  async show() {
    const { state, data } = this.app;
    const only = state.get('fn');
    const answer = await data.json(this.plan.report, state.dataQuery({ sym:
      only && !data.offline ? functionPattern(only)
        : state.get('f') || '.' }));
    if (answer.missing) {
      await this.drawMissing(only, answer.missing);
      return;
    }
    if (answer !== this.shown || only !== this.only) this.draw(answer, only);
    this.app.inspector.show(only);
    this.app.searchBox.report(this.marks.show(patternOf(state.get('q'))));
  }

  /** There is no code for this function: why, and where to look instead.
   * @param {string} only @param {string} why */
  async drawMissing(only, why) {
    const { data, state } = this.app;
    const { tree } = await data.flame(state.dataQuery());
    const holders = surroundings(tree, only)?.inlinedInto ?? [];
    this.shown = null;
    this.app.inspector.show(only);
    this.element.replaceChildren(only ? this.wayBack(only) : '',
      holders.length > 0 ? inlinedNote(holders, (fn) => state.set({ fn }))
      : el('p', { class: 'muted empty-note' }, why));
  }

  /** A saved page has one answer and chooses from it.
   * @param {any} answer @param {string} only this function; "" for all */
  draw(answer, only) {
    this.shown = answer;
    this.only = only;
    this.total = answer.total;
    const parts = this.plan.partsOf(answer).filter((part) => !only ||
      this.plan.namesOf(part).includes(only)).sort((a, b) =>
      Math.abs(b.flat ?? 0) - Math.abs(a.flat ?? 0) ||
      Math.abs(b.cum ?? 0) - Math.abs(a.cum ?? 0));
    this.element.replaceChildren(only ? this.wayBack(only) : '',
      ...parts.map((part, i) => this.fold(part, i < OPEN_AT_ONCE)));
    if (only) this.showHottest();
    const note = parts.length === 0
      ? only && this.app.data.offline
        ? 'This saved page has only the most expensive functions, not this ' +
          'one.' : 'Nothing to show.'
      : !only && answer.left_out > 0
        ? `${plural(answer.left_out, 'more symbol')} of less cost.` : '';
    if (note) {
      this.element.append(el('p', { class: 'muted empty-note' }, note));
    }
  }

  /** Opens where it costs most. */
  showHottest() {
    const rows = [...this.element.querySelectorAll('.code-line')];
    const cost = (/** @type {Element} */ row) =>
      Number(row.getAttribute('data-cost') ?? 0);
    const best = rows.reduce((/** @type {Element | null} */ most, row) =>
      (cost(row) > (most ? cost(most) : 0) ? row : most), null);
    best?.classList.add('hottest');
    best?.scrollIntoView({ block: 'center' });
  }

  /** @param {string} only */
  wayBack(only) {
    return el('div', { class: 'view-bar' }, el('span', {}, `Only ${only}`),
      el('button', { onclick: () => this.app.state.set({ fn: null }) },
        'Show all'));
  }

  selectedName() {
    return this.app.state.get('fn');
  }

  /** @param {string} fn */
  selectName(fn) {
    this.app.state.set({ fn });
  }

  /** The lines are made when the part is opened. @param {T} part
   * @param {boolean} open */
  fold(part, open) {
    const body = el('div', { class: 'code-body', role: 'table' });
    const { title, place } = this.plan.titleOf(part);
    const details = el('details', { class: 'code-part', open },
      el('summary', {}, el('span', { class: 'code-name' }, title),
        el('span', { class: 'muted code-file' }, place),
        el('span', { class: 'code-sum' }, `flat ${part.flat_text}`),
        el('span', { class: 'code-sum' },
          `cum ${part.cum_text} (${part.cum_pct.trim()})`)), body);
    const fill = () => {
      if (details.open && !body.firstChild) {
        body.append(...this.plan.linesOf(part, this.total));
      }
    };
    details.addEventListener('toggle', fill);
    fill();
    return details;
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
export function headLine(where) {
  const cell = (/** @type {string} */ name, /** @type {string} */ text) =>
    el('span', { class: name, role: 'columnheader' }, text);
  return el('div', { class: 'code-line code-head', role: 'row' },
    cell('code-cost', 'flat'), cell('code-cost', 'cum'),
    cell('code-where', where));
}

/** The bar is a share of the whole profile.
 * @param {string} where @param {Costs} costs @param {number} total
 * @param {string} text @param {string} name */
export function codeLine(where, costs, total, text, name) {
  const share = total === 0 ? 0
    : Math.min(1, Math.abs((costs.cum ?? 0) / total));
  return el('div', { class: `code-line ${name}`, role: 'row',
    'data-cost': costs.cum ? Math.abs(costs.cum) : null },
    el('span', { class: 'code-bar', style: {
      width: `${(share * BAR_WIDTH).toFixed(1)}px` } }),
    el('span', { class: 'code-cost', role: 'cell' },
      costs.flat_text && costs.flat_text !== '0' ? costs.flat_text : ''),
    el('span', { class: 'code-cost', role: 'cell' },
      costs.cum_text && costs.cum_text !== '0' ? costs.cum_text : ''),
    el('span', { class: 'code-where', role: 'cell' }, where),
    el('code', { role: 'cell' }, text));
}

/** Where most is spent: the costliest line itself, or with what it calls.
 * @param {Costs[]} lines */
export function hottest(lines) {
  const weight = (/** @type {Costs} */ c) => Math.abs(c.flat ?? 0) * 2 +
    Math.abs(c.cum ?? 0);
  return lines.reduce((best, line, i) =>
    (weight(line) > weight(lines[best]) ? i : best), 0);
}

/** One function, as reports name it: an address may come before the name,
 * and a line behind it. @param {string} name */
export function functionPattern(name) {
  return `(^| )${quote(name)}( |$)`;
}

/** Why there is no text beside the costs, and what helps; "" if there is.
 * @param {{file: string, lines: {source: string}[]}} part */
export function missingSource(part) {
  if (part.lines.some(({ source }) => source && source !== '???')) return '';
  return `The source file ${part.file || '(unknown)'} was not found. Start ` +
    'pprof with -source_path=DIRECTORIES to search there, and with ' +
    '-trim_path=PREFIX to cut a prefix off the path.';
}
