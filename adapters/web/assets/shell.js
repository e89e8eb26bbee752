/** What the page came with: the digest of its files, and answers of the API that it shows first. */

const element = document.getElementById("shell");
const shell = element ? JSON.parse(element.textContent || "{}") : {};

/** The version of the files that this page runs. */
export const digest = /** @type {string} */ (shell.digest || "");

/** @type {Record<string, any>} */
const answers = shell.answers || {};

/**
 * Return the answer that the page came with, once: who asks again asks the daemon.
 * @param {string} path with its query
 * @returns {any} undefined if there is none
 */
export function takeAnswer(path) {
  const answer = answers[path];
  delete answers[path];
  return answer;
}
