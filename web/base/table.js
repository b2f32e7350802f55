// A table of any length: only the visible rows exist as elements.  Sorting
// and filtering rearrange an array of row numbers.

import { el, everyFrame, menuKey } from './dom.js';
import { FIRST, orderOf } from './table_order.js';

/**
 * @typedef {object} Column
 * @property {string} key
 * @property {string} title
 * @property {string} [hint]
 * @property {boolean} [numeric]               right-aligned, sorts down first
 * @property {(row: number, rank: number) => string} text
 * @property {((row: number) => number | string)} [value] what sorting compares
 * @property {((row: number) => number)} [bar]  -1 .. 1 behind the text
 * @property {((row: number) => string)} [swatch] a colour to show before it
 * @property {boolean} [front] cut at the front when there is little room
 * @property {((row: number) => Node)} [node] to show before the text
 */

/**
 * @typedef {object} TableEvents
 * @property {(row: number) => void} select
 * @property {(row: number) => string} [tie] orders rows whose numbers are equal
 * @property {(row: number) => void} [open]    double click or Enter
 * @property {(row: number) => void} [hover]
 * @property {(row: number, x: number, y: number) => void} [menu]
 * @property {(key: string, down: boolean) => void} [sorted]
 */

const ROW = 26;
const SPARE = 6; // rows beyond the edges
let tables = 0; // made so far, for ids

export class Table {
  /** @param {Column[]} columns @param {TableEvents} events
   * @param {string} label @param {number} [rowHeight] */
  constructor(columns, events, label, rowHeight = ROW) {
    this.rowHeight = rowHeight;
    this.columns = columns;
    this.events = events;
    /** @type {ArrayLike<number> & Iterable<number>} */
    this.order = [];
    this.count = 0;
    this.sortKey = '';
    this.down = true;
    this.selected = -1;
    this.hovered = -1;
    /** @type {((row: number) => boolean) | null} */
    this.keep = null;
    /** All rows, in order. @type {number[]} */
    this.sorted = [];
    /** Puts the rest in its final order. @type {(() => void) | null} */
    this.settle = null;
    /** @type {Map<number, HTMLElement>} by rank */
    this.alive = new Map();
    this.head = el('div', { class: 'table-head', role: 'row' });
    this.space = el('div', { class: 'table-space', role: 'presentation' });
    this.body = el('div', { class: 'table-body', tabindex: '-1',
      role: 'rowgroup' }, this.space);
    /** Of the longest number of each column. @type {Map<string, number>} */
    this.letters = new Map();
    this.note = el('div', { class: 'table-empty', hidden: true });
    this.id = `table${tables++}`;
    this.element = el('div', { class: 'table', role: 'grid', tabindex: '0',
      'aria-label': label }, this.head, this.body, this.note);
    this.draw = everyFrame(() => {
      // One that was taken out may be about rows that are gone.
      if (this.element.isConnected) this.drawRows();
    });
    this.body.addEventListener('scroll', this.draw, { passive: true });
    this.addMouse();
    this.element.addEventListener('keydown', (event) => {
      const onHead = this.head.contains(/** @type {Node} */ (event.target));
      if (!onHead && this.onKey(menuKey(event) ? 'ContextMenu' : event.key)) {
        event.preventDefault();
      }
    });
    new ResizeObserver(this.draw).observe(this.body);
    this.drawHead();
  }

  /** @param {number} count @param {string} [sortKey] "" keeps the given order
   * @param {boolean} [down] */
  show(count, sortKey = this.sortKey, down = this.down) {
    this.count = count;
    this.sortKey = sortKey;
    this.down = down;
    this.selected = -1;
    this.arrange();
  }

  /** @param {((row: number) => boolean) | null} keep null: all */
  filter(keep) {
    this.keep = keep;
    this.settle?.();
    this.settle = null;
    this.arrange(true);
  }

  /** Before a rank beyond the first ones means something. */
  settled() {
    if (this.settle) this.filter(this.keep);
  }

  /** All rows in the order that was asked for; filtering keeps it. */
  sort() {
    const value = this.columns.find((c) => c.key === this.sortKey)?.value;
    const { rows, settle } = orderOf(this.count, value, this.down,
      this.events.tie);
    this.sorted = rows;
    this.settle = settle;
  }

  arrange(sorted = false) {
    if (!sorted) this.sort();
    const { keep } = this;
    this.order = keep ? this.sorted.filter(keep) : this.sorted;
    this.space.style.height = `${this.order.length * this.rowHeight}px`;
    this.element.setAttribute('aria-rowcount', String(this.order.length + 1));
    this.note.hidden = this.order.length > 0;
    this.note.textContent = this.count > 0 ? 'Nothing matches.'
      : 'There is nothing to show.';
    this.drawHead();
    this.redraw();
  }

  /** Throws the rows away and makes them again. */
  redraw() {
    this.space.replaceChildren();
    this.alive.clear();
    this.drawRows();
  }

  drawHead() {
    this.head.replaceChildren(...this.columns.map((column) => {
      const sorted = column.key === this.sortKey;
      const title = el('span', {}, column.title);
      return el('div', { role: 'columnheader', class: cellClass(column),
        style: cellStyle(column), 'aria-sort': sorted
          ? (this.down ? 'descending' : 'ascending') : null },
      column.value ? el('button', { title: column.hint ?? null,
        class: sorted ? `sorted ${this.down ? 'down' : 'up'}` : '',
        onclick: () => this.sortBy(column) }, title) : title);
    }));
  }

  /** @param {Column} column */
  sortBy(column) {
    this.down = column.key === this.sortKey ? !this.down
      : Boolean(column.numeric);
    this.sortKey = column.key;
    this.arrange();
    this.body.scrollTop = 0;
    this.events.sorted?.(this.sortKey, this.down);
  }

  /** Every row, for a page that is printed or saved. */
  drawAll() {
    this.drawBetween(0, this.order.length);
  }

  /** A table that is not in the page yet gets the rows that can be seen at
   * most, and the browser lays them out once only.  It is drawn again when it
   * has a size. */
  drawRows() {
    const { isConnected } = this.element;
    const spare = isConnected ? SPARE : 0;
    const { scrollTop } = this.body;
    const clientHeight = isConnected ? this.body.clientHeight : innerHeight;
    // What scrolls must be reachable by the keys.
    this.body.tabIndex = this.order.length * this.rowHeight > clientHeight
      ? 0 : -1;
    this.drawBetween(
      Math.max(0, Math.floor(scrollTop / this.rowHeight) - spare),
      Math.min(this.order.length, Math.ceil((scrollTop + clientHeight) /
        this.rowHeight) + spare));
  }

  /** @param {number} first @param {number} last */
  drawBetween(first, last) {
    if (last > FIRST) this.settled();
    for (const [rank, row] of this.alive) {
      if (rank < first || rank >= last) {
        row.remove();
        this.alive.delete(rank);
      }
    }
    for (let rank = first; rank < last; rank++) {
      if (this.alive.has(rank)) continue;
      const row = this.makeRow(this.order[rank], rank);
      this.alive.set(rank, row);
      this.space.append(row);
    }
  }

  /** @param {number} row @param {number} rank */
  makeRow(row, rank) {
    const element = el('div', { class: 'table-row', role: 'row',
      id: `${this.id}-${row}`, 'data-rank': rank, 'aria-rowindex': rank + 2,
      'aria-selected': String(row === this.selected),
      style: { transform: `translateY(${rank * this.rowHeight}px)` } });
    element.classList.toggle('hovered', row === this.hovered);
    for (const column of this.columns) {
      const text = column.text(row, rank);
      const cell = el('div', { role: 'gridcell', class: cellClass(column),
        style: cellStyle(column), title: column.numeric ? null : text });
      if (column.bar) {
        const share = column.bar(row);
        cell.append(el('span', { class: share < 0 ? 'bar less' : 'bar',
          style: { width: barWidth(Math.min(1, Math.abs(share))) } }));
      }
      if (column.swatch) {
        cell.append(el('span', { class: 'swatch',
          style: { background: column.swatch(row) } }));
      }
      if (column.node) cell.append(column.node(row));
      cell.append(column.front
        ? el('span', { class: 'cell-text front' }, el('bdi', {}, text))
        : el('span', { class: 'cell-text' }, text));
      if (column.numeric) this.makeRoom(column, text.length);
      element.append(cell);
    }
    return element;
  }

  /** A number is never cut: its column grows with what was seen so far.
   * @param {Column} column @param {number} letters */
  makeRoom(column, letters) {
    if (letters <= (this.letters.get(column.key) ?? 0)) return;
    this.letters.set(column.key, letters);
    this.element.style.setProperty(`--letters-${column.key}`, String(letters));
  }

  /** @param {Event} event @returns {number} the row, or -1 */
  rowOf(event) {
    const target = /** @type {Element} */ (event.target);
    const rank = target.closest('.table-row')?.getAttribute('data-rank');
    return rank === null || rank === undefined ? -1 : this.order[Number(rank)];
  }

  addMouse() {
    this.space.addEventListener('click', (event) => {
      const row = this.rowOf(event);
      // Not when the click ends the selection of some text.
      if (row >= 0 && getSelection()?.isCollapsed !== false) {
        this.select(row);
        this.events.select(row);
      }
    });
    this.space.addEventListener('dblclick', (event) => {
      const row = this.rowOf(event);
      if (row >= 0) this.events.open?.(row);
    });
    this.space.addEventListener('pointerover', (event) =>
      this.events.hover?.(this.rowOf(event)));
    this.space.addEventListener('pointerleave', () =>
      this.events.hover?.(-1));
    this.space.addEventListener('contextmenu', (event) => {
      const row = this.rowOf(event);
      if (row < 0 || !this.events.menu) return;
      event.preventDefault();
      this.select(row);
      this.events.select(row);
      this.events.menu(row, event.clientX, event.clientY);
    });
  }

  /** @param {string} key */
  onKey(key) {
    this.settled();
    const at = Array.prototype.indexOf.call(this.order, this.selected);
    const page = Math.max(1, Math.floor(this.body.clientHeight /
      this.rowHeight) - 1);
    const last = this.order.length - 1;
    const to = { ArrowDown: at + 1, ArrowUp: at < 0 ? 0 : at - 1, Home: 0,
      End: last, PageDown: at + page, PageUp: at - page }[key];
    if (to !== undefined && last >= 0) {
      const row = this.order[Math.max(0, Math.min(last, to))];
      this.select(row, true);
      this.events.select(row);
      return true;
    }
    if (key === 'ContextMenu' && at >= 0 && this.events.menu) {
      const box = (this.alive.get(at) ?? this.body).getBoundingClientRect();
      this.events.menu(this.selected, box.left + 40, box.bottom);
      return true;
    }
    if (key === 'Enter' && this.selected >= 0) {
      this.events.open?.(this.selected);
      return true;
    }
    return false;
  }

  /** @param {number} row @param {boolean} [reveal] */
  select(row, reveal = false) {
    this.selected = row;
    if (reveal && row >= 0) this.reveal(row);
    if (row >= 0) {
      this.element.setAttribute('aria-activedescendant', `${this.id}-${row}`);
    }
    for (const [rank, element] of this.alive) {
      element.setAttribute('aria-selected', String(this.order[rank] === row));
    }
  }

  /** @param {number} row */
  reveal(row) {
    this.settled();
    const rank = Array.prototype.indexOf.call(this.order, row);
    if (rank < 0) return;
    const { scrollTop, clientHeight } = this.body;
    const top = rank * this.rowHeight;
    const bottom = top + this.rowHeight;
    if (top < scrollTop) this.body.scrollTop = top;
    else if (bottom > scrollTop + clientHeight) {
      this.body.scrollTop = bottom - clientHeight;
    }
    this.drawRows();
  }

  /** @param {number} row */
  hover(row) {
    if (row === this.hovered) return;
    this.hovered = row;
    for (const [rank, element] of this.alive) {
      element.classList.toggle('hovered', this.order[rank] === row);
    }
  }
}

/** Of the cell without its edges, 6 pixels each. @param {number} share */
function barWidth(share) {
  return `calc(${(share * 100).toFixed(2)}% - ${(share * 12).toFixed(2)}px)`;
}

/** @param {Column} column */
function cellClass(column) {
  return `cell col-${column.key}${column.numeric ? ' numeric' : ''}`;
}

/** Wide enough for the heading, and for the longest number.
 * @param {Column} column */
function cellStyle(column) {
  if (!column.numeric) return {};
  // The title is bold, with an arrow, where it is sorted.
  const title = `${(column.title.length * 0.68).toFixed(2)}em + 22px`;
  return { flexBasis: `calc(max(var(--letters-${column.key}, 0) * 0.64em, ${
    title}) + 16px)` };
}
