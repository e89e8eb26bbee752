// Deep equality of JSON values, so that what did not change can keep its identity. Pure.

/**
 * Return whether two JSON values say the same. A key that is undefined counts as absent.
 * @param {unknown} a
 * @param {unknown} b
 * @returns {boolean}
 */
export function same(a, b) {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const left = /** @type {Record<string, unknown>} */ (a);
  const right = /** @type {Record<string, unknown>} */ (b);
  const names = present(left);
  return names.length === present(right).length && names.every((n) => same(left[n], right[n]));
}

/**
 * Return `next`, or `old` if it says the same.
 * @template T
 * @param {T} old
 * @param {T} next
 * @returns {T}
 */
export function kept(old, next) {
  return same(old, next) ? old : next;
}

/**
 * Return the part of `next` behind the items that both begin with, and before those that both end with.
 * @template T
 * @param {readonly T[]} old
 * @param {readonly T[]} next
 */
export function between(old, next) {
  const most = Math.min(old.length, next.length);
  let first = 0;
  while (first < most && old[first] === next[first]) first += 1;
  let last = 0;
  while (last < most - first && old[old.length - 1 - last] === next[next.length - 1 - last]) last += 1;
  return next.slice(first, next.length - last);
}

/** @param {Record<string, unknown>} value */
function present(value) {
  return Object.keys(value).filter((name) => value[name] !== undefined);
}
