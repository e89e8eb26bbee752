/** The model that agents ask for advice. */
import {html} from "../../ui.js";
import {api} from "../../wire/api.js";
import {effortOptions, modelOptions} from "../catalogue.js";
import {Amount, Choice} from "../fields.js";
import {Form, useForm} from "../form.js";
import {Loaded, useLoaded} from "../loading.js";
import {Notice, Page} from "../page.js";

const ADVISOR = "/api/experimental/chats/config/advisor";
const MODELS = "/api/experimental/chats/model-configs";
const NIL = "00000000-0000-0000-0000-000000000000";

export function View() {
  const loaded = useLoaded(async () => {
    const [config, models] = await Promise.all([read(), api.get(MODELS)]);
    return { config, models };
  });
  return html`<${Page} title="Advisor" lead="A model that agents may ask when they are stuck. It reads what they have read, and uses no tools.">
    <${Loaded} of=${loaded}>${(/** @type {any} */ found) => found.config ? html`<${Config} ...${found} />` : html`<${Notice}>The advisor is switched off in this daemon. Start it with <code>PROMPTCORNER_EXPERIMENTS=chat-advisor</code> to switch it on.<//>`}<//>
  <//>`;
}

/** Return how it is set, or null if the daemon has no advisor. */
async function read() {
  const experiments = await api.get("/api/v2/experiments");
  return experiments.includes("chat-advisor") ? api.get(ADVISOR) : null;
}

/** @param {{config: any, models: any[]}} props */
function Config({ config, models }) {
  const { max_uses_per_run, max_output_tokens, model_config_id, reasoning_effort } = config;
  const saved = {
    max_uses_per_run: max_uses_per_run || undefined, max_output_tokens: max_output_tokens || undefined,
    model_config_id: model_config_id === NIL ? undefined : model_config_id, reasoning_effort,
  };
  const form = useForm(saved, async (values) => { await api.put(ADVISOR, { ...values, model_config_id: values.model_config_id ?? NIL }); });
  const efforts = effortOptions(models, form.get("model_config_id"));
  return html`<${Form} form=${form}>
    <div class="fields-2">
      <${Choice} form=${form} name="model_config_id" label="Model" options=${modelOptions(models)} none="the model of the chat" />
      ${efforts.length > 0 && html`<${Choice} form=${form} name="reasoning_effort" label="Effort" options=${efforts} none="as the model has it" />`}
    </div>
    <div class="fields-2">
      <${Amount} form=${form} name="max_uses_per_run" label="Asked at most" unit="times a turn" min=${0} placeholder="no limit" />
      <${Amount} form=${form} name="max_output_tokens" label="Longest advice" unit="tokens" min=${0} placeholder="16384" />
    </div>
  <//>`;
}
