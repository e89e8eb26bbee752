// What is switched on for the chat, beside the model: each opens or takes back what it says.

import { html } from "../ui.js";
import { useWorkspace } from "../panel/workspaces.js";
import { icon } from "../shared/icons.js";
import { togglePlan } from "./plan.js";
import { policyOf } from "./policy_names.js";

/** @param {{place: import("./composer.js").Place, show: (page: "workspace" | "servers" | "policy") => void}} props */
export function Badges({ place, show }) {
  const { chat, desk, conversation } = place;
  const workspace = useWorkspace(conversation ? chat.value?.workspace_id : desk.fresh.value.workspace || undefined);
  const servers = (desk.fresh.value.servers ?? chat.value?.mcp_server_ids ?? []).length;
  const policy = policyOf(place);
  return html`<span class="badges">
    ${place.plan.value ? html`<button type="button" class="chip on" title="Plan first is on: switch it off" onClick=${() => togglePlan(place)}>Plan ${icon("x")}</button>` : null}
    ${workspace ? html`<button type="button" class="chip" title=${`Workspace ${workspace.name}, ${workspace.status}`} onClick=${() => show("workspace")}>${icon("box")}<span class="what">${workspace.name}</span></button>` : null}
    ${servers ? html`<button type="button" class="chip" title="Tool servers" onClick=${() => show("servers")}>${icon("plug")}<span class="num">${servers}</span></button>` : null}
    ${policy.id ? html`<button type="button" class="chip" title=${`Consent: ${policy.name}`} onClick=${() => show("policy")}>${icon("key")}${policy.short}</button>` : null}
  </span>`;
}
