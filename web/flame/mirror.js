// What a screen reader sees instead of the canvas: the path to the current
// frame and its neighbours, as items of a tree.

import { el } from '../base/dom.js';

/** @typedef {import('./tree.js').Tree} Tree */

const MOST_CHILDREN = 40;
let trees = 0;

export class Mirror {
  constructor() {
    this.element = el('div', { class: 'offscreen', role: 'group' });
    this.id = `tree${trees++}`;
  }

  /**
   * @param {Tree} tree @param {number} current
   * @param {(node: number) => string} describe
   * @param {HTMLElement} owner points at the current item
   */
  show(tree, current, describe, owner) {
    const path = tree.pathOf(current);
    const items = path.map((node) => this.item(tree, node, describe, current));
    const first = tree.first[current];
    const end = Math.min(tree.first[current + 1], first + MOST_CHILDREN);
    for (let child = first; child < end; child++) {
      items.push(this.item(tree, child, describe, current));
    }
    this.element.replaceChildren(...items);
    owner.setAttribute('aria-activedescendant', `${this.id}-${current}`);
  }

  /**
   * @param {Tree} tree @param {number} node
   * @param {(node: number) => string} describe @param {number} current
   */
  item(tree, node, describe, current) {
    const parent = tree.parent[node];
    const siblings = node === 0 ? 1 : tree.first[parent + 1] -
      tree.first[parent];
    const leaf = tree.first[node] === tree.first[node + 1];
    return el('div', {
      id: `${this.id}-${node}`,
      role: 'treeitem',
      'aria-level': tree.levelOf(node) + 1,
      'aria-setsize': siblings,
      'aria-posinset': node === 0 ? 1 : node - tree.first[parent] + 1,
      'aria-expanded': leaf ? null : String(tree.isWithin(current, node)),
      'aria-selected': String(node === current),
    }, describe(node));
  }
}
