/** Models: names at providers, and how they are called. */
import {html, useState} from "../../ui.js";
import {icon} from "../../shared/icons.js";
import {api} from "../../wire/api.js";
import {modelName} from "../catalogue.js";
import {Loaded, useLoaded} from "../loading.js";
import {Notice, Page, Row, Rows, Tag} from "../page.js";
import {EditModel, NewModel} from "./model.js";
import {providerName} from "../vendors.js";

const MODELS = "/api/experimental/chats/model-configs";
const PROVIDERS = "/api/v2/ai/providers";
const HERE = "/admin/models";
const SEARCHED_FROM = 6; // with fewer models nobody needs a search

/** @param {{rest: string}} props */
export function View({ rest }) {
  const loaded = useLoaded(async () => {
    const [models, providers] = await Promise.all([api.get(MODELS), api.get(PROVIDERS)]);
    return { models, providers };
  });
  return html`<${Loaded} of=${loaded}>${(/** @type {any} */ found) => {
    if (rest === "new") return html`<${NewModel} ...${found} again=${loaded.again} />`;
    const model = found.models.find((/** @type {any} */ each) => each.id === rest);
    return rest ? html`<${EditModel} key=${rest} model=${model} ...${found} again=${loaded.again} />` : html`<${All} ...${found} />`;
  }}<//>`;
}

/** @param {{models: any[], providers: any[]}} props */
function All({ models, providers }) {
  const [words, setWords] = useState("");
  const fits = (/** @type {any} */ model) => `${modelName(model)} ${model.model}`.toLowerCase().includes(words.trim().toLowerCase());
  const canAdd = providers.some((each) => each.source !== "rehearsal");
  const act = canAdd && html`<a class="btn main" href="${HERE}/new">${icon("plus")} Add a model</a>`;
  return html`<${Page} title="Models" lead="What chats can ask, how much each can read, and with which options it is called." act=${act}>
    ${!canAdd && html`<${Notice} tone="wait">Before there can be a model there has to be a provider. <a href="/admin/providers/new">Add a provider</a><//>`}
    ${models.length >= SEARCHED_FROM && html`<input class="in" type="search" placeholder="Search" aria-label="Search models" value=${words} onInput=${(/** @type {any} */ event) => setWords(event.currentTarget.value)} />`}
    <${Rows} empty=${words ? "No model has that in its name." : "There is no model yet."}>
      ${models.filter(fits).map((model) => html`<${Row} key=${model.id} href="${HERE}/${model.id}" mark=${model.enabled ? "go still" : "off"} vendor=${vendorOfModel(model, providers)} title=${modelName(model)} tags=${tagsOf(model)} more=${moreOf(model, providers)} />`)}
    <//>
  <//>`;
}

/** @param {any} model @param {any[]} providers */
const vendorOfModel = (model, providers) => providers.find((each) => each.id === model.ai_provider_id)?.type ?? model.source;

/** @param {any} model */
function tagsOf(model) {
  return html`
    ${model.is_default && html`<${Tag} tone="on">default<//>`}
    ${model.warnings?.length > 0 && html`<${Tag} tone="wait">needs a look<//>`}
    ${!model.enabled && html`<${Tag}>switched off<//>`}
    ${model.source !== "database" && html`<${Tag}>${model.source === "environment" ? "from the environment" : "built in"}<//>`}`;
}

/** @param {any} model @param {any[]} providers */
function moreOf(model, providers) {
  const provider = providers.find((each) => each.id === model.ai_provider_id);
  const limit = `reads ${model.context_limit.toLocaleString("en")} tokens`;
  const efforts = model.reasoning_efforts?.length ? `effort up to ${model.reasoning_efforts.at(-1)}` : "";
  return [provider && providerName(provider), model.display_name ? model.model : "", limit, efforts].filter(Boolean).join(" · ");
}
