// Consent in this chat: which calls a person is asked about.

import { html, useCallback } from "../ui.js";
import { Picker } from "../shared/combobox.js";
import { Popover } from "../shared/popover.js";
import { patch } from "./acts.js";
import { POLICIES, policyOf } from "./policy_names.js";

/** @typedef {import("./composer.js").Place} Place */

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
