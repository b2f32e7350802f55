// What the source and the disassembly views share: a list of parts that fold,
// with lines that have costs.  What a part is comes as a plan.

import { el } from './dom.js';
import { Marks } from './marks.js';
import { plural } from './numbers.js';
import { patternOf } from './search.js';

/** @typedef {import('./main.js').App} App */

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
 * @property {(part: T) => HTMLElement[]} linesOf
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
  }

  async show() {
    const { state, data } = this.app;
    const answer = await data.json(this.plan.report,
      state.dataQuery({ f: state.get('f') || '.' }));
    const only = data.offline ? state.get('only') : '';
    if (answer !== this.shown || only !== this.only) this.draw(answer, only);
    this.app.searchBox.report(this.marks.show(patternOf(state.get('q'))));
  }

  /** A saved page has one answer and chooses from it.
   * @param {any} answer @param {string} only this function; "" for all */
  draw(answer, only) {
    this.shown = answer;
    this.only = only;
    const parts = this.plan.partsOf(answer).filter((part) => !only ||
      this.plan.namesOf(part).includes(only));
    this.element.replaceChildren(only ? this.wayBack(only) : '',
      ...parts.map((part, i) => this.fold(part, i < OPEN_AT_ONCE)));
    const note = parts.length === 0
      ? only ? 'This saved page has the costliest functions, and this is ' +
        'none of them.' : 'Nothing to show.'
      : !only && answer.left_out > 0
        ? `${plural(answer.left_out, 'more symbol')} of less cost.` : '';
    if (note) {
      this.element.append(el('p', { class: 'muted empty-note' }, note));
    }
  }

  /** @param {string} only */
  wayBack(only) {
    return el('div', { class: 'view-bar' }, el('span', {}, `Only ${only}`),
      el('button', { onclick: () => this.app.state.set({ only: null }) },
        'Show all'));
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
        body.append(...this.plan.linesOf(part));
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

/** @param {string} where @param {Costs} costs @param {number} most
 * @param {string} text @param {string} name */
export function codeLine(where, costs, most, text, name) {
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
export function mostOf(all) {
  return all.reduce((most, c) => Math.max(most, Math.abs(c.cum ?? 0)), 0);
}
