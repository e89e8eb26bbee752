/** One server of tools: set up, changed, removed, and whose chats may use it. */
import {html, useEffect} from "../../ui.js";
import {go} from "../../routes.js";
import {ask} from "../../shared/dialog.js";
import {api} from "../../wire/api.js";
import {Choice, Switch, Text} from "../fields.js";
import {Form, useForm} from "../form.js";
import {List} from "../lists.js";
import {Loaded, useLoaded} from "../loading.js";
import {Act, Notice, Page, Section} from "../page.js";
import {LogIn, onReturn, serversPath} from "../personal/servers.js";
import {changes} from "../values.js";
import {Authorization} from "./server_auth.js";
import {AccessList} from "./server_access.js";

const HERE = "/admin/servers";
const BACK = [HERE, "Tool servers"];
const AVAILABILITIES = [["default_off", "in chats that switch it on"], ["default_on", "in new chats, and can be switched off"], ["force_on", "always, in every chat"]];
const SEALED = { oauth2_client_secret: "", api_key_value: "", headers: [] };
const NEW = {
  display_name: "", slug: "", description: "", transport: "streamable_http", url: "", auth_type: "none", tool_allow_list: [],
  tool_deny_list: [], availability: "default_off", enabled: true, model_intent: false, allow_in_plan_mode: false,
  forward_coder_headers: false, api_key_header: "", oauth2_client_id: "", oauth2_auth_url: "", oauth2_token_url: "",
  oauth2_revocation_url: "", oauth2_scopes: "", ...SEALED,
};

export function NewServer() {
  const form = useForm(NEW, async (values) => {
    const made = await api.post(serversPath(), written(values, Object.keys(values)));
    queueMicrotask(() => go(`${HERE}/${made.id}`));
  });
  return html`<${Page} title="Add a tool server" back=${BACK}>
    <${Form} form=${form} save="Add the server"><${Fields} form=${form} isNew /><//>
  <//>`;
}

/**
 * Return what a request says: fields that were named, secrets only where there are any.
 * @param {any} values @param {string[]} names
 */
function written(values, names) {
  const { oauth2_client_secret, api_key_value, headers, ...plain } = values;
  const said = Object.fromEntries(Object.entries(plain).filter(([name]) => names.includes(name)));
  const pairs = /** @type {[string, string][]} */ (headers).filter(([name]) => name.trim()).map(([name, value]) => [name.trim(), value]);
  return {
    ...said,
    ...(oauth2_client_secret && { oauth2_client_secret }),
    ...(api_key_value && { api_key_value }),
    ...(pairs.length && { custom_headers: Object.fromEntries(pairs) }),
  };
}

/** @param {{id: string}} props */
export function EditServer({ id }) {
  const loaded = useLoaded(() => api.get(`${serversPath()}/${id}`));
  useEffect(() => onReturn(loaded.again), []);
  const server = loaded.value.value;
  return html`<${Page} title=${server?.display_name ?? "Tool server"} lead=${server?.description} back=${BACK}>
    <${Loaded} of=${loaded}>${(/** @type {any} */ found) => html`
      ${found.fault && html`<${Notice} tone="bad">It could not be used the last time: ${found.fault}<//>`}
      ${found.auth_type === "oauth2" && html`<${Notice} tone=${found.auth_connected ? "go" : "wait"}><span class="set-acts">${found.auth_connected ? "You are logged in at this server." : "You are not logged in at this server; every user logs in for themselves."}<span class="sp"></span><${LogIn} server=${found} again=${loaded.again} /></span><//>`}
      <${Stored} server=${found} again=${loaded.again} />
      <${Section} title="Whose chats may use it" lead="Everybody, or those that you name."><${AccessList} server=${found} /><//>`}<//>
  <//>`;
}

/** @param {{server: any, again: () => Promise<void>}} props */
function Stored({ server, again }) {
  const saved = { ...NEW, ...Object.fromEntries(Object.keys(NEW).filter((name) => name in server).map((name) => [name, server[name]])) };
  const path = `${serversPath()}/${server.id}`;
  const form = useForm(saved, async (values) => {
    await api.patch(path, written(values, Object.keys(changes(form.saved.peek(), values))));
    void again();
    return { ...values, ...SEALED };
  });
  const remove = async () => {
    if (!(await ask({ title: `Remove ${server.display_name}?`, text: "Chats lose its tools with their next turn. What users logged in with is forgotten.", yes: "Remove", danger: true }))) return;
    await api.del(path);
    form.reset();
    go(HERE);
  };
  return html`<${Form} form=${form} beside=${html`<span class="sp"></span><${Act} class="btn bad" run=${remove}>Remove<//>`}>
    <${Fields} form=${form} server=${server} />
  <//>`;
}

/** @param {{form: any, server?: any, isNew?: boolean}} props */
function Fields({ form, server, isNew }) {
  const named = isNew ? { ...form, set: (/** @type {string} */ name, /** @type {string} */ value) => {
    if (form.get("slug") === slugOf(form.get("display_name"))) form.set("slug", slugOf(value));
    form.set(name, value);
  } } : form;
  return html`
    <div class="fields-2">
      <${Text} form=${named} name="display_name" label="Name" />
      <${Text} form=${form} name="slug" label="Short name" mono help="Its tools are called so: ${form.get("slug") || "wiki"}__search." />
    </div>
    <${Text} form=${form} name="description" label="What it is for" />
    <div class="fields-2">
      <${Text} form=${form} name="url" label="Address" type="url" mono placeholder="https://wiki.example.org/mcp" />
      <${Choice} form=${form} name="transport" label="Transport" options=${[["streamable_http", "streamable HTTP"], ["sse", "SSE, as it was before"]]} />
    </div>
    <${Authorization} form=${form} server=${server} />
    <${Choice} form=${form} name="availability" label="Used" options=${AVAILABILITIES} />
    <${Switch} form=${form} name="enabled" label="Switched on" />
    <${Switch} form=${form} name="allow_in_plan_mode" label="Also in chats that plan" />
    <${Switch} form=${form} name="model_intent" label="The model says what each call is for" help="The sentence is shown in the chat, in the place of the tool's name." />
    <${Switch} form=${form} name="forward_coder_headers" label="The server is told for whom it is asked" help="The ids of user, chat and workspace, in headers." />
    <${List} form=${form} name="tool_allow_list" label="Only these tools" placeholder="all of them" help="Names as the server has them. Enter adds one; several may be pasted." />
    <${List} form=${form} name="tool_deny_list" label="Not these tools" placeholder="none" help="Counts more than the list above." />`;
}

/** @param {string} name */
function slugOf(name = "") {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 32);
}
