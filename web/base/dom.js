// Making elements.  Texts are always text nodes: a function called
// "<img onerror=…>" is shown as that.  Styles go through the CSSOM, because
// the page's policy forbids style attributes.

/** @typedef {Node | string | null | undefined | false} Child */

/**
 * el('button', {class: 'chip', onclick: f, 'aria-label': 'x'}, 'text', node)
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [props] on… are listeners; false leaves out
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  setProps(element, props);
  append(element, children);
  return element;
}

/**
 * The same for SVG.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [props]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function svg(tag, props = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  setProps(element, props);
  append(element, children);
  return element;
}

/** @param {Element} element @param {Record<string, any>} props */
function setProps(element, props) {
  for (const [name, value] of Object.entries(props)) {
    if (value === false || value === undefined || value === null) continue;
    if (name.startsWith('on')) {
      element.addEventListener(name.slice(2), value);
    } else if (name === 'style') {
      Object.assign(/** @type {HTMLElement} */ (element).style, value);
    } else if (name === 'value' && element instanceof HTMLInputElement) {
      element.value = value;
    } else {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
}

/** @param {Element} element @param {Child[]} children */
function append(element, children) {
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) {
      element.append(child);
    }
  }
}

/** @param {string} label @param {[string, string][]} choices
 * @param {string} current @param {(value: string) => void} choose */
export function select(label, choices, current, choose) {
  const box = el('select', { 'aria-label': label, title: label,
    onchange: () => choose(box.value) },
  ...choices.map(([value, text]) => el('option', { value,
    selected: value === current }, text)));
  return box;
}

/** @template T @param {T | null | undefined} value @param {string} what */
export function must(value, what) {
  if (value === null || value === undefined) throw new Error(`no ${what}`);
  return value;
}

/** @param {string} id */
export function byId(id) {
  return must(document.getElementById(id), `#${id}`);
}

/** Calls once a frame at most, with the newest arguments.
 * @param {() => void} work */
export function everyFrame(work) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      work();
    });
  };
}

/** Waits until the browser has shown what was drawn; in a tab that it does
 * not show, a moment. @returns {Promise<void>} */
export function pictureShown() {
  return new Promise((done) => {
    const timer = setTimeout(done, 100);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      // Comes behind the picture that this frame is about.
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => done();
      port2.postMessage(null);
    });
  });
}

/** Calls when nothing came for a while.
 * @template {any[]} A @param {number} ms @param {(...args: A) => void} work */
export function whenQuiet(ms, work) {
  let timer = 0;
  return (/** @type {A} */ ...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...args), ms);
  };
}

/** Copies, also where the page has no secure context.
 * @param {string} text */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = el('textarea', { class: 'offscreen' });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}

export const reducedMotion = () =>
  matchMedia('(prefers-reduced-motion: reduce)').matches;

/** A phone, as the style sheets have it. */
export const isNarrow = () => matchMedia('(max-width: 760px)').matches;

/** Does the keyboard ask for a menu? @param {KeyboardEvent} event */
export function menuKey(event) {
  return event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey);
}
