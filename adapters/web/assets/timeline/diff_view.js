// Changes of a file, line by line.

import { html, memo } from "../ui.js";

/** @param {readonly {patch: string}[]} changes */
export function statisticsOf(changes) {
  let plus = 0, minus = 0;
  for (const { patch } of changes)
    for (const line of patch.split("\n")) {
      if (line.startsWith("+") && !line.startsWith("+++")) plus++;
      else if (line.startsWith("-") && !line.startsWith("---")) minus++;
    }
  return { plus, minus };
}

/** @param {{patch: string, path: string, grows: boolean}} props */
export const Diff = memo(({ patch }) => html`<pre class="term plain" tabindex="0">${patch}</pre>`);
