// Rules by which a call, and others like it, need no more consent: shown, changed and written.

import { html, useState } from "../../ui.js";
import { Button } from "../controls.js";

const SCOPES = [["chat", "in this chat"], ["user", "in all chats of yours"]];

/** @param {{ask: any, at: any, cancel: () => void}} props */
export function RulesForm({ ask, at, cancel }) {
  const [rules, setRules] = useState(/** @type {string[]} */ ([...ask.suggested_rules]));
  const [scope, setScope] = useState("chat");
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState("");
  const send = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setBusy(true);
    setFault("");
    try {
      await at.do("approval.rules", { ask, rules: rules.map((rule) => rule.trim()).filter(Boolean), scope });
    } catch (error) {
      setFault(/** @type {any} */ (error)?.message ?? String(error));
      setBusy(false);
    }
  };
  const change = (/** @type {number} */ place) => (/** @type {any} */ event) =>
    setRules(rules.map((rule, at) => (at === place ? event.currentTarget.value : rule)));
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    cancel();
  };
  return html`<form class="by-rules" aria-label="Allow by a rule" onSubmit=${send} onKeyDown=${onKey}>
    <p class="in">Calls that ${rules.length === 1 ? "this rule covers" : "these rules cover"} run without a question. <span class="dim">A * at the end stands for any further words.</span></p>
    ${rules.map((rule, place) => html`<input key=${place} type="text" class="mono" aria-label=${rules.length === 1 ? "Rule" : `Rule ${place + 1}`} value=${rule} maxlength="600" spellcheck="false" onInput=${change(place)} />`)}
    <fieldset><legend class="sr">Where</legend>
      ${SCOPES.map(([value, label]) => html`<label key=${value}><input type="radio" name=${`scope ${ask.tool_call_id}`} checked=${scope === value} onChange=${() => setScope(value)} /> ${label}</label>`)}
    </fieldset>
    <footer><button class="btn main" disabled=${busy}>Allow by ${rules.length === 1 ? "this rule" : "these rules"}</button><${Button} label="Back" form="quiet" onClick=${cancel} /></footer>
    ${fault && html`<p class="in bad" role="alert">${fault}</p>`}
  </form>`;
}
