// The state of the page is its URL.  It has three parts:
//
//   selection    a, b: the profile and its base
//   refinement   filters and options of the report, pprof's own words
//   place        the view, and where one is in it: zoom, search, order …
//
// Selection and refinement go to the server, the place stays here.  Filters
// can be there several times (f=parse&f=json): a sample must pass all.

/** @typedef {Record<string, string | string[] | null>} Changes */

/** `report` is what the server calls the data of the view.
 * @type {{id: string, title: string, key: string, report: string,
 *   hint: string}[]} */
export const VIEWS = [
  { id: 'flamegraph', title: 'Flame', key: '1', report: 'flame',
    hint: 'Flame graph: every stack at once' },
  { id: 'callers', title: 'Callers', key: '2', report: 'flame',
    hint: 'Callers and callees around one function' },
  { id: 'top', title: 'Top', key: '3', report: 'top',
    hint: 'Table of functions' },
  { id: 'graph', title: 'Graph', key: '4', report: 'graph',
    hint: 'Who calls whom' },
  { id: 'peek', title: 'Peek', key: '5', report: 'peek',
    hint: 'Callers and callees as text' },
  { id: 'source', title: 'Source', key: '6', report: 'source',
    hint: 'Source lines' },
  { id: 'disasm', title: 'Disasm', key: '7', report: 'disasm',
    hint: 'Instructions' },
  { id: 'tags', title: 'Tags', key: '8', report: 'labels',
    hint: 'Labels of the samples' },
  { id: 'raw', title: 'Raw', key: '9', report: 'raw',
    hint: 'The profile as text' },
  { id: 'diff', title: 'Diff', key: 'd', report: 'diff',
    hint: 'What changed' },
];

/** pprof's filters, in the order they are shown: its own name, and a plain
 * one for the chip. */
export const FILTERS = [
  { word: 'f', name: 'focus', plain: 'with',
    hint: 'Only stacks with a frame like this' },
  { word: 'i', name: 'ignore', plain: 'without',
    hint: 'No stacks with a frame like this' },
  { word: 'h', name: 'hide', plain: 'hide',
    hint: 'Leave these frames out of the stacks' },
  { word: 's', name: 'show', plain: 'show only',
    hint: 'Leave all other frames out of the stacks' },
  { word: 'sf', name: 'show_from', plain: 'from',
    hint: 'Drop the callers of this frame' },
  { word: 'prunefrom', name: 'prune_from', plain: 'down to',
    hint: 'Drop this frame and what it calls' },
  { word: 'tf', name: 'tagfocus', plain: 'label',
    hint: 'Only samples with such a label' },
  { word: 'ti', name: 'tagignore', plain: 'not label',
    hint: 'No samples with such a label' },
  { word: 'ts', name: 'tagshow', plain: 'show labels',
    hint: 'Only these labels' },
  { word: 'th', name: 'taghide', plain: 'hide labels',
    hint: 'Not these labels' },
];

/** Other options that change what is seen: shown as chips when they are set.
 */
export const OPTIONS = [['g', 'granularity'], ['unit', 'unit'],
  ['sort', 'sort'], ['n', 'nodecount'], ['nf', 'nodefraction'],
  ['ef', 'edgefraction'], ['trim', 'trim'], ['rel', 'relative_percentages'],
  ['noinlines', 'noinlines'], ['mean', 'mean'], ['calltree', 'call_tree'],
  ['dropneg', 'drop_negative'], ['norm', 'normalize'],
  ['showcolumns', 'showcolumns']];

/** Which profiles; the names that these words had before still work. */
const OLD_SELECTION = new Map([['profile', 'a'], ['base', 'b']]);

/** The place, and `off`: filters that are switched off.  None of these goes to
 * the server. */
const PAGE_WORDS = new Set(['p', 'q', 'z', 'w', 'sel', 'color', 'order', 'dm',
  'side', 'invert', 'fold', 'text', 'fn', 'change', 'off', 'strip', 'split',
  'plot', 'live', 'range', 'kind']);

/** What a change of the data takes away from the place: the rest of it (the
 * search, colours, the order of tables) holds for any data. */
export const PLACE_WORDS = { z: null, w: null, sel: null };

const OLD_NAMES = new Map([['', 'flamegraph'], ['flamegraph2', 'flamegraph'],
  ['flamegraphold', 'flamegraph'], ['weblist', 'source']]);

export class State {
  constructor() {
    /** A saved page has no path of its own: its state is in the fragment. */
    this.offline = location.protocol === 'file:' ||
      document.querySelector('[data-answer]') !== null;
    this.prefix = this.offline ? '' : location.pathname.replace(/[^/]*$/, '');
    /** @type {((changed: Set<string>) => void)[]} */
    this.listeners = [];
    this.view = '';
    this.params = new URLSearchParams();
    this.read();
    addEventListener('popstate', () => this.reread());
    if (this.offline) addEventListener('hashchange', () => this.reread());
  }

  /** Takes view and words from the address bar. */
  read() {
    let name, query;
    if (this.offline) {
      [name, query] = location.hash.slice(1).split('?');
    } else {
      name = location.pathname.slice(this.prefix.length);
      query = location.search;
    }
    this.params = new URLSearchParams();
    for (const [word, value] of new URLSearchParams(query ?? '')) {
      this.params.append(OLD_SELECTION.get(word) ?? word, value);
    }
    this.view = OLD_NAMES.get(name) ?? name;
  }

  reread() {
    const before = this.snapshot();
    this.read();
    this.tell(before);
  }

  snapshot() {
    return { view: this.view, params: new URLSearchParams(this.params) };
  }

  /** @param {string} word */
  get(word) {
    return this.params.get(word) ?? '';
  }

  /** @param {string} word */
  all(word) {
    return this.params.getAll(word);
  }

  /** @param {string} word */
  isOn(word) {
    return /^(t|true|1|y|yes)$/i.test(this.get(word));
  }

  /** @param {(changed: Set<string>) => void} listener */
  onChange(listener) {
    this.listeners.push(listener);
  }

  /**
   * Sets words (null removes) and maybe the view, and tells everybody.
   * @param {Changes} words
   * @param {{view?: string, replace?: boolean, quiet?: boolean}} [how]
   *   replace: no entry in the history; quiet: nobody needs to know
   */
  set(words, how = {}) {
    const before = this.snapshot();
    if (how.view) this.view = how.view;
    for (const [word, value] of Object.entries(words)) {
      putWord(this.params, word, value);
    }
    const url = this.urlOf(this.view, this.params);
    if (url === this.urlOf(before.view, before.params)) return;
    if (how.replace) history.replaceState(null, '', url);
    else history.pushState(null, '', url);
    if (!how.quiet) this.tell(before);
  }

  /** Back to an earlier state, in place of this one; nobody is told.
   * @param {{view: string, params: URLSearchParams}} earlier */
  restore(earlier) {
    this.view = earlier.view;
    this.params = new URLSearchParams(earlier.params);
    history.replaceState(null, '', this.urlOf(this.view, this.params));
  }

  /** @param {{view: string, params: URLSearchParams}} before */
  tell(before) {
    const changed = new Set(before.view === this.view ? [] : ['view']);
    for (const word of new Set([...before.params.keys(),
      ...this.params.keys()])) {
      if (before.params.getAll(word).join('\n') !==
        this.params.getAll(word).join('\n')) changed.add(word);
    }
    if (changed.size === 0) return;
    for (const listener of this.listeners) listener(changed);
  }

  /** @param {string} view @param {URLSearchParams} params */
  urlOf(view, params) {
    const query = String(params).replace(/%2C/g, ',').replace(/%3A/g, ':');
    return (this.offline ? '#' : this.prefix) + view +
      (query ? `?${query}` : '');
  }

  /** The words for the server. @param {Changes} [extra] */
  dataQuery(extra = {}) {
    const query = new URLSearchParams();
    for (const [word, value] of this.params) {
      if (!PAGE_WORDS.has(word)) query.append(word, value);
    }
    for (const [word, value] of Object.entries(extra)) {
      putWord(query, word, value);
    }
    return String(query);
  }
}

/** @param {URLSearchParams} params @param {string} word
 * @param {string | string[] | null} value */
function putWord(params, word, value) {
  const values = (Array.isArray(value) ? value : [value ?? ''])
    .filter((one) => one !== '');
  if (values.length === 1) {
    params.set(word, values[0]); // where it was, if it was there
    return;
  }
  params.delete(word);
  for (const one of values) params.append(word, one);
}

/** Does a change of these words need new data from the server?
 * @param {Set<string>} changed */
export function needsData(changed) {
  return [...changed].some((word) => word !== 'view' && !PAGE_WORDS.has(word));
}
