// The call graph: the nodes, edges and numbers of `pprof -dot`, drawn here.
// Pan by dragging, zoom by the wheel or two fingers; a slider says how many
// of the most important nodes are wanted.

import { el, menuKey, svg } from '../base/dom.js';
import { plural } from '../base/numbers.js';
import { exactly, patternOf } from '../base/search.js';
import { PLACE_WORDS } from '../base/state.js';
import { graphPicture } from '../save/picture.js';
import { headingOf } from '../save/print.js';
import { frameMenu } from '../shell/frame_menu.js';
import { placeLabels } from './edge_labels.js';
import { edgeElement, linesOf, measureLabel, measureNode, nodeElement }
  from './graph_draw.js';
import { drawLayers } from './layers.js';
import { addPanZoom } from './panzoom.js';

/** @typedef {import('../main.js').App} App */
/** @typedef {import('./graph_draw.js').GraphData} GraphData */

const USUAL_NODES = 80;

export class GraphView {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.content = svg('g', { role: 'tree', 'aria-label': 'Call graph' });
    this.picture_ = svg('svg', { class: 'graph', tabindex: '0' },
      this.content);
    this.zoom = addPanZoom(this.picture_, this.content);
    this.slider = el('input', { type: 'range', min: '0', max: '100',
      'aria-label': 'How many nodes', oninput: () => this.sayCount(),
      onchange: () => this.app.state.set({ n: String(this.wanted()) },
        { replace: true }) });
    this.count = el('span', { class: 'muted graph-count' });
    this.note = el('p', { class: 'muted graph-empty', hidden: true },
      'There are no nodes to show.');
    this.element = el('section', { class: 'graph-view', 'aria-label': 'Graph' },
      this.picture_, this.note, el('div', { class: 'graph-tools' },
        el('label', { class: 'slider' }, el('span', {}, 'Less'), this.slider,
          el('span', {}, 'More')), this.count,
        el('button', { class: 'quiet', title: 'Fit to the window (0)',
          onclick: () => this.zoom.fit() }, 'Fit'),
        el('button', { class: 'quiet', 'aria-label': 'Zoom in',
          onclick: () => this.zoom.by(1.3) }, '+'),
        el('button', { class: 'quiet', 'aria-label': 'Zoom out',
          onclick: () => this.zoom.by(1 / 1.3) }, '−')));
    /** @type {GraphData | null} */
    this.graph = null;
    /** @type {SVGGElement[]} */
    this.nodes = [];
    this.selected = -1;
    this.hitAt = -1;
    this.addEvents();
  }

  addEvents() {
    const nodeOf = (/** @type {Event} */ event) => {
      const id = /** @type {Element} */ (event.target).closest('.node')
        ?.getAttribute('data-id');
      return id === null || id === undefined ? -1 : Number(id);
    };
    this.picture_.addEventListener('click', (event) => {
      if (!this.zoom.moved()) this.select(nodeOf(event));
    });
    this.picture_.addEventListener('dblclick', (event) => {
      const name = this.graph?.nodes[nodeOf(event)]?.function;
      if (name) {
        this.app.state.set({ p: exactly(name), ...PLACE_WORDS },
          { view: 'flamegraph' });
      }
    });
    this.picture_.addEventListener('pointerover', (event) =>
      this.app.detail.hover(this.detailOf(nodeOf(event))));
    this.picture_.addEventListener('contextmenu', (event) => {
      const node = this.graph?.nodes[nodeOf(event)];
      if (!node) return;
      event.preventDefault();
      this.select(node.id);
      frameMenu(this.app, event.clientX, event.clientY,
        { name: node.function || node.name });
    });
    this.picture_.addEventListener('keydown', (event) => {
      if (menuKey(event) ? this.openMenu() : this.onKey(event.key)) {
        event.preventDefault();
      }
    });
  }

  /** @param {Set<string> | null} changed */
  async show(changed) {
    const graph = await this.app.data.json('graph',
      this.app.state.dataQuery());
    if (graph !== this.graph || !changed) {
      this.graph = graph;
      this.draw(graph);
      this.setSlider(graph);
    }
    this.search();
  }

  /** @param {GraphData} graph */
  draw(graph) {
    this.note.hidden = graph.nodes.length > 0;
    const mostFlat = Math.max(0, ...graph.nodes.map((n) => Math.abs(n.flat)));
    const boxes = graph.nodes.map((node) => measureNode(node, graph, mostFlat));
    const scale = Math.abs(graph.total) || 1;
    const drawing = drawLayers(boxes, graph.edges.map((edge) => ({
      from: edge.from, to: edge.to, weight: 1000 * edge.weight / scale })));
    const edges = this.edgesOf(graph, drawing);
    this.nodes = graph.nodes.map((node, i) => nodeElement(node, boxes[i],
      drawing.places[i], graph.total));
    // Heavy edges above light ones, boxes above all.
    edges.reverse();
    this.content.replaceChildren(...edges.map(({ arrow }) => arrow),
      ...edges.map(({ text }) => text), ...this.nodes);
    this.selected = -1;
    const heaviest = graph.nodes.reduce((best, node, i) =>
      (Math.abs(node.cum) > Math.abs(graph.nodes[best].cum) ? i : best), 0);
    this.zoom.setSize(drawing.width, drawing.height,
      drawing.places[heaviest] ?? { x: 0, y: 0 });
    const wanted = this.app.state.get('fn');
    const known = graph.nodes.findIndex((node) => node.function === wanted);
    if (wanted && known >= 0) this.select(known);
  }

  /** The heaviest first. @param {GraphData} graph
   * @param {import('./layers.js').Drawing} drawing */
  edgesOf({ edges, total }, { paths, places }) {
    const order = edges.map((_, i) => i).sort((a, b) =>
      Math.abs(edges[b].weight) - Math.abs(edges[a].weight));
    const labels = placeLabels(order.map((i) => measureLabel(edges[i],
      paths[i], places[edges[i].from], total)), places);
    return order.map((i, rank) => edgeElement(edges[i], paths[i],
      places[edges[i].from], labels[rank], total));
  }

  /** The slider is logarithmic: from 5 nodes to all.
   * @param {GraphData} graph */
  setSlider(graph) {
    const most = Math.max(6, graph.candidates);
    const now = Number(this.app.state.get('n')) || USUAL_NODES;
    const part = Math.log(Math.min(most, Math.max(5, now)) / 5) /
      Math.log(most / 5);
    this.slider.value = String(Math.round(part * 100));
    this.slider.disabled = this.app.data.offline;
    this.count.textContent = `${graph.nodes.length} of ${plural(
      graph.candidates, 'node')}`;
  }

  wanted() {
    const most = Math.max(6, this.graph?.candidates ?? USUAL_NODES);
    return Math.round(5 * (most / 5) ** (Number(this.slider.value) / 100));
  }

  sayCount() {
    this.count.textContent = `up to ${plural(this.wanted(), 'node')}`;
  }

  search() {
    const pattern = patternOf(this.app.state.get('q'));
    let hits = 0;
    this.graph?.nodes.forEach((node, i) => {
      const hit = pattern !== null && pattern.test(node.name);
      hits += Number(hit);
      this.nodes[i].classList.toggle('hit', hit);
      this.nodes[i].classList.toggle('dim', pattern !== null && !hit);
    });
    this.hitAt = -1;
    this.app.searchBox.report(pattern && plural(hits, 'node'));
  }

  /** @param {number} step */
  nextHit(step) {
    const hits = this.nodes.map((_, i) => i).filter((i) =>
      this.nodes[i].classList.contains('hit'));
    if (hits.length === 0) return;
    this.hitAt = (this.hitAt + step + hits.length) % hits.length;
    this.select(hits[this.hitAt], true);
  }

  /** @param {number} id @returns {import('../base/detail.js').Detail | null} */
  detailOf(id) {
    const node = this.graph?.nodes[id];
    return node && this.graph ? { name: node.name, facts: [
      ['', linesOf(node, this.graph.total).join(' ')]] } : null;
  }

  /** @param {number} id @param {boolean} [reveal] */
  select(id, reveal = false) {
    this.selected = id;
    this.nodes.forEach((node, i) => node.classList.toggle('selected',
      i === id));
    for (const edge of this.content.querySelectorAll('.edge')) {
      edge.classList.toggle('near', edge.getAttribute('data-from') ===
        String(id) || edge.getAttribute('data-to') === String(id));
    }
    this.picture_.classList.toggle('chosen', id >= 0);
    this.app.detail.select(this.detailOf(id));
    const node = this.graph?.nodes[id];
    this.app.inspector.show(node?.function ?? '');
    this.app.state.set({ fn: node?.function || null },
      { replace: true, quiet: true });
    if (reveal && id >= 0) this.zoom.reveal(this.nodes[id]);
  }

  /** By key: at the selected node. */
  openMenu() {
    const node = this.graph?.nodes[this.selected];
    if (!node) return false;
    const { left, bottom } = this.nodes[this.selected].getBoundingClientRect();
    frameMenu(this.app, left, bottom, { name: node.function || node.name });
    return true;
  }

  /** Arrows follow the heaviest edge, or go to the next in importance.
   * @param {string} key */
  onKey(key) {
    const { graph, selected } = this;
    if (!graph || graph.nodes.length === 0) return false;
    const heaviest = (/** @type {'from' | 'to'} */ here,
      /** @type {'from' | 'to'} */ there) => graph.edges
      .filter((edge) => edge[here] === selected && edge[there] !== selected)
      .sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight))[0]?.[there];
    const count = graph.nodes.length;
    const to = selected < 0 && key.startsWith('Arrow') ? 0 : {
      ArrowDown: heaviest('from', 'to'), ArrowUp: heaviest('to', 'from'),
      ArrowRight: (selected + 1) % count,
      ArrowLeft: (selected - 1 + count) % count, Home: 0 }[key];
    if (to !== undefined) this.select(to, true);
    else if (key === '0') this.zoom.fit();
    else if (key === '+' || key === '=') this.zoom.by(1.3);
    else if (key === '-') this.zoom.by(1 / 1.3);
    else return key.startsWith('Arrow');
    return true;
  }

  escape() {
    if (this.selected < 0) return false;
    this.select(-1);
    return true;
  }

  selectedName() {
    return this.graph?.nodes[this.selected]?.function ?? '';
  }

  /** @param {string} name */
  selectName(name) {
    const at = this.graph?.nodes.findIndex((node) => node.function === name);
    if (at !== undefined && at >= 0) this.select(at, true);
  }

  focus() {
    this.picture_.focus();
  }

  /** @param {'svg' | 'png'} kind */
  picture(kind) {
    return graphPicture(this.content, this.zoom.size(),
      { ...headingOf(this.app), legend: [] }, kind);
  }
}
