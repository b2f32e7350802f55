// The main points of `pprof -explain`, as sentences: what grew most, what
// shrank most.  The report lists places and functions by their weight:
//
//     Slower by 3.05s
//        1.     +3.05s  100.0%  shop.searchHandler: 1.20s → 4.25s
//
//     Functions whose own cost changed most
//         +578.66kB   runtime.StartCPUProfile: 1.16MB → 1.72MB, 12.8% → …

const PLACE = /^\s*\d+\.\s+([-+]\S+)\s+([\d.]+%)\s+(.*?): (.*)$/;
const FUNCTION = /^\s+([-+]\S+)\s+(\S.*?): (.*?)(?:,\s.*)?$/;

/** @typedef {{change: string, name: string, amounts: string}} Point */

/** @param {string} text */
function pointsOf(text) {
  /** @type {Point[]} */
  const places = [];
  /** @type {Point[]} */
  const functions = [];
  for (const line of text.split('\n')) {
    const place = PLACE.exec(line);
    const own = place ? null : FUNCTION.exec(line);
    if (place) {
      places.push({ change: place[1], name: place[3], amounts: place[4] });
    } else if (own) {
      functions.push({ change: own[1], name: own[2], amounts: own[3] });
    }
  }
  return { places, functions };
}

/** @param {Point} point */
function sentenceOf({ change, name, amounts }) {
  const verb = change.startsWith('-') ? 'shrank' : 'grew';
  const by = change.replace(/^[-+]/, '');
  if (/^(new|0 → .*)$/.test(amounts)) return `${name} is new: ${by}.`;
  if (/^(gone|.* → 0)$/.test(amounts)) return `${name} is gone: ${by}.`;
  return `${name} ${verb} by ${by} (${amounts}).`;
}

/** At most three sentences. @param {string} text */
export function summaryOf(text) {
  const { places, functions } = pointsOf(text);
  const first = (/** @type {Point[]} */ list, /** @type {string} */ sign) =>
    list.find(({ change }) => change.startsWith(sign));
  const found = [first(places, '+'), first(places, '-'),
    places.length === 0 ? functions[0] : undefined]
    .filter((point) => point !== undefined).map(sentenceOf);
  const calm = /^No place changed.*$/m.test(text)
    ? ['No single place changed by more than sampling noise.'] : [];
  return [...calm, ...found].slice(0, 3);
}
