/** The models that a person has chosen for their own chats and agents. */
import {html} from "../../ui.js";
import {api} from "../../wire/api.js";
import {effortOptions, modelName, modelOptions} from "../catalogue.js";
import {Choice, Radios} from "../fields.js";
import {Form, useForm} from "../form.js";
import {Loaded, useLoaded} from "../loading.js";
import {Notice, Page, Section} from "../page.js";

const OVERRIDES = "/api/experimental/chats/config/user-personal-model-overrides";
const MODELS = "/api/experimental/chats/model-configs";
const CONTEXTS = /** @type {const} */ ([
  ["root", "New chats", "The model that a chat of yours begins with."],
  ["general", "Agents", "The model of agents that a chat gives work to."],
  ["explore", "Agents that look around", "The model of agents that only read."],
]);

export function View() {
  const loaded = useLoaded(async () => {
    const [overrides, models] = await Promise.all([api.get(OVERRIDES), api.get(MODELS)]);
    return { overrides, models };
  });
  return html`<${Page} title="Models" lead="Which model answers in your chats. The model of a single message is chosen where you write it.">
    <${Loaded} of=${loaded}>${(/** @type {any} */ found) => html`<${Choices} ...${found} again=${loaded.again} />`}<//>
  <//>`;
}

/** @param {{overrides: any, models: any[], again: () => Promise<void>}} props */
function Choices({ overrides, models, again }) {
  if (!overrides.enabled) return html`<${Notice}>Your administrators have not let users choose these models. In each message you can still choose among those on offer.<//>`;
  return CONTEXTS.map(([context, title, lead]) => html`<${Section} key=${context} title=${title} lead=${lead}>
    <${Override} context=${context} found=${overrides[context]} usual=${overrides.deployment_defaults[context]} models=${models} again=${again} />
  <//>`);
}

/** @param {{context: string, found: any, usual: any, models: any[], again: () => Promise<void>}} props */
function Override({ context, found, usual, models, again }) {
  const saved = { mode: found.mode, model_config_id: found.model_config_id || undefined, reasoning_effort: found.reasoning_effort };
  const form = useForm(saved, async (values) => {
    const isModel = values.mode === "model";
    await api.put(`${OVERRIDES}/${context}`, { mode: values.mode, model_config_id: isModel ? values.model_config_id : "", reasoning_effort: isModel ? values.reasoning_effort : "" });
    void again();
  });
  const isGone = found.model_config_id && !models.some((each) => each.id === found.model_config_id);
  const efforts = effortOptions(models, form.get("model_config_id"));
  return html`<${Form} form=${form}>
    ${found.is_malformed && html`<${Notice} tone="wait">What was stored here cannot be read any more, and does not count. Choose again.<//>`}
    ${isGone && html`<${Notice} tone="wait">The model that you chose is not on offer any more; what holds is the choice below it.<//>`}
    <${Radios} form=${form} name="mode" label="Use" bare options=${modes(context, usual, models)} />
    ${form.get("mode") === "model" && html`<div class="fields-2">
      <${Choice} form=${form} name="model_config_id" label="Model" options=${modelOptions(models)} none="Choose…" />
      ${efforts.length > 0 && html`<${Choice} form=${form} name="reasoning_effort" label="Effort" options=${efforts} none="as the model has it" />`}
    </div>`}
  <//>`;
}

/** @param {string} context @param {any} usual @param {any[]} models @returns {[string, string, string?][]} */
function modes(context, usual, models) {
  const chosen = models.find((each) => each.id === usual?.model_config_id);
  const first = /** @type {[string, string, string?]} */ (context === "root"
    ? ["chat_default", "The last one you used", "or the default of this deployment"]
    : ["chat_default", "The model of the chat"]);
  const deployment = /** @type {[string, string, string?]} */ (["deployment_default", "What the administrators have set", chosen ? modelName(chosen) : "nothing is set: the model of the chat"]);
  return [first, ...(context === "root" ? [] : [deployment]), ["model", "A model that I choose"]];
}
