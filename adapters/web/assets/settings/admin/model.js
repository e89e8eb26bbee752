/** One model: added, changed, copied, removed. */
import {html, useEffect, useState} from "../../ui.js";
import {go} from "../../routes.js";
import {ask} from "../../shared/dialog.js";
import {api} from "../../wire/api.js";
import {modelName} from "../catalogue.js";
import {Amount, Choice, Switch, Text} from "../fields.js";
import {Form, useForm} from "../form.js";
import {Act, Notice, Page} from "../page.js";
import {changes} from "../values.js";
import {ModelOptions} from "./model_options.js";
import {providerName, vendorOf} from "../vendors.js";

const MODELS = "/api/experimental/chats/model-configs";
const HERE = "/admin/models";
const BACK = [HERE, "Models"];
const THRESHOLD = 70;

/** @param {{models: any[], providers: any[], again: () => Promise<void>}} props */
export function NewModel({ models, providers, again }) {
  const { copy, provider } = queried();
  const from = models.find((each) => each.id === copy);
  const usable = providers.filter((each) => each.source !== "rehearsal" && each.enabled);
  const first = from ? { ...valuesOf(from), display_name: `${modelName(from)} (copy)`, is_default: false } : {
    ai_provider_id: provider || usable[0]?.id, model: "", display_name: "", context_limit: undefined,
    compression_threshold: THRESHOLD, enabled: true, is_default: !models.some((each) => each.is_default),
  };
  const form = useForm(first, async (values) => {
    const made = await api.post(MODELS, values);
    await again();
    queueMicrotask(() => go(`${HERE}/${made.id}`));
  });
  return html`<${Page} title="Add a model" back=${BACK}>
    <${Form} form=${form} save="Add the model" always><${Fields} form=${form} providers=${usable} models=${models} /><//>
  <//>`;
}

/** @returns {{copy?: string, provider?: string}} what the address says of a new model */
function queried() {
  return Object.fromEntries(new URLSearchParams(location.search));
}

/** @param {{model: any, models: any[], providers: any[], again: () => Promise<void>}} props */
export function EditModel({ model, models, providers, again }) {
  if (!model) return html`<${Page} title="Model" back=${BACK}><${Notice}>There is no such model any more.<//><//>`;
  const lead = providers.filter((each) => each.id === model.ai_provider_id).map(providerName)[0];
  const isOurs = model.source === "database";
  return html`<${Page} title=${modelName(model)} lead=${lead} back=${BACK} act=${isOurs && html`<a class="btn" href="${HERE}/new?copy=${model.id}">Copy…</a>`}>
    ${model.warnings?.map((/** @type {string} */ words) => html`<${Notice} key=${words} tone="wait">${words}<//>`)}
    ${isOurs ? html`<${Stored} ...${{ model, models, providers, again }} />` : html`<${Notice}>${model.source === "environment" ? "This model comes from the environment of the daemon: it is changed there, or another one is added to its provider here." : "The rehearsal is built in."}<//>`}
  <//>`;
}

/** @param {{model: any, models: any[], providers: any[], again: () => Promise<void>}} props */
function Stored({ model, models, providers, again }) {
  const saved = valuesOf(model);
  const form = useForm(saved, async (values) => {
    const changed = changes(form.saved.peek(), values);
    const isBare = "model_config" in form.saved.peek() && !("model_config" in values);
    await api.patch(`${MODELS}/${model.id}`, isBare ? { ...changed, model_config: {} } : changed);
    void again();
  });
  const remove = async () => {
    if (!(await ask({ title: `Remove ${modelName(model)}?`, text: "Its chats go on with the default, if that is at the same provider.", yes: "Remove", danger: true }))) return;
    await api.del(`${MODELS}/${model.id}`);
    form.reset();
    go(HERE);
    await again();
  };
  return html`<${Form} form=${form} beside=${html`<span class="sp"></span><${Act} class="btn bad" run=${remove}>Remove<//>`}>
    <${Fields} form=${form} providers=${providers.filter((each) => each.source !== "rehearsal")} models=${models.filter((each) => each.id !== model.id)} wasDefault=${model.is_default} />
  <//>`;
}

/** @param {any} model */
function valuesOf({ ai_provider_id, model, display_name, context_limit, compression_threshold, enabled, is_default, model_config }) {
  return { ai_provider_id, model, display_name, context_limit, compression_threshold, enabled, is_default, ...(model_config && { model_config }) };
}

/** Return the models that a type of provider is known to have. @param {string | undefined} type @returns {any[]} */
function useKnown(type) {
  const [known, setKnown] = useState(/** @type {any[]} */ ([]));
  useEffect(() => {
    let isOver = !type;
    setKnown([]);
    if (type) api.get(`${MODELS}/known`, { type }).then((found) => isOver || setKnown(found), () => null);
    return () => { isOver = true; };
  }, [type]);
  return known;
}

/** Have name and limit follow the model, as long as nothing else was written there. @param {any} form @param {any[]} known */
function following(form, known) {
  const of = (/** @type {string} */ model) => known.find((each) => each.model === model.trim());
  return { ...form, set: (/** @type {string} */ name, /** @type {string} */ model) => {
    const before = of(form.get("model") ?? ""), now = of(model);
    form.set(name, model);
    if (!now) return;
    if (!form.get("context_limit") || form.get("context_limit") === before?.context_limit) form.set("context_limit", now.context_limit);
    if (!form.get("display_name") || form.get("display_name") === before?.display_name) form.set("display_name", now.display_name);
  } };
}

/** @param {{form: any, providers: any[], models: any[], wasDefault?: boolean}} props */
function Fields({ form, providers, models, wasDefault }) {
  const provider = providers.find((each) => each.id === form.get("ai_provider_id"));
  const known = useKnown(provider?.type);
  const there = models.filter((each) => each.ai_provider_id === provider?.id).map((each) => each.model);
  const names = known.map((each) => each.model).filter((each) => !there.includes(each));
  const family = vendorOf(provider?.type ?? "").family;
  return html`
    <${Choice} form=${form} name="ai_provider_id" label="Provider" options=${providers.map((each) => [each.id, providerName(each), each.enabled ? "" : "switched off"])} />
    <div class="fields-2">
      <${Text} form=${following(form, known)} name="model" label="Model" mono suggest=${names.length ? names : undefined} help="As the provider calls it." />
      <${Text} form=${form} name="display_name" label="Shown as" placeholder=${form.get("model")} />
    </div>
    <div class="fields-2">
      <${Amount} form=${form} name="context_limit" label="Reads at most" unit="tokens" min=${1} placeholder="200000" help="What fits into one call, the answer with it." />
      <${Amount} form=${form} name="compression_threshold" label="Summarise at" unit="%" min=${0} max=${100} help="Of that. 100: never." />
    </div>
    <${Switch} form=${form} name="enabled" label="On offer" help="Off: nobody can choose it, and chats with it go on with the default of the same provider." />
    <${Switch} form=${form} name="is_default" label="Default of this deployment" disabled=${wasDefault} help=${wasDefault ? "Make another model the default, and this one is it no more." : "New chats begin with it, unless their user has chosen another."} />
    <${ModelOptions} form=${form} family=${family} />`;
}
