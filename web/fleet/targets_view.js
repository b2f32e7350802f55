// What pprofd scrapes, and how that goes: one row for each target, those that
// fail first.

import { el } from '../base/dom.js';
import { plural } from '../base/numbers.js';
import { Table } from '../base/table.js';
import { Api } from './api.js';
import { selectionText } from './selection.js';
import { exploreWords } from './services_view.js';
import { agoText, durationText } from './times.js';

/**
 * @typedef {object} Scrape
 * @property {string} profile
 * @property {string} [type] the index page has none
 * @property {number} [last_scrape]
 * @property {number} good
 * @property {number} bad
 * @property {string} [reason]
 * @property {string} [error]
 */

/**
 * @typedef {object} Target
 * @property {string} job
 * @property {string} service
 * @property {string} instance
 * @property {string} url
 * @property {number} interval_seconds
 * @property {'up' | 'down' | 'unknown'} health
 * @property {string} [kind]
 * @property {Scrape[]} profiles
 */

/** @typedef {{job: string, ready: boolean, dropped: number, wrong: number,
 *   error?: string, discovery_error?: string}} Job */

const REFRESH_MS = 5000;
const ROW = 40;
/** @type {Record<Target['health'], number>} */
const ORDER = { down: 0, unknown: 1, up: 2 };

/** What goes wrong, the newest first and each once. @param {Target} target */
export function troubleOf({ profiles }) {
  return [...new Set(profiles.filter(({ error }) => error)
    .sort((x, y) => (y.last_scrape ?? 0) - (x.last_scrape ?? 0))
    .map(({ error }) => error))].join('; ');
}

/** When a profile was last asked for; 0: never. @param {Target} target */
export function lastScrape({ profiles }) {
  return Math.max(0, ...profiles.map((one) => one.last_scrape ?? 0));
}

/** "cpu, heap" without the index page. @param {Target} target */
export function profilesText({ profiles }) {
  return profiles.filter(({ type }) => type).map(({ profile }) => profile)
    .join(', ') || '–';
}

/** @param {Target} target @param {'good' | 'bad'} which */
function countOf({ profiles }, which) {
  return profiles.reduce((sum, one) => sum + one[which], 0);
}

/** What is wrong with a whole job. @param {Job} job */
export function jobText({ job, ready, dropped, wrong, error,
  discovery_error: discovery }) {
  if (discovery) return `${job}: ${discovery}`;
  if (wrong > 0) {
    return `${job}: ${plural(wrong, 'target')} cannot be scraped: ${error}`;
  }
  if (!ready) return `${job}: looking for targets`;
  return dropped > 0 ? `${job}: relabelling dropped ${plural(dropped,
    'target')}` : '';
}

const EXAMPLE = `# pprofd.yaml
scrape_configs:
  - job_name: api
    scrape_interval: 60s
    static_configs:
      - targets: ['127.0.0.1:6060']`;

export class TargetsView {
  /** @param {import('../main.js').App} app */
  constructor(app) {
    this.app = app;
    this.api = new Api(app.state.prefix);
    /** @type {Target[]} */
    this.targets = [];
    this.now = 0;
    this.count = el('span', { class: 'muted', role: 'status' });
    this.kinds = el('div', { class: 'segments', role: 'group',
      'aria-label': 'Health' });
    this.jobs = el('ul', { class: 'target-jobs', hidden: true });
    this.empty = el('div', { class: 'empty', hidden: true },
      el('h3', {}, 'No targets are configured'),
      el('p', { class: 'muted' }, 'pprofd can fetch profiles from programs ' +
        'that serve /debug/pprof/. Describe them as for Prometheus, in a ' +
        'file:'), el('pre', { tabindex: '0' }, EXAMPLE),
      el('p', { class: 'muted' }, 'and start pprofd with it:'),
      el('pre', { tabindex: '0' }, 'pprofd serve --config pprofd.yaml'));
    this.table = new Table(this.columns(), { select: () => {},
      open: (row) => this.open(row) }, 'Targets', ROW);
    this.table.space.addEventListener('click', (event) => {
      const row = this.table.rowOf(event);
      if (row >= 0 && getSelection()?.isCollapsed !== false) this.open(row);
    });
    this.element = el('div', { class: 'services targets' },
      el('div', { class: 'services-bar' }, el('h2', {}, 'Targets'),
        this.count, el('span', { class: 'spring' }), this.kinds), this.jobs,
      this.empty, this.table.element);
    setInterval(() => void this.refresh(), REFRESH_MS);
  }

  /** @returns {import('../base/table.js').Column[]} */
  columns() {
    const at = (/** @type {number} */ i) => this.targets[i];
    return [
      { key: 'health', title: 'Health', text: (i) => at(i).health,
        value: (i) => ORDER[at(i).health], node: (i) => el('span',
          { class: `health ${at(i).health}`, 'aria-hidden': 'true' }) },
      { key: 'service', title: 'Service', text: (i) => at(i).service,
        value: (i) => at(i).service },
      { key: 'instance', title: 'Instance', text: (i) => at(i).instance,
        value: (i) => at(i).instance },
      { key: 'job', title: 'Job', text: (i) => at(i).job,
        value: (i) => at(i).job },
      { key: 'kind', title: 'Kind', text: (i) => at(i).kind ?? '–',
        value: (i) => at(i).kind ?? '' },
      { key: 'profiles', title: 'Profiles', text: (i) => profilesText(at(i)),
        value: (i) => profilesText(at(i)) },
      { key: 'interval', title: 'Every', numeric: true,
        text: (i) => durationText(at(i).interval_seconds),
        value: (i) => at(i).interval_seconds },
      { key: 'last', title: 'Last scrape', numeric: true,
        text: (i) => (lastScrape(at(i)) > 0
          ? agoText(lastScrape(at(i)), this.now) : 'never'),
        value: (i) => lastScrape(at(i)) },
      { key: 'good', title: 'Good', numeric: true, hint: 'Scrapes that ' +
        'brought a profile', text: (i) => String(countOf(at(i), 'good')),
      value: (i) => countOf(at(i), 'good') },
      { key: 'bad', title: 'Failed', numeric: true,
        text: (i) => String(countOf(at(i), 'bad')),
        value: (i) => countOf(at(i), 'bad') },
      { key: 'error', title: 'Last error', text: (i) => troubleOf(at(i)),
        value: (i) => troubleOf(at(i)) },
    ];
  }

  /** The profiles of a target. @param {number} i */
  open(i) {
    const { service, instance, profiles } = this.targets[i];
    const stored = profiles.filter(({ type, good }) => type && good > 0);
    const type = (stored.find((one) => one.type === 'cpu') ?? stored[0])?.type;
    if (!type) {
      const trouble = troubleOf(this.targets[i]);
      this.app.say('action', `${instance} has no profiles yet${trouble &&
        `: ${trouble}`}.`);
      return;
    }
    this.app.state.set({ ...exploreWords({ service, type }),
      a: selectionText({ id: '', type, matchers: [
        { name: 'service', op: '=', value: service },
        { name: 'instance', op: '=', value: instance }], from: 'now-1h',
      to: 'now', changes: false }) }, { view: 'flamegraph' });
  }

  /** @param {Set<string> | null} changed */
  async show(changed) {
    if (!changed || changed.has('view')) await this.load();
    this.showKinds();
    this.showRows();
  }

  async load() {
    const answer = await this.api.ask('targets', 'targets');
    if (!answer) return;
    this.targets = answer.targets;
    this.now = Date.now() / 1000;
    const words = answer.jobs.map(jobText).filter(Boolean);
    this.jobs.hidden = words.length === 0;
    this.jobs.replaceChildren(...words.map((/** @type {string} */ text) =>
      el('li', {}, text)));
  }

  /** Again, if it is looked at; a row that is selected stays so. */
  async refresh() {
    if (document.hidden || this.app.state.view !== 'targets') return;
    await this.load().catch(() => {});
    this.showKinds();
    this.showRows();
  }

  showKinds() {
    const { state } = this.app;
    const down = this.targets.filter(({ health }) => health === 'down').length;
    const chosen = state.get('kind');
    this.kinds.hidden = this.targets.length === 0;
    const kinds = [['', 'All'], ['down', `Down ${down}`]];
    if (this.kinds.childElementCount === 0) {
      this.kinds.append(...kinds.map(([kind]) => el('button', {
        onclick: () => state.set({ kind }, { replace: true }) })));
    }
    [...this.kinds.children].forEach((button, i) => {
      button.textContent = kinds[i][1];
      button.setAttribute('aria-pressed', String(kinds[i][0] === chosen));
    });
    this.count.textContent = this.targets.length === 0 ? ''
      : plural(this.targets.length, 'target');
  }

  showRows() {
    const kind = this.app.state.get('kind');
    const { table, targets } = this;
    const isEmpty = targets.length === 0;
    const selected = targets.length === table.count ? table.selected : -1;
    this.empty.hidden = !isEmpty;
    table.element.hidden = isEmpty;
    table.keep = kind ? (i) => targets[i].health === kind : null;
    table.show(targets.length, table.sortKey || 'health', table.sortKey
      ? table.down : false);
    if (selected >= 0) table.select(selected);
  }

  focus() {
    this.table.element.focus();
  }

  /** Everything is in the page, for saving it. */
  beforePrint() {
    this.table.drawAll();
  }

  afterPrint() {
    this.table.redraw();
  }
}
