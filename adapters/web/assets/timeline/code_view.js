// Code with the numbers of its lines.

import { html, memo } from "../ui.js";

/** @param {{text: string, path?: string, from?: number}} props */
export const CodeText = memo(({ text, path = "", from = 1 }) => html`<pre class="term plain" tabindex="0">${text}</pre>`);
