// Own prompts by arrow keys, the newest first. Pure: where one is, and what that shows.

/** @typedef {{prompts: string[], at: number, draft: string}} Browsing `at` -1: the draft itself */

/**
 * Begin with the newest prompt, or return null if there is none.
 * @param {string[]} prompts the newest first @param {string} draft
 * @returns {Browsing | null}
 */
export function begin(prompts, draft) {
  const different = prompts.filter((prompt, index) => prompt !== prompts[index - 1]);
  return different.length ? { prompts: different, at: 0, draft } : null;
}

/**
 * Go to an older (1) or newer (-1) prompt. Null: it has come back to the draft, and is over.
 * @param {Browsing} browsing @param {1 | -1} step
 * @returns {Browsing | null}
 */
export function step(browsing, step) {
  const at = Math.min(browsing.at + step, browsing.prompts.length - 1);
  return at < 0 ? null : { ...browsing, at };
}

/** @param {Browsing} browsing */
export const shown = (browsing) => browsing.prompts[browsing.at];
