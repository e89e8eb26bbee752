// Text of a model: each block is made once, and only the last one of a text that grows again.

import { html, memo } from "../ui.js";

/** @param {{text: string, grows?: boolean}} props */
export const Prose = memo(({ text, grows = false }) => {
  const blocks = text.split(/\n{2,}/);
  return html`<div class="text">${blocks.map((block, i) => html`<p key=${i}>${block}${grows && i === blocks.length - 1 && html`<span class="caret"></span>`}</p>`)}</div>`;
});
