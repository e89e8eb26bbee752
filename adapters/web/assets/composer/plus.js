// "+": files, plan first, the workspace, servers of tools, consent.

import { html, useRef } from "../ui.js";
import { icon } from "../shared/icons.js";
import { later } from "../shared/later.js";
import { openMenu } from "../shared/menu.js";
import { attach } from "./attaching.js";
import { togglePlan } from "./plan.js";
import { policyOf } from "./policy_names.js";

/** @typedef {import("./composer.js").Place} Place */

const PAGES = {
  workspace: later(() => import("./workspace.js").then((module) => module.WorkspacePopover)),
  servers: later(() => import("./servers.js").then((module) => module.ServersPopover)),
  policy: later(() => import("./policy.js").then((module) => module.PolicyPopover)),
};

/** @typedef {import("../vendor/preact.js").Signal<"" | "workspace" | "servers" | "policy">} Page which of its pages is open */

/** @param {{place: Place, page: Page}} props */
export function PlusButton({ place, page }) {
  const button = useRef(/** @type {HTMLElement | null} */ (null));
  const files = useRef(/** @type {HTMLInputElement | null} */ (null));
  const menu = () => openMenu({ at: /** @type {HTMLElement} */ (button.current), label: "Add files and options", items: items(place, (to) => (page.value = to), () => files.current?.click()) });
  const chosen = (/** @type {any} */ event) => {
    attach(place.desk, event.currentTarget.files);
    event.currentTarget.value = "";
    place.desk.focus();
  };
  const Page = page.value ? PAGES[page.value] : null;
  return html`<button type="button" class="ic" ref=${button} aria-label="Add files and options" title="Add files and options" aria-haspopup="menu" onClick=${menu}>${icon("plus")}</button>
    <input type="file" multiple hidden ref=${files} onChange=${chosen} aria-label="Files to attach" />
    ${Page ? html`<${Page} place=${place} anchor=${button.current} close=${() => (page.value = "")} />` : null}`;
}

/** @param {Place} place @param {(page: keyof typeof PAGES) => void} show @param {() => void} pick */
function items(place, show, pick) {
  const child = Boolean(place.chat.peek()?.parent_chat_id);
  return [
    { label: "Attach files…", icon: "clip", run: pick },
    { label: "Plan first", icon: "plan", checked: place.plan.peek(), disabled: child ? "An agent does as its chat does." : false, run: () => togglePlan(place) },
    { label: "Workspace…", icon: "box", disabled: child ? "An agent works where its chat works." : false, run: () => show("workspace") },
    { label: "Tool servers…", icon: "plug", run: () => show("servers") },
    { label: `Consent: ${policyOf(place).short}…`, icon: "key", disabled: child ? "An agent asks as its chat does." : false, run: () => show("policy") },
  ];
}
