// A failed request to the server, as a message for the user.

/** An error with a message for the user. */
export class AskError extends Error {}

/** What an answer that is no success says.
 * @param {Response} answer @param {string} who answered */
export async function failureOf(answer, who) {
  const text = await answer.text();
  try {
    return new AskError(String(JSON.parse(text).error ?? text));
  } catch {
    return new AskError(text.trim() || `${who} answered ${answer.status}.`);
  }
}
