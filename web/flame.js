// The flame graph view: one icicle, or two (callers above callees; before
// beside after), the table at the side, and what connects them: one
// selection, one hovered function, one search.

import { COLOR_CHOICES, colorSources } from './colors.js';
import { detailText } from './detail.js';
import { el, pictureShown, whenQuiet } from './dom.js';
import { frameDetail } from './flame_detail.js';
import { leadTwin, planPanels, twinOf } from './flame_panels.js';
import { Breadcrumb, Legend, makeSplitter } from './flame_parts.js';
import { readPlace, writePlace } from './flame_place.js';
import { nextHit, search } from './flame_search.js';
import { flameTools } from './flame_tools.js';
import { FlameTable } from './flame_table.js';
import { frameMenu } from './frame_menu.js';
import { Icicle } from './icicle.js';
import { makeLook } from './look.js';
import { Minimap } from './minimap.js';
import { plural } from './numbers.js';
import { flamePicture } from './picture.js';
import { exactly } from './search.js';
import { PLACE_WORDS } from './state.js';
import { layOut, widestOf } from './tree.js';

/** @typedef {import('./tree.js').Tree} Tree */
/** @typedef {import('./main.js').App} App */
/** @typedef {import('./look.js').DiffMode} DiffMode */

/** @typedef {import('./flame_panels.js').Panel} Panel */

export class FlameView {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.main = this.makeIcicle('Flame graph');
    this.second = this.makeIcicle('Callers');
    this.minimap = new Minimap(this.main);
    this.crumbs = new Breadcrumb((node) => this.openCrumb(node));
    this.legend = new Legend((group) => this.dimBy(group));
    this.table = new FlameTable({
      select: (source) => this.selectSource(source),
      open: (source) => this.pivotOn(source),
      hover: (source) => this.hoverSource(source),
      menu: (source, x, y) => this.openMenu(source, -1, x, y),
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
      makeSplitter(this.table.element, 'Width of the table'), this.pane);
    /** @type {Panel[]} */
    this.panels = [];
    /** @type {import('./data.js').Flame | null} */
    this.flame = null;
    /** @type {import('./colors.js').Coloring | null} */
    this.coloring = null;
    /** @type {import('./search.js').Found | null} */
    this.found = null;
    this.foundAt = -1;
    this.keepPlace = whenQuiet(250, () => writePlace(this));
  }

  /** @param {string} label */
  makeIcicle(label) {
    /** @type {Icicle} */
    const icicle = new Icicle({
      hover: (node) => this.onHover(icicle, node),
      select: (node) => this.onSelect(icicle, node),
      moved: () => this.onMoved(icicle),
      leads: () => leadTwin(this.panels, icicle),
      remembers: () => twinOf(this.panels, icicle)?.keepWindow(),
      menu: (node, x, y) => this.openMenu(-1, node, x, y, icicle),
      describe: (node) => this.describe(icicle, node),
    }, label);
    return icicle;
  }

  /** @param {Set<string> | null} changed null: everything */
  async show(changed) {
    const { state, data } = this.app;
    const flame = await data.flame(state.dataQuery());
    const fresh = flame !== this.flame;
    const words = ['p', 'dm', 'invert', 'view'];
    const rebuild = fresh || !changed || words.some((w) => changed.has(w));
    this.flame = flame;
    this.element.dataset.side = state.get('side');
    this.pane.classList.toggle('empty', flame.tree.count <= 1);
    if (fresh) this.applyColors();
    else if (changed?.has('color')) this.applyColors(true);
    // Callers of what, if nobody said?  Of the table's first row.
    const tableFirst = fresh && state.view === 'callers';
    if (tableFirst) this.showTable();
    if (rebuild) this.arrange();
    if (rebuild || changed?.has('q')) search(this);
    if (rebuild || changed?.has('z') || changed?.has('w')) readPlace(this);
    if (rebuild) {
      await pictureShown();
      if (this.flame !== flame) return;
      if (fresh && !tableFirst) this.showTable();
      this.minimap.draw();
    }
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
    if (this.diffMode()) this.legend.showChange();
    else this.legend.show(this.coloring, this.whole(), this.colorBy());
    if (repaint) {
      this.recolor();
      this.showTable();
    }
  }

  showTable() {
    if (!this.flame || !this.coloring) return;
    this.table.show(this.flame.tree, this.whole(), this.measure(),
      this.coloring, this.app.state.get('order') || '-self');
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
    this.app.detail.select(plan.kind === 'pivot'
      ? this.detailOf(this.main, 0) : null);
    this.showCrumbs();
  }

  /** @param {Panel} panel */
  lookOf(panel) {
    return makeLook({ tree: panel.tree, up: panel.up,
      coloring: /** @type {any} */ (this.coloring),
      matched: this.found?.sources ?? null, group: this.legend.chosen,
      diff: this.diffMode(), rootLabel: panel.rootLabel });
  }

  recolor() {
    for (const panel of this.panels) panel.icicle.recolor(this.lookOf(panel));
    this.minimap.draw();
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
  onHover(icicle, node) {
    const tree = this.panelOf(icicle)?.tree;
    this.app.detail.hover(this.detailOf(icicle, node));
    this.hoverSource(tree && node > 0 ? tree.source[node] : -1);
  }

  /** @param {number} source */
  hoverSource(source) {
    for (const { icicle } of this.panels) {
      if (icicle.hoveredSource === source) continue;
      icicle.hoveredSource = source;
      icicle.redrawLines();
    }
    this.table.hover(source);
  }

  /** @param {Icicle} icicle @param {number} node */
  onSelect(icicle, node) {
    const tree = this.panelOf(icicle)?.tree;
    const source = tree && node >= 0 ? tree.source[node] : -1;
    this.app.detail.select(this.detailOf(icicle, node));
    this.setSelectedSource(source);
    this.table.select(source, true);
    for (const panel of this.panels) {
      if (panel.icicle === icicle) continue;
      panel.icicle.select(panel.tree === tree ? node : -1);
    }
    this.showCrumbs();
    this.keepPlace();
  }

  /** From the table: outline it everywhere and go to its largest box.
   * @param {number} source */
  selectSource(source) {
    this.setSelectedSource(source);
    const panel = this.panels[this.panels.length - 1];
    if (!panel) return;
    const best = widestOf(panel.tree, panel.icicle.layout, source);
    panel.icicle.select(best, best >= 0);
    this.app.detail.select(this.detailOf(panel.icicle, best));
    this.showCrumbs();
    this.keepPlace();
  }

  /** @param {number} source */
  setSelectedSource(source) {
    for (const { icicle } of this.panels) {
      icicle.selectedSource = source;
      icicle.redrawLines();
    }
    const tree = this.flame?.tree;
    this.app.state.set({ fn: tree && source > 0
      ? tree.sources.strings[tree.sources.name[source]] : null },
    { replace: true, quiet: true });
  }

  /** @param {number} source */
  pivotOn(source) {
    const tree = this.flame?.tree;
    if (!tree) return;
    const words = { ...PLACE_WORDS, p: source <= 0 ? null : exactly(
      tree.sources.strings[tree.sources.name[source]]) };
    this.app.state.set(words, { view: 'flamegraph' });
  }

  /** @param {number} source @param {number} node @param {number} x
   * @param {number} y @param {Icicle} [icicle] */
  openMenu(source, node, x, y, icicle) {
    const tree = icicle ? this.panelOf(icicle)?.tree : this.flame?.tree;
    if (!tree) return;
    const who = node >= 0 ? tree.source[node] : source;
    frameMenu(this.app, x, y, { name: tree.sources.strings[
      tree.sources.name[who]], isRoot: who === 0,
    zoom: icicle ? () => icicle.zoomTo(node) : null });
  }

  /** @param {Icicle} icicle */
  onMoved(icicle) {
    if (icicle !== this.main) return;
    this.minimap.follow();
    this.sayThin(this.main.seen.thin);
    this.showCrumbs();
    this.keepPlace();
  }

  /** What is not drawn in full. @param {number} frames */
  sayThin(frames) {
    const text = frames === 0 ? ''
      : `${plural(frames, 'frame')} narrower than a pixel, in grey: zoom in`;
    if (this.status.textContent !== text) this.status.textContent = text;
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
    return this.app.state.get('fn');
  }

  focus() {
    this.main.element.focus();
  }

  themeChanged() {
    this.recolor();
  }

  /** @param {'svg' | 'png'} kind */
  picture(kind) {
    return flamePicture(this.panels.map((panel) => panel.icicle), kind);
  }
}
