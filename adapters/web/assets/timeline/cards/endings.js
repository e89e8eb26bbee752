// What stands below the last message of a chat that waits for somebody: consent that an agent asks
// for, a pause before the next attempt, an error and what can be done about it.

import "../../shared/more_icons.js";
import { html, memo, useState } from "../../ui.js";
import { icon } from "../../shared/icons.js";
import { callOf, timeOf } from "../calls.js";
import { Button } from "../controls.js";
import { faultOf, originWords, retryWords, STATUS_PAGES } from "../faults.js";
import { Countdown } from "../ticking.js";
import { Approval } from "./approval.js";
import { parsed } from "./asks.js";
import { cardOf } from "./table.js";

/** A call that an agent of this chat asks about. @param {{ask: import("../calls.js").Approval, at: any}} props */
export const ForeignAsk = memo(({ ask, at }) => {
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

/** @type {Record<import("../faults.js").Act, [string, (at: any, event: any) => any]>} */
const ACTS = {
  again: ["Try again", (at) => at.do("chat.retry")],
  model: ["Another model…", (at, event) => at.do("chat.retryWith", { at: event.currentTarget })],
  key: ["Change the key…", (at) => at.do("settings.keys")],
  compact: ["Summarise now", (at) => at.do("chat.compact")],
  edit: ["Edit the message", (at) => at.do("message.edit")],
  usage: ["Look at what was used", (at) => at.do("settings.usage")],
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
