// Consent in this chat: which calls a person is asked about.

import { html, useCallback } from "../ui.js";
import { Picker } from "../shared/combobox.js";
import { Popover } from "../shared/popover.js";
import { patch } from "./acts.js";

/** @typedef {import("./composer.js").Place} Place */

const POLICIES = [
  { id: "", short: "as the deployment says", name: "As the deployment says", hint: "Its rules and its own choice" },
  { id: "ask", short: "ask me", name: "Ask me", hint: "Before every call that changes something" },
  { id: "allow", short: "allow", name: "Allow", hint: "Nothing is asked that the rules do not ask about" },
  { id: "deny", short: "deny", name: "Deny", hint: "What would be asked is refused at once" },
];

/** @param {Place} place */
export function policyOf({ conversation, desk }) {
  const id = conversation ? conversation.state.value.chat?.approval_policy ?? "" : desk.fresh.value.policy;
  return POLICIES.find((policy) => policy.id === id) ?? POLICIES[0];
}

/** @param {{place: Place, anchor: HTMLElement | null, close: () => void}} props */
export function PolicyPopover({ place, anchor, close }) {
  const now = policyOf(place).id;
  const groups = useCallback(() => [{ title: "Consent in this chat", items: POLICIES.map((policy) => ({ ...policy, checked: policy.id === now })) }], [now]);
  const pick = (/** @type {{id: string}} */ { id }) => {
    if (place.conversation) void patch(place, { approval_policy: id });
    else place.desk.fresh.value = { ...place.desk.fresh.peek(), policy: id };
    close();
  };
  return html`<${Popover} anchor=${anchor} label="Consent" onClose=${close}>
    <${Picker} label="Consent" groups=${groups} onPick=${pick} search=${false} />
  <//>`;
}
