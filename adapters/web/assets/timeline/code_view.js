// Code: blocks in answers, and files that were read. Colours come when they are ready.

import { h, html, memo, useEffect, useRef, useState } from "../ui.js";
import { run } from "../commands.js";
import { whenIdle } from "../kernel/idle.js";
import { icon } from "../shared/icons.js";
import { size } from "./words.js";

/** @typedef {{text: string, cls: string}} Piece */

const QUIET_MS = 500; // without more of a block that is not complete; then it is coloured all the same
const LETTERS = 160; // a line may have on the average
const LINES_FIRST = 400; // of a text; the rest is shown when it is asked for

/**
 * Return the coloured lines of a text as soon as they are there, else none.
 * @param {string} text
 * @param {string} name a language, or a file's name
 * @param {boolean} grows
 * @returns {readonly Piece[][] | null}
 */
function useColours(text, name, grows) {
  const [found, setFound] = useState({ text: "", lines: /** @type {readonly Piece[][] | null} */ (null) });
  const kept = useRef(/** @type {import("../text/code.js").Colours | null} */ (null));
  useEffect(() => {
    let isOver = false;
    const show = (/** @type {readonly Piece[][] | null} */ lines) => void (isOver || setFound({ text, lines }));
    const pause = () => new Promise((/** @type {(value: void) => void} */ go, stop) => void whenIdle(() => (isOver ? stop() : go())));
    const colour = async () => {
      const { Colours } = await import("../text/code.js"); // loaded with the first code
      if (kept.current?.name !== name) kept.current = new Colours(name);
      show(await kept.current.of(text, pause, show));
    };
    const timer = setTimeout(() => void colour().catch(() => {}), grows ? QUIET_MS : 0);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [text, name, grows]);
  if (found.text === text) return found.lines;
  return found.lines && text.startsWith(found.text) ? found.lines.slice(0, -1) : null; // the last line goes on
}

/** A line in colours. @param {{pieces: readonly Piece[]}} props */
const Coloured = memo(({ pieces }) => pieces.map((/** @type {Piece} */ { text, cls }) => (cls ? html`<span class=${cls}>${text}</span>` : text)));

/**
 * Lines of code; with numbers a grid of two columns, of which only the text is copied.
 * @param {{text: string, name: string, from?: number, grows?: boolean, wraps?: boolean}} props
 */
const Lines = memo(({ text, name, from = 0, grows = false, wraps = false }) => {
  const colours = useColours(text, name, grows);
  const [most, setMost] = useState(LINES_FIRST);
  const lines = (text.length > most * LETTERS ? text.slice(0, most * LETTERS) : text).split("\n");
  const shown = lines.slice(0, grows ? lines.length : most);
  const left = text.length - shown.reduce((/** @type {number} */ sum, /** @type {string} */ line) => sum + line.length + 1, -1);
  const lineAt = (/** @type {number} */ i) => (colours?.[i] ? h(Coloured, { pieces: colours[i] }) : shown[i]);
  const form = `source${wraps ? " wraps" : ""}${from ? " numbered" : ""}`;
  return html`<pre class=${form} tabindex="0"><code>${
      from || colours
        ? shown.map((/** @type {string} */ _, /** @type {number} */ i) => html`${from ? html`<span class="no" data-no=${from + i}></span>` : null}${lineAt(i)}${i < shown.length - 1 ? "\n" : ""}`)
        : shown.join("\n")
    }</code></pre>
    ${left > 0 &&
    html`<button type="button" class="btn quiet more" onClick=${() => setMost(most * 8)}>${size(left)} more</button>`}`;
});

/** A file, or a part of one. @param {{text: string, path?: string, from?: number}} props */
export const CodeText = memo(({ text, path = "", from = 1 }) =>
  html`<${Lines} text=${text.replace(/\n$/, "")} name=${path} from=${from} />`,
);

/** A block of code in an answer. @param {{block: import("../text/blocks.js").Block}} props */
export const CodeBlock = memo(({ block }) => {
  const { text, language, open } = block;
  const [wraps, setWraps] = useState(false);
  const [isNumbered, setNumbered] = useState(false);
  const body = text.replace(/\n$/, "");
  return html`<figure class="code">
    <figcaption>
      <span>${language || "text"}</span>
      <span class="r">
        <${Toggle} sign="list" label="Line numbers" isOn=${isNumbered} onClick=${() => setNumbered(!isNumbered)} />
        <${Toggle} sign="wrap" label="Wrap long lines" isOn=${wraps} onClick=${() => setWraps(!wraps)} />
        <button type="button" class="ic sm" aria-label="Copy the code" title="Copy the code" onClick=${() => run("copy", { text: body })}>${icon("copy")}</button>
      </span>
    </figcaption>
    <${Lines} text=${body} name=${language} from=${isNumbered ? 1 : 0} grows=${open} wraps=${wraps} />
  </figure>`;
});

/** @param {{sign: string, label: string, isOn: boolean, onClick: () => void}} props */
const Toggle = ({ sign, label, isOn, onClick }) =>
  html`<button type="button" class="ic sm" aria-pressed=${isOn} aria-label=${label} title=${label} onClick=${onClick}>${icon(sign)}</button>`;
