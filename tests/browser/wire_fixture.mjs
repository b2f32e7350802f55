// Flame graph data as the server sends it, made from a list of stacks.

/** @typedef {{frames: string[], value: number, base?: number}} Stack */

class Writer {
  /** @type {number[]} */
  bytes = [];

  /** @param {number} value */
  varint(value) {
    while (value > 127) {
      this.bytes.push(value % 128 + 128);
      value = Math.floor(value / 128);
    }
    this.bytes.push(value);
  }

  /** @param {number} value */
  zigzag(value) {
    this.varint(value < 0 ? -value * 2 - 1 : value * 2);
  }

  /** @param {string} text */
  string(text) {
    const bytes = new TextEncoder().encode(text);
    this.varint(bytes.length);
    this.bytes.push(...bytes);
  }
}

/** @param {string} name */
const packageOf = (name) => name.split(/::|\./)[0];

/** Nodes but the root as the n-th callee of their parents' sources; 0 for a
 * new one, whose source is then in `fresh`, 0 there for a new source.
 * @param {any[]} nodes @param {string[]} names */
function callsOf(nodes, names) {
  const calls = [];
  const fresh = [];
  const callees = names.map(() => /** @type {string[]} */ ([]));
  let seen = 1;
  let child = 1;
  for (const node of nodes) {
    const known = callees[names.indexOf(node.name)];
    for (let k = node.kids.size; k > 0; k--) {
      const { name } = nodes[child++];
      calls.push(known.indexOf(name) + 1);
      if (known.includes(name)) continue;
      known.push(name);
      const source = names.indexOf(name);
      fresh.push(source === seen ? 0 : source);
      if (source === seen) seen++;
    }
  }
  return { calls, fresh };
}

/** @param {Stack[]} stacks @param {{scale?: number, unit?: string}} [how] */
export function encodeFlame(stacks, how = {}) {
  const isDiff = stacks.some((stack) => stack.base !== undefined);
  const root = { name: '', self: 0, base: 0, kids: new Map(), weight: 0 };
  for (const { frames, value, base = 0 } of stacks) {
    let node = root;
    for (const name of frames) {
      node.weight += Math.abs(value) + base;
      if (!node.kids.has(name)) {
        node.kids.set(name, { name, self: 0, base: 0, kids: new Map(),
          weight: 0 });
      }
      node = node.kids.get(name);
    }
    node.weight += Math.abs(value) + base;
    node.self += value;
    node.base += base;
  }
  const nodes = [root];
  const levels = [1];
  for (let at = 0; at < nodes.length;) {
    const end = nodes.length;
    for (; at < end; at++) {
      nodes.push(...[...nodes[at].kids.values()].sort((a, b) =>
        b.weight - a.weight));
    }
    if (nodes.length > end) levels.push(nodes.length - end);
  }
  const names = [...new Set(nodes.map((node) => node.name))];
  const strings = [...new Set(['', ...names, 'prog', ...names.map(packageOf)])];
  const text = (/** @type {string} */ s) => strings.indexOf(s);
  const { calls, fresh } = callsOf(nodes, names);
  const header = new TextEncoder().encode(JSON.stringify({
    total: stacks.reduce((sum, s) => sum + (isDiff ? s.base ?? 0 : s.value), 0),
    scale: how.scale ?? 1, unit: how.unit ?? '', type: 'cpu',
    nodes: nodes.length, sources: names.length,
    calls: fresh.length, strings: strings.length,
    base: isDiff, levels }));
  const out = new Writer();
  for (const node of nodes) out.varint(node.kids.size);
  for (const call of calls) out.varint(call);
  for (const source of fresh) out.varint(source);
  for (const node of nodes) out.zigzag(node.self);
  if (isDiff) for (const node of nodes) out.zigzag(node.base);
  let seen = 1;
  const putText = (/** @type {string} */ s) => {
    const number = text(s);
    out.varint(number === seen ? 0 : number + 1);
    if (number === seen) seen++;
  };
  for (const name of names) putText(name);
  for (const _ of names) out.varint(0); // the display is the name
  for (const _ of names) putText('');
  for (const name of names) putText(name === '' ? '' : 'prog');
  for (const name of names) putText(packageOf(name));
  for (let i = 0; i < names.length * 2; i++) out.varint(0);
  for (const string of strings) out.string(string);
  const bytes = new Uint8Array(12 + header.length + out.bytes.length);
  const view = new DataView(bytes.buffer);
  bytes.set(new TextEncoder().encode('PPFL'));
  view.setUint32(4, 2, true);
  view.setUint32(8, header.length, true);
  bytes.set(header, 12);
  bytes.set(out.bytes, 12 + header.length);
  return bytes.buffer;
}

/** Numbers that look random and are the same every time. */
export function makeRandom(seed = 1) {
  let state = seed;
  return () => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9 | 0;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}

/** @param {number} count @param {() => number} random @returns {Stack[]} */
export function randomStacks(count, random) {
  return Array.from({ length: count }, () => ({
    frames: Array.from({ length: 1 + Math.floor(random() * 12) }, (_, i) =>
      `pkg${Math.floor(random() * 5)}.f${Math.floor(random() * (2 + i))}`),
    value: 1 + Math.floor(random() * 1000) }));
}
