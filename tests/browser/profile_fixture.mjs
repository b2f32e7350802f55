// A profile.proto from a list of stacks: just enough of protobuf.

import { gzipSync } from 'node:zlib';

/** @param {number} value @returns {number[]} */
function varint(value) {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes = [];
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  return [...bytes, Number(rest)];
}

const number = (field, value) => [...varint(field << 3), ...varint(value)];
const bytes = (field, content) => [...varint(field << 3 | 2),
  ...varint(content.length), ...content];
const packed = (field, values) => bytes(field, values.flatMap(varint));

/** What a sample is usually worth. @type {Record<string, number>} */
const PERIODS = { cpu: 10e6, inuse_space: 512 << 10 };

/**
 * @param {{frames: string[], values: number[],
 *   labels?: Record<string, string>}[]} samples root first; "main@20" is line
 *   20 of main
 * @param {[string, string][]} types
 * @param {{seconds?: number, ending?: string, period?: number}} [more] how
 *   long was measured; of source files; what a sample is worth in the last
 *   type, 0 if the profile does not say
 */
export function encodeProfile(samples, types, { seconds = 0, ending = 'c',
  period = PERIODS[types.at(-1)?.[0] ?? ''] ?? 0 } = {}) {
  const strings = [''];
  const text = (s) => {
    const known = strings.indexOf(s);
    return known >= 0 ? known : strings.push(s) - 1;
  };
  const frames = [...new Set(samples.flatMap((sample) => sample.frames))];
  const id = (frame) => frames.indexOf(frame) + 1;
  const nameOf = (frame) => frame.split('@')[0];
  const names = [...new Set(frames.map(nameOf))];
  const functionId = (name) => names.indexOf(name) + 1;
  const out = [
    ...types.flatMap(([type, unit]) => bytes(1,
      [...number(1, text(type)), ...number(2, text(unit))])),
    ...samples.flatMap((sample) => bytes(2, [
      ...packed(1, sample.frames.map(id).reverse()),
      ...packed(2, sample.values),
      ...Object.entries(sample.labels ?? {}).flatMap(([key, value]) =>
        bytes(3, [...number(1, text(key)), ...number(2, text(value))]))])),
    ...bytes(3, [...number(1, 1), ...number(2, 0x1000), ...number(3, 0x9000),
      ...number(5, text('/bin/shop')), ...number(7, 1), ...number(8, 1),
      ...number(9, 1)]),
    ...frames.flatMap((frame) => bytes(4, [...number(1, id(frame)),
      ...number(2, 1), ...number(3, 0x1000 + id(frame) * 16),
      ...bytes(4, [...number(1, functionId(nameOf(frame))),
        ...number(2, frame.split('@')[1] ?? 10 + id(frame))])])),
    ...names.flatMap((name) => bytes(5, [...number(1, functionId(name)),
      ...number(2, text(name)), ...number(3, text(name)),
      ...number(4, text(`src/${name.split(/[.:]/)[0]}.${ending}`))])),
  ];
  if (seconds) out.push(...number(10, seconds * 1e9));
  if (period) {
    const [type, unit] = types[types.length - 1];
    out.push(...bytes(11, [...number(1, text(type)), ...number(2, text(unit))]),
      ...number(12, period));
  }
  const table = strings.flatMap((s) => bytes(6, [...new TextEncoder()
    .encode(s)]));
  return gzipSync(Uint8Array.from([...out, ...table]));
}

export const TYPES = /** @type {[string, string][]} */ ([
  ['samples', 'count'], ['cpu', 'nanoseconds']]);

/** A function whose name would be a script, were it taken as HTML. */
export const EVIL = '<img src=x onerror="document.title=\'owned\'">';

const sample = (frames, ms, labels) => ({ frames: frames.split(' '),
  values: [ms / 10, ms * 1e6], labels });

export const SHOP = [
  sample('main serve http::parse', 120, { route: '/cart' }),
  sample('main serve db::query db::decode', 340, { route: '/cart' }),
  sample('main serve db::query', 80, { route: '/cart' }),
  sample('main serve render::page render::page text::escape', 210,
    { route: '/item' }),
  sample('main serve render::page', 60, { route: '/item' }),
  sample('main flush db::query db::decode', 90),
  sample('start idle', 100),
  { frames: ['main', 'serve', EVIL], values: [2, 20e6],
    labels: { '<b>key</b>': '<i>value</i>' } },
];

/** The same program a little later: decode is faster, escape slower. */
export const SHOP_LATER = [
  ...SHOP.map((s) => ({ ...s, values: s.values.map((value) =>
    (s.frames.at(-1) === 'db::decode' ? Math.floor(value / 2)
      : s.frames.at(-1) === 'text::escape' ? value * 2 : value)) })),
  sample('main serve cache::get', 70),
];

const START = 0x400000; // where the binary was, in its process

/**
 * A profile of a real binary: addresses without names, as a profiler without
 * symbols writes them.
 * @param {{stack: number[], values: number[]}[]} samples addresses in the
 *   file, root first
 * @param {[string, string][]} types
 * @param {{path: string, size: number}} binary
 */
export function encodeAddresses(samples, types, binary) {
  const strings = ['', binary.path, ...types.flat()];
  const addresses = [...new Set(samples.flatMap(({ stack }) => stack))];
  const id = (address) => addresses.indexOf(address) + 1;
  const out = [
    ...types.flatMap((_, i) => bytes(1, [...number(1, 2 + 2 * i),
      ...number(2, 3 + 2 * i)])),
    ...samples.flatMap(({ stack, values }) => bytes(2, [
      ...packed(1, stack.map(id).reverse()), ...packed(2, values)])),
    ...bytes(3, [...number(1, 1), ...number(2, START),
      ...number(3, START + binary.size), ...number(5, 1)]),
    ...addresses.flatMap((address) => bytes(4, [...number(1, id(address)),
      ...number(2, 1), ...number(3, START + address)])),
    ...strings.flatMap((s) => bytes(6, [...new TextEncoder().encode(s)])),
  ];
  return gzipSync(Uint8Array.from(out));
}
