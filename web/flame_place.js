// Where one is in the flame graph, as words of the URL: z, the frame that is
// fitted to the width; or w, any other window; sel, the selected frame.

import { twinOf } from './flame_panels.js';

/** @typedef {import('./flame.js').FlameView} FlameView */

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
  const sel = state.params.get('sel');
  if (sel !== null && main.selected < 0) {
    main.select(tree.nodeAt(sel));
    view.onSelect(main, main.selected);
  }
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
  state.set({
    z: fitted ? tree.addressOf(main.zoomNode) : null,
    w: free ? [main.win.from, main.win.to].map((at) =>
      (at / whole).toPrecision(7)).join('-') : null,
    sel: main.selected > 0 ? tree.addressOf(main.selected) : null,
  }, { replace: true, quiet: true });
}
