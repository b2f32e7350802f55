// The scroll bar of a flame graph: a thumb to drag, a track to press.  A
// keyboard scrolls by other means, so that it is no stop for Tab.

import { el } from '../base/dom.js';

const LEAST = 24; // pixels

export class ScrollBar {
  /** @param {(top: number) => void} scroll */
  constructor(scroll) {
    this.scroll = scroll;
    this.size = { rows: 0, height: 0, top: 0, length: 0, up: false };
    this.thumb = el('div', { class: 'scroll-thumb' });
    this.element = el('div', { class: 'scroll-bar', 'aria-hidden': 'true' },
      this.thumb);
    this.addDrag();
  }

  /** @param {number} rows height of all @param {number} height of what is seen
   * @param {number} top how far it is scrolled @param {boolean} up */
  show(rows, height, top, up) {
    const hidden = rows <= height;
    this.element.hidden = hidden;
    if (hidden) return;
    const length = Math.max(LEAST, height * height / rows);
    const at = top / (rows - height) * (height - length);
    this.size = { rows, height, top, length, up };
    this.thumb.style.height = `${length}px`;
    this.thumb.style.top = `${up ? height - length - at : at}px`;
  }

  addDrag() {
    const { element } = this;
    let grabbed = -1; // where on the thumb
    const move = (/** @type {PointerEvent} */ event) => {
      const { rows, height, length, up } = this.size;
      const y = event.clientY - element.getBoundingClientRect().top - grabbed;
      const part = Math.max(0, Math.min(1, y / Math.max(1, height - length)));
      this.scroll((up ? 1 - part : part) * (rows - height));
    };
    element.addEventListener('pointerdown', (event) => {
      event.preventDefault();
      event.stopPropagation();
      const on = this.thumb.getBoundingClientRect();
      const inside = event.clientY >= on.top && event.clientY <= on.bottom;
      grabbed = inside ? event.clientY - on.top : this.size.length / 2;
      element.setPointerCapture(event.pointerId);
      if (!inside) move(event);
    });
    element.addEventListener('pointermove', (event) => {
      event.stopPropagation();
      if (grabbed >= 0) move(event);
    });
    const end = (/** @type {Event} */ event) => {
      event.stopPropagation();
      grabbed = -1;
    };
    element.addEventListener('pointerup', end);
    element.addEventListener('pointercancel', end);
    for (const name of ['click', 'dblclick']) {
      element.addEventListener(name, (event) => event.stopPropagation());
    }
  }
}
