// Marks what is searched for in a text on the page, without touching the
// text: ranges, painted by the browser (CSS custom highlights).

const MOST = 2000; // marks; more would only be a colour

export class Marks {
  /** @param {HTMLElement} area that scrolls and holds the text */
  constructor(area) {
    this.area = area;
    /** @type {Range[]} */
    this.ranges = [];
    this.at = -1;
  }

  /** What the search field should say.
   * @param {RegExp | null} pattern */
  show(pattern) {
    this.ranges = pattern ? this.find(pattern) : [];
    this.at = -1;
    const { Highlight } = /** @type {any} */ (globalThis);
    const { highlights } = /** @type {any} */ (globalThis.CSS);
    if (Highlight) highlights.set('hit', new Highlight(...this.ranges));
    const count = this.ranges.length;
    return pattern && (count === MOST ? `more than ${count} hits`
      : count === 1 ? '1 hit' : `${count} hits`);
  }

  /** @param {RegExp} pattern */
  find(pattern) {
    const all = new RegExp(pattern.source, `${pattern.flags}g`);
    const walker = document.createTreeWalker(this.area, NodeFilter.SHOW_TEXT);
    /** @type {Range[]} */
    const ranges = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      for (const match of (node.textContent ?? '').matchAll(all)) {
        if (ranges.length === MOST) return ranges;
        if (match[0] === '') continue;
        const range = new Range();
        range.setStart(node, match.index);
        range.setEnd(node, match.index + match[0].length);
        ranges.push(range);
      }
    }
    return ranges;
  }

  /** Scrolls to the next one; what the search field should say.
   * @param {number} step 1 or -1 */
  next(step) {
    const count = this.ranges.length;
    if (count === 0) return null;
    this.at = (this.at + step + count) % count;
    const range = this.ranges[this.at];
    const view = this.area.getBoundingClientRect();
    this.area.scrollTop += range.getBoundingClientRect().top - view.top -
      view.height / 3;
    getSelection()?.removeAllRanges();
    getSelection()?.addRange(range);
    return `${this.at + 1} of ${count}`;
  }
}
