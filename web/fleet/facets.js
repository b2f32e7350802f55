// The labels of the selection at the left: for each label its values, with
// what they cost and their course.  A click includes a value, Alt-click
// excludes it, "split" stacks the strip by the label.

import { el } from '../base/dom.js';
import { countText } from '../base/numbers.js';
import { costOf, costText, kindOf } from './cost.js';
import { selectorText, without, withMatcher, withValue } from './selection.js';
import { sparkline } from './sparkline.js';
import { spanOf } from './times.js';

/** @typedef {import('./main.js').Fleet} Fleet */
/** @typedef {import('./selection.js').Selection} Selection */
/** @typedef {import('./strip_data.js').Group} Group */

const OPEN = 4; // labels whose values are shown at once
const VALUES = 6; // of a label, before "more"
const POINTS = 24; // of a course

export class Facets {
  /** @param {Fleet} fleet */
  constructor(fleet) {
    this.fleet = fleet;
    this.list = el('div', { class: 'facet-list' });
    this.element = el('div', { class: 'facets' },
      el('h2', { class: 'facets-title' }, 'Labels'), this.list);
    this.shown = '';
    /** Labels that somebody opened or closed. @type {Map<string, boolean>} */
    this.opened = new Map();
    /** Labels of which all values are shown. @type {Set<string>} */
    this.whole = new Set();
  }

  /** @param {boolean} [anew] */
  async show(anew = false) {
    const { a, api, state } = this.fleet;
    if (!a || a.id) {
      this.list.replaceChildren();
      this.shown = '';
      return;
    }
    const asked = JSON.stringify([selectorText(a), a.from, a.to, a.changes,
      state.get('si'), state.get('split')]);
    if (asked === this.shown && !anew) return;
    this.shown = asked;
    const answer = await api.ask('labels', 'labels', { query: selectorText(
      { ...a, matchers: a.matchers.filter(({ name, op }) =>
        name === 'service' && op === '=') }), from: a.from, to: a.to })
      .catch(() => null);
    if (!answer || this.shown !== asked) return;
    const names = answer.labels.map((/** @type {{name: string}} */ l) =>
      l.name);
    this.list.replaceChildren(...names.map((/** @type {string} */ name,
      /** @type {number} */ i) => this.section(name, i < OPEN)));
    if (names.length === 0) {
      this.list.append(el('p', { class: 'muted facet-none' },
        'These profiles have no labels. Send them with ' +
        'labels=version=1.2,region=eu to compare versions and regions.'));
    }
    // One after another: the profile comes first.
    for (const section of this.list.querySelectorAll('details')) {
      if (this.shown !== asked) return;
      if (section.open) await this.fill(section, asked);
    }
  }

  /** @param {string} name @param {boolean} open */
  section(name, open) {
    const { state } = this.fleet;
    const isSplit = state.get('split') === name;
    const section = el('details', { class: 'facet',
      open: this.opened.get(name) ?? open, 'data-label': name },
    el('summary', {}, el('span', { class: 'facet-name', title: name }, name)),
    el('button', { class: 'quiet facet-split', 'aria-pressed': String(isSplit),
      'aria-label': `Split by ${name}`, title: 'Stack the strip by this label',
      onclick: () => state.set({ split: isSplit ? null : name }) }, 'split'),
    el('ul', { class: 'facet-values' }));
    section.addEventListener('toggle', () => {
      this.opened.set(name, section.open);
      if (section.open && !section.querySelector('li')) {
        void this.fill(section, this.shown);
      }
    });
    return section;
  }

  /** @param {HTMLDetailsElement} section @param {string} asked */
  async fill(section, asked) {
    const { a, api, now, state } = this.fleet;
    const name = section.dataset.label ?? '';
    if (!a) return;
    const span = spanOf(a, now);
    // What else there would be to choose.
    const answer = await api.ask(`facet ${name}`, 'series', {
      query: selectorText(without(a, name)), from: a.from, to: a.to,
      by: name, value_type: state.get('si'),
      values: a.changes ? 'changes' : null, step: `${Math.max(60,
        Math.ceil((span.to - span.from) / POINTS / 60) * 60)}s` })
      .catch(() => null);
    if (!answer || this.shown !== asked) return;
    this.drawValues(section, name, answer.groups, span);
  }

  /** @param {HTMLDetailsElement} section @param {string} name
   * @param {Group[]} groups @param {{from: number, to: number}} span */
  drawValues(section, name, groups, span) {
    const rows = groups.map((group) => {
      /** @type {import('./cost.js').Sum} */
      const sum = [0, 0, 0];
      for (const [, ...one] of group.points) {
        one.forEach((value, k) => {
          sum[k] += value;
        });
      }
      return { group, sum, cost: costOf(sum, group.unit) };
    }).sort((p, q) => q.cost - p.cost);
    const cut = this.whole.has(name) ? rows.length : VALUES;
    const list = section.querySelector('ul');
    list?.replaceChildren(...rows.slice(0, cut).map((row) =>
      this.value(name, row, span)));
    if (rows.length > cut) {
      list?.append(el('li', {}, el('button', { class: 'quiet facet-more',
        onclick: () => {
          this.whole.add(name);
          this.drawValues(section, name, groups, span);
        } }, `${countText(rows.length - cut)} more`)));
    }
  }

  /** @param {string} name
   * @param {{group: Group, sum: import('./cost.js').Sum, cost: number}} row
   * @param {{from: number, to: number}} span */
  value(name, { group, sum, cost }, span) {
    const { a } = this.fleet;
    const value = group.group;
    const mine = a?.matchers.filter((m) => m.name === name) ?? [];
    const isIn = mine.some((m) => m.op === '=' && m.value === value);
    const isOut = mine.some((m) => m.op === '!=' && m.value === value);
    const text = costText(cost, kindOf({ unit: group.unit,
      valueType: group.type }, sum));
    return el('li', { class: isOut ? 'facet-value out' : 'facet-value' },
      el('button', { class: 'quiet', 'aria-pressed': String(isIn),
        title: `${name}=${value || '(none)'}, ${countText(sum[1])
        } profiles\nClick: only these. Alt-click: without these.`,
        onclick: (/** @type {MouseEvent} */ event) =>
          this.choose(name, value, event.altKey, isIn || isOut) },
      el('span', { class: 'facet-text' }, value || '(none)'),
      sparkline(group.points.map(([t, ...one]) =>
        [t, costOf(one, group.unit)]), span),
      el('span', { class: 'facet-cost' }, text)));
  }

  /** @param {string} name @param {string} value @param {boolean} exclude
   * @param {boolean} chosen  already: it is taken back */
  choose(name, value, exclude, chosen) {
    const { fleet } = this;
    const { a } = fleet;
    if (!a) return;
    const rest = { ...a, matchers: a.matchers.filter((m) =>
      m.name !== name || m.value !== value) };
    fleet.select(chosen ? rest : exclude
      ? withMatcher(a, { name, op: '!=', value }) : withValue(a, name, value));
  }
}
