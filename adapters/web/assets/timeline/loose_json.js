// JSON that has not come to its end: what there is of it, with its open ends closed. Pure.

/**
 * Return the value of a beginning of JSON, or undefined if nothing can be made of it. A string that
 * has begun is there as far as it goes; a number, a name or a key that has only begun is left out.
 * @param {string} text
 * @returns {unknown}
 */
export function looseJson(text) {
  for (const make of [() => text, () => mended(text)]) {
    try {
      return JSON.parse(make());
    } catch {
      // a beginning, or nothing that can be read
    }
  }
  return undefined;
}

/** @param {string} text */
function mended(text) {
  const at = scanned(text);
  if (at.inString && !at.isKey) return `${whole(text)}"${at.closing}`;
  return text.slice(0, at.cut) + at.cutClosing;
}

/**
 * Read a text and remember the last place where it may be cut.
 * @param {string} text
 */
function scanned(text) {
  const at = { closing: "", cut: 0, cutClosing: "", inString: false, isKey: false, expectsKey: false };
  for (let i = 0; i < text.length; i++) {
    if (at.inString) i = skipped(at, text, i);
    else step(at, text[i], i);
  }
  return at;
}

/** @typedef {ReturnType<typeof scanned>} Scan */

/**
 * Go on inside a string, to its end or the text's.
 * @param {Scan} at
 * @param {string} text
 * @param {number} i
 */
function skipped(at, text, i) {
  for (; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === '"') {
      at.inString = false;
      if (!at.isKey) mark(at, i + 1);
      return i;
    }
  }
  return i;
}

/** @param {Scan} at @param {string} sign @param {number} i */
function step(at, sign, i) {
  if (sign === '"') {
    at.inString = true;
    at.isKey = at.expectsKey;
  } else if (sign === "{" || sign === "[") {
    at.closing = (sign === "{" ? "}" : "]") + at.closing;
    at.expectsKey = sign === "{";
    mark(at, i + 1);
  } else if (sign === "}" || sign === "]") {
    at.closing = at.closing.slice(1);
    mark(at, i + 1);
  } else if (sign === ",") {
    mark(at, i);
    at.expectsKey = at.closing[0] === "}";
  } else if (sign === ":") {
    at.expectsKey = false;
  }
}

/** @param {Scan} at @param {number} place */
function mark(at, place) {
  at.cut = place;
  at.cutClosing = at.closing;
}

/** @param {string} text that ends inside a string */
const whole = (text) => text.replace(/(^|[^\\])((?:\\\\)*)\\(u[0-9a-fA-F]{0,3})?$/, "$1$2");
