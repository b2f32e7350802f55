// The labels of the samples as lists with bars; a value is a filter.  Made
// from the terminal's report, so the numbers are the same.

import { el } from './dom.js';
import { plural } from './numbers.js';
import { patternOf, quote } from './search.js';
import { PLACE_WORDS } from './state.js';

/** @typedef {import('./main.js').App} App */
/** @typedef {{text: string, share: number, percent: string, name: string}}
 *   TagValue */
/** @typedef {{key: string, summary: string, values: TagValue[]}} Tag */

/** @param {string} text of `pprof -tags` @returns {Tag[]} */
export function parseTags(text) {
  /** @type {Tag[]} */
  const tags = [];
  for (const line of text.split('\n')) {
    const head = /^\s*(.+?): Total (.*)$/.exec(line);
    const value = /^\s*(\S+) \(\s*([\d.e+-]+%)\): (.*)$/.exec(line);
    if (value && tags.length > 0) {
      tags[tags.length - 1].values.push({ text: value[1], percent: value[2],
        share: parseFloat(value[2]) / 100, name: value[3] });
    } else if (head) {
      tags.push({ key: head[1], values: [],
        summary: head[2].replace(/\(\s+/, '(') });
    }
  }
  return tags;
}

export class TagsView {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.element = el('section', { class: 'tags-view', tabindex: '0' });
  }

  async show() {
    const { state, data } = this.app;
    const { text } = await data.json('tags', state.dataQuery());
    const pattern = patternOf(state.get('q'));
    const tags = parseTags(text);
    let shown = 0;
    const cards = tags.map((tag) => {
      const values = tag.values.filter((value) => !pattern ||
        pattern.test(value.name) || pattern.test(tag.key));
      shown += values.length;
      return values.length === 0 ? null : this.card(tag, values);
    });
    this.element.replaceChildren(...cards.filter((card) => card !== null));
    if (tags.length === 0) {
      this.element.append(el('p', { class: 'muted empty-note' },
        'The samples of this profile have no labels.'));
    }
    this.app.searchBox.report(pattern && plural(shown, 'value'));
  }

  /** @param {Tag} tag @param {TagValue[]} values */
  card(tag, values) {
    return el('section', { class: 'card' },
      el('h2', {}, tag.key), el('p', { class: 'muted' }, tag.summary),
      el('ul', {}, ...values.map((value) => el('li', {},
        el('span', { class: 'tag-bar', style: {
          width: `${Math.min(100, value.share * 100)}%` } }),
        el('button', { class: 'tag-name', disabled: this.app.data.offline,
          title: 'Only samples with this value',
          onclick: () => this.filter('tf', tag.key, value.name) }, value.name),
        el('span', { class: 'tag-value' }, value.text),
        el('span', { class: 'tag-percent muted' }, value.percent),
        this.app.data.offline ? null : el('button', { class: 'quiet',
          'aria-label': `Ignore samples with ${tag.key} ${value.name}`,
          title: 'Ignore samples with this value',
          onclick: () => this.filter('ti', tag.key, value.name) }, '−')))));
  }

  /** Numbers with a unit are ranges to pprof, everything else is a pattern.
   * @param {string} word @param {string} key @param {string} name */
  filter(word, key, name) {
    const isNumber = /^-?[\d.]+[A-Za-z]*$/.test(name);
    this.app.state.set({ [word]: isNumber ? `${key}=${name}`
      : `${key}=^${quote(name)}$`, ...PLACE_WORDS });
  }

  focus() {
    this.element.focus();
  }
}
