// Where one is in the flame graph, as words of the URL: z, the frame that is
// fitted to the width; or w, any other window; sel, the selected frame; fn,
// its function.  A zoom to a frame and a selection are steps that the Back
// button undoes; scrolling and dragging are not.

import { twinOf } from './panels.js';

/** @typedef {import('./flame_view.js').FlameView} FlameView */

/** @param {FlameView} view */
export function readPlace(view) {
  const { state } = view.app;
  const { main } = view;
  const { tree } = main;
  if (!tree) return;
  const twin = twinOf(view.panels, main);
  const z = state.get('z');
  const [from, to] = state.get('w').split('-').map(Number);
  if (z) {
    if (main.zoomNode !== tree.nodeAt(z)) main.zoomTo(tree.nodeAt(z), true);
  } else if (to > from && to <= 1) {
    main.setWindow(from * main.whole(), to * main.whole(), main.win.top);
  } else if (main.isZoomed() || twin?.isZoomed()) {
    main.zoomNode = -1;
    main.setWindow(0, main.whole(), 0);
  }
  main.history = [];
  if (twin) twin.history = [];
  readSelection(view);
}

/** @param {FlameView} view */
function readSelection(view) {
  const { main } = view;
  const sel = view.app.state.params.get('sel');
  const node = sel === null || !main.tree ? -1 : main.tree.nodeAt(sel);
  if (node === Math.max(-1, main.selected)) return;
  if (node < 0 && main.selected <= 0) return;
  main.select(node);
  view.onSelect(main, node);
}

/** @param {FlameView} view */
export function writePlace(view) {
  const { state } = view.app;
  const { main } = view;
  const { tree } = main;
  if (!tree || !main.element.isConnected) return;
  const fitted = main.zoomNode > 0;
  const free = !fitted && main.isZoomed();
  const whole = main.whole();
  const words = {
    z: fitted ? tree.addressOf(main.zoomNode) : null,
    w: free ? [main.win.from, main.win.to].map((at) =>
      (at / whole).toPrecision(7)).join('-') : null,
    sel: main.selected > 0 ? tree.addressOf(main.selected) : null,
    fn: view.selectedName() || null,
  };
  const isStep = (words.z ?? '') !== state.get('z') ||
    (words.sel ?? '') !== state.get('sel');
  state.set(words, { replace: !isStep, quiet: true });
}
