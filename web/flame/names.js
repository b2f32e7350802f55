// Names of functions in little room.  A name is shortened from the front, a
// part at a time: "server.Chain.WithWarning.func11" becomes
// "Chain.WithWarning.func11", then "WithWarning.func11".  What only means
// something together with the part before it ("func1", "{{closure}}",
// "part.0") is never left alone.

const OPEN = '([{<';
const CLOSE = ')]}>';

/** A last part that says nothing by itself: closures, what compilers append,
 * hashes of Rust. */
const WEAK = new RegExp('^(?:func\\d*|gowrap\\d+|deferwrap\\d+|init|\\d+|' +
  'part|isra|constprop|cold|lto_priv|llvm|clone|h[0-9a-f]{16}|' +
  '\\{.*\\}|\\[.*\\]|<.*>|\\(.*\\)|.)(?:-fm)?$');

/**
 * Where the parts of a name begin: behind each ".", "::" or "/" outside of
 * brackets.  A name whose brackets do not match ("operator<") is one part.
 * @param {string} name
 */
function startsOf(name) {
  const starts = [0];
  let depth = 0;
  for (let i = 0; i < name.length; i++) {
    const letter = name[i];
    if (OPEN.includes(letter)) {
      depth++;
    } else if (CLOSE.includes(letter)) {
      if (letter === '>' && name[i - 1] === '-') continue; // operator->
      depth--;
    } else if (depth === 0 && (letter === '.' || letter === '/')) {
      starts.push(i + 1);
    } else if (depth === 0 && letter === ':' && name[i + 1] === ':') {
      starts.push(i + 2);
      i++;
    }
    if (depth < 0) return [0];
  }
  return depth === 0 ? starts : [0];
}

/** The name and its shorter forms, the longest first. @param {string} name */
export function shortenings(name) {
  const starts = startsOf(name);
  let last = starts.length - 1;
  const partAt = (/** @type {number} */ i) => name.slice(starts[i],
    i + 1 < starts.length ? starts[i + 1] : name.length)
    .replace(/(\.|::|\/)$/, '');
  while (last > 0 && WEAK.test(partAt(last))) last--;
  return starts.slice(0, last + 1).map((start) => name.slice(start))
    .filter((form) => form !== '');
}

/** The part that a reader would call the function's name: "ServeHTTP".
 * @param {string} name */
export function methodOf(name) {
  const forms = shortenings(name);
  return forms[forms.length - 1] ?? name;
}
