// The panel at the right: what is known about the selected function, whatever
// the view.  It is closed at first; what is in it is made by contents.js.

import { el, whenQuiet } from '../base/dom.js';
import { recall, remember } from '../base/memory.js';
import { makeSplitter } from '../flame/parts.js';
import { Contents } from './contents.js'; // later

/** @typedef {import('../main.js').App} App */

const OPEN_FROM = 1700; // pixels: a window with room for it

export class Inspector {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.name = '';
    this.body = el('div', { class: 'inspector-body' });
    this.element = el('aside', { class: 'inspector', id: 'inspector',
      'aria-label': 'Inspector', hidden: true },
    el('div', { class: 'inspector-bar' }, el('h2', {}, 'Inspector'),
      el('button', { class: 'quiet', 'aria-label': 'Close the inspector',
        title: 'Close (i)', onclick: () => this.close() }, '×')), this.body);
    this.element.append(makeSplitter(this.element, 'Width of the inspector',
      'inspector.width', 'behind'));
    const known = recall('inspector');
    if (known ? known === 'open' : innerWidth >= OPEN_FROM) this.reveal();
    /** @type {Contents | null} */
    this.contents = null;
    this.later = whenQuiet(80, () => this.draw());
  }

  get isOpen() {
    return !this.element.hidden;
  }

  reveal() {
    this.element.hidden = false;
    // Until something is selected, in views that do not say what is.
    if (!this.body.firstChild) this.hint();
  }

  toggle() {
    if (this.isOpen) this.close();
    else this.open(this.app.view?.selectedName?.() || this.name);
  }

  close() {
    remember('inspector', 'closed');
    this.element.hidden = true;
    this.app.view?.focus?.();
  }

  /** @param {string} name */
  open(name) {
    remember('inspector', 'open');
    this.reveal();
    this.show(name);
  }

  /** What is selected; "" for nothing. @param {string} name */
  show(name) {
    this.name = name;
    if (this.isOpen) this.later();
  }

  draw() {
    if (this.name) {
      this.contents ??= new Contents(this);
      void this.contents.draw(this.name);
      return;
    }
    this.contents?.leave();
    this.hint();
  }

  hint() {
    this.body.replaceChildren(el('p', { class: 'muted inspector-hint' },
      'Select a function to see its callers, callees, code and labels.'));
  }

  /** Selects another function, here and in the view. @param {string} name */
  go(name) {
    this.app.view?.selectName?.(name);
    this.show(name);
  }
}
