// Characters by their names, as "&copy;". The names of HTML 4 are known at once. When a text has another
// one, the table of all names is loaded, and texts are read once more. Pure.

import { characters } from "../vendor/markdown-it.js";

/** @type {Promise<void> | null} */
let loading = null;

/** Load the table of all names. */
export function knowAll() {
  loading ??= import("../vendor/entities.js").then(({ decodeHTMLStrict }) => void (characters.decode = decodeHTMLStrict));
  loading.catch(() => (loading = null));
  return loading;
}

/** Load all names when a text has one that is not known, and call `known` then. @param {() => void} known */
export function whenMissed(known) {
  characters.missed = () => void (loading ?? knowAll().then(known, () => {}));
}
