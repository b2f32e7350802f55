// Starts the collector's page.  The list of services needs little: it is shown
// by what is in this script alone, and the rest of the page is fetched and
// started when the browser has painted it, or at the first thing that somebody
// does.

import { byId, pictureShown } from '../base/dom.js';
import { State } from '../base/state.js';
import { startTheme } from '../base/theme.js';
import { Bar } from './bar.js';
import { Fleet } from './main.js'; // later
import { restFetched } from './rest.js';
import { ServicesView } from './services_view.js';

startTheme();
const state = new State();
/** @type {Fleet | null} */
let fleet = null;
/** @type {ServicesView | null} */
let view = null;
const services = { make: () => (view ??= new ServicesView(state)),
  isShown: false };
const bar = new Bar(state.prefix, {
  open: (level) => void begin().then((page) => page?.open(level)),
  save: () => void begin().then((page) => page?.saveScreen()),
  ready: restFetched });

/** null: the rest of the page cannot be had, and a message says so. */
async function begin() {
  if (!await restFetched().then(() => true, () => false)) return null;
  if (!fleet) {
    fleet = new Fleet(state, bar, services);
    const page = /** @type {any} */ (globalThis);
    page.pprofFleet = fleet;
    page.pprofPage = fleet.app;
  }
  return fleet;
}

const SLOW_MS = 100;

/** The list appears with its rows, in one picture.  If they take long, the
 * frame of it comes first. */
async function showServices() {
  const main = byId('view');
  const list = services.make();
  const asked = list.ask();
  const attach = () => {
    bar.show('services');
    main.replaceChildren(list.element);
  };
  const timer = setTimeout(attach, SLOW_MS);
  const isThere = await asked.finally(() => clearTimeout(timer));
  if (fleet || !isThere) return; // it has asked for itself
  list.showAnswer();
  if (!list.element.isConnected) attach();
  main.removeAttribute('aria-busy');
  services.isShown = true;
  await pictureShown();
}

state.onChange(() => {
  if (fleet) return;
  services.isShown = false; // not what the URL says now
  void begin();
});
if (state.view === 'services') {
  showServices().catch(() => {}).finally(begin); // which says what is wrong
} else {
  void begin();
}
