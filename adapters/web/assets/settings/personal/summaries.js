/** When chats are summarised, by model. */
import {html} from "../../ui.js";
import {api} from "../../wire/api.js";
import {Amount} from "../fields.js";
import {Form, useForm} from "../form.js";
import {Loaded, useLoaded} from "../loading.js";
import {Notice, Page} from "../page.js";
import {modelName} from "../catalogue.js";
import {counted} from "../words.js";

const THRESHOLDS = "/api/experimental/chats/config/user-compaction-thresholds";
const MODELS = "/api/experimental/chats/model-configs";

export function View() {
  const loaded = useLoaded(async () => {
    const [models, own] = await Promise.all([api.get(MODELS), api.get(THRESHOLDS)]);
    return { models: models.filter((/** @type {any} */ each) => each.enabled), own: own.thresholds };
  });
  return html`<${Page} title="Summaries" lead="When a chat fills this share of what the model can read, what was said is summarised and the chat goes on from there. You see the line where that was, and everything before it.">
    <${Loaded} of=${loaded}>${(/** @type {any} */ found) => found.models.length ? html`<${Thresholds} ...${found} />` : html`<${Notice}>There is no model yet.<//>`}<//>
  <//>`;
}

/** @param {{models: any[], own: {model_config_id: string, threshold_percent: number}[]}} props */
function Thresholds({ models, own }) {
  const saved = Object.fromEntries(own.map((each) => [each.model_config_id, each.threshold_percent]));
  const form = useForm(saved, (values) => saveAll(models, form, values));
  return html`<${Form} form=${form}>
    ${models.map((model) => html`<${Amount} key=${model.id} form=${form} name=${model.id} label=${modelName(model)} unit="%" min=${0} max=${100}
      placeholder="${model.compression_threshold}" help=${helpOf(model, form.get(model.id))} />`)}
  <//>`;
}

/** @param {any} model @param {number | undefined} percent */
function helpOf(model, percent) {
  const share = percent ?? model.compression_threshold;
  if (share === 100) return html`<b class="warn">Never summarised</b>: a chat that is full cannot go on.`;
  const tokens = Math.round((model.context_limit * share) / 100);
  return `At ${counted(tokens, "token")} of ${model.context_limit.toLocaleString("en")}${percent === undefined ? ", as the administrator has set it. Leave it empty to keep that." : ". Leave it empty for what the administrator has set."}`;
}

/**
 * Save each model that was changed; those that are refused stay marked, the others are saved.
 * @param {any[]} models @param {import("../form.js").FormState} form @param {any} values
 */
async function saveAll(models, form, values) {
  const faults = [], saved = { ...form.saved.peek() };
  for (const { id } of models.filter((each) => values[each.id] !== saved[each.id])) {
    try {
      if (values[id] === undefined) await api.del(`${THRESHOLDS}/${id}`);
      else await api.put(`${THRESHOLDS}/${id}`, { threshold_percent: values[id] });
      if (values[id] === undefined) delete saved[id];
      else saved[id] = values[id];
    } catch (error) {
      const { message, detail } = /** @type {any} */ (error);
      faults.push({ field: id, detail: detail || message });
    }
  }
  form.saved.value = saved;
  if (faults.length) throw { message: `${counted(faults.length, "model was", "models were")} not saved; the others are.`, validations: faults };
  return saved;
}
