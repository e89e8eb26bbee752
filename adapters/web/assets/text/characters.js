// Characters by names, as "&copy;". Those of HTML 4 are known at once; the table of all is loaded when
// a text has another name, and the texts are read once more. Pure.

import { characters } from "../vendor/markdown-it.js";

/** @type {Promise<void> | null} */
let loading = null;

/** Know all names. */
export function knowAll() {
  loading ??= import("../vendor/entities.js").then(({ decodeHTMLStrict }) => void (characters.decode = decodeHTMLStrict));
  loading.catch(() => (loading = null));
  return loading;
}

/** Call `known` once if a text has a name that is not known at first, and all names are known then. @param {() => void} known */
export function whenMissed(known) {
  characters.missed = () => void (loading ?? knowAll().then(known, () => {}));
}
