// What the commands of the chat have written, the newest first; and shells of one's own.

import { html, memo, useEffect, useLayoutEffect, useMemo, useRef, useSignal } from "../ui.js";
import { sizeText } from "../composer/limits.js";
import { run } from "../commands.js";
import { isMine } from "../list/acts.js";
import { icon } from "../shared/icons.js";
import { usePart } from "../shared/part.js";
import { AnsiText } from "../shared/ansi_text.js";
import { useLive } from "./live_process.js";
import { PastNote } from "./past_note.js";
import { processesOf } from "./processes_of.js";
import { Shells } from "./shells.js";
import { spanText, useClock } from "./spans.js";

/** @typedef {import("./processes_of.js").Process} Process */

const SHOWN_FIRST = 30; // commands; more are shown when they are asked for

/** @param {import("./panel.js").About} props */
export function Terminal({ conversation, past }) {
  const chat = usePart(conversation, (state) => state.chat);
  const commands = html`<${Commands} conversation=${conversation} past=${past} />`;
  if (!chat?.workspace_id || !isMine(chat)) return commands;
  return html`<${Shells} key=${chat.workspace_id} workspace=${chat.workspace_id}>${commands}<//>`;
}

/** @param {Pick<import("./panel.js").About, "conversation" | "past">} props */
function Commands({ conversation, past }) {
  const most = useSignal(SHOWN_FIRST);
  const asks = usePart(conversation, (state) => state.asks) ?? [];
  const processes = useMemo(() => processesOf(past.messages.value, asks).reverse(), [past.messages.value, asks]);
  useEffect(() => void past.read(), [past]);
  const running = processes.filter((process) => process.state === "running");
  const over = processes.filter((process) => process.state !== "running");
  const rest = over.length - most.value;
  return html`<div class="pbody procs">
    ${processes.length ? null : html`<p class="none">No command has been run in this chat.</p>`}
    ${running.length ? html`<h3>Running <span class="num">${running.length}</span></h3>` : null}
    ${running.map((process) => html`<${ProcessView} key=${process.key} chat=${conversation.id} process=${process} past=${past} first />`)}
    ${running.length && over.length ? html`<h3>Ended</h3>` : null}
    ${over.slice(0, most.value).map((process, index) => html`<${ProcessView} key=${process.key} process=${process} past=${past} first=${!running.length && !index} />`)}
    ${rest > 0 ? html`<p class="none"><button type="button" class="btn" onClick=${() => (most.value += SHOWN_FIRST * 2)}>Show ${Math.min(rest, SHOWN_FIRST * 2)} more of ${rest}</button></p>` : null}
    <${PastNote} past=${past} /></div>`;
}

const ProcessView = memo(
  /** @param {{process: Process, first: boolean, past: import("./past.js").Past, chat?: string}} props */
  function ProcessView({ process, first, past, chat }) {
    const open = useSignal(first);
    const running = process.state === "running";
    return html`<details class="proc" open=${open.value} onToggle=${(/** @type {any} */ event) => (open.value = event.currentTarget.open)}>
      <summary>${icon("chev")}<code class="what" title=${process.command}>${process.command.split("\n")[0]}</code>
        <span class="r num">${process.background ? html`<span class="tag">background</span>` : null}<${State} process=${process} />${running ? html`<${Running} process=${process} />` : process.ms ? html`<span>${spanText(process.ms)}</span>` : null}</span></summary>
      ${open.value ? html`<${Output} process=${process} past=${past} chat=${chat} />` : null}
    </details>`;
  },
);

/** @param {{process: Process}} props */
function State({ process: { state, exit } }) {
  if (state === "running") return html`<i class="cue go" role="img" aria-label="runs"></i>`;
  if (state === "asks") return html`<span class="ask">asks you</span>`;
  if (state === "failed") return html`<span class="bad">${exit !== null && exit >= 0 ? `exit ${exit}` : "failed"}</span>`;
  return exit === null ? null : html`<span>exit ${exit}</span>`;
}

/** @param {string} at */
const timeText = (at) => new Date(at).toLocaleTimeString([], { timeStyle: "short" });

/** How long it has run: its call counts on; of what runs beside the chat only the last word is known. @param {{process: Process}} props */
function Running({ process: { began, heard } }) {
  const now = useClock(!heard);
  return html`<span>${heard ? `since ${timeText(began)}` : spanText(now - Date.parse(began))}</span>`;
}

/** @param {{process: Process, past: import("./past.js").Past, chat?: string}} props */
function Output({ process: known, past, chat }) {
  const live = useLive(chat, known);
  const process = live ?? known;
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    const output = box.current?.querySelector(".term");
    if (output) output.scrollTop = output.scrollHeight;
  }, [process.output]);
  const more = process.command.includes("\n") ? process.command : "";
  return html`<div ref=${box}>${more ? html`<pre class="term cmd" tabindex="0">${more}</pre>` : null}
    ${process.output ? html`<${AnsiText} text=${process.output} label=${`Output of ${process.command}`} />` : html`<p class="none">${process.state === "running" ? "Nothing has been read of it." : process.state === "asks" ? "It has not begun." : "It has written nothing."}</p>`}
    ${process.cut ? html`<p class="none">The middle is left out here. <button type="button" class="link" onClick=${() => past.complete((message) => message.id === process.message)}>Show all of it (${sizeText(process.cut)})</button></p>` : null}
    ${process.note ? html`<p class=${`none${process.state === "failed" ? " err" : ""}`}>${process.note}</p>` : null}
    ${process.state === "running" && process.heard ? html`<p class="none dim">As it was at ${timeText(process.heard)}, when the chat last looked.</p>` : null}
    <p class="none acts">${process.workdir ? html`<span class="dim mono">${process.workdir}</span>` : null}<button type="button" class="link" onClick=${() => run("message.show", { call: process.key, message: process.message })}>Show in the chat</button></p></div>`;
}
