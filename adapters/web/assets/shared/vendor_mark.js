// The mark of a provider: letters in a ring, by its vendor. These are no logos: nothing foreign is drawn.

import { h } from "../ui.js";

/** @type {Record<string, string>} */
const LETTERS = {
  anthropic: "A", openai: "O", google: "G", openrouter: "R", vercel: "V", azure: "Az", bedrock: "B",
  "openai-compat": "C", rehearsal: "Re",
};

/** Return the letters of a vendor; one that is not known has its first. Pure. @param {string} type */
export const vendorLetters = (type) => LETTERS[type] ?? ([...type][0] ?? "?").toUpperCase();

/** Draw the mark of a vendor. It says nothing to a screen reader: the name stands beside it. @param {string} [type] */
export function vendorMark(type = "") {
  const letters = vendorLetters(type);
  return h("svg", { viewBox: "0 0 16 16", class: "vendor", "aria-hidden": "true", "data-vendor": type }, [
    h("circle", { cx: "8", cy: "8", r: "7" }),
    h("text", { x: "8", y: letters.length > 1 ? "10.5" : "11", "font-size": letters.length > 1 ? "7" : "8.5" }, letters),
  ]);
}
