// The collector's page: a shell around the page of a profile.  It has three
// levels: Services, Explore and Targets.  Explore is the page of a profile
// with a query bar, a time strip and labels around it; the selection in the
// URL (a, b) is what they all read and write.

import { byId } from '../base/dom.js';
import { PLACE_WORDS, VIEWS } from '../base/state.js';
import { onThemeChange } from '../base/theme.js';
import { App } from '../main.js';
import { addHelp } from '../shell/help.js';
import { addView, isBare } from '../shell/views.js';
import { Api } from './api.js';
import { Facets } from './facets.js';
import { ProfilesView } from './profiles_view.js';
import { QueryBar } from './query_bar.js';
import { QueryToggle } from './query_toggle.js';
import { saveScreen } from './save_view.js';
import { parseSelection, sameMatchers, selectionText } from './selection.js';
import { exploreWords } from './services_view.js';
import { absoluteUrl, commandFor, copied } from './share.js';
import { Strip } from './strip.js';
import { isSliding } from './strip_gestures.js';
import { TargetsView } from './targets_view.js';
import { absoluteRange, isRelative, spanOf } from './times.js';

/** @typedef {import('./selection.js').Selection} Selection */
/** @typedef {import('./services_view.js').ServicesView} ServicesView */
/** @typedef {import('./times.js').Range} Range */
/** @typedef {import('./times.js').Span} Span */

const LIVE_MS = 10000;
const STALE_MS = 15000; // answers about "now" older than that are asked anew

addView('targets', { id: 'targets', make: (app) => new TargetsView(app),
  bare: true });
addView('profiles', { id: 'profiles', make: (app) => new ProfilesView(app) });
VIEWS.push({ id: 'profiles', title: 'Profiles', key: 'L', report: 'profiles',
  hint: 'The single profiles of the window' });
addHelp(['Time strip', [['Drag', 'Select range A'], ['Shift drag',
  'Select range B, to compare with'], ['Wheel', 'Move through time'],
['Ctrl wheel', 'Zoom'], ['← →', 'Move range A, with Shift its end'],
['+  -', 'Zoom'], ['Alt click', 'On a label: without that value']]]);

export class Fleet {
  /** @param {import('../base/state.js').State} state
   * @param {import('./bar.js').Bar} bar
   * @param {{make: () => ServicesView, isShown: boolean}} services */
  constructor(state, bar, services) {
    this.bar = bar;
    this.asked = Date.now();
    this.now = Date.now() / 1000;
    /** @type {Selection | null} */
    this.a = null;
    /** @type {Selection | null} */
    this.b = null;
    /** A range that is being dragged. @type {{which: 'a' | 'b', span: Span,
     *   running: boolean, pushed: boolean, done: boolean} | null} */
    this.dragged = null;
    /** @type {string | undefined} */
    this.lastExplore = undefined;
    /** What was selected before a single profile. */
    this.lastWindow = '';
    this.hasTargets = false;
    this.toggle = new QueryToggle(() => this.strip.show());
    this.state = state;
    this.api = new Api(state.prefix);
    this.app = new App(state, { before: (changed) => this.before(changed),
      after: () => this.after(),
      restored: () => this.changed(null),
      frameItems: (name) => this.frameItems(name) });
    this.strip = new Strip(this);
    this.facets = new Facets(this);
    this.query = new QueryBar(this);
    bar.tools.after(this.toggle.element);
    byId('query').append(this.query.element);
    byId('strip').append(this.strip.legend, this.strip.element);
    byId('facets').append(this.facets.element);
    onThemeChange(() => this.strip.show(true));
    addView('services', { id: 'services', make: services.make,
      bare: true });
    state.onChange((changed) => this.changed(changed));
    this.changed(null);
    if (services.isShown) this.app.adopt('services', services.make());
    else void this.app.refresh(null);
    setInterval(() => this.tick(), LIVE_MS);
    void this.findTargets();
  }

  // ---- the bar at the top ----

  async findTargets() {
    const answer = await this.api.ask('routes', '').catch(() => null);
    this.hasTargets = Boolean(answer?.routes.includes('/api/1/targets'));
    this.showLevels();
  }

  get level() {
    return isBare(this.state.view) ? this.state.view : 'explore';
  }

  showLevels() {
    this.bar.show(this.level, { explore: this.lastExplore,
      hasTargets: this.hasTargets });
  }

  /** @param {string} level */
  async open(level) {
    if (level === 'explore') await this.explore();
    else this.leave(level);
  }

  saveScreen() {
    saveScreen(this.app.view, `${this.state.view}.html`);
  }

  /** To a level without a profile. @param {string} view */
  leave(view) {
    this.state.set({ ...Object.fromEntries([...this.state.params.keys()]
      .map((word) => [word, null])) }, { view });
  }

  /** What was explored last, or what changed most. */
  async explore() {
    if (this.lastExplore) {
      history.pushState(null, '', this.lastExplore);
      this.state.reread();
      return;
    }
    const answer = await this.api.ask('first', 'services');
    const [first] = answer?.services ?? [];
    if (first) {
      this.state.set(exploreWords({ service: first.service,
        type: first.types[0].type }), { view: 'flamegraph' });
    } else {
      this.app?.say('action', 'There are no profiles to explore yet.');
    }
  }

  // ---- what the URL says ----

  /** Before the page asks: what was answered about "now" may be old.
   * @param {Set<string> | null} changed */
  before(changed) {
    if (!this.app) return;
    this.now = Date.now() / 1000;
    const a = parseSelection(this.state.get('a'));
    if (a && !a.id && isSliding(a) && (!changed ||
      Date.now() - this.asked > STALE_MS)) {
      this.app.data.forget();
      this.asked = Date.now();
    }
  }

  /** The page has what it asked for. */
  after() {
    if (this.a?.id && this.level === 'explore') this.query.show();
    void this.facets.show();
  }

  /** @param {Set<string> | null} changed */
  changed(changed) {
    const { state } = this;
    this.showLevels();
    if (this.level !== 'explore') return;
    this.a = parseSelection(state.get('a'));
    byId('strip').hidden = byId('facets').hidden = !this.a || this.a.id !== '';
    this.b = state.get('b') ? parseSelection(state.get('b')) : null;
    if (!this.a || state.get('a') === '') {
      if (state.get('a') === '') state.set({}, { view: 'services',
        replace: true });
      return;
    }
    this.lastExplore = location.pathname + location.search;
    if (!this.a.id) this.lastWindow = state.get('a');
    this.toggle.show(this.a);
    if (changed && ![...changed].some((word) => ['a', 'b', 'si', 'strip',
      'split', 'plot', 'live', 'view'].includes(word))) return;
    this.query.show();
    this.strip.show();
  }

  // ---- changes ----

  /** @param {Selection} a @param {import('../base/state.js').Changes} [more] */
  select(a, more = {}) {
    // What it is compared with keeps its distance.
    const b = this.b && this.a && !this.b.id && !a.id ? { ...this.b,
      type: a.type, matchers: sameMatchers(this.a, this.b) ? a.matchers
        : this.b.matchers, changes: a.changes } : null;
    this.state.set({ a: selectionText(a), b: b && selectionText(b),
      ...PLACE_WORDS, ...more });
  }

  /** @param {'a' | 'b'} which @param {Range} range
   * @param {import('../base/state.js').Changes} [more] */
  setRange(which, range, more = {}) {
    const of = which === 'b' ? this.b && !this.b.id ? this.b : this.a : this.a;
    if (!of) return;
    /** @type {import('../base/state.js').Changes} */
    const live = which === 'a' && !isSliding(range) ? { live: null } : {};
    this.state.set({ [which]: selectionText({ ...of, ...range }),
      ...PLACE_WORDS, ...live, ...more });
  }

  /** @param {Selection | null} b */
  compareWith(b) {
    const { state } = this;
    state.set({ b: b && selectionText(b), ...PLACE_WORDS,
      ...(b ? {} : { dm: null, norm: null }) },
    !b && state.view === 'diff' ? { view: 'flamegraph' } : {});
  }

  /** While a range is dragged the profile follows, one request at a time.
   * @param {'a' | 'b'} which @param {Span} span */
  preview(which, span) {
    this.dragged = { running: false, pushed: false, ...this.dragged, which,
      span, done: false };
    void this.runPreview();
  }

  async runPreview() {
    const { dragged, app } = this;
    if (!dragged || dragged.running || !app) return;
    dragged.running = true;
    while (this.dragged && !this.dragged.done) {
      const { which, span, pushed } = this.dragged;
      const of = which === 'b' ? this.b && !this.b.id ? this.b : this.a
        : this.a;
      if (!of) break;
      const text = selectionText({ ...of, ...absoluteRange(span) });
      if (this.state.get(which) === text) break;
      this.state.set({ [which]: text, ...PLACE_WORDS, live: null },
        { replace: pushed, quiet: true });
      this.dragged.pushed = dragged.pushed = true;
      await app.refreshView(new Set([which]), ++app.turn).catch(() => {});
      if (this.dragged) this.dragged.running = true;
    }
    if (this.dragged) this.dragged.running = false;
  }

  /** The pointer let go: everything is about the range now. */
  endPreview() {
    const { dragged, app } = this;
    if (!dragged || !app) return;
    dragged.done = true;
    this.dragged = null;
    const { which, span, pushed } = dragged;
    const of = which === 'b' ? this.b && !this.b.id ? this.b : this.a : this.a;
    if (!of) return;
    const text = selectionText({ ...of, ...absoluteRange(span) });
    const isThere = this.state.get(which) === text;
    if (!isThere) {
      this.state.set({ [which]: text, ...PLACE_WORDS, live: null },
        { replace: pushed });
    } else {
      const changed = new Set([which]);
      for (const listener of this.state.listeners) listener(changed);
    }
  }

  /** @param {Span} span what the strip shows */
  moveStrip(span) {
    const length = span.to - span.from;
    if (length < 300 || length > 400 * 86400) return;
    const ahead = span.to - (this.now + length / 20);
    const back = Math.max(0, ahead);
    const to = { from: span.from - back, to: span.to - back };
    this.strip.picture.span = to;
    this.strip.draw();
    const { from, to: end } = absoluteRange(to);
    this.state.set({ strip: `${from}..${end}` }, { replace: true,
      quiet: true });
  }

  endMove() {
    clearTimeout(this.moving);
    this.moving = setTimeout(() => this.strip.show(), 60);
  }

  // ---- live ----

  toggleLive() {
    const { a, state } = this;
    if (!a) return;
    if (state.isOn('live')) {
      state.set({ live: null }, { replace: true });
      return;
    }
    const { from, to } = spanOf(a, this.now);
    const range = isRelative(a.to) ? a : { from: `now-${Math.round(to -
      from)}s`, to: 'now' };
    state.set({ live: 't', strip: null, a: selectionText({ ...a,
      from: range.from, to: range.to }) });
  }

  /** Looks again, if the page is looked at. */
  tick() {
    if (!this.app || !this.state.isOn('live') || document.hidden ||
      this.level !== 'explore' || this.dragged) return;
    void this.app.reload();
    this.strip.show(true);
    void this.facets.show(true);
  }

  // ---- menus ----

  /** @param {string} name @returns {import('../base/menu.js').MenuItem[]} */
  frameItems(name) {
    const { state } = this;
    const on = state.get('plot') === name;
    return [{ label: on ? 'Remove from the strip' : 'Plot over time',
      act: () => state.set({ plot: on ? null : name }) }];
  }

  /** With absolute times, as the server understood them. */
  absolutePair() {
    const fixed = (/** @type {Selection} */ s) => (s.id ? s
      : { ...s, ...absoluteRange(spanOf(s, this.now)) });
    return { a: this.a && fixed(this.a), b: this.b && fixed(this.b) };
  }

  /** @returns {import('../base/menu.js').MenuItem[]} */
  shareItems() {
    const { app } = this;
    const { a, b } = this.absolutePair();
    if (!a || !app) return [];
    const root = new URL('..', `${location.origin}${this.state.prefix}`).href
      .replace(/\/$/, '');
    const item = (/** @type {string} */ label, /** @type {string} */ text,
      /** @type {string} */ what) => ({ label, act: () =>
      void copied(app, text, what) });
    return [
      item('Copy link, with absolute times', absoluteUrl(location.href,
        selectionText(a), b ? selectionText(b) : ''), 'the link'),
      { label: '-' },
      item('Copy as pprof -top', commandFor('pprof -top', a, b, root),
        'the command'),
      item('Copy as pprof -http', commandFor('pprof -http=:', a, b, root),
        'the command'),
      item('Copy as go tool pprof', commandFor('go tool pprof', a, b, root),
        'the command'),
      { label: '-' },
      { label: 'Save this screen as one file', act: () => this.saveScreen() },
    ];
  }
}
