// Text of any size in a card: the beginning of a long one, and all of it when it is asked for.

import { html, memo, useState } from "../../ui.js";
import { size } from "../words.js";

export const SHOWN_MAX = 32_000; // characters of a text at first
const MORE = 16; // times as much, with each further click

/** @param {{text: string, form?: string, label?: string}} props */
export const BigText = memo(({ text, form = "term plain", label }) => {
  const [most, setMost] = useState(SHOWN_MAX);
  const shown = text.length > most ? text.slice(0, most) : text;
  return html`<pre class=${form} tabindex="0" role=${label ? "region" : undefined} aria-label=${label}>${shown}</pre>
    ${text.length > most &&
    html`<button type="button" class="btn quiet more" onClick=${() => setMost(most * MORE)}>
      ${size(text.length - most)} more
    </button>`}`;
});

/** @param {unknown} text @param {number} [max] */
export const clipped = (text, max = 2000) => {
  const words = String(text ?? "");
  return words.length > max ? `${words.slice(0, max - 1)}…` : words;
};
