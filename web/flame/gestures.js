// Mouse, touch and keys of one flame graph, turned into its methods.
//
//   wheel           scrolls; with Ctrl (and by pinching) zooms at the pointer,
//                   with Shift moves sideways
//   drag            pans; two fingers zoom
//   click, tap      selects; double fits the box to the width
//   right click,
//   long press      menu
//   arrows          parent, child, siblings; Enter zooms; +, - zoom
//   Shift F10       menu of the selected box

import { menuKey } from '../base/dom.js';

/** @typedef {import('./icicle.js').Icicle} Icicle */

const DRAG_FROM = 4; // pixels before a press becomes a drag
const LONG_PRESS_MS = 550;
const DOUBLE_TAP_MS = 350;
const FINE_STEP = 40; // of the wheel; a mouse makes larger ones

/** @param {Icicle} icicle */
export function addGestures(icicle) {
  addWheel(icicle);
  addPointer(icicle);
  icicle.element.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const key = menuKey(event) ? 'ContextMenu' : event.key;
    if (onKey(icicle, key)) event.preventDefault();
  });
}

/** @param {Icicle} icicle @param {MouseEvent} event */
function placeOf(icicle, event) {
  const box = icicle.element.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

/** @param {Icicle} icicle */
function addWheel(icicle) {
  let last = 0;
  icicle.element.addEventListener('wheel', (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    if (!event.ctrlKey && !event.metaKey) {
      const { deltaX, deltaY } = event;
      if (event.shiftKey) icicle.panBy((deltaX || deltaY) * lines, 0);
      else icicle.panBy(deltaX * lines, deltaY * lines);
      return;
    }
    // One step back for a whole turn of the wheel.
    if (event.timeStamp - last > 400) icicle.remember();
    last = event.timeStamp;
    const by = Math.max(-120, Math.min(120, event.deltaY * lines));
    // Two fingers on a touch pad come as many small steps.
    icicle.zoomAt(placeOf(icicle, event).x,
      Math.exp(by * (Math.abs(by) < FINE_STEP ? 0.01 : 0.0022)));
  }, { passive: false });
}

/** @param {Icicle} icicle */
function addPointer(icicle) {
  const { element } = icicle;
  /** @type {Map<number, {x: number, y: number}>} */
  const down = new Map();
  let press = { x: 0, y: 0 };
  let dragging = false;
  let byTouch = false;
  let longPress = 0;
  let lastTap = { at: -Infinity, node: -1 };

  element.addEventListener('pointerdown', (event) => {
    const place = placeOf(icicle, event);
    down.set(event.pointerId, place);
    clearTimeout(longPress);
    if (down.size > 1) {
      dragging = true;
      return;
    }
    press = place;
    dragging = false;
    byTouch = event.pointerType === 'touch';
    if (byTouch) {
      longPress = setTimeout(() => {
        dragging = true; // the release must not select
        openMenu(icicle, place, event);
      }, LONG_PRESS_MS);
    }
  });

  element.addEventListener('pointermove', (event) => {
    const place = placeOf(icicle, event);
    const before = down.get(event.pointerId);
    if (!before || event.buttons === 0) {
      down.delete(event.pointerId);
      icicle.hover(icicle.nodeAt(place.x, place.y));
      return;
    }
    if (!dragging && Math.hypot(place.x - press.x, place.y - press.y) <
      DRAG_FROM) return;
    if (!dragging) {
      dragging = true;
      clearTimeout(longPress);
      element.setPointerCapture(event.pointerId);
      element.classList.add('dragging');
    }
    const other = [...down].find(([id]) => id !== event.pointerId)?.[1];
    if (other) pinch(icicle, other, before, place);
    else icicle.panBy(before.x - place.x, before.y - place.y);
    down.set(event.pointerId, place);
  });

  const lift = (/** @type {PointerEvent} */ event) => {
    clearTimeout(longPress);
    const was = down.delete(event.pointerId);
    if (down.size > 0) return;
    element.classList.remove('dragging');
    if (!was || dragging || event.type === 'pointercancel' ||
      event.button !== 0) return;
    const place = placeOf(icicle, event);
    const node = icicle.nodeAt(place.x, place.y);
    icicle.select(node);
    icicle.events.select(node);
    if (event.pointerType !== 'touch') return;
    const again = event.timeStamp - lastTap.at < DOUBLE_TAP_MS &&
      node === lastTap.node;
    if (again) icicle.zoomTo(Math.max(0, node));
    lastTap = { at: again ? -Infinity : event.timeStamp, node };
  };
  element.addEventListener('pointerup', lift);
  element.addEventListener('pointercancel', lift);
  // How far apart two clicks may be is the reader's setting; browsers do not
  // agree on whether two taps are one of these.
  element.addEventListener('dblclick', (event) => {
    if (dragging || byTouch) return;
    const place = placeOf(icicle, event);
    icicle.zoomTo(Math.max(0, icicle.nodeAt(place.x, place.y)));
  });
  element.addEventListener('pointerleave', (event) => {
    if (!down.has(event.pointerId)) icicle.hover(-1);
  });
  element.addEventListener('contextmenu', (event) => {
    event.preventDefault();
    // By key it comes from no button: onKey() has opened the menu.
    if (event.button === 2 || event.buttons !== 0 || byTouch) {
      openMenu(icicle, placeOf(icicle, event), event);
    }
  });
}

/** @param {Icicle} icicle @param {{x: number, y: number}} place
 * @param {MouseEvent} event */
function openMenu(icicle, place, event) {
  const node = icicle.nodeAt(place.x, place.y);
  if (node < 0) return;
  icicle.select(node);
  icicle.events.select(node);
  icicle.events.menu(node, event.clientX, event.clientY);
}

/** @param {Icicle} icicle @param {{x: number, y: number}} fixed
 * @param {{x: number, y: number}} before @param {{x: number, y: number}} now */
function pinch(icicle, fixed, before, now) {
  const was = Math.max(8, Math.hypot(before.x - fixed.x, before.y - fixed.y));
  const is = Math.max(8, Math.hypot(now.x - fixed.x, now.y - fixed.y));
  icicle.zoomAt(fixed.x, was / is);
  icicle.panBy(0, (before.y - now.y) / 2);
}

/** @param {Icicle} icicle @param {string} key */
function onKey(icicle, key) {
  const { tree, selected } = icicle;
  if (!tree) return false;
  const node = Math.max(0, selected);
  const up = icicle.look?.up ?? false;
  const middle = icicle.win.width / 2;
  switch (key) {
    case up ? 'ArrowDown' : 'ArrowUp':
      return go(icicle, selected < 0 ? 0 : tree.parent[node]);
    case up ? 'ArrowUp' : 'ArrowDown':
      return go(icicle, selected < 0 ? 0
        : tree.first[node] < tree.first[node + 1] ? tree.first[node] : node);
    case 'ArrowLeft':
      return go(icicle, sibling(tree, node, -1));
    case 'ArrowRight':
      return go(icicle, sibling(tree, node, 1));
    case 'Home':
      return go(icicle, 0);
    case 'PageUp':
    case 'PageDown':
      icicle.panBy(0, (key === 'PageUp' ? -0.8 : 0.8) * icicle.win.height);
      return true;
    case 'Enter':
      icicle.zoomTo(node);
      return true;
    case '+':
    case '=':
      icicle.zoomAt(middle, 0.7);
      return true;
    case '-':
      icicle.zoomAt(middle, 1 / 0.7);
      return true;
    case '0':
      icicle.fitAll();
      return true;
    case 'ContextMenu': {
      const { x, y } = icicle.placeOf(node);
      icicle.events.menu(node, x, y);
      return true;
    }
    default:
      return false;
  }
}

/** The neighbour with the same parent, or else the next box of the row.
 * @param {import('./tree.js').Tree} tree @param {number} node
 * @param {number} step */
function sibling(tree, node, step) {
  const level = tree.levelOf(node);
  const to = node + step;
  return to >= tree.levelStart[level] && to < tree.levelStart[level + 1]
    ? to : node;
}

/** @param {Icicle} icicle @param {number} node */
function go(icicle, node) {
  icicle.select(node, true);
  icicle.events.select(node);
  return true;
}
