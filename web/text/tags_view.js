// The labels of the samples as lists with bars; a value is a filter, and
// several filters must all match.

import { el } from '../base/dom.js';
import { plural } from '../base/numbers.js';
import { patternOf } from '../base/search.js';
import { addFilter, labelFilter } from '../shell/filters.js';

/** @typedef {import('../main.js').App} App */
/** @typedef {{weight: number, text: string, percent: string}} Weight */
/** @typedef {Weight & {value: string, number: boolean}} LabelValue */
/** @typedef {Weight & {key: string, values: LabelValue[]}} LabelKey */

const MOST = 200; // values of a key; more are found by searching

export class TagsView {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.element = el('section', { class: 'tags-view', tabindex: '0',
      'aria-label': 'Labels' });
  }

  async show() {
    const { state, data } = this.app;
    /** @type {{total: number, total_text: string, keys: LabelKey[]}} */
    const labels = await data.json('labels', state.dataQuery());
    const pattern = patternOf(state.get('q'));
    let shown = 0;
    const cards = labels.keys.map((key) => {
      const values = key.values.filter((value) => !pattern ||
        pattern.test(value.value) || pattern.test(key.key));
      shown += values.length;
      return values.length === 0 ? null
        : this.card(key, values, labels.total, labels.total_text);
    });
    this.element.replaceChildren(...cards.filter((card) => card !== null));
    if (labels.keys.length === 0) {
      this.element.append(el('p', { class: 'muted empty-note' },
        'The samples of this profile have no labels.'));
    }
    this.app.searchBox.report(pattern && plural(shown, 'value'));
  }

  /** @param {LabelKey} key @param {LabelValue[]} values
   * @param {number} total @param {string} totalText */
  card(key, values, total, totalText) {
    return el('section', { class: 'card' },
      el('h2', {}, key.key), el('p', { class: 'muted' },
        `${key.text} of ${totalText} (${key.percent.trim()})`),
      el('ul', {}, ...values.slice(0, MOST).map((value) =>
        this.row(key, value, total))),
      values.length > MOST ? el('p', { class: 'muted' },
        `${plural(values.length - MOST, 'more value')}: search for them`)
        : null);
  }

  /** @param {LabelKey} key @param {LabelValue} value @param {number} total */
  row(key, value, total) {
    const { state, data } = this.app;
    const filter = (/** @type {string} */ word) => () => addFilter(state, word,
      labelFilter(key.key, value.value, value.number));
    const share = total === 0 ? 0 : Math.abs(value.weight / total);
    return el('li', {},
      el('span', { class: 'tag-bar', style: {
        width: `${Math.min(100, share * 100)}%` } }),
      el('button', { class: 'tag-name', disabled: data.offline,
        title: 'Only samples with this value', onclick: filter('tf') },
      value.value),
      el('span', { class: 'tag-value' }, value.text),
      el('span', { class: 'tag-percent muted' }, value.percent.trim()),
      data.offline ? null : el('button', { class: 'quiet',
        'aria-label': `Ignore samples with ${key.key} ${value.value}`,
        title: 'Ignore samples with this value', onclick: filter('ti') },
      '−'));
  }

  focus() {
    this.element.focus();
  }
}
