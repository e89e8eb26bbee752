/** How well a text fits what somebody typed: beginnings first, then parts, then initials. Pure. */

/**
 * @param {string} text
 * @param {string} typed
 * @returns {number} 0 if it does not fit; more is better
 */
export function fit(text, typed) {
  const hay = text.toLowerCase();
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  let sum = 1;
  for (const word of words) {
    const one = fitWord(hay, word);
    if (!one) return 0;
    sum += one;
  }
  return sum - Math.min(0.9, text.length / 1000);
}

/** @param {string} hay @param {string} word */
function fitWord(hay, word) {
  const at = hay.indexOf(word);
  if (at === 0) return 100;
  if (at > 0) return /[\s\-_/.,:;(]/.test(hay[at - 1] ?? "") ? 80 : 40;
  return areInitials(hay, word) ? 20 : 0;
}

/** @param {string} hay @param {string} word @returns {boolean} whether words after each other begin with its letters */
function areInitials(hay, word) {
  const initials = hay.split(/[^\p{L}\p{N}]+/u).map((each) => each[0] ?? "").join("");
  return word.length > 1 && initials.includes(word);
}

/**
 * Return what fits, the best first; of equals the one that stood first.
 * @template Row
 * @param {Row[]} rows
 * @param {string} typed
 * @param {(row: Row) => string} textOf
 * @param {number} most
 * @returns {Row[]}
 */
export function best(rows, typed, textOf, most) {
  const scored = rows.map((row) => /** @type {const} */ ([fit(textOf(row), typed), row]));
  return scored.filter(([score]) => score > 0).sort((a, b) => b[0] - a[0]).slice(0, most)
    .map(([, row]) => row);
}
