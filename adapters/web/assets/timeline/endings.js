// What stands below the last message: why nothing goes on, and what can be done about it.

import { html, memo, useComputed, useState } from "../ui.js";
import { icon } from "../shared/icons.js";
import { Approval } from "./cards/approval.js";
import { parsed } from "./cards/asks.js";
import { Button } from "./cards/frame.js";
import { cardOf } from "./cards/table.js";
import { callOf, timeOf } from "./calls.js";
import { faultOf, originWords, retryWords, STATUS_PAGES } from "./faults.js";
import { Countdown, Elapsed } from "./ticking.js";

/** @typedef {import("./timeline.js").Conversation} Conversation */

const OVERLOADED = new Set(["overloaded", "timeout"]);

/** @param {{conversation: Conversation, at: any}} props */
export function Endings({ conversation, at }) {
  const asks = useComputed(() => conversation.state.value.asks);
  const retry = useComputed(() => conversation.state.value.retry);
  const error = useComputed(() => conversation.state.value.error);
  const shown = useComputed(() => shownCalls(conversation.state.value));
  const foreign = asks.value.filter((ask) => !shown.value.has(ask.tool_call_id) || ask.chat_id !== conversation.id);
  return html`${foreign.map((ask) => html`<${ForeignAsk} key=${`${ask.chat_id}.${ask.tool_call_id}`} ask=${ask} at=${at} />`)}
    ${retry.value && html`<${Retry} retry=${retry.value} at=${at} />`}
    ${error.value && html`<${Failed} error=${error.value} at=${at} />`}
    <${Now} conversation=${conversation} at=${at} />`;
}

/** The ids of calls that stand in the messages themselves. @param {any} state */
function shownCalls(state) {
  const last = state.messages.findLast((/** @type {any} */ each) => each.role === "assistant");
  const parts = [...(last?.content ?? []), ...(state.live?.parts ?? [])];
  return new Set(parts.filter((part) => part.type === "tool-call").map((part) => part.tool_call_id));
}

/** A call that an agent of this chat asks about. @param {{ask: import("./calls.js").Approval, at: any}} props */
const ForeignAsk = memo(({ ask, at }) => {
  const part = { type: "tool-call", tool_call_id: ask.tool_call_id, tool_name: nameOf(ask), args: parsed(ask.args), created_at: ask.requested_at };
  const call = callOf(`ask.${ask.chat_id}.${ask.tool_call_id}`, part, undefined, {
    chat: at.chat, isOpen: true, isLive: false, asks: new Map([[ask.tool_call_id, ask]]), waits: new Set(), after: "", latest: true,
  });
  return html`<${Approval} call=${call} card=${cardOf(call.name)} at=${at} />`;
});

/** @param {{tool_name: string}} ask */
const nameOf = (ask) => ask.tool_name.replace(/^(workspace|start):/, "");

/** @param {{retry: any, at: any}} props */
export const Retry = memo(({ retry, at }) => {
  const until = timeOf(retry.retrying_at) ?? 0;
  const page = retry.kind === "overloaded" && STATUS_PAGES[retry.provider ?? ""];
  return html`<section class="retry ending" aria-label="It is tried again">
    <span><b>${retryWords(retry)}</b> Attempt ${retry.attempt + 1} in <b><${Countdown} until=${until} over="a moment" /></b></span>
    <small>${originWords(retry)}${page && html` · <a href=${page} target="_blank" rel="noopener noreferrer">their status</a>`}</small>
    ${!at.readonly &&
    html`<span class="r">
      <${Act} label="Try now" run=${() => at.do("chat.retry")} />
      <${Act} label="Another model…" run=${(/** @type {any} */ event) => at.do("chat.retryWith", { at: event.currentTarget })} />
    </span>`}
  </section>`;
});

/** A button that says in its place what went wrong. @param {{label: string, form?: string, run: (event: any) => any}} props */
export function Act({ label, form = "", run }) {
  const [fault, setFault] = useState("");
  const [busy, setBusy] = useState(false);
  const onClick = async (/** @type {any} */ event) => {
    setBusy(true);
    setFault("");
    try {
      await run(event);
    } catch (error) {
      setFault(/** @type {any} */ (error)?.message ?? String(error));
    }
    setBusy(false);
  };
  return html`<${Button} label=${label} form=${form} disabled=${busy} onClick=${onClick} />${fault && html`<span class="bad" role="alert">${fault}</span>`}`;
}

/** @type {Record<import("./faults.js").Act, [string, (at: any, event: any) => any]>} */
const ACTS = {
  again: ["Try again", (at) => at.do("chat.retry")],
  model: ["Another model…", (at, event) => at.do("chat.retryWith", { at: event.currentTarget })],
  key: ["Change the key…", (at) => at.do("settings.keys")],
  compact: ["Summarise now", (at) => at.do("chat.compact")],
  edit: ["Edit the message", (at) => at.do("message.edit")],
  usage: ["Look at what was used", (at) => at.do("panel.show", { tab: "summary" })],
};

/** @param {{error: any, at: any}} props */
export const Failed = memo(({ error, at }) => {
  const fault = faultOf(error);
  const [isOpen, setOpen] = useState(false);
  const details = [error.message, error.detail].filter(Boolean).join("\n\n");
  const report = JSON.stringify({ chat: at.chat, ...error }, null, 2);
  return html`<section class="card bad ending" aria-label=${fault.title} tabindex="-1">
    <header>${icon("x")}<b>${fault.title}</b><span class="r">${originWords(error)}</span></header>
    <div class="in">${fault.sentence}</div>
    ${isOpen && html`<pre class="error" tabindex="0">${details}</pre>`}
    <footer>
      ${!at.readonly && fault.acts.map((name, i) => html`<${Act} key=${name} label=${ACTS[name][0]} form=${i ? "" : "main"} run=${(/** @type {any} */ event) => ACTS[name][1](at, event)} />`)}
      ${details && html`<${Button} form="quiet" label=${isOpen ? "Hide details" : "Details"} onClick=${() => setOpen(!isOpen)} />`}
      ${isOpen && html`<${Button} form="quiet" label="Copy for a report" onClick=${() => at.do("copy", { text: report })} />`}
    </footer>
  </section>`;
});

/** One quiet line that says what goes on when nothing else does. @param {{conversation: Conversation, at: any}} props */
function Now({ conversation, at }) {
  const words = useComputed(() => nowWords(conversation.state.value, conversation.line.value));
  if (!words.value) return null;
  const { text, light, since } = words.value;
  return html`<p class="now"><i class=${`cue ${light}`}></i><span>${text}</span>${since ? html`<${Elapsed} since=${since} />` : ""}</p>`;
}

/** @param {any} state @param {any} line */
function nowWords(state, line) {
  if (line.state === "broken" && state.live) return { text: "The connection is broken; it goes on when it is back.", light: "ask" };
  if (state.status === "interrupting") return { text: "Stopping…", light: "ask" };
  if (state.status !== "running" || state.retry || state.error) return null;
  if (state.chat?.queued_for_capacity) return { text: "Waits for a place: other chats are at work.", light: "ask" };
  if (state.live) return null;
  const last = state.messages.at(-1);
  const waits = state.messages.findLast((/** @type {any} */ each) => each.role === "assistant");
  if (last && waits && last === waits && last.content.some((/** @type {any} */ part) => part.type === "tool-call")) return null;
  return { text: "Works…", light: "go", since: null };
}

