// The query: which service, which type, which labels, which time, compared
// with what.

import { showDialog } from '../base/dialog.js';
import { el } from '../base/dom.js';
import { openMenuAt } from '../base/menu.js';
import { countText } from '../base/numbers.js';
import { PLACE_WORDS } from '../base/state.js';
import { baseFor, baseOfVersion, choiceOf, compareText, shiftChoices }
  from './compare.js';
import { openPicker, pickerButton } from './picker.js';
import { exploreWords } from './services_view.js';
import { labelsOf, selectionText, selectorText, serviceOf, withMatcher,
  without, withValue } from './selection.js';
import { absolute, rangeText, spanOf, timeOf } from './times.js';

/** @typedef {import('./main.js').Fleet} Fleet */
/** @typedef {import('./selection.js').Matcher} Matcher */
/** @typedef {import('./selection.js').Selection} Selection */

/** @type {[string, string][]} */
const RANGES = [['now-15m', 'Last 15 min'], ['now-1h', 'Last 1 h'],
  ['now-3h', 'Last 3 h'], ['now-6h', 'Last 6 h'], ['now-12h', 'Last 12 h'],
  ['now-1d', 'Last 24 h'], ['now-2d', 'Last 2 d'], ['now-7d', 'Last 7 d']];
/** Types whose values count from the start of the process. */
const CUMULATIVE = /^(heap|allocs|block|mutex)$/;

export class QueryBar {
  /** @param {Fleet} fleet */
  constructor(fleet) {
    this.fleet = fleet;
    this.element = el('div', { class: 'querybar', role: 'group',
      'aria-label': 'Query' });
  }

  show() {
    const { a, b, now, state } = this.fleet;
    if (!a) return;
    const focused = document.activeElement?.getAttribute('data-key');
    this.element.replaceChildren(...(a.id ? this.single(a) : [
      this.service(a), this.type(a),
      el('ul', { class: 'chips', 'aria-label': 'Labels' },
        ...labelsOf(a).map((matcher) => this.chip(a, matcher))),
      keyed('label', pickerButton('quiet add-label', 'Add a label',
        (button) => this.addLabel(button, a), '+ Label')),
      CUMULATIVE.test(a.type) ? el('button', { class: 'quiet',
        'aria-pressed': String(a.changes), title: 'Count what was added ' +
        'since the previous profile, not since the start of the process',
        onclick: () => this.fleet.select({ ...a, changes: !a.changes }) },
      'Changes only') : null].filter((child) => child !== null)),
    el('span', { class: 'spring' }),
    ...(a.id ? [] : [keyed('range', pickerButton('range', 'Time range',
      (button) => this.pickRange(button, a), icon('◷'),
      rangeText(a, now)))]),
    ...(a.id && !b ? [] : [keyed('compare', pickerButton(b ? 'compare on'
      : 'compare', 'Compare with', (button) => this.pickBase(button, a),
    compareText(a, b, now)))]),
    el('button', { class: 'live', 'data-key': 'live',
      'aria-pressed': String(state.isOn('live')), hidden: Boolean(a.id),
      title: 'Follow the clock: refresh every ten seconds',
      onclick: () => this.fleet.toggleLive() }, el('span', {
      class: 'live-dot', 'aria-hidden': 'true' }), 'Live'),
    this.shareButton());
    if (focused) {
      /** @type {HTMLElement | null} */ (this.element.querySelector(
        `[data-key="${focused}"]`))?.focus();
    }
  }

  /** @param {Selection} a */
  single(a) {
    const { app, lastWindow, state } = this.fleet;
    const name = app?.meta?.a?.name ?? '';
    return [el('span', { class: 'single' }, 'One profile'),
      el('strong', {}, name.replace(/\.([^.]*)$/, ' $1')),
      el('span', { class: 'muted' }, a.id),
      el('button', { class: 'quiet', hidden: !lastWindow, onclick: () =>
        state.set({ a: lastWindow, b: null, ...PLACE_WORDS }) },
      'Back to the window')];
  }

  /** @param {Selection} a */
  service(a) {
    const current = serviceOf(a);
    return keyed('service', pickerButton('service', 'Service', (button) =>
      void openPicker(button, { label: 'Service', load: async () =>
        (await this.services()).map(({ service, types }) => ({
          value: service, text: service, current: service === current,
          hint: types.map(({ type }) => type).join(', ') })),
      choose: (service) => void this.chooseService(a, service) }),
    el('span', { class: 'pick-text' }, current || 'all services')));
  }

  /** @returns {Promise<{service: string,
   *   types: {type: string, profiles: number}[]}[]>} */
  async services() {
    const answer = await this.fleet.api.ask('services', 'services',
      { from: 'now-30d' });
    return answer?.services ?? [];
  }

  /** Another service has other labels. @param {Selection} a
   * @param {string} service */
  async chooseService(a, service) {
    const known = (await this.services()).find((s) => s.service === service);
    const type = known?.types.some((t) => t.type === a.type) ? a.type
      : known?.types[0]?.type ?? a.type;
    this.fleet.state.set({ ...exploreWords({ service, type }),
      a: selectionText({ ...a, type, matchers: [{ name: 'service', op: '=',
        value: service }] }) });
  }

  /** @param {Selection} a */
  type(a) {
    return keyed('type', pickerButton('type', 'Profile type', (button) =>
      void openPicker(button, { label: 'Profile type', load: async () =>
        (await this.services()).find(({ service }) =>
          service === serviceOf(a))?.types.map(({ type, profiles }) => ({
          value: type, text: type, hint: countText(profiles),
          current: type === a.type })) ?? [],
      choose: (type) => this.fleet.select({ ...a, type, changes: false },
        { si: null }) }), a.type || 'all types'));
  }

  /** @param {Selection} a @param {Matcher} matcher */
  chip(a, matcher) {
    const { name, op, value } = matcher;
    const text = `${name} ${op.replace('=~', '~').replace('!=', '≠')} ${
      value || '(none)'}`;
    const rest = { ...a, matchers: a.matchers.filter((m) => m !== matcher) };
    /** @type {Record<string, Matcher['op']>} */
    const opposite = { '=': '!=', '!=': '=', '=~': '!~', '!~': '=~' };
    return el('li', { class: op.startsWith('!') ? 'chip not' : 'chip' },
      el('button', { class: 'chip-text', title: 'Negate this condition',
        onclick: () => this.fleet.select({ ...a, matchers: a.matchers.map(
          (m) => (m === matcher ? { ...m, op: opposite[op] } : m)) }) },
      text),
      el('button', { class: 'chip-remove', 'aria-label': `Remove ${text}`,
        onclick: () => this.fleet.select(rest) }, '×'));
  }

  /** First the label, then its value. @param {Element} button
   * @param {Selection} a */
  addLabel(button, a) {
    const { api } = this.fleet;
    const words = { query: selectorText(a), from: a.from, to: a.to };
    void openPicker(button, { label: 'Label', load: async () =>
      ((await api.ask('label names', 'labels', words))?.labels ?? []).map(
        (/** @type {{name: string, profiles: number}} */ label) => ({
          value: label.name, text: label.name,
          hint: countText(label.profiles) })),
    choose: (name) => void openPicker(button, { label: `Value of ${name}`,
      placeholder: `${name} =`,
      load: async () => ((await api.ask('label values', 'labels',
        { ...words, query: selectorText(without(a, name)), name }))?.values ??
        []).map((/** @type {{value: string, profiles: number}} */ one) => ({
        value: `=${one.value}`, text: one.value || '(none)',
        hint: countText(one.profiles) })),
      free: (text) => ({ value: `~${text}`, text: `like ${text}`,
        hint: 'regular expression' }),
      choose: (value) => this.fleet.select(value.startsWith('=')
        ? withValue(a, name, value.slice(1))
        : withMatcher(without(a, name), { name, op: '=~',
          value: value.slice(1) })) }) });
  }

  /** @param {Element} button @param {Selection} a */
  pickRange(button, a) {
    void openPicker(button, { label: 'Time range', load: () => [
      ...RANGES.map(([value, text]) => ({ value, text,
        current: value === a.from && a.to === 'now' })),
      { value: 'custom', text: 'From … to …' }],
    choose: (from) => (from === 'custom' ? this.openCustom(a)
      : this.fleet.setRange('a', { from, to: 'now' }, { strip: null })) });
  }

  /** @param {Selection} a */
  openCustom(a) {
    const span = spanOf(a, this.fleet.now);
    const field = (/** @type {string} */ name, /** @type {string} */ value) =>
      el('input', { type: 'text', value, 'aria-label': name,
        spellcheck: 'false', autocomplete: 'off',
        'aria-describedby': 'range-hint', oninput: () => check() });
    const from = field('From', absolute(span.from));
    const to = field('To', absolute(span.to));
    const hint = el('p', { class: 'muted', id: 'range-hint' });
    const apply = el('button', { class: 'primary' }, 'Apply');
    const check = () => {
      const { now } = this.fleet;
      const [start, end] = [timeOf(from.value.trim(), now),
        timeOf(to.value.trim(), now)];
      const wrong = Number.isNaN(start) || Number.isNaN(end)
        ? 'A time is 2026-01-31T08:00:00Z, 2026-01-31, or now-1h30m.'
        : start >= end ? 'The range ends before it starts.' : '';
      hint.textContent = wrong || 'UTC, or relative: now-1h30m.';
      hint.classList.toggle('wrong', wrong !== '');
      apply.disabled = wrong !== '';
    };
    const form = el('form', { method: 'dialog', class: 'range-form',
      onsubmit: () => this.fleet.setRange('a', { from: from.value.trim(),
        to: to.value.trim() }, { strip: null }) },
    el('label', {}, 'From', from), el('label', {}, 'To', to), hint,
    el('div', { class: 'dialog-buttons' }, el('button', { type: 'button',
      onclick: () => dialog.close() }, 'Cancel'), apply));
    check();
    const dialog = showDialog('Time range', 'small', form);
    from.select();
  }

  /** @param {Element} button @param {Selection} a */
  pickBase(button, a) {
    const { api, b, now } = this.fleet;
    const own = a.matchers.find(({ name }) => name === 'version')?.value;
    /** @type {Map<string, {first: number, last: number}>} */
    const seen = new Map();
    void openPicker(button, { label: 'Compare with', load: async () => {
      const found = a.id ? null : await api.ask('versions', 'labels', {
        query: selectorText(without(a, 'version')), name: 'version',
        from: 'now-30d' }).catch(() => null);
      for (const one of found?.values ?? []) seen.set(one.value, one);
      return [...shiftChoices(choiceOf(a, b, now)).slice(0, a.id ? 1 : 9),
        ...[...seen.keys()].filter((version) => version !== own)
          .map((version) => ({ value: `version ${version}`,
            text: `Version ${version}` })),
        ...(a.id ? [] : [{ value: 'brush', text: 'A range of the strip',
          hint: 'Shift-drag' }])];
    }, choose: (choice) => {
      if (choice === 'brush') {
        this.fleet.strip.frame.focus();
        this.fleet.app?.detail.flash('Drag in the strip while Shift is down');
      } else if (choice.startsWith('version ')) {
        const version = choice.slice(8);
        const times = seen.get(version);
        if (times) {
          this.fleet.compareWith(baseOfVersion(a, version, times, now));
        }
      } else {
        this.fleet.compareWith(baseFor(a, choice, now));
      }
    } });
  }

  shareButton() {
    const button = el('button', { class: 'menu-button share',
      'data-key': 'share', title: 'Links and commands for others',
      'aria-haspopup': 'menu', onclick: () => openMenuAt(button,
        this.fleet.shareItems()) }, 'Share', el('span', { class: 'caret',
      'aria-hidden': 'true' }));
    return button;
  }
}

/** @param {string} key @template {HTMLElement} E @param {E} element */
function keyed(key, element) {
  element.dataset.key = key;
  return element;
}

/** @param {string} sign */
function icon(sign) {
  return el('span', { class: 'icon', 'aria-hidden': 'true' }, sign);
}
