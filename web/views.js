// Which view belongs to which path.

import { FlameView } from './flame.js';

/** @typedef {import('./main.js').App} App */
/** @typedef {import('./main.js').View} View */
/** @typedef {{id: string, make: (app: App) => View}} ViewPlan */

/** @type {Record<string, ViewPlan>} */
const PLANS = {
  flamegraph: { id: 'flame', make: (app) => new FlameView(app) },
  callers: { id: 'flame', make: (app) => new FlameView(app) },
};

/** @param {string} name as in the URL @returns {ViewPlan} */
export function viewFor(name) {
  if (!Object.hasOwn(PLANS, name)) throw new Error(`no view is called ${name}`);
  return PLANS[name];
}
