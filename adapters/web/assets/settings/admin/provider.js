/** One provider: set up, changed, tried, removed. */
import {html} from "../../ui.js";
import {go} from "../../routes.js";
import {ask} from "../../shared/dialog.js";
import {icon} from "../../shared/icons.js";
import {api} from "../../wire/api.js";
import {Choice, Field, Switch, Text, fieldOf} from "../fields.js";
import {Form, useForm} from "../form.js";
import {Loaded, useLoaded} from "../loading.js";
import {Act, Notice, Page, Section} from "../page.js";
import {changes} from "../values.js";
import {when} from "../words.js";
import {Trial} from "./trial.js";
import {VENDORS, providerName, vendorOf} from "../vendors.js";

const PROVIDERS = "/api/v2/ai/providers";
const MODELS = "/api/experimental/chats/model-configs";
const HERE = "/admin/providers";
const BACK = [HERE, "Providers"];

export function NewProvider() {
  const first = { type: "anthropic", name: "anthropic", display_name: "", base_url: VENDORS.anthropic.url, enabled: true, key: "", settings: {} };
  const form = useForm(first, async ({ key, settings, ...values }) => {
    const aws = vendorOf(values.type).keys ? {} : { settings };
    const made = await api.post(PROVIDERS, { ...values, ...aws, ...(key.trim() && { api_keys: [key.trim()] }) });
    queueMicrotask(() => go(`${HERE}/${made.id}`));
  });
  const type = form.get("type"), vendor = vendorOf(type);
  return html`<${Page} title="Add a provider" back=${BACK}>
    <${Form} form=${form} save="Add the provider" always>
      <${Vendor} form=${form} />
      <div class="fields-2">
        <${Text} form=${form} name="name" label="Name" mono help="Lowercase words with hyphens. It cannot be changed later." />
        <${Text} form=${form} name="display_name" label="Shown as" placeholder=${vendor.name} />
      </div>
      <${Text} form=${form} name="base_url" label="Address" type="url" mono placeholder=${vendor.hint} />
      ${vendor.keys ? html`<${Text} form=${form} name="key" also=${["api_keys"]} label="Key" type="password" mono help=${type === "openai-compat" ? "If it wants one." : "It is stored encrypted, and never shown again."} />` : html`<${Aws} form=${form} />`}
      <${Switch} form=${form} name="enabled" label="Switched on" />
    <//>
  <//>`;
}

/** The kind of provider; what has not been changed by hand follows it. @param {{form: any}} props */
function Vendor({ form }) {
  const follow = { ...form, set: (/** @type {string} */ _, /** @type {string} */ type) => {
    const before = form.get("type");
    form.set("type", type);
    if (form.get("name") === before) form.set("name", type);
    if ([vendorOf(before).url, ""].includes(form.get("base_url"))) form.set("base_url", vendorOf(type).url);
  } };
  return html`<${Choice} form=${follow} name="type" label="Vendor" options=${Object.entries(VENDORS).map(([type, { name }]) => [type, name])} />`;
}

/** @param {{form: any, isSet?: boolean}} props */
function Aws({ form, isSet }) {
  return html`
    <${Text} form=${form} name="settings.region" label="Region" mono placeholder="us-east-1" />
    <div class="fields-2">
      <${Text} form=${form} name="settings.access_key" label="Access key" mono help=${isSet ? "Empty: the one that is stored stays." : "Empty: the credentials of the machine are used."} />
      <${Text} form=${form} name="settings.access_key_secret" label="Its secret" type="password" mono />
    </div>`;
}

/** @param {{id: string}} props */
export function EditProvider({ id }) {
  const loaded = useLoaded(async () => {
    const [provider, models] = await Promise.all([api.get(`${PROVIDERS}/${id}`), api.get(MODELS)]);
    return { provider, models: models.filter((/** @type {any} */ each) => each.ai_provider_id === provider.id) };
  });
  const provider = loaded.value.value?.provider;
  return html`<${Page} title=${provider ? providerName(provider) : "Provider"} lead=${provider && vendorOf(provider.type).name} back=${BACK}>
    <${Loaded} of=${loaded}>${(/** @type {any} */ found) => html`
      ${found.provider.fault && html`<${Notice} tone="bad">Its key cannot be used: ${found.provider.fault}<//>`}
      ${found.provider.source === "database" ? html`<${Stored} provider=${found.provider} again=${loaded.again} />` : html`<${Elsewhere} provider=${found.provider} />`}
      <${Section} title="Try it" lead="Asks one of its models for a word, in a chat of yours that is archived afterwards. It costs what a word costs.">
        <${Trial} models=${found.models} provider=${found.provider} />
      <//>`}<//>
  <//>`;
}

/** @param {{provider: any}} props */
function Elsewhere({ provider }) {
  if (provider.source === "rehearsal") return html`<${Notice}>The rehearsal is built in, and answers as long as there is no provider. It goes away by itself with the first one.<//>`;
  return html`<${Notice}>This provider comes from the environment of the daemon: it is changed there, and the daemon started again. Models can be added to it here.<//>
    <p class="set-fact"><span>Address</span> <code>${provider.base_url}</code></p>`;
}

/** @param {{provider: any, again: () => Promise<void>}} props */
function Stored({ provider, again }) {
  const { display_name, base_url, enabled, settings } = provider;
  const vendor = vendorOf(provider.type);
  const saved = { display_name, base_url, enabled, api_keys: provider.api_keys, key: "", ...(!vendor.keys && { settings: { region: settings?.region ?? "" } }) };
  const form = useForm(saved, async (values) => {
    await api.patch(`${PROVIDERS}/${provider.id}`, changed(saved, values));
    void again();
    return { ...values, key: "" };
  });
  const remove = async () => {
    const text = "Chats with its models cannot go on with them. Its keys and those of users are deleted.";
    if (!(await ask({ title: `Remove ${providerName(provider)}?`, text, yes: "Remove", danger: true }))) return;
    await api.del(`${PROVIDERS}/${provider.id}`);
    form.reset();
    go(HERE);
  };
  return html`<${Form} form=${form} beside=${html`<span class="sp"></span><${Act} class="btn bad" run=${remove}>Remove<//>`}>
    <${Text} form=${form} name="display_name" label="Shown as" placeholder=${vendor.name} />
    <${Text} form=${form} name="base_url" label="Address" type="url" mono placeholder=${vendor.hint} />
    ${vendor.keys ? html`<${Keys} form=${form} />` : html`<${Aws} form=${form} isSet />`}
    <${Switch} form=${form} name="enabled" label="Switched on" help="Off: its models are not on offer. Chats with them cannot go on until another model is chosen." />
  <//>`;
}

/** What a PATCH says. The first key is the one that is used, so a new one takes the place of all. @param {any} saved @param {any} values */
function changed(saved, { key, ...values }) {
  const { key: _, api_keys, ...rest } = changes(saved, { ...values, key });
  if (key.trim()) return { ...rest, api_keys: [{ api_key: key.trim() }] };
  return api_keys ? { ...rest, api_keys: api_keys.map((/** @type {any} */ each) => ({ id: each.id })) } : rest;
}

/** @param {{form: any}} props */
function Keys({ form }) {
  const { id, faults } = fieldOf({ form, name: "api_keys", label: "" });
  const keys = form.get("api_keys") ?? [];
  return html`<${Field} id="${form.id}-key" faults=${faults} label="Key" help=${keys.length ? "A new key takes the place of what is stored." : "It is stored encrypted, and never shown again."}>
    ${keys.length > 0 && html`<ul class="items">${keys.map((/** @type {any} */ key, /** @type {number} */ at) => html`<li class="item" key=${key.id}>
      <div class="item-main"><span class="item-text"><b class="mono">${key.masked}</b><small>added ${when(key.created_at)}${keys.length > 1 && (at ? ", not used" : ", used")}</small></span></div>
      <span class="item-side"><button type="button" class="ic" aria-label="Remove the key ${key.masked}" onClick=${() => form.set("api_keys", keys.filter((/** @type {any} */ other) => other !== key))}>${icon("trash")}</button></span>
    </li>`)}</ul>`}
    <input id="${form.id}-key" class="in mono" type="password" autocomplete="off" placeholder=${keys.length ? "New key" : ""} aria-describedby=${faults.length ? `${id}-fault` : undefined}
      value=${form.get("key")} onInput=${(/** @type {any} */ event) => form.set("key", event.currentTarget.value)} />
  <//>`;
}
