// The skew: how far the daemon's clock is ahead of the browser's. Pure.

const SECOND = 1000; // a Date has whole seconds
const AGREED_MS = 5000; // clocks that are apart by less than this count as the same

/**
 * Return the skew after an answer of the daemon. It stays as it was while the answer agrees with it, so
 * that times on the screen do not jump. Clocks that nearly agree have none.
 *
 * @param {number} before milliseconds
 * @param {{date: number, asked: number, answered: number}} answer the daemon's Date, and our clock
 *   before and after it
 * @returns {number} milliseconds
 */
export function skewAfter(before, { date, asked, answered }) {
  if (!Number.isFinite(date) || answered < asked) return before; // our clock was set meanwhile
  const least = date - answered;
  const most = date + SECOND - asked;
  const isPossible = (/** @type {number} */ skew, /** @type {number} */ slack) => least - slack <= skew && skew <= most + slack;
  if (isPossible(0, AGREED_MS)) return 0;
  return isPossible(before, SECOND) ? before : Math.round((least + most) / 2);
}
