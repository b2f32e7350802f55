// The state of the page is its URL: the view is the last part of the path,
// everything else are query words.  Most words are pprof's own (f, i, si …)
// and go to the server; those in PAGE_WORDS stay here.

/** @typedef {Record<string, string | null>} Changes */

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
  { id: 'tags', title: 'Tags', key: '8', report: 'tags',
    hint: 'Labels of the samples' },
  { id: 'raw', title: 'Raw', key: '9', report: 'raw',
    hint: 'The profile as text' },
  { id: 'diff', title: 'Diff', key: 'd', report: 'diff',
    hint: 'What changed' },
];

/** pprof's filters, in the order they are shown. */
export const FILTERS = [
  { word: 'f', name: 'focus', hint: 'only stacks with a frame like this' },
  { word: 'i', name: 'ignore', hint: 'no stacks with a frame like this' },
  { word: 'h', name: 'hide', hint: 'leave these frames out of the stacks' },
  { word: 's', name: 'show', hint: 'leave all other frames out' },
  { word: 'sf', name: 'show_from', hint: 'drop the frames above this one' },
  { word: 'prunefrom', name: 'prune_from', hint: 'drop the frames below' },
  { word: 'tf', name: 'tagfocus', hint: 'only samples with such a tag' },
  { word: 'ti', name: 'tagignore', hint: 'no samples with such a tag' },
  { word: 'ts', name: 'tagshow', hint: 'only these tags' },
  { word: 'th', name: 'taghide', hint: 'not these tags' },
];

/** Other options that change what is seen: shown as chips when they are set.
 */
export const OPTIONS = [['g', 'granularity'], ['unit', 'unit'],
  ['sort', 'sort'], ['n', 'nodecount'], ['nf', 'nodefraction'],
  ['ef', 'edgefraction'], ['trim', 'trim'], ['rel', 'relative_percentages'],
  ['noinlines', 'noinlines'], ['mean', 'mean'], ['calltree', 'call_tree'],
  ['dropneg', 'drop_negative'], ['norm', 'normalize'],
  ['showcolumns', 'showcolumns']];

/** What the server need not know. */
const PAGE_WORDS = new Set(['p', 'q', 'z', 'w', 'sel', 'color', 'order', 'dm',
  'side', 'invert', 'text', 'fn', 'only']);

/** A choice of the page survives a change of the data, a place does not. */
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
    this.params = new URLSearchParams(query ?? '');
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
      if (value === null || value === '') this.params.delete(word);
      else this.params.set(word, value);
    }
    const url = this.urlOf(this.view, this.params);
    if (url === this.urlOf(before.view, before.params)) return;
    if (how.replace) history.replaceState(null, '', url);
    else history.pushState(null, '', url);
    if (!how.quiet) this.tell(before);
  }

  /** @param {{view: string, params: URLSearchParams}} before */
  tell(before) {
    const changed = new Set(before.view === this.view ? [] : ['view']);
    for (const word of new Set([...before.params.keys(),
      ...this.params.keys()])) {
      if (before.params.get(word) !== this.params.get(word)) changed.add(word);
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
      if (!PAGE_WORDS.has(word)) query.set(word, value);
    }
    for (const [word, value] of Object.entries(extra)) {
      if (value === null) query.delete(word);
      else query.set(word, value);
    }
    return String(query);
  }
}

/** Does a change of these words need new data from the server?
 * @param {Set<string>} changed */
export function needsData(changed) {
  return [...changed].some((word) => word !== 'view' && !PAGE_WORDS.has(word));
}
