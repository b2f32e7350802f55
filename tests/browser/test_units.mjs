// What the page computes without a browser: reading the data, totals, callers
// and callees, search, layout.  Compared with slow and simple ways to do it.

import assert from 'node:assert/strict';
import test from 'node:test';
import { sameWindow } from '../../web/flame/beside.js';
import { colorSources } from '../../web/flame/colors.js';
import { placeLabels } from '../../web/graph/edge_labels.js';
import { foldedOf } from '../../web/save/folded.js';
import { crossings } from '../../web/graph/layer_order.js';
import { settle } from '../../web/graph/layer_place.js';
import { drawLayers } from '../../web/graph/layers.js';
import { invert, pivot } from '../../web/flame/merge.js';
import { percentText, reportPercent, valueText }
  from '../../web/base/numbers.js';
import { nodeUnder, walkRow } from '../../web/flame/paint.js';
import { exactly, findIn, matchSources, patternError, patternOf,
  strictPatternOf } from '../../web/base/search.js';
import { FIRST, orderOf } from '../../web/base/table_order.js';
import { layOut, sumBySource, Tree, treeOf } from '../../web/flame/tree.js';
import { decodeFlame } from '../../web/flame/wire.js';
import { encodeFlame, makeRandom, randomStacks } from './wire_fixture.mjs';

const SMALL = [
  { frames: ['main', 'run', 'read'], value: 30 },
  { frames: ['main', 'run', 'read', 'decode'], value: 20 },
  { frames: ['main', 'run', 'run', 'read'], value: 10 },
  { frames: ['main', 'write'], value: 25 },
  { frames: ['other'], value: 15 },
];
const random = makeRandom(7);
const MANY = randomStacks(3000, random);

const treeFrom = (stacks) => treeOf(decodeFlame(encodeFlame(stacks)));

/** Is the second list at the end, or anywhere, of the first? */
const hasFrame = (stack, name) => stack.frames.includes(name);

const sum = (stacks) => stacks.reduce((all, stack) => all + stack.value, 0);

test('the data becomes a tree whose totals are sums', () => {
  const tree = treeFrom(SMALL);
  assert.equal(tree.count, 9);
  assert.equal(tree.total[0], 100);
  assert.equal(tree.depth, 5);
  assert.deepEqual([1, 2].map((node) => tree.name(node)), ['main', 'other']);
  assert.deepEqual([1, 2].map((node) => tree.total[node]), [85, 15]);
});

test('large and negative values and names beyond ASCII survive', () => {
  const big = 2 ** 52 + 1;
  const tree = treeFrom([{ frames: ['größe', '漢字'], value: big },
    { frames: ['größe', 'minus'], value: -5 }]);
  assert.equal(tree.name(1), 'größe');
  assert.equal(tree.name(2), '漢字');
  assert.equal(tree.self[2], big);
  assert.equal(tree.self[3], -5);
  assert.ok(tree.hasNegative);
});

test('a tree is folded to the stacks it came from', () => {
  assert.equal(foldedOf(treeFrom(SMALL)), 'main;run;read 30\n' +
    'main;run;read;decode 20\nmain;run;run;read 10\nmain;write 25\n' +
    'other 15\n');
  const odd = [{ frames: ['a;b', 'c\nd'], value: 1 },
    { frames: ['a:b', 'c d'], value: 2 }, { frames: ['x', 'y'], value: -3 }];
  assert.equal(foldedOf(treeFrom(odd)), 'a:b;c d 3\nx;y -3\n');
  const tree = new Tree(Uint32Array.of(2, 0, 0), Uint32Array.of(0, 1, 2),
    Float64Array.of(0, -5, 7), Float64Array.of(0, 5, 0),
    treeFrom([{ frames: ['gone'], value: 1 }, { frames: ['new'], value: 1 }])
      .sources);
  assert.deepEqual(foldedOf(tree).split('\n').sort(),
    ['', 'gone 5 0', 'new 0 7']);
});

test('data that is cut off anywhere is refused', () => {
  const whole = new Uint8Array(encodeFlame(SMALL));
  for (let length = 0; length < whole.length; length++) {
    assert.throws(() => treeOf(decodeFlame(whole.slice(0, length).buffer)));
  }
});

test('a tree whose children do not add up is refused', () => {
  const make = (children) => new Tree(Uint32Array.from(children),
    new Uint32Array(children.length), new Float64Array(children.length), null,
    /** @type {any} */ ({ count: 1 }));
  assert.throws(() => make([0, 1]), /not whole/);
  assert.throws(() => make([1]), /not whole/);
  assert.throws(() => make([1, 0, 0]), /not whole/);
  assert.equal(make([2, 0, 0]).depth, 2);
});

test('an address leads back to its node', () => {
  const tree = treeFrom(MANY);
  for (let node = 0; node < tree.count; node += 13) {
    assert.equal(tree.nodeAt(tree.addressOf(node)), node);
  }
  assert.equal(tree.nodeAt('zz.zz'), 0);
});

test('functions that call themselves count once', () => {
  const tree = treeFrom(MANY);
  const sums = sumBySource(tree);
  const { strings, name, count } = tree.sources;
  for (let i = 1; i < count; i++) {
    const text = strings[name[i]];
    assert.equal(sums.total[i], sum(MANY.filter((s) => hasFrame(s, text))));
    assert.equal(sums.self[i], sum(MANY.filter((s) =>
      s.frames.at(-1) === text)));
  }
});

test('a search counts no sample twice', () => {
  const tree = treeFrom(MANY);
  for (const words of ['f1$', 'pkg[23]', 'nothing', 'F1']) {
    const pattern = patternOf(words) ?? /$^/;
    const found = findIn(tree, matchSources(tree.sources, pattern));
    assert.equal(found.value, sum(MANY.filter((s) =>
      s.frames.some((frame) => pattern.test(frame)))));
  }
});

test('words that are no regular expression are searched literally', () => {
  assert.equal(patternOf('foo('), null);
  assert.match(patternError('foo('), /^Unterminated group$/);
  assert.equal(patternError('(?i)foo'), '');
  assert.ok(!patternOf('Foo')?.test('foo'));
  assert.ok(patternOf('\\Bfoo')?.test('xFOO'));
  assert.equal(patternOf(''), null);
  assert.ok(!strictPatternOf('foo')?.test('FOO'));
  assert.ok(strictPatternOf('(?i)foo')?.test('FOO'));
  assert.ok(new RegExp(exactly('a.b(*c)[d]')).test('a.b(*c)[d]'));
});

test('a pivot shows callers and callees of the outermost calls', () => {
  const tree = treeFrom(MANY);
  const pattern = /^pkg1\.f1$/;
  const around = pivot(tree, matchSources(tree.sources, pattern));
  const with_ = MANY.filter((s) => hasFrame(s, 'pkg1.f1'));
  assert.equal(around.callees.total[0], sum(with_));
  assert.equal(around.callers.total[0], sum(with_));
  assert.equal(around.callees.name(0), 'pkg1.f1');
  for (const [side, step] of [['callees', 1], ['callers', -1]]) {
    const half = around[side];
    for (let child = half.first[0]; child < half.first[1]; child++) {
      assert.equal(half.total[child], sum(with_.filter((s) =>
        s.frames[s.frames.indexOf('pkg1.f1') + step] === half.name(child))));
    }
  }
});

test('a pivot on several functions has a root above them', () => {
  const tree = treeFrom(SMALL);
  const around = pivot(tree, matchSources(tree.sources, /^(read|other)$/));
  assert.equal(around.callees.source[0], 0);
  assert.equal(around.callees.total[0], 75);
  assert.deepEqual([1, 2].map((n) => around.callees.name(n)),
    ['read', 'other']);
});

test('upside down, the first row has the own values', () => {
  const tree = treeFrom(MANY);
  const upside = invert(tree);
  const sums = sumBySource(tree);
  assert.equal(upside.total[0], tree.total[0]);
  for (let child = upside.first[0]; child < upside.first[1]; child++) {
    assert.equal(upside.total[child], sums.self[upside.source[child]]);
  }
});

test('a difference has before, after and change', () => {
  const tree = treeFrom([
    { frames: ['a', 'b'], value: 30, base: 10 },
    { frames: ['a', 'gone'], value: 0, base: 40 },
    { frames: ['new'], value: 5, base: 0 }]);
  const node = (text) => [...Array(tree.count).keys()].find((i) =>
    tree.name(i) === text) ?? -1;
  assert.equal(tree.totalBase?.[node('a')], 50);
  assert.equal(tree.total[node('a')], -20);
  assert.equal(layOut(tree).weight[node('a')], 80);
  assert.equal(layOut(tree, 'new').weight[node('a')], 30);
  assert.equal(layOut(tree, 'base').weight[node('new')], 0);
});

/** Before and after of stacks that changed, appeared or went. */
function changed() {
  const tree = treeFrom(MANY.map((stack, i) => ({ ...stack,
    value: i % 5 === 0 ? 0 : stack.value,
    base: i % 7 === 0 ? 0 : stack.value * (1 + i % 3) })));
  return { tree, before: layOut(tree, 'base'), after: layOut(tree, 'new') };
}

const boxIn = (layout, node) => ({ from: layout.start[node],
  to: layout.start[node] + layout.weight[node] });

const isNear = (a, b, whole) => Math.abs(a - b) <= whole * 1e-9;

test('a box that fills one side fills the other one', () => {
  const { tree, before, after } = changed();
  let compared = 0;
  for (let node = 0; node < tree.count; node++) {
    if (!before.weight[node] || !after.weight[node]) continue;
    const [whole, wholeThere] = [before.weight[0], after.weight[0]];
    const win = boxIn(before, node);
    // Sums of floating-point numbers may be off by a little.
    win.to += whole * (node % 3 - 1) * 1e-16;
    const got = sameWindow(tree, before, after, win, node);
    const want = boxIn(after, node);
    if ((want.to - want.from) / wholeThere <
      (win.to - win.from) / whole / 50) continue;
    assert.ok(isNear(got.from, want.from, wholeThere), tree.addressOf(node));
    assert.ok(isNear(got.to, want.to, wholeThere), tree.addressOf(node));
    compared++;
  }
  assert.ok(compared > 1000, `${compared}`);
});

test('the edges of a window stay in order, each in its own frame', () => {
  const { tree, before, after } = changed();
  const whole = before.weight[0];
  const inner = (layout, value) => {
    let best = 0;
    for (let i = 1; i < tree.count; i++) {
      if (layout.start[i] <= value && value < layout.start[i] +
        layout.weight[i]) best = i;
    }
    return best;
  };
  let last = 0;
  for (let i = 0; i < 400; i++) {
    const value = whole * (i + 0.37) / 400;
    const place = sameWindow(tree, before, after, { from: value, to: whole })
      .from;
    assert.ok(place >= last && place <= after.weight[0]);
    last = place;
    const node = inner(before, value);
    const { from, to } = boxIn(after, node);
    assert.ok(from <= place && place <= to, tree.addressOf(node));
  }
});

test('of what is missing the other side shows the neighbours', () => {
  const tree = treeFrom([{ frames: ['a'], value: 400, base: 400 },
    { frames: ['gone'], value: 0, base: 300 },
    { frames: ['b'], value: 100, base: 100 }]);
  const [before, after] = [layOut(tree, 'base'), layOut(tree, 'new')];
  const gone = { from: 400, to: 700 };
  const seen = sameWindow(tree, before, after, gone);
  assert.ok(seen.from < 400 && seen.to > 400);
  assert.ok(isNear((seen.from + seen.to) / 2, 400, 500));
  // One that fits a neighbour does not take in what is missing here.
  assert.deepEqual(sameWindow(tree, after, before, { from: 0, to: 400 }),
    { from: 0, to: 400 });
  assert.deepEqual(sameWindow(tree, after, before, { from: 400, to: 500 }),
    { from: 700, to: 800 });
  assert.deepEqual(sameWindow(tree, after, before, { from: 0, to: 500 }),
    { from: 0, to: 800 });
});

test('where boxes are equally wide, the wish of the user counts', () => {
  const tree = treeFrom([{ frames: ['a', 'b'], value: 60, base: 60 },
    { frames: ['a', 'new'], value: 40, base: 0 },
    { frames: ['c'], value: 10, base: 10 }]);
  const [before, after] = [layOut(tree, 'base'), layOut(tree, 'new')];
  const win = { from: 0, to: 60 }; // a and b
  const node = (/** @type {string} */ text) => [1, 2, 3, 4].find((i) =>
    tree.name(i) === text);
  assert.deepEqual(sameWindow(tree, before, after, win, node('b')),
    { from: 0, to: 60 });
  for (const fitted of [node('a'), -1]) {
    assert.deepEqual(sameWindow(tree, before, after, win, fitted),
      { from: 0, to: 100 });
  }
});

test('a side without samples stays where it is', () => {
  const tree = treeFrom([{ frames: ['a', 'b'], value: 0, base: 5 }]);
  const [before, after] = [layOut(tree, 'base'), layOut(tree, 'new')];
  assert.deepEqual(sameWindow(tree, before, after, { from: 1, to: 2 }),
    { from: 0, to: 1 });
  assert.deepEqual(sameWindow(tree, after, before, { from: 0, to: 1 }),
    { from: 0, to: 5 });
});

test('a window goes over to a million frames at once', () => {
  const count = 1e6;
  const children = new Uint32Array(count);
  children[0] = count - 1;
  const self = new Float64Array(count).map((_, i) => i % 5 - i % 3);
  const tree = new Tree(children, new Uint32Array(count), self,
    new Float64Array(count).map((_, i) => i % 3),
    /** @type {any} */ ({ count: 1 }));
  const [before, after] = [layOut(tree, 'base'), layOut(tree, 'new')];
  const began = performance.now();
  for (let i = 0; i < 10000; i++) {
    const { from, to } = sameWindow(tree, before, after, { from: i, to: 2 * i +
      1 });
    assert.ok(from >= 0 && to <= after.weight[0] && from < to);
  }
  assert.ok(performance.now() - began < 1000);
});

test('boxes and slivers of a row are all its frames', () => {
  const tree = treeFrom(MANY);
  const layout = layOut(tree);
  for (const [from, to] of [[0, 1], [0.3, 0.31], [0.9, 0.9001]]) {
    const whole = layout.weight[0];
    const win = { from: from * whole, to: to * whole, top: 0, width: 700,
      height: 500 };
    for (let level = 0; level < tree.depth; level++) {
      let count = 0;
      let end = -Infinity;
      walkRow(tree, layout, level, win, (node, x, width) => {
        assert.ok(width >= 0.5 && x > end - 1e-6);
        end = x + width;
        count++;
      }, (x, width, frames) => {
        assert.ok(x > end - 1e-6);
        end = x + width;
        count += frames;
      });
      let visible = 0;
      for (let i = tree.levelStart[level]; i < tree.levelStart[level + 1];
        i++) {
        visible += Number(layout.start[i] + layout.weight[i] > win.from &&
          layout.start[i] < win.to);
      }
      // The last sliver may reach over the right edge.
      assert.ok(count >= visible && count <= visible + 40,
        `${count} of ${visible}`);
    }
  }
});

test('the frame under a point is the one that is drawn there', () => {
  const tree = treeFrom(SMALL);
  const layout = layOut(tree);
  const win = { from: 0, to: 100, top: 0, width: 1000, height: 400 };
  assert.equal(nodeUnder(tree, layout, win, 10, 5, false), 0);
  assert.equal(tree.name(nodeUnder(tree, layout, win, 10, 25, false)), 'main');
  assert.equal(tree.name(nodeUnder(tree, layout, win, 990, 25, false)),
    'other');
  assert.equal(nodeUnder(tree, layout, win, 990, 45, false), -1);
  assert.equal(tree.name(nodeUnder(tree, layout, win, 10, 375, true)), 'main');
});

test('the legend lists the heaviest modules first', () => {
  const tree = treeFrom(MANY);
  const coloring = colorSources(tree, 'package');
  assert.ok(coloring.legend.every((entry, n, all) =>
    n === 0 || entry.group < 0 || all[n - 1].self >= entry.self));
  assert.equal(coloring.groupOf.length, tree.sources.count);
});

test('values are printed as the terminal prints them', () => {
  const ns = { scale: 1e-9, unit: 's' };
  const bytes = { scale: 1, unit: 'B' };
  assert.equal(valueText(1e9, ns), '1s');
  assert.equal(valueText(2020e6, ns), '2.02s');
  assert.equal(valueText(250e6, ns), '250ms');
  assert.equal(valueText(1500e6, { ...ns, wish: 'ms' }), '1500ms');
  assert.equal(valueText(1500e6, { ...ns, wish: 'mb' }), '1.50s');
  assert.equal(valueText(1500, bytes), '1.46kB');
  assert.equal(valueText(-1024 * 1024, bytes), '-1MB');
  assert.equal(valueText(0, bytes), '0');
  assert.equal(valueText(12, { scale: 1, unit: '' }), '12');
  assert.equal(percentText(1, 3), '33.3%');
  assert.equal(percentText(1, 1e6), '<0.01%');
  assert.equal(reportPercent(12.34, 100), '12.34%');
  assert.equal(reportPercent(0.016, 100), '0.016%');
  assert.equal(reportPercent(0.000012, 100), '1.2e-05%');
  assert.equal(reportPercent(99.97, 100), '100%');
});

test('a graph is drawn in layers without overlaps', () => {
  const boxes = Array.from({ length: 60 }, () => ({
    width: 40 + Math.floor(random() * 120), height: 30 }));
  const arcs = Array.from({ length: 140 }, () => ({
    from: Math.floor(random() * 60), to: Math.floor(random() * 60),
    weight: random() * 100 }));
  const drawing = drawLayers(boxes, arcs);
  drawing.places.forEach((a, i) => drawing.places.slice(i + 1).forEach((b) => {
    const apart = Math.abs(a.x - b.x) >= (a.width + b.width) / 2 ||
      Math.abs(a.y - b.y) >= (a.height + b.height) / 2;
    assert.ok(apart);
  }));
  arcs.forEach((arc, i) => assert.equal(drawing.paths[i].length > 0,
    arc.from !== arc.to));
  for (const place of drawing.places) {
    assert.ok(place.x >= place.width / 2 && place.x <= drawing.width);
  }
});

test('the numbers of edges are on no box, no heavy line and not on each other',
  () => {
    const child = { width: 60, height: 20 };
    const boxes = [{ x: 200, y: 10, ...child },
      ...[0, 1, 2, 3, 4].map((i) => ({ x: 40 + 80 * i, y: 96, ...child }))];
    const labels = [0, 1, 2, 3, 4].map((i) => ({ width: 45, height: 12,
      stroke: 4, heavy: true, points: [{ x: 180 + 10 * i, y: 20 },
        { x: 40 + 80 * i, y: 86 }] }));
    const placed = placeLabels(labels, boxes);
    const apart = (a, b) =>
      Math.abs(a.x - b.x) >= (a.width + b.width) / 2 ||
      Math.abs(a.y - b.y) >= (a.height + b.height) / 2;
    const all = [...boxes, ...placed];
    all.forEach((a, i) => all.slice(i + 1).forEach((b) =>
      assert.ok(apart(a, b), JSON.stringify([a, b]))));
    // The first one chooses first; a straight heavy line stays free.
    const line = { points: [{ x: 100, y: 0 }, { x: 100, y: 60 }], stroke: 6,
      heavy: true, width: 40, height: 12 };
    const beside = { ...line, points: [{ x: 90, y: 0 }, { x: 90, y: 60 }],
      stroke: 1, heavy: false };
    const [first, second] = placeLabels([line, beside], []);
    assert.ok(first.x > 120 && Math.abs(first.y - 24) < 6, `${first.y}`);
    assert.ok(second.x + second.width / 2 <= 97, `${second.x}`);
  });

test('a number without room still has a place', () => {
  const points = [{ x: 0, y: 0 }, { x: 0, y: 20 }];
  const label = { points, width: 30, height: 12, stroke: 1, heavy: false };
  const wall = { x: 0, y: 10, width: 400, height: 400 };
  const loop = { ...label, points: [{ x: 5, y: 5 }] };
  for (const place of placeLabels([label, label, loop], [wall])) {
    assert.ok(Number.isFinite(place.x + place.y) && place.width === 30);
  }
});

test('rows with equal numbers are in the order of their names', () => {
  const count = 9000;
  const values = Array.from({ length: count }, (_, i) => (i % 100 === 0
    ? Math.floor(i / 300) : 0));
  const names = values.map((_, i) => `f${(i * 7919 % count)
    .toString(36).padStart(4, '0')}`);
  const right = [...names.keys()].sort((a, b) => values[b] - values[a] ||
    (names[a] < names[b] ? -1 : 1));
  const { rows, settle } = orderOf(count, (i) => values[i], true,
    (i) => names[i]);
  // The first ones at once, the others when they are looked at.
  assert.deepEqual(rows.slice(0, FIRST), right.slice(0, FIRST));
  assert.notDeepEqual(rows, right);
  assert.deepEqual([...rows].sort((a, b) => a - b), [...names.keys()]);
  settle?.();
  assert.deepEqual(rows, right);
  const few = orderOf(500, (i) => values[i], false, (i) => names[i]);
  assert.equal(few.settle, null);
  assert.deepEqual(few.rows, [...Array(500).keys()].sort((a, b) => values[a] -
    values[b] || (names[a] < names[b] ? -1 : 1)));
});

test('a tree is drawn downwards and without crossings', () => {
  const arcs = Array.from({ length: 30 }, (_, i) => ({
    from: Math.floor(i / 2), to: i + 1, weight: 1 }));
  const drawing = drawLayers(Array.from({ length: 31 }, () =>
    ({ width: 50, height: 20 })), arcs);
  for (const { from, to } of arcs) {
    assert.ok(drawing.places[from].y < drawing.places[to].y);
  }
  /** @type {any[][]} */
  const layers = [];
  for (const place of drawing.places) (layers[place.layer] ??= []).push(place);
  const rank = new Map();
  for (const layer of layers) {
    layer.sort((a, b) => a.x - b.x).forEach((p, i) => rank.set(p, i));
  }
  assert.equal(crossings(layers, rank), 0);
});

test('nodes of a layer keep order and distance and are near their wish', () => {
  const layer = Array.from({ length: 9 }, () => ({ width: 10, x: 0 }));
  settle(/** @type {any} */ (layer), layer.map((_, i) =>
    ({ x: i < 4 ? 0 : 500, weight: 1 })));
  layer.forEach((place, i) => assert.ok(i === 0 ||
    place.x - layer[i - 1].x >= 32 - 1e-9));
  assert.ok(Math.abs(layer[1].x + layer[2].x) < 1e-9);
});
