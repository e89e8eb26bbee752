/** The models of agents, titles and summaries, and what users may choose of that. */
import {html} from "../../ui.js";
import {api} from "../../wire/api.js";
import {effortOptions, modelOptions} from "../catalogue.js";
import {Choice, Switch} from "../fields.js";
import {Form, useForm} from "../form.js";
import {Loaded, useLoaded} from "../loading.js";
import {Notice, Page, Section} from "../page.js";

const CONFIG = "/api/experimental/chats/config";
const MODELS = "/api/experimental/chats/model-configs";
const CONTEXTS = /** @type {const} */ ([
  ["general", "Agents", "Those that a chat gives work to."],
  ["explore", "Agents that look around", "Those that only read."],
  ["title_generation", "Titles", "And the labels of turns in the list of chats."],
  ["compaction", "Summaries", "Of chats that fill what their model can read."],
]);

export function View() {
  const loaded = useLoaded(async () => {
    const [models, own, ...overrides] = await Promise.all([
      api.get(MODELS), api.get(`${CONFIG}/personal-model-overrides`),
      ...CONTEXTS.map(([context]) => api.get(`${CONFIG}/model-override/${context}`)),
    ]);
    return { models, own, overrides };
  });
  return html`<${Page} title="Agents and titles" lead="Which models do the work beside a chat's own. Where none is set, the chat's own model does it. A model of another provider is asked only if you set it here.">
    <${Loaded} of=${loaded}>${(/** @type {any} */ found) => html`
      ${CONTEXTS.map(([context, title, lead], at) => html`<${Section} key=${context} title=${title} lead=${lead}><${Override} found=${found.overrides[at]} models=${found.models} /><//>`)}
      <${Section} title="Users' own choice"><${Allowed} found=${found.own} /><//>`}<//>
  <//>`;
}

/** @param {{found: any, models: any[]}} props */
function Override({ found, models }) {
  const saved = { model_config_id: found.model_config_id || undefined, reasoning_effort: found.reasoning_effort };
  const form = useForm(saved, async ({ model_config_id = "", reasoning_effort = "" }) => {
    await api.put(`${CONFIG}/model-override/${found.context}`, { model_config_id, reasoning_effort: model_config_id && reasoning_effort });
  });
  const id = form.get("model_config_id"), efforts = effortOptions(models, id);
  const options = id && !models.some((each) => each.id === id) ? [...modelOptions(models), [id, "a model that is not there any more"]] : modelOptions(models);
  return html`<${Form} form=${form}>
    ${found.is_malformed && html`<${Notice} tone="wait">What was stored here cannot be read any more, and does not count. Choose again.<//>`}
    <div class="fields-2">
      <${Choice} form=${form} name="model_config_id" label="Model" options=${options} none="the model of the chat" />
      ${efforts.length > 0 && html`<${Choice} form=${form} name="reasoning_effort" label="Effort" options=${efforts} none="as the model has it" />`}
    </div>
  <//>`;
}

/** @param {{found: {allow_users: boolean}}} props */
function Allowed({ found }) {
  const form = useForm(found, async (values) => { await api.put(`${CONFIG}/personal-model-overrides`, values); });
  return html`<${Form} form=${form}>
    <${Switch} form=${form} name="allow_users" label="Users may choose models for their own new chats and agents" help="Off: what they have chosen does not count, and is kept." />
  <//>`;
}
