// The output of a command, in the colours that it asked for.

import { html, memo, useMemo } from "../ui.js";
import { ansiLines } from "../text/ansi.js";

/** @param {{text: string, label: string}} props */
export const AnsiText = memo(function AnsiText({ text, label }) {
  const lines = useMemo(() => ansiLines(text), [text]);
  return html`<pre class="term" tabindex="0" role="region" aria-label=${label}>${lines.map((pieces) =>
    html`${pieces.map((piece) => (piece.cls ? html`<span class=${piece.cls}>${piece.text}</span>` : piece.text))}${"\n"}`)}</pre>`;
});
