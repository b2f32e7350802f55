// What is compared with what: both sides with their names, times and totals,
// the change, whether it is normalised, and the main points in words.  Shown
// in every view as long as there is a base.

import { el } from '../base/dom.js';
import { reportPercent } from '../base/numbers.js';
import { isOn, switchTo } from '../base/switches.js';
import { summaryOf } from './explain.js'; // later

/** @typedef {import('../main.js').App} App */
/** @typedef {import('../main.js').Meta} Meta */
/** @typedef {import('../main.js').Side} Side */

const WINDOW = 600; // seconds: rather a window than a profile

/** "2026-11-18 00:32:49, 10s"; of a window the seconds say nothing:
 * "2026-11-18 00:32, 1h" @param {Side | undefined} side */
export function timeText(side) {
  const ns = Number(side?.time_ns ?? 0);
  const seconds = Number(side?.duration_ns ?? 0) / 1e9;
  const date = new Date(ns / 1e6);
  const two = (/** @type {number} */ n) => String(n).padStart(2, '0');
  return [ns > 0 ? `${date.getFullYear()}-${two(date.getMonth() + 1)}-${
    two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}${
    seconds < WINDOW ? `:${two(date.getSeconds())}` : ''}` : '',
  seconds > 0 ? lengthText(seconds) : '']
    .filter((text) => text !== '').join(', ');
}

/** "10s"; in hours and minutes what is a window rather than a profile.
 * @param {number} seconds */
function lengthText(seconds) {
  const minutes = Math.round(seconds / 60);
  if (seconds < WINDOW) return `${Number(seconds.toPrecision(3))}s`;
  return [minutes >= 60 ? `${Math.floor(minutes / 60)}h` : '',
    minutes % 60 ? `${minutes % 60}m` : ''].filter(Boolean).join(' ');
}

export class CompareBar {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.before = el('span', { class: 'compare-side' });
    this.after = el('span', { class: 'compare-side' });
    this.change = el('strong', { class: 'compare-change' });
    this.words = el('p', { class: 'compare-words' });
    this.normalise = el('input', { type: 'checkbox', onchange: () =>
      app.state.set({ norm: switchTo(app.meta, 'norm',
        this.normalise.checked) }) });
    this.element = el('section', { class: 'comparison', hidden: true,
      'aria-label': 'Comparison' }, el('div', { class: 'comparebar' },
      this.before, el('span', { class: 'muted', 'aria-hidden': 'true' }, '→'),
      this.after, this.change, el('span', { class: 'spring' }),
      el('label', { class: 'check', title:
        'Scale the profile so that both totals are equal' }, this.normalise,
      ' Normalise')), this.words);
  }

  /** @param {Meta} meta */
  show(meta) {
    this.element.hidden = !meta.has_base;
    if (!meta.has_base) return;
    const base = meta.base_shown ?? 0;
    const delta = meta.shown - base;
    fill(this.before, 'Before', meta.b, meta.base_shown_text ?? '');
    fill(this.after, 'After', meta.a, meta.shown_text);
    this.change.textContent = `${delta > 0 ? '+' : ''}${meta.change_text}${
      base === 0 ? '' : ` (${delta > 0 ? '+' : delta < 0 ? '-' : ''}${
        reportPercent(delta, base)})`}`;
    this.normalise.checked = isOn(meta, 'norm');
    this.normalise.disabled = this.app.data.offline || !meta.can_normalize;
    void this.explain();
  }

  /** The main points come later: they take the server some time. */
  async explain() {
    const { data, state } = this.app;
    const query = state.dataQuery();
    if (!data.has('explain')) return;
    const { text } = await data.json('explain', query)
      .catch(() => ({ text: '' }));
    if (query !== state.dataQuery()) return;
    this.words.textContent = this.words.title = summaryOf(text).join(' ');
  }
}

/** @param {HTMLElement} place @param {string} what
 * @param {Side | undefined} side @param {string} total */
function fill(place, what, side, total) {
  const name = (side?.name ?? '').replace(/^.*\//, '');
  const time = timeText(side);
  place.title = [side?.name, time].filter(Boolean).join('\n');
  place.replaceChildren(el('span', { class: 'muted compare-what' }, what),
    ' ',
    el('span', { class: 'compare-name' }, name), ' ',
    el('strong', {}, total), ' ',
    el('span', { class: 'muted compare-time' }, time));
}
