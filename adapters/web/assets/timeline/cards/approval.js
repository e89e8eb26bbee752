// A call that a person has to allow: what it would do, and the three answers.

import { html, memo, useState } from "../../ui.js";
import { later } from "../../shared/later.js";
import { icon } from "../../shared/icons.js";
import { Countdown } from "../ticking.js";
import { timeOf } from "../calls.js";
import { Button } from "../controls.js";
import { clipped } from "./big_text.js";
import { generic } from "./generic.js";

/** @typedef {import("./frame.js").Card} Card @typedef {import("./frame.js").Call} Call */
/** @typedef {import("./frame.js").At} At */
/** @typedef {import("../calls.js").Approval} Approval */

const RulesForm = later(() => import("./approval_rules.js").then((module) => module.RulesForm));
const WORKSPACE = /^(execute|write_file|edit_files|read_file|attach_file|process_\w+)$/;

/** @param {Call} call @param {At} at */
function placeOf(call, at) {
  const asked = call.ask?.tool_name ?? call.name;
  if (asked.startsWith("start:")) return "starts a server of the workspace";
  if (asked.startsWith("workspace:")) return "a tool that the workspace brings along";
  if (WORKSPACE.test(call.name)) return "in the workspace";
  const { name } = at.server(call);
  return name ? `at ${name}` : "";
}

/** @param {Call} call @param {Card} card */
function questionOf(call, card) {
  if (call.ask?.tool_name.startsWith("start:")) return "May I start this server?";
  return card.question ?? "May I do this?";
}

/** @param {{call: Call, card: Card, at: At}} props */
export const Approval = memo(({ call, card, at }) => {
  const ask = /** @type {Approval} */ (call.ask);
  const question = questionOf(call, card);
  const isOther = ask.chat_id !== call.chat;
  const until = timeOf(ask.expires_at ?? undefined);
  return html`<section class="card ask" data-approval=${ask.tool_call_id} data-call=${call.key} aria-label=${question} tabindex="-1">
    <header>
      ${icon("key")}<b>${question}</b>
      <span class="r">${until !== null && html`denied in <${Countdown} until=${until} over="a moment" />`}</span>
    </header>
    ${isOther && html`<p class="in who"><a href=${`/c/${ask.chat_id}`}>${ask.chat_title || "An agent"}</a> asks this</p>`}
    ${call.intent && html`<p class="in">${clipped(call.intent)}</p>`}
    ${call.rewritten && html`<p class="in"><span class="tag">changed by a rule</span></p>`}
    ${(card.ask ?? generic.ask)?.(call, at)}
    ${at.readonly
      ? html`<footer class="quiet">Its owner decides.</footer>`
      : html`<${Answers} ask=${ask} at=${at} place=${placeOf(call, at)} />`}
  </section>`;
});

/** @param {{ask: Approval, at: At, place: string}} props */
function Answers({ ask, at, place }) {
  const draft = at.draft(`ask.${ask.tool_call_id}.${ask.requested_at}`);
  const [isDenying, setDenying] = useState(Boolean(draft.denying));
  const [isRuling, setRuling] = useState(false);
  const [busy, setBusy] = useState("");
  const [fault, setFault] = useState("");
  const decide = async (/** @type {string} */ decision, /** @type {string} */ words = "") => {
    setBusy(decision);
    setFault("");
    try {
      await at.do(`approval.${decision}`, { ask, words });
    } catch (error) {
      setFault(/** @type {any} */ (error)?.message ?? String(error));
      setBusy("");
    }
  };
  const isFirst = at.isFirst(ask);
  const turn = (/** @type {boolean} */ to) => setDenying((draft.denying = to));
  const note = fault && html`<p class="in bad" role="alert">${fault}</p>`;
  if (isRuling) return html`<${RulesForm} ask=${ask} at=${at} cancel=${() => setRuling(false)} />`;
  if (isDenying) return html`<${Denial} draft=${draft} decide=${decide} cancel=${() => turn(false)} busy=${busy} />${note}`;
  const button = (/** @type {string} */ decision, /** @type {string} */ label, /** @type {string} */ form, /** @type {string} */ keys) =>
    html`<${Button} label=${label} form=${form} keys=${isFirst ? keys : ""} disabled=${Boolean(busy)} onClick=${(/** @type {MouseEvent} */ event) => event.detail < 2 && decide(decision)} />`; // a double click decides once
  return html`<footer>
      ${button("allow", "Allow once", "main", "y")}${button("always", "Always in this chat", "", "a")}
      ${Boolean(ask.suggested_rules?.length) && html`<${Button} label="By rule…" disabled=${Boolean(busy)} onClick=${() => setRuling(true)} />`}
      <${Button} label="Deny…" form="bad deny" keys=${isFirst ? "n" : ""} disabled=${Boolean(busy)} onClick=${() => turn(true)} />
      <span class="meta">${place}</span>
    </footer>
    ${note}`;
}

/** @param {{draft: any, decide: (decision: string, words: string) => any, cancel: () => void, busy: string}} props */
function Denial({ draft, decide, cancel, busy }) {
  const send = (/** @type {Event} */ event) => {
    event.preventDefault();
    decide("deny", (draft.words ?? "").trim());
  };
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      cancel();
    }
  };
  return html`<form class="denial" onSubmit=${send} onKeyDown=${onKey}>
    <input
      type="text"
      aria-label="Why not, or what to do instead"
      placeholder="Why not, or what to do instead (may stay empty)"
      ref=${(/** @type {HTMLElement | null} */ field) => field && document.activeElement !== field && field.focus()}
      defaultValue=${draft.words ?? ""}
      onInput=${(/** @type {any} */ event) => (draft.words = event.currentTarget.value)}
      maxlength="2000"
    />
    <button class="btn bad" disabled=${Boolean(busy)}>Deny</button>
    <${Button} label="Back" form="quiet" onClick=${cancel} />
  </form>`;
}
