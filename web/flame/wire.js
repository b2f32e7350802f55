// The flame graph as the server sends it, turned into typed arrays.
//
// The form is described in docs/page.md: "PPFL", a version, a JSON header,
// then columns of LEB128 varints and the strings.  Everything is checked
// against the header's counts, because a cut-off answer must become an error
// and not a strange picture.

/**
 * @typedef {object} FlameHeader
 * @property {number} total      what 100 % is, in the profile's own unit
 * @property {number} scale      factor from a raw value to the base unit
 * @property {string} type       sample type, such as "cpu"
 * @property {string} unit       base unit: "s", "B", "GCU" or ""
 * @property {number} nodes
 * @property {number} sources
 * @property {number} calls      different calls from one source to another
 * @property {number} strings
 * @property {boolean} [base]    a second column with the base's values
 * @property {number[]} levels   nodes per level
 * @property {{samples: number, value: number}} [hidden]
 * @property {string} [total_text]
 * @property {string[]} [legend]
 * @property {string[]} [warnings]
 */

/**
 * Who a box stands for.  Texts are indices into `strings`.
 * @typedef {object} Sources
 * @property {number} count
 * @property {Uint32Array} name
 * @property {Uint32Array} display
 * @property {Uint32Array} file
 * @property {Uint32Array} binary
 * @property {Uint32Array} pkg
 * @property {Uint32Array} line
 * @property {Uint32Array} flags
 * @property {string[]} strings
 */

/**
 * @typedef {object} FlameData
 * @property {FlameHeader} header
 * @property {Uint32Array} children
 * @property {Uint32Array} source
 * @property {Float64Array} self      with a base: what it has more than that
 * @property {Float64Array | null} selfBase
 * @property {Sources} sources
 */

export const FLAG_INLINED = 1;
export const FLAG_NO_SYMBOL = 2;

const MAGIC = 0x4c465050; // "PPFL", little endian
const VERSION = 2;
// Asked of every name: a loop over its letters would take longer than all the
// rest while the browser has not compiled it yet.
const BEYOND_ASCII = /[^\0-\x7f]/;

class Reader {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  /** @param {number} count @returns {Uint32Array} */
  column(count) {
    const out = new Uint32Array(count);
    const bytes = this.bytes;
    let at = this.at;
    for (let i = 0; i < count; i++) {
      let byte = bytes[at++];
      let value = byte & 127;
      let shift = 7;
      while (byte > 127) {
        byte = bytes[at++];
        value |= (byte & 127) << shift;
        shift += 7;
      }
      out[i] = value;
    }
    this.moveTo(at);
    return out;
  }

  /** Values may need more than 32 bits, and then arithmetic instead of bits.
   * @param {number} count @returns {Float64Array} */
  zigzagColumn(count) {
    const out = new Float64Array(count);
    const bytes = this.bytes;
    let at = this.at;
    for (let i = 0; i < count; i++) {
      let byte = bytes[at++];
      let value = byte & 127;
      if (byte > 127) {
        let factor = 128;
        do {
          byte = bytes[at++];
          value += (byte & 127) * factor;
          factor *= 128;
        } while (byte > 127);
      }
      out[i] = value % 2 ? -(value + 1) / 2 : value / 2;
    }
    this.moveTo(at);
    return out;
  }

  /** @param {number} count @returns {string[]} */
  strings(count) {
    const all = this.bytes;
    // One byte, one character: right for ASCII, which nearly all names are.
    const text = new TextDecoder('latin1').decode(all.subarray(this.at));
    const offset = this.at;
    const utf8 = new TextDecoder();
    const out = new Array(count);
    let at = this.at;
    for (let i = 0; i < count; i++) {
      let length = 0;
      let factor = 1;
      let byte;
      do {
        byte = all[at++];
        length += (byte & 127) * factor;
        factor *= 128;
      } while (byte > 127);
      const end = at + length;
      const plain = text.slice(at - offset, end - offset);
      out[i] = BEYOND_ASCII.test(plain) ? utf8.decode(all.subarray(at, end))
        : plain;
      at = end;
    }
    this.moveTo(at);
    return out;
  }

  /** @param {number} at */
  moveTo(at) {
    // Reading past the end gives undefined, never an exception: ask here.
    if (!(at <= this.bytes.length)) {
      throw new Error('the flame graph data ends too early');
    }
    this.at = at;
  }
}

/** @param {Uint32Array} column @param {number} limit @param {string} what */
function checkBelow(column, limit, what) {
  for (let i = 0; i < column.length; i++) {
    if (column[i] >= limit) {
      throw new Error(`the flame graph data names ${what} ${column[i]} ` +
        `of ${limit}`);
    }
  }
}

/** Which source each node is.  A node is sent as the n-th callee of its
 * parent's source, or as 0 for one that this source had not called before;
 * those are listed apart, 0 there for a source that was not there yet.
 * @param {Reader} reader @param {FlameHeader} header
 * @param {Uint32Array} children @returns {Uint32Array} */
function readNodes(reader, header, children) {
  const calls = reader.column(header.nodes - 1);
  const fresh = reader.column(header.calls);
  checkBelow(fresh, header.sources, 'frame');
  const source = new Uint32Array(header.nodes);
  /** @type {number[][]} */
  const callees = Array.from({ length: header.sources }, () => []);
  let child = 1;
  let nextFresh = 0;
  let seen = 1;
  for (let parent = 0; child < header.nodes; parent++) {
    if (parent >= child) throw new Error('the flame graph data has no root');
    const known = callees[source[parent]];
    for (let k = children[parent]; k > 0 && child < header.nodes; k--) {
      const call = calls[child - 1];
      if (call === 0) {
        const found = fresh[nextFresh++] || seen++;
        known.push(found);
        source[child++] = found;
      } else {
        source[child++] = known[call - 1] ?? header.sources;
      }
    }
  }
  checkBelow(source, header.sources, 'frame');
  return source;
}

/** A column of texts: 0 is the next one that was not named before, n the
 * string n - 1.  In the displays 0 is the name, and all others are one more.
 * @param {Reader} reader @param {number} count @param {{seen: number}} place
 * @param {Uint32Array} [names] */
function readTexts(reader, count, place, names) {
  const column = reader.column(count);
  const more = names ? 1 : 0;
  for (let i = 0; i < count; i++) {
    const value = column[i];
    if (names && value === 0) column[i] = names[i];
    else if (value === more) column[i] = place.seen++;
    else column[i] = value - 1 - more;
  }
  return column;
}

/** @param {Reader} reader @param {FlameHeader} header @returns {Sources} */
function readSources(reader, header) {
  const count = header.sources;
  const place = { seen: 1 };
  const names = readTexts(reader, count, place);
  const columns = [names, readTexts(reader, count, place, names),
    ...[0, 1, 2].map(() => readTexts(reader, count, place))];
  const line = reader.column(count);
  const flags = reader.column(count);
  for (const column of columns) {
    checkBelow(column, header.strings, 'string');
  }
  const [name, display, file, binary, pkg] = columns;
  return { count, name, display, file, binary, pkg, line, flags,
    strings: reader.strings(header.strings) };
}

/** @param {ArrayBuffer} buffer @returns {FlameData} */
export function decodeFlame(buffer) {
  const view = new DataView(buffer);
  if (buffer.byteLength < 12 || view.getUint32(0, true) !== MAGIC) {
    throw new Error('this is not flame graph data');
  }
  if (view.getUint32(4, true) !== VERSION) {
    throw new Error(`flame graph data of version ${view.getUint32(4, true)}; ` +
      `this page reads ${VERSION}. Reload it.`);
  }
  const length = view.getUint32(8, true);
  const bytes = new Uint8Array(buffer);
  /** @type {FlameHeader} */
  const header = JSON.parse(new TextDecoder().decode(
    bytes.subarray(12, 12 + length)));
  const reader = new Reader(bytes);
  reader.moveTo(12 + length);
  const children = reader.column(header.nodes);
  const source = readNodes(reader, header, children);
  const self = reader.zigzagColumn(header.nodes);
  const selfBase = header.base ? reader.zigzagColumn(header.nodes) : null;
  if (selfBase) {
    for (let i = 0; i < self.length; i++) self[i] -= selfBase[i];
  }
  const sources = readSources(reader, header);
  return { header, children, source, self, selfBase, sources };
}
