// What a command has written: its colours, held at its end while more comes.

import { html, memo, useCallback, useLayoutEffect, useMemo, useRef } from "../../ui.js";
import { ansiLines } from "../ansi_view.js";
import { lineCount } from "../words.js";
import { BigText, clipped } from "./big_text.js";

const LONG = 3; // lines of a command; a longer one is folded

/** @param {{command: string, output: string, running: boolean}} props */
export const Terminal = memo(({ command, output, running }) => {
  const { box, onScroll } = useStickToEnd(output);
  const lines = useMemo(() => ansiLines(output), [output]);
  return html`${lineCount(command) > 1 && html`<${LongCommand} command=${command} />`}
    ${(output || running) &&
    html`<pre class="term" tabindex="0" ref=${box} onScroll=${onScroll} aria-label="Output">
${lines}${running && html`<span class="caret"></span>`}</pre
    >`}
    ${!output && !running && html`<p class="in quiet">It wrote nothing.</p>`}`;
});

/** @param {{command: string}} props */
function LongCommand({ command }) {
  const lines = command.split("\n");
  if (lines.length <= LONG) return html`<${BigText} text=${command} />`;
  return html`<details class="long">
    <summary><code>${clipped(lines[0], 200)}</code> <span class="quiet">and ${lines.length - 1} more lines</span></summary>
    <${BigText} text=${command} />
  </details>`;
}

/**
 * Keep a box at its end as it grows, unless the user has scrolled up in it.
 * @param {unknown} grows
 */
export function useStickToEnd(grows) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const isFree = useRef(false);
  const onScroll = useCallback((/** @type {Event} */ event) => {
    const { scrollHeight, scrollTop, clientHeight } = /** @type {HTMLElement} */ (event.target);
    isFree.current = scrollHeight - scrollTop - clientHeight > 2;
  }, []);
  useLayoutEffect(() => {
    if (box.current && !isFree.current) box.current.scrollTop = box.current.scrollHeight;
  }, [grows]);
  return { box, onScroll };
}
