// Options of the reports, by pprof's names, and saved configurations.

import { openDialog } from '../base/dialog.js';
import { el, select } from '../base/dom.js';
import { PLACE_WORDS } from '../base/state.js';
import { isOn, switchTo } from '../base/switches.js';

/** @typedef {import('../main.js').App} App */

/** @type {[string, string, [string, string][]][]} word, label, choices */
const CHOICES = [
  ['g', 'Granularity', [['', 'Default'], ['functions', 'Functions'],
    ['filefunctions', 'Functions and files'], ['files', 'Files'],
    ['lines', 'Lines'], ['addresses', 'Addresses']]],
  ['unit', 'Unit', [['', 'Automatic'], ['ns', 'ns'], ['us', 'us'],
    ['ms', 'ms'], ['s', 's'], ['hr', 'hours'], ['b', 'B'], ['kb', 'kB'],
    ['mb', 'MB'], ['gb', 'GB']]],
  ['sort', 'Order of reports', [['', 'Default'], ['flat', 'Flat'],
    ['cum', 'Cumulative']]],
];

/** @type {[string, string, string][]} word, label, hint */
const SWITCHES = [
  ['rel', 'Relative percentages', '100 % is the total after filters'],
  ['noinlines', 'No inlined frames', 'Attribute them to their callers'],
  ['mean', 'Mean', 'Divide by the number of samples'],
  ['calltree', 'Call tree', 'One node per call path, in the graph'],
  ['dropneg', 'Drop negative values', 'In differences'],
  ['norm', 'Normalise', 'Scale it to the total of the base'],
  ['intel', 'Intel syntax', 'In the disassembly'],
  ['showcolumns', 'Columns of source positions', ''],
];

/** @param {App} app */
export function openOptions(app) {
  const { state, meta } = app;
  const setWord = (/** @type {string} */ word,
    /** @type {string | null} */ value) =>
    state.set({ [word]: value, ...PLACE_WORDS }, { replace: true });
  const rows = CHOICES.map(([word, label, choices]) =>
    el('label', { class: 'option' }, el('span', {}, label),
      select(label, choices, state.get(word), (value) =>
        setWord(word, value))));
  const numbers = [['n', 'Most nodes', '80'], ['nf', 'Node fraction', '0.005'],
    ['ef', 'Edge fraction', '0.001']].map(([word, label, usual]) => {
    const input = el('input', { type: 'text', inputmode: 'decimal',
      value: state.get(word), placeholder: usual,
      onchange: () => setWord(word, input.value) });
    return el('label', { class: 'option' }, el('span', {}, label), input);
  });
  const switches = SWITCHES.filter(([word]) =>
    word !== 'norm' || meta?.can_normalize).map(([word, label, hint]) => {
    const box = el('input', { type: 'checkbox', checked: isOn(meta, word),
      onchange: () => setWord(word, switchTo(meta, word, box.checked)) });
    return el('label', { class: 'option check' }, box, el('span', {}, label,
      hint ? el('small', { class: 'muted' }, hint) : null));
  });
  openDialog('Options', 'wide',
    app.data.offline ? el('p', { class: 'muted' },
      'A saved page keeps the options it was saved with.')
      : el('div', { class: 'options' }, el('div', {}, ...rows, ...numbers),
        el('div', {}, ...switches)),
    app.data.offline ? null : configs(app));
}

/** Saved configurations: choose, delete, save the current words as one.
 * @param {App} app */
function configs(app) {
  const list = el('ul', { class: 'configs' });
  const name = el('input', { type: 'text', placeholder: 'Name',
    'aria-label': 'Name of the configuration' });
  const draw = () => list.replaceChildren(...(app.meta?.configs ?? [])
    .map((config) => el('li', {}, el('button', { class: 'quiet config-name',
      'aria-pressed': String(config.current),
      onclick: () => applyConfig(app, config.url) }, config.name),
    !config.user ? null : el('button', { class: 'quiet',
      'aria-label': `Delete ${config.name}`,
      onclick: () => change(`deleteconfig?config=${
        encodeURIComponent(config.name)}`) }, '×'))));
  const change = (/** @type {string} */ path) => app.attempt(async () => {
    await app.data.send('POST', path);
    await app.reload();
    draw();
  });
  draw();
  return el('section', { class: 'config-part' }, el('h3', {},
    'Saved configurations'), list, el('form', { class: 'filter-row',
    onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      const query = new URLSearchParams(app.state.dataQuery());
      query.set('config', name.value);
      void change(`saveconfig?${query}`);
    } }, name, el('button', {}, 'Save the current filters and options')));
}

/** @param {App} app @param {string} url "?f=…" of the configuration */
function applyConfig(app, url) {
  const wanted = new URLSearchParams(url.replace(/^[^?]*\??/, ''));
  /** @type {Record<string, string | null>} */
  const words = { ...PLACE_WORDS };
  for (const word of Object.keys(app.meta?.default_config ?? {})) {
    words[word] = null;
  }
  for (const [word, value] of wanted) words[word] = value;
  app.state.set(words);
}
