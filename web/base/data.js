// Requests to the server or, in a saved page, the answers that were saved with
// it.

import { treeOf } from '../flame/tree.js';
import { decodeFlame } from '../flame/wire.js';
import { AskError, failureOf } from './ask_error.js';

const KEPT = 24; // answers; the views of one profile, back and forth

/** @typedef {{header: import('../flame/wire.js').FlameHeader,
 *   tree: import('../flame/tree.js').Tree}} Flame */

export class Data {
  /** @param {string} prefix of the server, ends with "/" */
  constructor(prefix) {
    this.prefix = prefix;
    /** @type {Map<string, Promise<any>>} */
    this.answers = new Map();
    /** What is being asked for. @type {Map<string, AbortController>} */
    this.pending = new Map();
    /** Keys that the next state needs, while it is asked for.
     * @type {Set<string> | null} */
    this.wanted = null;
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
    return this.once(`${name}?${query}`, async (signal) =>
      (await this.ask(name, query, signal)).json());
  }

  /** @param {string} query @returns {Promise<Flame>} */
  flame(query) {
    return this.once(`flame?${query}`, async (signal) => {
      const answer = await this.ask('flame', query, signal);
      const data = decodeFlame(await answer.arrayBuffer());
      return { header: data.header, tree: treeOf(data) };
    });
  }

  /** @template T @param {string} key
   * @param {(signal: AbortSignal) => Promise<T>} work
   * @returns {Promise<T>} */
  once(key, work) {
    this.wanted?.add(key);
    let answer = this.answers.get(key);
    if (!answer) {
      const stop = new AbortController();
      answer = work(stop.signal);
      this.pending.set(key, stop);
      answer.catch(() => this.answers.delete(key)).finally(() => {
        if (this.pending.get(key) === stop) this.pending.delete(key);
      });
      this.answers.set(key, answer);
      const oldest = this.answers.keys().next().value;
      if (this.answers.size > KEPT && oldest) this.answers.delete(oldest);
    }
    return answer;
  }

  /** Runs what asks for the next state of the page, and ends what is still
   * being asked for but is no part of it.
   * @template T @param {() => T} ask */
  renew(ask) {
    this.wanted = new Set();
    const { wanted } = this;
    const result = ask();
    for (const [key, stop] of this.pending) {
      if (!wanted.has(key)) {
        this.answers.delete(key);
        stop.abort();
      }
    }
    this.wanted = null;
    return result;
  }

  forget() {
    this.answers.clear();
  }

  /** @param {string} name @param {string} query @param {AbortSignal} [signal]
   * @returns {Promise<Response>} */
  async ask(name, query, signal) {
    if (this.offline) return this.askSaved(name, query);
    let answer;
    try {
      answer = await fetch(`${this.prefix}data/${name}?${query}`,
        { signal });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new AskError('The pprof that serves this page does not answer. ' +
        'Is it still running?');
    }
    if (!answer.ok) throw await failureOf(answer, 'The server');
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
    if (!answer.ok) throw await failureOf(answer, 'The server');
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
