// What a command has written, in the colours that it asked for.

import { html } from "../ui.js";
import { ansiLines as linesOf } from "../text/ansi.js";

const LINES_MAX = 2000; // of an output; of a longer one the end is shown

/** @param {string} output */
export function ansiLines(output) {
  const lines = linesOf(output);
  const left = lines.length - LINES_MAX;
  const shown = left > 0 ? lines.slice(left) : lines;
  const note = left > 0 ? html`<span class="quiet">${left} lines above are not shown</span>${"\n"}` : null;
  return html`${note}${shown.map(
    (pieces, i) => html`${pieces.map(({ text, cls }) => (cls ? html`<span class=${cls}>${text}</span>` : text))}${i < shown.length - 1 ? "\n" : ""}`,
  )}`;
}
