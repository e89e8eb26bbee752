// Text of a model as it is read: each block is made once, and only the last one of a text that grows
// is made again.

import { html, memo } from "../ui.js";
import { Markdown } from "../text/nodes.js";
import { CodeBlock } from "./code_view.js";

/** @param {{text: string, grows?: boolean}} props */
export const Prose = memo(
  ({ text, grows = false }) => html`<div class=${grows ? "text grows" : "text"}>
    <${Markdown} text=${text} grows=${grows} Code=${CodeBlock} />
  </div>`,
);
