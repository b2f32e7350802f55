// Pan and zoom of an SVG: drag or wheel, Ctrl wheel or two fingers.

/** @typedef {{x: number, y: number}} Point */

const LEAST = 0.05;
const MOST = 6;
const READABLE = 0.8; // below this scale small text cannot be read
const EDGE = 12; // left free around the drawing

/** Where a drawing begins so that a place of it is in the middle of the view,
 * as far as no room is wasted beside it.
 * @param {number} view @param {number} drawing @param {number} place */
function start(view, drawing, place) {
  if (drawing + 2 * EDGE <= view) return (view - drawing) / 2;
  return Math.min(EDGE, Math.max(view - drawing - EDGE, view / 2 - place));
}

/** @param {SVGSVGElement} picture @param {SVGGElement} content */
export function addPanZoom(picture, content) {
  let scale = 1;
  let x = 0;
  let y = 0;
  let moved = false;
  const size = { width: 1, height: 1 };
  /** @type {Map<number, Point>} */
  const down = new Map();

  const apply = () => content.setAttribute('transform',
    `translate(${x} ${y}) scale(${scale})`);
  const place = (/** @type {MouseEvent} */ event) => {
    const box = picture.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const zoomAt = (/** @type {Point} */ at, /** @type {number} */ by) => {
    const next = Math.max(LEAST, Math.min(MOST, scale * by));
    x = at.x - (at.x - x) * next / scale;
    y = at.y - (at.y - y) * next / scale;
    scale = next;
    apply();
  };
  const middle = () => ({ x: picture.clientWidth / 2,
    y: picture.clientHeight / 2 });

  picture.addEventListener('wheel', (event) => {
    event.preventDefault();
    if (!event.ctrlKey && !event.metaKey) {
      const { deltaX, deltaY } = event;
      x -= event.shiftKey ? deltaX || deltaY : deltaX;
      y -= event.shiftKey ? 0 : deltaY;
      apply();
      return;
    }
    const by = Math.max(-100, Math.min(100, event.deltaY));
    zoomAt(place(event), Math.exp(-by * (Math.abs(by) < 40 ? 0.01 : 0.002)));
  }, { passive: false });
  picture.addEventListener('pointerdown', (event) => {
    down.set(event.pointerId, place(event));
    if (down.size === 1) moved = false;
  });
  picture.addEventListener('pointermove', (event) => {
    const before = down.get(event.pointerId);
    if (!before || event.buttons === 0) {
      down.delete(event.pointerId);
      return;
    }
    const now = place(event);
    if (!moved && Math.hypot(now.x - before.x, now.y - before.y) < 4) return;
    if (!moved) picture.setPointerCapture(event.pointerId);
    moved = true;
    const other = [...down].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      zoomAt(other, Math.max(8, Math.hypot(now.x - other.x, now.y - other.y)) /
        Math.max(8, Math.hypot(before.x - other.x, before.y - other.y)));
    } else {
      x += now.x - before.x;
      y += now.y - before.y;
      apply();
    }
    down.set(event.pointerId, now);
  });
  const lift = (/** @type {PointerEvent} */ event) => {
    down.delete(event.pointerId);
  };
  picture.addEventListener('pointerup', lift);
  picture.addEventListener('pointercancel', lift);

  const fit = () => {
    scale = Math.min(1.2, picture.clientWidth / size.width,
      picture.clientHeight / size.height);
    x = (picture.clientWidth - size.width * scale) / 2;
    y = Math.max(0, (picture.clientHeight - size.height * scale) / 2);
    apply();
  };

  return {
    fit,
    size: () => size,
    moved: () => moved,
    by: (/** @type {number} */ factor) => zoomAt(middle(), factor),
    /** A new drawing: all of it if it can be read then, else the top around
     * the most important node. */
    setSize: (/** @type {number} */ width, /** @type {number} */ height,
      /** @type {Point} */ important) => {
      // Nothing to draw still needs a scale.
      Object.assign(size, { width: Math.max(1, width) || 1,
        height: Math.max(1, height) || 1 });
      fit();
      if (scale >= READABLE) return;
      scale = READABLE;
      x = start(picture.clientWidth, width * scale, important.x * scale);
      y = important.y * scale < picture.clientHeight / 2 ? EDGE :
        start(picture.clientHeight, height * scale, important.y * scale);
      apply();
    },
    reveal: (/** @type {SVGGElement} */ node) => {
      const box = node.getBoundingClientRect();
      const view = picture.getBoundingClientRect();
      if (box.left < view.left || box.right > view.right) {
        x += view.left + view.width / 2 - box.left - box.width / 2;
      }
      if (box.top < view.top || box.bottom > view.bottom) {
        y += view.top + view.height / 2 - box.top - box.height / 2;
      }
      apply();
    },
  };
}
