// What the flame graph looks like, without a browser: names in little room,
// colours, folded wrappers, rows of the table; filters and comparisons in
// words.

import assert from 'node:assert/strict';
import test from 'node:test';
import { commonUnit, valueText } from '../../web/base/numbers.js';
import { changeColor, colorOf, colorSources, inkOn, luminance, moduleOf,
  oklch, THEMES } from '../../web/flame/colors.js';
import { foldedLabel, foldWrappers, wrapperRuns }
  from '../../web/flame/fold.js';
import { groupRows } from '../../web/flame/function_table.js';
import { makeLook } from '../../web/flame/look.js';
import { methodOf, shortenings } from '../../web/flame/names.js';
import { treeOf } from '../../web/flame/tree.js';
import { decodeFlame } from '../../web/flame/wire.js';
import { surroundings } from '../../web/inspector/neighbours.js';
import { summaryOf } from '../../web/shell/explain.js';
import { filtersOf, labelFilter, plainValue }
  from '../../web/shell/filters.js';
import { confidenceText, sigmas } from '../../web/table/diff_view.js';
import { encodeFlame, makeRandom, randomStacks } from './wire_fixture.mjs';

const treeFrom = (stacks) => treeOf(decodeFlame(encodeFlame(stacks)));

// ---- names ----

test('names are shortened a part at a time, never to a weak part', () => {
  assert.deepEqual(shortenings(
    'server.DefaultBuildHandlerChain.WithWarningRecorder.func11'),
  ['server.DefaultBuildHandlerChain.WithWarningRecorder.func11',
    'DefaultBuildHandlerChain.WithWarningRecorder.func11',
    'WithWarningRecorder.func11']);
  assert.deepEqual(shortenings('[libsqlite3.so.0.8.6]+0xb23f0'),
    ['[libsqlite3.so.0.8.6]+0xb23f0']);
  assert.deepEqual(shortenings('tls.(*Conn).HandshakeContext'),
    ['tls.(*Conn).HandshakeContext', '(*Conn).HandshakeContext',
      'HandshakeContext']);
  const short = {
    'filters.withX.func27.1': 'withX.func27.1',
    'handle.func1.2.func3': 'handle.func1.2.func3',
    'core::ops::FnOnce::call_once::h0123456789abcdef':
      'call_once::h0123456789abcdef',
    'app::run::{{closure}}': 'run::{{closure}}',
    'sort.part.0': 'sort.part.0',
    'std::vector<a::b, std::allocator<a::b>>::push_back': 'push_back',
    'std::operator<': 'std::operator<',
    'Ptr<T>::operator->': 'operator->',
    'main.Map[...]': 'Map[...]',
    'work:12': 'work:12',
    main: 'main',
    '': '',
  };
  for (const [name, last] of Object.entries(short)) {
    assert.equal(methodOf(name), last, name);
  }
});

// ---- colours ----

const contrast = (a, b) => {
  const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
};

test('a module decides the hue, a package the shade, by name alone', () => {
  const { light } = THEMES;
  assert.equal(moduleOf('k8s.io/apiserver/pkg/server'), 'k8s.io/apiserver');
  assert.equal(moduleOf('github.com/a/b/c/d'), 'github.com/a/b');
  assert.equal(moduleOf('golang.org/x/net/http2'), 'golang.org/x/net');
  assert.equal(moduleOf('vendor/golang.org/x/net/idna'), 'golang.org/x/net');
  assert.equal(moduleOf('net/http'), 'net');
  assert.equal(moduleOf('std'), 'std');
  assert.equal(colorOf('a', 'a/b', light), colorOf('a', 'a/b', light));
  const many = Array.from({ length: 60 }, (_, i) =>
    colorOf(`example.com/m${i}`, `example.com/m${i}`, light));
  assert.ok(new Set(many).size > 35, `${new Set(many).size}`);
  assert.match(oklch(0.8, 0.1, 120), /^#[0-9a-f]{6}$/);
});

test('a filter recolours nothing, and nothing is grey', () => {
  const { light } = THEMES;
  const all = randomStacks(500, makeRandom(3));
  const colorsIn = (stacks) => {
    const tree = treeFrom(stacks);
    const { paintOf, paints } = colorSources(tree, 'package');
    const { strings, name, count } = tree.sources;
    return new Map([...Array(count).keys()].slice(1).map((i) => {
      const { module, part } = paints[paintOf[i]];
      return [strings[name[i]], colorOf(module, part, light)];
    }));
  };
  const whole = colorsIn(all);
  for (const [name, color] of colorsIn(all.slice(0, 60))) {
    assert.equal(color, whole.get(name), name);
    const parts = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
    assert.ok(Math.max(...parts) - Math.min(...parts) > 20, `${name} ${color}`);
  }
});

test('text has a contrast of 4.5 on every colour, in both schemes',
  () => {
    for (const t of Object.values(THEMES)) {
      for (let i = 0; i < 400; i++) {
        const color = colorOf(`m${i}`, `m${i}/p${i % 7}`, t);
        assert.ok(contrast(color, t.text) >= 4.5, `${color} ${t.text}`);
      }
      for (let change = -1; change <= 1; change += 0.02) {
        const color = changeColor(change, t);
        assert.ok(contrast(color, inkOn(color)) >= 4.5, `${change} ${color}`);
      }
      assert.ok(contrast(t.match, t.matchText) >= 4.5);
      assert.ok(contrast(t.dim, t.dimText) >= 4.5);
      assert.ok(contrast(t.root, t.text) >= 4.5);
      // A hit stands out against what is no hit.
      assert.ok(contrast(t.match, t.dim) >= 3);
    }
  });

test('labels of differences read well, whichever way they are shown', () => {
  const tree = treeFrom([{ frames: ['main', 'a'], value: 30, base: 10 },
    { frames: ['main', 'b'], value: 5, base: 40 },
    { frames: ['main', 'c'], value: 9, base: 0 },
    { frames: ['main', 'd'], value: 7, base: 7 }]);
  for (const diff of ['color', 'side', 'overlay']) {
    const look = makeLook({ tree, coloring: colorSources(tree, 'package'),
      found: null, group: -1, diff, up: false });
    for (let i = 0; i < tree.count; i++) {
      const under = look.bar?.(i).share > 0 ? look.bar(i).color : look.fill(i);
      assert.ok(contrast(under, look.ink(i)) >= 4.5, `${diff} ${i}`);
      assert.ok(contrast(look.fill(i), look.ink(i)) >= 4.5, `${diff} ${i}`);
    }
  }
});

// ---- wrappers ----

const chain = (n) => ['main', ...Array.from({ length: n }, (_, i) =>
  [`filters.With${i}.func${i}`, 'http.HandlerFunc.ServeHTTP']).flat()];

test('a run of wrappers becomes one box, and every sum stays', () => {
  const tree = treeFrom([{ frames: [...chain(14), 'db.query'], value: 70 },
    { frames: [...chain(6), 'log.write'], value: 5 },
    { frames: [...chain(14), 'json.encode'], value: 20 },
    { frames: ['main', 'idle'], value: 5 }]);
  const runs = wrapperRuns(tree);
  assert.equal(runs.longest, 14);
  const folded = foldWrappers(tree, runs);
  assert.equal(folded.total[0], 100);
  const names = [...Array(folded.count).keys()].map((i) => folded.folded?.[i]
    ? foldedLabel(folded, i) : folded.name(i));
  assert.deepEqual(names.filter((name) => name.includes('×')),
    ['14 × ServeHTTP']);
  assert.ok(folded.count < 9, `${folded.count}`);
  const box = names.indexOf('14 × ServeHTTP');
  const children = names.slice(folded.first[box], folded.first[box + 1]);
  assert.deepEqual(children, ['db.query', 'json.encode', 'log.write']);
  assert.equal(folded.total[box], 95);
});

test('what is no run stays as it is', () => {
  const tree = treeFrom([{ frames: ['main', 'a', 'b', 'a', 'c'], value: 3 },
    { frames: ['main', 'd'], value: 4 }]);
  assert.equal(wrapperRuns(tree).longest, 0);
  assert.equal(foldWrappers(tree, wrapperRuns(tree)).count, tree.count);
});

test('folding random trees keeps the own values of all functions together',
  () => {
    const tree = treeFrom(randomStacks(800, makeRandom(11)));
    const folded = foldWrappers(tree, wrapperRuns(tree));
    assert.ok(Math.abs(folded.total[0] - tree.total[0]) < 1e-6);
    assert.ok(folded.count <= tree.count);
  });

// ---- the table ----

test('functions of the same name are one row', () => {
  const tree = treeFrom([{ frames: ['main', 'read'], value: 4 },
    { frames: ['main', 'read', 'read'], value: 6 }]);
  const { names, sums } = groupRows(tree, '');
  const read = names.indexOf('read');
  assert.equal(sums.self[read], 10);
  assert.equal(sums.total[read], 10); // recursion counts once
});

test('a table has one unit, as reports choose it', () => {
  const ns = { scale: 1e-9, unit: 's' };
  assert.equal(commonUnit(10e6, 2.23e9, ns), 's');
  assert.equal(commonUnit(10e6, 160e6, ns), 'ms');
  assert.equal(commonUnit(0, 5e9, ns), 's');
  assert.equal(commonUnit(7, 9, { scale: 1, unit: '' }), '');
  assert.equal(valueText(400e6, { ...ns, wish: commonUnit(10e6, 2.23e9, ns) }),
    '0.40s');
});

// ---- neighbours ----

test('callers and callees of a function, recursion counted once', () => {
  const tree = treeFrom([{ frames: ['main', 'run', 'read'], value: 30 },
    { frames: ['main', 'run', 'run', 'read'], value: 10 },
    { frames: ['other', 'run'], value: 5 }]);
  const around = surroundings(tree, 'run');
  assert.deepEqual(around?.callers.map(({ name, value }) => [name, value]),
    [['main', 40], ['other', 5]]);
  assert.deepEqual(around?.callees.map(({ name, value }) => [name, value]),
    [['read', 30], ['run', 10]]);
  assert.deepEqual([around?.flat, around?.cum], [5, 45]);
  assert.equal(surroundings(tree, 'nothing'), null);
});

// ---- words ----

test('filters in plain words', () => {
  const plain = (word, value) => plainValue({ word, value, on: true,
    fixed: false });
  assert.equal(plain('f', '^db::query$'), 'db::query');
  assert.equal(plain('f', '^main\\.\\(\\*T\\)\\.Run$'), 'main.(*T).Run');
  assert.equal(plain('f', '^a.*b$'), '^a.*b$');
  assert.equal(plain('tf', labelFilter('route', '/api/a,b', false)),
    'route is /api/a,b');
  assert.equal(plain('tf', labelFilter('bytes', '32kB', true)),
    'bytes is 32kB');
});

test('filters of the URL: several of a kind, and those switched off', () => {
  const params = new URLSearchParams('f=a&f=b&off=i:x:y&tf=k%3Dv');
  const state = { all: (word) => params.getAll(word) };
  assert.deepEqual(filtersOf(state).map(({ word, value, on }) =>
    [word, value, on]), [['f', 'a', true], ['f', 'b', true],
    ['i', 'x:y', false], ['tf', 'k=v', true]]);
  assert.deepEqual(filtersOf({ all: () => [] }, { f: 'given' }),
    [{ word: 'f', value: 'given', on: true, fixed: true }]);
});

test('the main points of a comparison, in at most three sentences', () => {
  assert.deepEqual(summaryOf('cpu: 7.12s before, 3.05s after: -4.07s\n\n' +
    'Slower by 3.05s\n   1.     +3.05s  100.0%  parse: new\n\n' +
    'Faster by 7.12s\n   1.     -7.12s  90.0%  read: 8s → 0.88s\n' +
    '   2.     -1s  10.0%  close: gone\n\n' +
    'Functions whose own cost changed most\n' +
    '          -7.08s          write: 7.08s → 0, 99.4% → 0.0% of it\n'),
  ['parse is new: 3.05s.', 'read shrank by 7.12s (8s → 0.88s).']);
  assert.deepEqual(summaryOf('No place changed by more than chance and x.\n' +
    '\nFunctions whose own cost changed most\n' +
    '   +578kB    runtime.Start: 1.1MB → 1.7MB, 12.8% → 14.8% of the total\n'),
  ['No single place changed by more than sampling noise.',
    'runtime.Start grew by 578kB (1.1MB → 1.7MB).']);
  assert.deepEqual(summaryOf(''), []);
});

test('a change is compared with the noise of sampling', () => {
  const change = (base, after) => ({ base, new: after, delta: after - base });
  // 100 samples against 100: as it was; against 200: far beyond noise.
  assert.equal(sigmas(change(1000, 1000), 10), 0);
  assert.ok(Math.abs(sigmas(change(1000, 2000), 10) - 5.77) < 0.01);
  assert.equal(sigmas(change(5, 6), 0), -1);
  assert.equal(confidenceText(5.77), 'high 5.8σ');
  assert.equal(confidenceText(2.1), 'likely 2.1σ');
  assert.equal(confidenceText(0.4), 'noise 0.4σ');
  assert.equal(confidenceText(-1), '');
});
