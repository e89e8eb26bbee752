// The word in which something is looked up while one types: `/` at the beginning, `@` anywhere. Pure.

/** @typedef {{sign: "/" | "@", word: string, from: number, to: number}} Lookup */

const WORD_MAX = 80; // characters behind the sign; a longer word looks nothing up

/**
 * Return what is being looked up at the caret, or null.
 * `/` counts at the beginning of a word, and not inside a path or an address; `@` likewise.
 * @param {string} text @param {number} caret
 * @returns {Lookup | null}
 */
export function lookupAt(text, caret) {
  const before = text.slice(Math.max(0, caret - WORD_MAX - 1), caret);
  const found = /(?:^|[\s(])([/@])([^\s/@]*)$/u.exec(before);
  if (!found) return null;
  const [, sign, word] = found;
  if (sign === "/" && !/^[\p{L}\p{N}_-]*$/u.test(word)) return null;
  const after = /^[^\s/@]*/u.exec(text.slice(caret))?.[0] ?? "";
  return { sign: /** @type {"/" | "@"} */ (sign), word, from: caret - word.length - 1, to: caret + after.length };
}

/**
 * Return the text with what was looked up replaced, and where the caret is then.
 * @param {string} text @param {Lookup} lookup @param {string} put
 */
export function replaced(text, lookup, put) {
  const rest = text.slice(lookup.to);
  const gap = put && !/^\s/.test(rest) ? " " : "";
  return { text: text.slice(0, lookup.from) + put + gap + rest, caret: lookup.from + put.length + gap.length };
}

/**
 * Return how well a name fits the words typed: 0 not at all, more is better.
 * @param {string} name @param {string} typed
 */
export function fit(name, typed) {
  const low = name.toLowerCase();
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return 1;
  let sum = 0;
  for (const word of words) {
    const at = low.indexOf(word);
    if (at < 0) return 0;
    sum += at === 0 ? 4 : /[\s/._-]/.test(low[at - 1]) ? 3 : 2;
  }
  return sum;
}

/**
 * Return those that fit, the best first; equally good ones stay in their order.
 * @template Item
 * @param {Item[]} items @param {string} typed @param {(item: Item) => string} nameOf @param {number} most
 */
export function fitting(items, typed, nameOf, most = 50) {
  return items
    .map((item) => ({ item, fits: fit(nameOf(item), typed) }))
    .filter(({ fits }) => fits > 0)
    .sort((one, other) => other.fits - one.fits)
    .slice(0, most)
    .map(({ item }) => item);
}
