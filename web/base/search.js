// Finding frames by a regular expression, and what share of the profile they
// have.  A frame below another one that matches is not counted again.

/** @typedef {import('../flame/tree.js').Tree} Tree */
/** @typedef {import('../flame/wire.js').Sources} Sources */

/**
 * The user's words as a regular expression.  Case counts only if a capital
 * letter was typed.  null for no words, and for those that are no regular
 * expression: see patternError().
 * @param {string} words
 */
export function patternOf(words) {
  return compile(words, /[A-Z]/.test(words.replace(/\\[A-Z]/g, '')) ? ''
    : 'i');
}

/** A pattern as a link has it: case counts, unless it begins with (?i).
 * @param {string} words */
export function strictPatternOf(words) {
  return compile(words, '');
}

/** @param {string} words @param {string} flags */
function compile(words, flags) {
  const any = words.startsWith('(?i)');
  try {
    return words === '' ? null
      : new RegExp(any ? words.slice(4) : words, any ? 'i' : flags);
  } catch {
    return null;
  }
}

/** What is wrong with a regular expression; "" if nothing is.
 * @param {string} words */
export function patternError(words) {
  try {
    return RegExp(words.replace(/^\(\?i\)/, '')) && '';
  } catch (error) {
    // "Invalid regular expression: /(x/: Unterminated group"
    return String(error instanceof Error ? error.message : error)
      .replace(/^.*:\s*/s, '');
  }
}

/** @param {string} text */
export function quote(text) {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** A pattern for exactly this name. @param {string} name */
export function exactly(name) {
  return `^${quote(name)}$`;
}

/** By source: 1 if its name or file matches.
 * @param {Sources} sources @param {RegExp} pattern */
export function matchSources(sources, pattern) {
  const { strings, name, file, count } = sources;
  /** Files are shared by many sources: ask each text once; 0 is "not yet". */
  const known = new Uint8Array(strings.length);
  /** @param {number} id */
  const matches = (id) => {
    if (!known[id]) known[id] = pattern.test(strings[id]) ? 2 : 1;
    return known[id] === 2;
  };
  const matched = new Uint8Array(count);
  for (let i = 1; i < count; i++) {
    if (matches(name[i]) || matches(file[i])) matched[i] = 1;
  }
  return matched;
}

/**
 * @typedef {object} Found
 * @property {Uint8Array} sources  1 for each source that matches
 * @property {Uint32Array} nodes   the outermost matching nodes, in level order
 * @property {number} value        their sum, nothing counted twice
 * @property {number} boxes        all nodes that match
 * @property {Uint32Array} before  how many of them come before each node, and
 *   at the end all
 */

/** @param {Tree} tree @param {Uint8Array} sources @returns {Found} */
export function findIn(tree, sources) {
  const { count, parent, source, total } = tree;
  const covered = new Uint8Array(count);
  const nodes = [];
  const before = new Uint32Array(count + 1);
  let value = 0;
  let boxes = 0;
  for (let i = 1; i < count; i++) {
    const above = covered[parent[i]];
    const hit = sources[source[i]];
    before[i] = boxes;
    boxes += hit;
    covered[i] = above | hit;
    if (hit && !above) {
      nodes.push(i);
      value += total[i];
    }
  }
  before[count] = boxes;
  return { sources, nodes: Uint32Array.from(nodes), value, boxes, before };
}
