/** Providers: the vendors' APIs with their keys. */
import {html} from "../../ui.js";
import {icon} from "../../shared/icons.js";
import {api} from "../../wire/api.js";
import {Loaded, useLoaded} from "../loading.js";
import {Notice, Page, Row, Rows, Tag} from "../page.js";
import {counted} from "../words.js";
import {EditProvider, NewProvider} from "./provider.js";
import {providerName, vendorOf} from "../vendors.js";

export const PROVIDERS = "/api/v2/ai/providers";
const MODELS = "/api/experimental/chats/model-configs";
const HERE = "/admin/providers";

/** @param {{rest: string}} props */
export function View({ rest }) {
  if (rest === "new") return html`<${NewProvider} />`;
  return rest ? html`<${EditProvider} key=${rest} id=${rest} />` : html`<${All} />`;
}

function All() {
  const loaded = useLoaded(async () => {
    const [providers, models] = await Promise.all([api.get(PROVIDERS), api.get(MODELS)]);
    return { providers, models };
  });
  const act = html`<a class="btn main" href="${HERE}/new">${icon("plus")} Add a provider</a>`;
  return html`<${Page} title="Providers" lead="The vendors that answer, and the keys with which they are asked. A change holds for the next call." act=${act}>
    <${Loaded} of=${loaded}>${(/** @type {any} */ found) => html`<${List} ...${found} />`}<//>
  <//>`;
}

/** @param {{providers: any[], models: any[]}} props */
function List({ providers, models }) {
  const isRehearsal = providers.every((each) => each.source === "rehearsal");
  return html`
    ${isRehearsal && html`<${Notice} tone="wait">There is no provider yet. A rehearsal answers every chat, offline; it goes away with the first provider that you add.<//>`}
    <${Rows} empty="There is no provider yet.">
      ${providers.map((each) => html`<${Row} key=${each.id} href="${HERE}/${each.id}" mark=${markOf(each)} vendor=${each.source === "rehearsal" ? "rehearsal" : each.type} title=${providerName(each)} tags=${tagsOf(each)} more=${moreOf(each, models)} />`)}
    <//>`;
}

/** @param {any} provider */
function markOf({ fault, enabled }) {
  return fault ? "bad" : enabled ? "go still" : "off";
}

/** @param {any} provider */
function tagsOf({ source, enabled, fault }) {
  return html`
    ${source === "environment" && html`<${Tag}>from the environment<//>`}
    ${source === "rehearsal" && html`<${Tag}>built in<//>`}
    ${!enabled && html`<${Tag}>switched off<//>`}
    ${fault && html`<${Tag} tone="bad">key cannot be used<//>`}`;
}

/** @param {any} provider @param {any[]} models */
function moreOf(provider, models) {
  const own = models.filter((each) => each.ai_provider_id === provider.id).length;
  const keys = provider.api_keys.length ? provider.api_keys.map((/** @type {any} */ key) => key.masked).join(", ") : "";
  return [vendorOf(provider.type).name, counted(own, "model"), keys].filter(Boolean).join(" · ");
}
