// The line at the bottom that says what is under the pointer, at once.  It is
// a live region, so a screen reader hears the selected frame.

import { copyText, el } from './dom.js';

/**
 * @typedef {object} Detail
 * @property {string} name
 * @property {[string, string][]} facts     what and how much
 * @property {() => string} [stack]         from the root, a frame a line
 */

/** In one sentence. @param {Detail} detail */
export function detailText(detail) {
  return [detail.name, ...detail.facts.map((fact) => fact.join(' '))]
    .join(', ');
}

export class DetailLine {
  constructor() {
    this.text = el('bdi');
    this.name = el('span', { class: 'detail-name' }, this.text);
    this.facts = el('span', { class: 'detail-facts' });
    this.said = el('span', { class: 'offscreen', 'aria-live': 'polite' });
    this.copyName = el('button', { class: 'quiet', title: 'Copy the name (c)',
      onclick: () => this.copy('name') }, 'Copy name');
    this.copyStack = el('button', { class: 'quiet',
      title: 'Copy the stack, root first (C)',
      onclick: () => this.copy('stack') }, 'Copy stack');
    this.element = el('footer', { class: 'detail' }, this.name, this.facts,
      this.said, el('span', { class: 'detail-buttons' }, this.copyName,
        this.copyStack));
    /** @type {Detail | null} */
    this.selected = null;
    this.idle = 'Point at something to read about it here. Press ? for keys.';
    this.show(null);
  }

  /** While the pointer is there; null shows the selected one again.
   * @param {Detail | null} detail */
  hover(detail) {
    this.show(detail ?? this.selected);
  }

  /** @param {Detail | null} detail */
  select(detail) {
    this.selected = detail;
    this.copyName.disabled = !detail;
    this.copyStack.disabled = !detail?.stack;
    this.show(detail);
    this.said.textContent = detail ? detailText(detail) : '';
  }

  /** @param {Detail | null} detail */
  show(detail) {
    this.element.classList.toggle('idle', !detail);
    this.text.textContent = detail ? detail.name : this.idle;
    this.facts.replaceChildren(...(detail?.facts ?? []).map(([what, value]) =>
      el('span', { class: 'fact' }, el('span', { class: 'fact-what' }, what),
        ` ${value}`)));
  }

  /** A word that goes away by itself. @param {string} text */
  flash(text) {
    this.said.textContent = text;
    const note = el('span', { class: 'flash' }, text);
    this.element.append(note);
    setTimeout(() => note.remove(), 1600);
  }

  /** @param {'name' | 'stack'} what */
  async copy(what) {
    const { selected } = this;
    const text = what === 'name' ? selected?.name : selected?.stack?.();
    if (!text) return;
    this.flash(await copyText(text) ? `Copied the ${what}`
      : 'The browser did not let this page copy');
  }
}
