// Which view belongs to which path.

import { DiffView } from './diff.js';
import { FlameView } from './flame.js';
import { GraphView } from './graph.js';
import { makeDisasmView, makeSourceView } from './source.js';
import { TagsView } from './tags.js';
import { TextView } from './textview.js';
import { TopView } from './top.js';

/** @typedef {import('./main.js').App} App */
/** @typedef {import('./main.js').View} View */
/** @typedef {{id: string, make: (app: App) => View}} ViewPlan */

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

/** @param {string} name as in the URL @returns {ViewPlan} */
export function viewFor(name) {
  if (!Object.hasOwn(PLANS, name)) {
    throw new Error(`no view is called "${name}"`);
  }
  return PLANS[name];
}
