// The flame graph view: one icicle, or two (callers above callees; before
// beside after), the table at the side, and what connects them: one
// selection, one hovered function, one search.

import { detailText } from '../base/detail.js';
import { el, pictureShown, whenQuiet } from '../base/dom.js';
import { exactly } from '../base/search.js';
import { PLACE_WORDS } from '../base/state.js';
import { flamePicture } from '../save/picture.js'; // later
import { headingOf } from '../save/print.js';
import { COLOR_CHOICES, colorSources } from './colors.js';
import { wrapperRuns } from './fold.js';
import { frameDetail } from './frame_detail.js';
import { FunctionTable } from './function_table.js';
import { Icicle } from './icicle.js';
import { makeLook } from './look.js';
import { Minimap } from './minimap.js';
import { leadTwin, planPanels, twinOf } from './panels.js';
import { Breadcrumb, Legend, makeSplitter } from './parts.js';
import { readPlace, writePlace } from './place.js';
import { foundIn, nextHit, search } from './search_hits.js';
import { hoverNode, hoverSource, menuOfNode, menuOfSource, selectNamed,
  selectNode, selectSource } from './selection.js';
import { sayThin, sayZoom } from './status.js';
import { flameTools } from './tools.js';
import { layOut } from './tree.js';

/** @typedef {import('./tree.js').Tree} Tree */
/** @typedef {import('../main.js').App} App */
/** @typedef {import('./look.js').DiffMode} DiffMode */

/** @typedef {import('./panels.js').Panel} Panel */

export class FlameView {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.main = this.makeIcicle('Flame graph');
    this.second = this.makeIcicle('Callers');
    this.minimap = new Minimap(this.main);
    this.crumbs = new Breadcrumb((node) => this.openCrumb(node));
    this.legend = new Legend((group) => this.dimBy(group));
    this.table = new FunctionTable({
      select: (source) => selectSource(this, source),
      open: (source) => this.pivotOn(source),
      hover: (source) => hoverSource(this, source),
      menu: (source, x, y) => menuOfSource(this, source, x, y),
      sorted: (key, down) => app.state.set({ order: (down ? '-' : '+') + key },
        { replace: true, quiet: true }),
    });
    this.status = el('div', { class: 'flame-status', role: 'status' });
    this.panes = el('div', { class: 'panes' });
    this.tools = el('div', { class: 'flame-tools' });
    this.pane = el('section', { class: 'flame-pane',
      'aria-label': 'Flame graph' },
    el('div', { class: 'flame-bar' }, this.crumbs.element, this.tools),
    this.minimap.element, this.panes,
    el('div', { class: 'flame-foot' }, this.legend.element, this.status));
    this.element = el('div', { class: 'flame-view' }, this.table.element,
      makeSplitter(this.table.element, 'Width of the table',
        'split'), this.pane);
    /** @type {Panel[]} */
    this.panels = [];
    /** @type {import('../base/data.js').Flame | null} */
    this.flame = null;
    /** @type {import('./colors.js').Coloring | null} */
    this.coloring = null;
    /** The name of the selected function. */
    this.chosen = '';
    /** By source: 1 is what is searched for. @type {Uint8Array | null} */
    this.matched = null;
    /** @type {WeakMap<Tree, import('../base/search.js').Found>} */
    this.foundIn = new WeakMap();
    /** Hits in the order in which they are visited, and where we are.
     * @type {number[]} */
    this.hits = [];
    /** @type {unknown} whose hits they are */
    this.hitsOf = null;
    this.foundAt = -1;
    /** @type {import('./fold.js').Runs | null} */
    this.wrappers = null;
    /** @type {Tree | null} whose wrappers they are */
    this.runsOf = null;
    this.offerFold = whenQuiet(400, () => {
      if (this.flame && this.runs().longest > 0) this.showTools();
    });
    this.keepPlace = whenQuiet(250, () => writePlace(this));
  }

  /** @param {string} label */
  makeIcicle(label) {
    /** @type {Icicle} */
    const icicle = new Icicle({
      hover: (node) => hoverNode(this, icicle, node),
      select: (node) => this.onSelect(icicle, node),
      moved: () => this.onMoved(icicle),
      leads: () => leadTwin(this.panels, icicle),
      remembers: () => twinOf(this.panels, icicle)?.keepWindow(),
      menu: (node, x, y) => menuOfNode(this, icicle, node, x, y),
      describe: (node) => this.describe(icicle, node),
    }, label);
    return icicle;
  }

  /** @param {Set<string> | null} changed null: everything */
  async show(changed) {
    const { state, data } = this.app;
    const flame = await data.flame(state.dataQuery());
    const fresh = flame !== this.flame;
    const words = ['p', 'dm', 'invert', 'fold', 'view'];
    const rebuild = fresh || !changed || words.some((w) => changed.has(w));
    this.flame = flame;
    this.element.dataset.side = state.get('side');
    this.pane.classList.toggle('empty', flame.tree.count <= 1);
    if (fresh || changed?.has('dm')) this.applyColors();
    else if (changed?.has('color')) this.applyColors(true);
    // Callers of what, if nobody said?  Of the table's first row.
    const tableFirst = fresh && state.view === 'callers';
    if (tableFirst) this.showTable();
    if (rebuild) this.arrange();
    if (rebuild || changed?.has('q')) search(this);
    if (rebuild || ['z', 'w', 'sel'].some((word) => changed?.has(word))) {
      readPlace(this);
    }
    if (rebuild) {
      await pictureShown();
      if (this.flame !== flame) return;
      if (fresh && !tableFirst) this.showTable();
      this.drawMinimap();
    }
    this.showTools();
    if (fresh) this.offerFold();
  }

  showTools() {
    this.tools.replaceChildren(...flameTools(this));
  }

  measure() {
    const { scale, unit } = this.flame?.header ?? { scale: 1, unit: '' };
    return { scale, unit, wish: this.app.state.get('unit') };
  }

  /** What 100 % is. */
  whole() {
    return this.flame?.header.total || 0;
  }

  /** @returns {import('./colors.js').ColorBy} */
  colorBy() {
    const wanted = this.app.state.get('color');
    return COLOR_CHOICES.find(([by]) => by === wanted)?.[0] ?? 'package';
  }

  /** @returns {DiffMode | null} */
  diffMode() {
    const tree = this.flame?.tree;
    if (!tree) return null;
    if (!tree.selfBase) return tree.hasNegative ? 'overlay' : null;
    const wanted = this.app.state.get('dm');
    return wanted === 'overlay' || wanted === 'side' ? wanted : 'color';
  }

  applyColors(repaint = false) {
    if (!this.flame) return;
    this.coloring = colorSources(this.flame.tree, this.colorBy());
    const mode = this.diffMode();
    if (mode) this.legend.showChange(mode);
    else this.legend.show(this.coloring, this.whole(), this.colorBy());
    if (repaint) {
      this.recolor();
      this.showTable();
    }
  }

  showTable() {
    if (!this.flame || !this.coloring) return;
    this.table.show(this.flame.tree, this.whole(), this.measure(),
      this.coloring, this.app.state.get('order') || '-flat',
      this.app.state.get('g'));
    const { tree, selected } = this.main;
    if (tree && selected >= 0) this.table.select(tree.source[selected], true);
  }

  /** Puts the icicles in place. */
  arrange() {
    if (!this.flame) return;
    const plan = planPanels(this);
    this.panels = plan.panels;
    this.panes.className = `panes ${plan.kind}`;
    this.panes.replaceChildren(...plan.elements);
    for (const panel of this.panels) {
      panel.icicle.element.setAttribute('aria-label', panel.label);
      panel.icicle.show(panel.tree, layOut(panel.tree, panel.side),
        this.lookOf(panel));
    }
    this.minimap.shown = plan.kind === 'beside'
      ? this.panels.map((panel) => panel.icicle) : [this.main];
    this.app.detail.select(plan.kind === 'pivot'
      ? this.detailOf(this.main, 0) : null);
    this.chosen = this.app.state.get('fn');
    this.app.inspector.show(this.chosen);
    this.showCrumbs();
  }

  /** @param {Panel} panel */
  lookOf(panel) {
    return makeLook({ tree: panel.tree, up: panel.up,
      coloring: /** @type {any} */ (this.coloring),
      found: foundIn(this, panel.tree), group: this.legend.chosen,
      diff: this.diffMode(), rootLabel: panel.rootText ?? panel.rootLabel });
  }

  recolor() {
    for (const panel of this.panels) panel.icicle.recolor(this.lookOf(panel));
    this.drawMinimap();
  }

  drawMinimap() {
    const last = this.panels[this.panels.length - 1];
    if (!last) return;
    this.minimap.hits = foundIn(this, last.tree)?.nodes ?? null;
    this.minimap.redraw();
  }

  /** The wrappers of the whole tree, found once. */
  runs() {
    const { tree } = /** @type {import('../base/data.js').Flame} */ (
      this.flame);
    if (this.runsOf !== tree) this.wrappers = wrapperRuns(tree);
    this.runsOf = tree;
    return /** @type {import('./fold.js').Runs} */ (this.wrappers);
  }

  /** @param {number} group */
  dimBy(group) {
    this.legend.chosen = group;
    this.recolor();
  }

  /** @param {Icicle} icicle @returns {Panel | undefined} */
  panelOf(icicle) {
    return this.panels.find((panel) => panel.icicle === icicle);
  }

  /** @param {Icicle} icicle @param {number} node */
  detailOf(icicle, node) {
    const panel = this.panelOf(icicle);
    return panel && node >= 0
      ? frameDetail(panel, node, this.measure(), this.whole()) : null;
  }

  /** @param {Icicle} icicle @param {number} node */
  describe(icicle, node) {
    const detail = this.detailOf(icicle, node);
    return detail ? detailText(detail) : '';
  }

  /** @param {Icicle} icicle @param {number} node */
  onSelect(icicle, node) {
    selectNode(this, icicle, node);
  }

  /** From the inspector. @param {string} name */
  selectName(name) {
    selectNamed(this, name);
  }

  /** @param {number} source */
  pivotOn(source) {
    const tree = this.flame?.tree;
    if (!tree) return;
    const words = { ...PLACE_WORDS, p: source <= 0 ? null : exactly(
      tree.sources.strings[tree.sources.name[source]]) };
    this.app.state.set(words, { view: 'flamegraph' });
  }

  /** @param {Icicle} icicle */
  onMoved(icicle) {
    if (icicle !== this.main) return;
    this.minimap.follow();
    sayThin(this);
    sayZoom(this);
    this.showCrumbs();
    this.keepPlace();
  }

  showCrumbs() {
    const panel = this.panels[this.panels.length - 1];
    if (!panel) return;
    const { selected, zoomNode } = panel.icicle;
    const node = selected >= 0 ? selected : Math.max(0, zoomNode);
    this.crumbs.show(panel.tree, node, panel.rootLabel);
  }

  /** @param {number} node */
  openCrumb(node) {
    const panel = this.panels[this.panels.length - 1];
    panel.icicle.select(node);
    this.onSelect(panel.icicle, node);
    panel.icicle.zoomTo(node);
  }

  /** @param {number} step 1 or -1 */
  nextHit(step) {
    nextHit(this, step);
  }

  /** One step back: the zoom, the selection, the pivot. */
  escape() {
    const { icicle } = this.panels[this.panels.length - 1] ?? {};
    if (!icicle) return false;
    const moved = this.panels.map((panel) => panel.icicle.back());
    if (moved.includes(true)) return true;
    if (icicle.selected >= 0) {
      icicle.select(-1);
      this.onSelect(icicle, -1);
      return true;
    }
    if (this.app.state.get('p')) {
      this.app.state.set({ p: null });
      return true;
    }
    return false;
  }

  /** The function that keys like "p" act on. */
  selectedName() {
    return this.chosen;
  }

  focus() {
    this.main.element.focus();
  }

  themeChanged() {
    this.applyColors(true);
  }

  /** Paper has room for all rows. */
  beforePrint() {
    for (const { icicle } of this.panels) icicle.showAllRows(true);
  }

  afterPrint() {
    for (const { icicle } of this.panels) icicle.showAllRows(false);
  }

  /** @param {'svg' | 'png'} kind */
  picture(kind) {
    return flamePicture(this.panels.map((panel) => panel.icicle),
      { ...headingOf(this.app), legend: this.legend.entries() }, kind);
  }
}
