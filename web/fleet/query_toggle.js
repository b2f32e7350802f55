// Narrow windows have query and strip behind a button: the profile is what the
// little room is for.  The button says which service it is.

import { el } from '../base/dom.js';
import { serviceOf } from './selection.js';

export class QueryToggle {
  /** @param {() => void} toggled */
  constructor(toggled) {
    this.name = el('span', { class: 'pick-text' });
    this.element = el('button', { class: 'query-toggle',
      title: 'Query and time', 'aria-expanded': 'false',
      'aria-controls': 'query strip', onclick: () => {
        const isOpen = document.body.toggleAttribute('data-query');
        this.element.setAttribute('aria-expanded', String(isOpen));
        toggled();
      } }, this.name, el('span', { class: 'caret', 'aria-hidden': 'true' }));
  }

  /** @param {import('./selection.js').Selection} selection */
  show(selection) {
    this.name.textContent = selection.id ? 'One profile'
      : serviceOf(selection) || 'All services';
  }
}
