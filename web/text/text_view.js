// Reports that are text: peek, raw and traces.  Long ones are put into the
// page in pieces, which the browser lays out only when they are scrolled to.

import { el } from '../base/dom.js';
import { Marks } from '../base/marks.js';
import { plural } from '../base/numbers.js';
import { patternOf } from '../base/search.js';
import { functionPattern } from './code_view.js';

/** @typedef {import('../main.js').App} App */

const PIECE = 500; // lines
const MOST = 200000; // lines at once, then a button

export class TextView {
  /**
   * @param {App} app
   * @param {[string, string][]} reports name at the server, title
   */
  constructor(app, reports) {
    this.app = app;
    this.reports = reports.filter(([name]) => app.data.has(name));
    this.bar = el('div', { class: 'view-bar' });
    this.text = el('div', { class: 'text-pieces', tabindex: '0' });
    this.element = el('section', { class: 'text-view' },
      this.reports.length > 1 ? this.bar : null, this.text);
    this.usual = reports[0][0]; // though a saved page may not have it
    this.shown = '';
    this.marks = new Marks(this.text);
  }

  report() {
    const wanted = this.app.state.get('text');
    return this.reports.find(([name]) => name === wanted)?.[0] ??
      this.reports[0]?.[0] ?? this.usual;
  }

  async show() {
    const { state, data } = this.app;
    const name = this.report();
    this.bar.replaceChildren(el('div', { class: 'segments', role: 'group' },
      ...this.reports.map(([id, title]) => el('button', {
        'aria-pressed': String(id === name),
        onclick: () => state.set({ text: id }, { replace: true }) }, title))));
    const { text } = await data.json(name, name === 'peek'
      ? await this.peekQuery() : state.dataQuery());
    if (text !== this.shown) {
      this.shown = text;
      this.text.replaceChildren();
      this.add(text.split('\n'), 0);
    }
    this.app.searchBox.report(this.marks.show(patternOf(state.get('q'))));
  }

  /** Peek is about one function: the selected one, what the focus says, or
   * the costliest.  All of them would be a book. */
  async peekQuery() {
    const { state, data } = this.app;
    if (data.offline) return state.dataQuery();
    const name = state.get('fn');
    const first = name || state.get('f') ? null
      : (await data.json('top', state.dataQuery())).rows[0];
    const sym = name ? functionPattern(name)
      : first ? functionPattern(first.name) : state.get('f') || '.';
    this.app.inspector.show(name);
    return state.dataQuery({ sym });
  }

  selectedName() {
    return this.app.state.get('fn');
  }

  /** @param {string} fn */
  selectName(fn) {
    this.app.state.set({ fn });
  }

  /** @param {string[]} lines @param {number} from */
  add(lines, from) {
    const to = Math.min(lines.length, from + MOST);
    for (let at = from; at < to; at += PIECE) {
      const some = lines.slice(at, Math.min(to, at + PIECE));
      const piece = el('pre', { class: 'piece' }, some.join('\n'));
      piece.style.containIntrinsicHeight = `${some.length * 18}px`;
      this.text.append(piece);
    }
    if (to < lines.length) {
      const more = el('button', { onclick: () => {
        more.remove();
        this.add(lines, to);
      } }, `${plural(lines.length - to, 'more line')}`);
      this.text.append(more);
    }
  }

  /** @param {number} step */
  nextHit(step) {
    const said = this.marks.next(step);
    if (said) this.app.searchBox.report(said);
  }

  focus() {
    this.text.focus();
  }
}
