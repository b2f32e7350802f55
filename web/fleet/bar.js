// The bar at the top of the collector's page: its levels, saving, the theme.

import { byId, el } from '../base/dom.js';
import { openMenuAt } from '../base/menu.js'; // later
import { themeItems } from '../base/theme.js';

/**
 * @typedef {object} BarEvents
 * @property {(level: string) => void} open
 * @property {() => void} save  what is on the screen
 * @property {() => Promise<void>} ready  when every script is there
 */

export class Bar {
  /** @param {string} prefix of the page @param {BarEvents} events */
  constructor(prefix, events) {
    this.prefix = prefix;
    this.events = events;
    this.levels = el('nav', { class: 'levels', 'aria-label': 'Levels' });
    const theme = el('button', { class: 'menu-button theme', title: 'Theme',
      'aria-label': 'Theme', 'aria-haspopup': 'menu',
      onclick: () => void events.ready().then(() => openMenuAt(theme,
        themeItems())) }, '◐');
    /** For what only some levels have. */
    this.tools = el('span', { class: 'spring' });
    const bar = byId('fleet');
    bar.querySelector('.early')?.remove();
    bar.append(el('div', { class: 'fleetbar' }, el('span', { class: 'brand' },
      'pprofd'), this.levels, this.tools, el('button', {
      class: 'menu-button save-screen', title: 'This view as one HTML file',
      onclick: () => events.save() }, 'Save'), theme));
  }

  /** @param {string} level that is shown
   * @param {{explore?: string, hasTargets?: boolean}} [known] */
  show(level, { explore = '#explore', hasTargets = false } = {}) {
    document.body.dataset.level = level;
    const levels = [['services', 'Services', `${this.prefix}services`],
      ['explore', 'Explore', explore],
      ...(hasTargets || level === 'targets'
        ? [['targets', 'Targets', `${this.prefix}targets`]] : [])];
    this.levels.replaceChildren(...levels.map(([id, title, href]) => el('a', {
      class: 'level', href, 'aria-current': id === level ? 'page' : null,
      onclick: (/** @type {MouseEvent} */ event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        if (id !== level) this.events.open(id);
      } }, title)));
  }
}
