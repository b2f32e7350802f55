// Asking the server, or, in a saved page, the answers that were saved with it.

import { decodeFlame } from './wire.js';
import { treeOf } from './tree.js';

const KEPT = 24; // answers; the views of one profile, back and forth

/** Something went wrong that the user can be told in one sentence. */
export class AskError extends Error {}

/** @typedef {{header: import('./wire.js').FlameHeader,
 *   tree: import('./tree.js').Tree}} Flame */

export class Data {
  /** @param {string} prefix of the server, ends with "/" */
  constructor(prefix) {
    this.prefix = prefix;
    /** @type {Map<string, Promise<any>>} */
    this.answers = new Map();
    /** @type {Map<string, Element>} */
    this.saved = new Map();
    for (const element of document.querySelectorAll('[data-answer]')) {
      this.saved.set(element.getAttribute('data-answer') ?? '', element);
    }
  }

  get offline() {
    return this.saved.size > 0;
  }

  /** Can there be an answer?  Saved pages have only some reports.
   * @param {string} report */
  has(report) {
    return !this.offline || [...this.saved.keys()].some((key) =>
      key.startsWith(`${report}?`));
  }

  /** @param {string} name @param {string} query @returns {Promise<any>} */
  json(name, query) {
    return this.once(`${name}?${query}`, async () =>
      (await this.ask(name, query)).json());
  }

  /** @param {string} query @returns {Promise<Flame>} */
  flame(query) {
    return this.once(`flame?${query}`, async () => {
      const answer = await this.ask('flame', query);
      const data = decodeFlame(await answer.arrayBuffer());
      return { header: data.header, tree: treeOf(data) };
    });
  }

  /** @template T @param {string} key @param {() => Promise<T>} work
   * @returns {Promise<T>} */
  once(key, work) {
    let answer = this.answers.get(key);
    if (!answer) {
      answer = work();
      answer.catch(() => this.answers.delete(key));
      this.answers.set(key, answer);
      const oldest = this.answers.keys().next().value;
      if (this.answers.size > KEPT && oldest) this.answers.delete(oldest);
    }
    return answer;
  }

  forget() {
    this.answers.clear();
  }

  /** @param {string} name @param {string} query @returns {Promise<Response>} */
  async ask(name, query) {
    if (this.offline) return this.askSaved(name, query);
    let answer;
    try {
      answer = await fetch(`${this.prefix}data/${name}?${query}`);
    } catch {
      throw new AskError('The pprof that serves this page does not answer. ' +
        'Is it still running?');
    }
    if (!answer.ok) throw new AskError(await sentenceOf(answer));
    return answer;
  }

  /** The bytes that were saved, as they were; null if there are none.
   * @param {string} name @param {string | null} [type] of the samples */
  savedBytes(name, type) {
    // The first type's answer must not pass for one that was left out.
    const known = type && this.saved.has(`meta?si=${type}`);
    let element = known ? this.saved.get(`${name}?si=${type}`)
      : [...this.saved].find(([key]) => key.startsWith(`${name}?`))?.[1];
    const same = element?.getAttribute('data-same');
    if (same) element = this.saved.get(same);
    return element ? bytesOf((element.textContent ?? '').trim()) : null;
  }

  /** @param {string} name @param {string} query */
  async askSaved(name, query) {
    const bytes = this.savedBytes(name, new URLSearchParams(query).get('si'));
    if (!bytes) {
      throw new AskError('This saved page does not contain this view.');
    }
    const stream = new Blob([bytes]).stream();
    return new Response(bytes[0] === 0x1f && bytes[1] === 0x8b
      ? stream.pipeThrough(new DecompressionStream('gzip')) : stream);
  }

  /** Sends something that changes the server's state.
   * @param {string} method @param {string} path @param {BodyInit} [body] */
  async send(method, path, body) {
    const answer = await fetch(this.prefix + path,
      { method, body, headers: { 'X-Pprof': '1' } });
    if (!answer.ok) throw new AskError(await sentenceOf(answer));
    return answer;
  }
}

/** @param {string} base64 */
function bytesOf(base64) {
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

/** @param {Response} answer */
async function sentenceOf(answer) {
  const text = await answer.text();
  try {
    return String(JSON.parse(text).error ?? text);
  } catch {
    return text.trim() || `The server answered ${answer.status}.`;
  }
}
