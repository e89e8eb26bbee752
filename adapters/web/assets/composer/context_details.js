// What is in the context, and making room in it.

import { html, useEffect, useSignal } from "../ui.js";
import { Popover } from "../shared/popover.js";
import { compact, sentence } from "./acts.js";
import { CostLine } from "./cost.js";
import { sizeText } from "./limits.js";
import { tokensText } from "./usage.js";

/** @typedef {import("./composer.js").Place} Place */

/** @param {{place: Place, full: import("./usage.js").Fullness, anchor: HTMLElement | null, close: () => void}} props */
export function ContextPopover({ place, full, anchor, close }) {
  const chat = useSignal(/** @type {any} */ (null));
  const said = useSignal("");
  const { conversation } = place;
  const act = async (/** @type {() => Promise<any>} */ ask, /** @type {string} */ failed) => {
    try {
      chat.value = await ask();
      said.value = "";
    } catch (error) {
      said.value = sentence(error, failed);
    }
  };
  useEffect(() => void act(conversation.refresh, "The context could not be read"), []);
  const summarise = () => {
    close();
    void compact(place);
  };
  return html`<${Popover} anchor=${anchor} label="Context" className="context" onClose=${close}>
    <div class="picker"><${Meter} full=${full} />
      <${Resources} context=${chat.value?.context} take=${() => act(conversation.takeContext, "Nothing was taken in")} />
      ${said.value ? html`<p class="err" role="alert">${said.value}</p>` : null}
      <${CostLine} conversation=${conversation} />
      <footer><button type="button" class="btn" disabled=${place.working.value} title=${place.working.value ? "Not while it works" : ""} onClick=${summarise}>Summarise now</button></footer>
    </div>
  <//>`;
}

/** @param {{full: import("./usage.js").Fullness}} props */
function Meter({ full: { used, limit, threshold, percent } }) {
  return html`<h4>Context</h4>
    <div class="gauge" role="img" aria-label=${`${percent ?? 0} percent`}>
      <i style=${{ width: `${Math.min(percent ?? 0, 100)}%` }}></i>
      ${threshold < 100 ? html`<b style=${{ left: `${threshold}%` }} title=${`Summarised at ${threshold} %`}></b>` : null}</div>
    <p class="num">${used === null ? "Not counted yet" : `${tokensText(used)} tokens`}<span class="dim"> of ${tokensText(limit)}${
      threshold < 100 ? ` · summarised at ${threshold} %` : " · never summarised by itself"}</span></p>`;
}

const KINDS = { instruction_file: "Instructions", skill: "Skills", mcp_config: "Servers of the workspace", mcp_server: "Servers of the workspace" };

/** @param {{context: any, take: () => void}} props */
function Resources({ context, take }) {
  if (!context) return null;
  /** @type {Map<string, any[]>} */
  const kinds = new Map();
  for (const resource of context.resources ?? []) {
    const title = KINDS[/** @type {keyof typeof KINDS} */ (resource.kind)] ?? "Other";
    kinds.set(title, [...(kinds.get(title) ?? []), resource]);
  }
  return html`
    ${context.error ? html`<p class="err">The workspace could not be read: ${context.error}</p>` : null}
    ${[...kinds].map(([title, resources]) => html`<h4 key=${title}>${title} <span class="dim num">${resources.length}</span></h4>
      <ul class="res">${resources.map((resource) => html`<${Resource} resource=${resource} />`)}</ul>`)}
    ${context.dirty ? html`<p class="stale">The files have changed since they were taken in. <button type="button" class="btn" onClick=${take}>Take in changes</button></p>` : null}`;
}

/** @param {{resource: any}} props */
function Resource({ resource }) {
  const name = resource.skill_name || resource.source.split("/").pop();
  const fault = resource.status === "ok" ? "" : `${resource.status}${resource.error ? `: ${resource.error}` : ""}`;
  const hint = fault || resource.skill_description || (resource.tools?.length ? resource.tools.map((/** @type {any} */ tool) => tool.name).join(", ") : resource.source);
  return html`<li title=${resource.source}><span class="what">${name}</span><span class="dim num">${resource.size_bytes ? sizeText(resource.size_bytes) : ""}</span>
    <small class=${fault ? "err" : "dim"}>${hint}</small></li>`;
}
