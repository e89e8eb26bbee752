// What the family of a chat may do without being asked again, and what was decided lately.

import { html, useEffect, useSignal } from "../ui.js";
import { api } from "../wire/api.js";

/** @param {{conversation: any, mine: boolean}} props */
export function Consent({ conversation, mine }) {
  const found = useSignal(/** @type {any} */ (null));
  const said = useSignal("");
  const read = () => api.get(`chats/${conversation.id}/approvals`).then((answer) => void (found.value = answer), () => {});
  useEffect(() => void read(), [conversation]);
  const again = async (/** @type {string} */ tool) => {
    try {
      await conversation.askAgain(tool);
      await read();
    } catch (error) {
      said.value = `Nothing was changed: ${/** @type {Error} */ (error).message}`;
    }
  };
  const { always = [], decided = [] } = found.value ?? {};
  if (!always.length && !decided.length) return null;
  return html`<section><h3>Consent</h3>
    ${always.map((/** @type {any} */ grant) => html`<p class="grant" key=${grant.tool_name}><span class="what"><b>${grant.tool_name}</b> <span class="dim">always allowed by ${grant.granted_by}</span></span>
      ${mine ? html`<button type="button" class="btn" onClick=${() => again(grant.tool_name)}>Ask again</button>` : null}</p>`)}
    ${decided.slice(0, 8).map((/** @type {any} */ one) => html`<p class="grant" key=${`${one.tool_call_id} ${one.decided_at}`}><span class="what">${one.tool_name} <span class="dim">${WORDS[/** @type {keyof typeof WORDS} */ (one.decision)] ?? one.decision} ${one.decided_by ? `by ${one.decided_by}` : "because the time was over"}${one.words ? `: ${one.words}` : ""}</span></span></p>`)}
    ${said.value ? html`<p class="err" role="alert">${said.value}</p>` : null}</section>`;
}

const WORDS = { allow_once: "allowed once", allow_always: "always allowed", deny: "denied" };
