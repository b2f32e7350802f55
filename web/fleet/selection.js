// Selections as the server reads them: 'cpu{service="api"} now-1h..now'.
// docs/collector-api.md describes selectors.

/** @typedef {{name: string, op: '=' | '!=' | '=~' | '!~',
 *   value: string}} Matcher */

/**
 * @typedef {object} Selection
 * @property {string} id      of a single profile; "" for a range
 * @property {string} type
 * @property {Matcher[]} matchers
 * @property {string} from
 * @property {string} to
 * @property {boolean} changes  how cumulative values count
 */

/** @returns {Selection} */
export function emptySelection() {
  return { id: '', type: '', matchers: [], from: 'now-1h', to: 'now',
    changes: false };
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*/;
const TYPE = /^[A-Za-z0-9_.:/-]+/;
const OPERATOR = /^(=~|!~|!=|=)/;
/** @type {Record<string, string>} */
const ESCAPES = { n: '\n', t: '\t', r: '\r' };

/** Reads what a pattern finds at the start. */
class Reader {
  /** @param {string} text */
  constructor(text) {
    this.rest = text;
  }

  /** @param {RegExp} pattern */
  take(pattern) {
    const found = pattern.exec(this.rest);
    if (!found || found.index !== 0) return '';
    this.rest = this.rest.slice(found[0].length);
    return found[0];
  }

  space() {
    this.take(/^\s+/);
  }

  quoted() {
    const text = this.take(/^"(?:[^"\\]|\\.)*"|^'(?:[^'\\]|\\.)*'|^`[^`]*`/s);
    if (text === '') return null;
    const inner = text.slice(1, -1);
    return text[0] === '`' ? inner
      : inner.replace(/\\(.)/gs, (_, c) => ESCAPES[c] ?? c);
  }
}

/** null: it cannot be read. @param {string} text
 * @returns {{type: string, matchers: Matcher[]} | null} */
export function parseSelector(text) {
  const reader = new Reader(text.trim());
  const type = reader.take(TYPE);
  reader.space();
  /** @type {Matcher[]} */
  const matchers = [];
  if (!reader.take(/^\{\s*/)) return reader.rest === '' ? { type, matchers }
    : null;
  while (!reader.take(/^\}\s*/)) {
    const name = reader.quoted() ?? reader.take(NAME);
    reader.space();
    const op = reader.take(OPERATOR);
    reader.space();
    const value = reader.quoted();
    if (name === '' || op === '' || value === null) return null;
    matchers.push({ name, op: /** @type {Matcher['op']} */ (op), value });
    reader.space();
    if (!reader.take(/^,\s*/) && !reader.rest.startsWith('}')) return null;
  }
  return reader.rest === '' ? { type, matchers } : null;
}

/** @param {string} text */
const quote = (text) => `"${text.replace(/["\\]/g, '\\$&')
  .replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')}"`;

/** @param {{type: string, matchers: Matcher[]}} selection */
export function selectorText({ type, matchers }) {
  return `${type}{${matchers.map(({ name, op, value }) =>
    `${NAME.exec(name)?.[0] === name ? name : quote(name)}${op}${quote(value)}`)
    .join(',')}}`;
}

/** null: it cannot be read. @param {string} text
 * @returns {Selection | null} */
export function parseSelection(text) {
  const selection = emptySelection();
  let rest = text.trim();
  if (rest.startsWith('id:')) return { ...selection, id: rest.slice(3) };
  const mode = /(^|\s)(changes|sent)$/.exec(rest);
  if (mode) {
    selection.changes = mode[2] === 'changes';
    rest = rest.slice(0, mode.index).trim();
  }
  const range = /(?:^|\s)([^\s}"]+?)\.\.([^\s}"]+)$/.exec(rest);
  if (range) {
    [, selection.from, selection.to] = range;
    rest = rest.slice(0, range.index);
  }
  const selector = parseSelector(rest);
  return selector && { ...selection, ...selector };
}

/** @param {Selection} selection */
export function selectionText(selection) {
  if (selection.id) return `id:${selection.id}`;
  return `${selectorText(selection)} ${selection.from}..${selection.to}${
    selection.changes ? ' changes' : ''}`;
}

/** The service that the selection is about; "" if it leaves that open.
 * @param {{matchers: Matcher[]}} selection */
export function serviceOf({ matchers }) {
  return matchers.find(({ name, op }) => name === 'service' && op === '=')
    ?.value ?? '';
}

/** Labels alone: what chips show. @param {{matchers: Matcher[]}} selection */
export function labelsOf({ matchers }) {
  return matchers.filter((m) => m.name !== 'service' || m.op !== '=');
}

/** @template {{matchers: Matcher[]}} S @param {S} selection
 * @param {string} name @returns {S} */
export function without(selection, name) {
  return { ...selection,
    matchers: selection.matchers.filter((m) => m.name !== name) };
}

/** With name=value instead of any other condition on the name.
 * @template {{matchers: Matcher[]}} S @param {S} selection
 * @param {string} name @param {string} value @returns {S} */
export function withValue(selection, name, value) {
  /** @type {Matcher} */
  const matcher = { name, op: '=', value };
  const at = selection.matchers.findIndex((m) => m.name === name);
  const rest = without(selection, name).matchers;
  rest.splice(at < 0 ? rest.length : at, 0, matcher);
  return { ...selection, matchers: rest };
}

/** Adds a condition, unless it is there.
 * @template {{matchers: Matcher[]}} S @param {S} selection
 * @param {Matcher} matcher @returns {S} */
export function withMatcher(selection, matcher) {
  const same = (/** @type {Matcher} */ m) => m.name === matcher.name &&
    m.op === matcher.op && m.value === matcher.value;
  return selection.matchers.some(same) ? selection
    : { ...selection, matchers: [...selection.matchers, matcher] };
}

/** Do they differ in their times alone? @param {Selection} a
 * @param {Selection} b */
export function sameMatchers(a, b) {
  return selectionText({ ...a, from: '', to: '' }) ===
    selectionText({ ...b, from: '', to: '' });
}
