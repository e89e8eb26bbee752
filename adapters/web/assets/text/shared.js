// What parts of a text that grows have in common. Pure.

/**
 * Return `next`, or `old` if it says the same; so with all that they are made of.
 * @template T
 * @param {T} old
 * @param {T} next
 * @returns {T}
 */
export function shared(old, next) {
  if (Object.is(old, next) || typeof old !== "object" || typeof next !== "object") return next;
  if (old === null || next === null || Array.isArray(old) !== Array.isArray(next)) return next;
  const before = /** @type {any} */ (old);
  const made = /** @type {any} */ (Array.isArray(next) ? [] : {});
  let isSame = Object.keys(before).length === Object.keys(next).length;
  for (const [name, value] of Object.entries(next)) {
    made[name] = shared(before[name], value);
    if (made[name] !== before[name]) isSame = false;
  }
  return isSame ? old : made;
}

/**
 * Return the place so many lines behind another one.
 * @param {string} text
 * @param {number} at
 * @param {number} lines
 */
export function skipLines(text, at, lines) {
  for (let left = lines; left > 0; left -= 1) at = text.indexOf("\n", at) + 1;
  return at;
}
