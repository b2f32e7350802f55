// Which view belongs to which path.

import { FlameView } from '../flame/flame_view.js';
import { GraphView } from '../graph/graph_view.js'; // later
import { DiffView } from '../table/diff_view.js'; // later
import { TopView } from '../table/top_view.js'; // later
import { makeDisasmView, makeSourceView } from '../text/source_view.js'; // later
import { TagsView } from '../text/tags_view.js'; // later
import { TextView } from '../text/text_view.js'; // later

/** @typedef {import('../main.js').App} App */
/** @typedef {import('../main.js').View} View */
/** A bare view is about no profile: it has no filters and no totals.
 * @typedef {{id: string, make: (app: App) => View, bare?: boolean}} ViewPlan
 */

/** @param {App} app */
const makeFlame = (app) => new FlameView(app);

/** @type {Record<string, ViewPlan>} */
const PLANS = {
  flamegraph: { id: 'flame', make: makeFlame },
  callers: { id: 'flame', make: makeFlame },
  top: { id: 'top', make: (app) => new TopView(app) },
  graph: { id: 'graph', make: (app) => new GraphView(app) },
  peek: { id: 'peek', make: (app) => new TextView(app, [['peek', 'Peek']]) },
  source: { id: 'source', make: makeSourceView },
  disasm: { id: 'disasm', make: makeDisasmView },
  tags: { id: 'tags', make: (app) => new TagsView(app) },
  raw: { id: 'raw', make: (app) => new TextView(app, [['raw', 'Raw'],
    ['traces', 'Traces']]) },
  traces: { id: 'traces', make: (app) => new TextView(app, [['traces',
    'Traces']]) },
  diff: { id: 'diff', make: (app) => new DiffView(app) },
};

/** For a page around this one.
 * @param {string} name as in the URL @param {ViewPlan} plan */
export function addView(name, plan) {
  PLANS[name] = plan;
}

/** @param {string} name */
export function isBare(name) {
  return Object.hasOwn(PLANS, name) && Boolean(PLANS[name].bare);
}

/** @param {string} name as in the URL @returns {ViewPlan} */
export function viewFor(name) {
  if (!Object.hasOwn(PLANS, name)) {
    throw new Error(`no view is called "${name}"`);
  }
  return PLANS[name];
}
