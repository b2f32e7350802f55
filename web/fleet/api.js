// The collector's own API.  A question that was asked again in another form
// ends the earlier one: at most one request for each purpose is on its way.

import { AskError, failureOf } from '../base/ask_error.js';

/** @typedef {Record<string, string | number | null | undefined>} Words */

export class Api {
  /** @param {string} prefix of the page, ends with "/" */
  constructor(prefix) {
    this.root = `${prefix}../api/1/`;
    /** What is being asked for. @type {Map<string, AbortController>} */
    this.pending = new Map();
  }

  /** @param {string} path @param {Words} [words] empty ones are left out */
  url(path, words = {}) {
    const query = new URLSearchParams();
    for (const [word, value] of Object.entries(words)) {
      if (value !== null && value !== undefined && value !== '') {
        query.set(word, String(value));
      }
    }
    return `${this.root}${path}${String(query) ? `?${query}` : ''}`;
  }

  /**
   * null: it was asked anew under the same purpose.
   * @param {string} purpose @param {string} path @param {Words} [words]
   * @returns {Promise<any>}
   */
  async ask(purpose, path, words) {
    this.stop(purpose);
    const stop = new AbortController();
    this.pending.set(purpose, stop);
    try {
      const answer = await fetch(this.url(path, words),
        { signal: stop.signal });
      if (!answer.ok) throw await failureOf(answer, 'The collector');
      return await answer.json();
    } catch (error) {
      if (stop.signal.aborted) return null;
      if (error instanceof AskError) throw error;
      throw new AskError('The collector does not answer. Is pprofd still ' +
        'running?');
    } finally {
      if (this.pending.get(purpose) === stop) this.pending.delete(purpose);
    }
  }

  /** @param {string} purpose */
  stop(purpose) {
    this.pending.get(purpose)?.abort();
    this.pending.delete(purpose);
  }
}
