// Reports that are text: peek, raw and traces.  Long ones are put into the
// page in pieces, which the browser lays out only when they are scrolled to.

import { el } from './dom.js';
import { plural } from './numbers.js';
import { patternOf } from './search.js';

/** @typedef {import('./main.js').App} App */

const PIECE = 500; // lines
const MOST = 200000; // lines at once, then a button
const MOST_HITS = 2000;

export class TextView {
  /**
   * @param {App} app
   * @param {[string, string][]} reports name at the server, title
   */
  constructor(app, reports) {
    this.app = app;
    this.reports = reports;
    this.bar = el('div', { class: 'view-bar' });
    this.text = el('div', { class: 'text-pieces', tabindex: '0' });
    this.element = el('section', { class: 'text-view' },
      reports.length > 1 ? this.bar : null, this.text);
    this.shown = '';
    /** @type {Range[]} */
    this.hits = [];
    this.hitAt = -1;
  }

  report() {
    const wanted = this.app.state.get('text');
    return this.reports.find(([name]) => name === wanted)?.[0] ??
      this.reports[0][0];
  }

  async show() {
    const { state, data } = this.app;
    const name = this.report();
    this.bar.replaceChildren(el('div', { class: 'segments', role: 'group' },
      ...this.reports.map(([id, title]) => el('button', {
        'aria-pressed': String(id === name),
        onclick: () => state.set({ text: id }, { replace: true }) }, title))));
    const { text } = await data.json(name, name === 'peek'
      ? state.dataQuery({ f: state.get('f') || '.' }) : state.dataQuery());
    if (text !== this.shown) {
      this.shown = text;
      this.text.replaceChildren();
      this.add(text.split('\n'), 0);
    }
    this.search();
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

  /** Marks hits without touching the text (CSS custom highlights). */
  search() {
    const pattern = patternOf(this.app.state.get('q'));
    this.hits = pattern ? this.find(pattern) : [];
    this.hitAt = -1;
    const highlights = /** @type {any} */ (globalThis.CSS).highlights;
    highlights?.set('hit', new /** @type {any} */ (globalThis).Highlight(
      ...this.hits));
    const count = this.hits.length;
    this.app.searchBox.report(pattern && (count === MOST_HITS
      ? `more than ${count} hits` : plural(count, 'hit')));
  }

  /** @param {RegExp} pattern */
  find(pattern) {
    const all = new RegExp(pattern.source, `${pattern.flags}g`);
    /** @type {Range[]} */
    const hits = [];
    for (const piece of this.text.querySelectorAll('pre')) {
      const node = piece.firstChild;
      for (const match of (node?.textContent ?? '').matchAll(all)) {
        if (!node || hits.length === MOST_HITS) return hits;
        if (match[0] === '') continue;
        const range = new Range();
        range.setStart(node, match.index);
        range.setEnd(node, match.index + match[0].length);
        hits.push(range);
      }
    }
    return hits;
  }

  /** @param {number} step */
  nextHit(step) {
    const count = this.hits.length;
    if (count === 0) return;
    this.hitAt = (this.hitAt + step + count) % count;
    const range = this.hits[this.hitAt];
    const box = range.getBoundingClientRect();
    const view = this.text.getBoundingClientRect();
    this.text.scrollTop += box.top - view.top - view.height / 3;
    getSelection()?.removeAllRanges();
    getSelection()?.addRange(range);
    this.app.searchBox.report(`${this.hitAt + 1} of ${count}`);
  }

  focus() {
    this.text.focus();
  }
}
