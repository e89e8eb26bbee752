/** Keys of a person's own for providers. */
import {html, useState} from "../../ui.js";
import {ask} from "../../shared/dialog.js";
import {api} from "../../wire/api.js";
import {Text} from "../fields.js";
import {Form, useForm} from "../form.js";
import {Loaded, useLoaded} from "../loading.js";
import {providerName, vendorOf} from "../vendors.js";
import {Act, Notice, Page, Row, Rows, Tag} from "../page.js";

const KEYS = "/api/experimental/users/me/ai-provider-keys";

export function View() {
  const loaded = useLoaded(() => api.get(KEYS));
  return html`<${Page} title="Your own keys" lead="With a key of yours a provider sends the bill for your chats to you. It is used before the one that everybody shares, and nobody can read it again, not even you.">
    <${Loaded} of=${loaded}>${(/** @type {any[]} */ found) => html`
      ${found.some((each) => !each.byok_enabled) && html`<${Notice}>Your administrators have switched off keys of users' own. Those that are stored are not used.<//>`}
      <${Rows} empty="No provider here accepts a key of your own.">${found.map((each) => html`<${Key} key=${each.provider.id} found=${each} again=${loaded.again} />`)}<//>`}<//>
  <//>`;
}

/** @param {{found: any, again: () => Promise<void>}} props */
function Key({ found, again }) {
  const { provider, has_user_api_key: isOwn } = found;
  const [isOpen, setOpen] = useState(false);
  const name = providerName(provider), vendor = vendorOf(provider.type).name;
  const remove = async () => {
    const more = found.has_provider_api_key ? "Your chats use the shared key again." : "Your chats cannot use this provider any more.";
    if (!(await ask({ title: `Remove your key of ${name}?`, text: more, yes: "Remove", danger: true }))) return;
    await api.del(`${KEYS}/${provider.id}`);
    await again();
  };
  const side = html`
    ${isOwn && html`<${Act} class="btn bad" run=${remove}>Remove<//>`}
    ${found.byok_enabled && provider.enabled && html`<button class="btn" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>${isOwn ? "Replace…" : "Set a key…"}</button>`}`;
  return html`<${Row} vendor=${provider.type} title=${name} tags=${stateOf(found)} more=${provider.enabled ? vendor !== name && vendor : "switched off by an administrator"} side=${side} />
    ${isOpen && html`<li class="item-open"><${Setting} id=${provider.id} done=${async () => { setOpen(false); await again(); }} /></li>`}`;
}

/** @param {any} found */
function stateOf(found) {
  if (found.has_user_api_key) return html`<${Tag} tone="go">your key<//>`;
  return found.has_provider_api_key ? html`<${Tag}>shared key<//>` : html`<${Tag} tone="wait">no key<//>`;
}

/** @param {{id: string, done: () => Promise<void>}} props */
function Setting({ id, done }) {
  const form = useForm({ api_key: "" }, async (values) => {
    await api.put(`${KEYS}/${id}`, { api_key: values.api_key.trim() });
    await done();
    return { api_key: "" };
  });
  return html`<${Form} form=${form} save="Save the key">
    <${Text} form=${form} name="api_key" label="Key" type="password" mono autocomplete="off" />
  <//>`;
}
