// Text of a model as it is read: each block is made once, and only the last one of a text that grows
// is made again.

import { html, memo, useState } from "../ui.js";
import { Markdown } from "../text/nodes.js";
import { CodeBlock } from "./code_view.js";

const SHOWN_MAX = 200_000; // characters; of a longer text the rest is shown when it is asked for

/** @param {{text: string, grows?: boolean}} props */
export const Prose = memo(({ text, grows = false }) => {
  const [isWhole, setWhole] = useState(false);
  const isCut = text.length > SHOWN_MAX && !isWhole && !grows;
  return html`<div class=${grows ? "text grows" : "text"}>
      <${Markdown} text=${isCut ? text.slice(0, SHOWN_MAX) : text} grows=${grows} Code=${CodeBlock} />
    </div>
    ${isCut && html`<button type="button" class="btn quiet more" onClick=${() => setWhole(true)}>Show the rest</button>`}`;
});
