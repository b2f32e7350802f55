// Starts the page of a profile.

import { State } from './base/state.js';
import { startTheme } from './base/theme.js';
import { App } from './main.js';

startTheme();
const app = new App(new State());
void app.refresh(null);
/** @type {any} */ (globalThis).pprofPage = app;
