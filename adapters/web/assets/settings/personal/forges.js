/** A person's tokens at forges, by which their chats push, and pull requests are asked for. */
import {html, useEffect, useState} from "../../ui.js";
import {ask} from "../../shared/dialog.js";
import {isWebAddress} from "../../timeline/addresses.js";
import {api} from "../../wire/api.js";
import {Text} from "../fields.js";
import {Form, useForm} from "../form.js";
import {Loaded, useLoaded} from "../loading.js";
import {Act, Page, Row, Rows, Tag} from "../page.js";

/** @typedef {{host: string, kind: string, url: string, has_token: boolean, failure?: string, delayed_until?: string}} Forge */

const TOKENS = "/api/v2/users/me/forge-tokens";
const AGAIN_MS = 15_000; // while the page is looked at: forges may refuse a token, or ask for patience, at any time
/** @type {Record<string, {name: string, help: string}>} */
const KINDS = {
  github: { name: "GitHub", help: "A fine-grained token for the repositories that agents work in: “Pull requests” and “Contents” read-only, or “Contents” with write so that chats can push." },
  gitlab: { name: "GitLab", help: "A token with read_api, and with write_repository as well so that chats can push." },
};

export function View() {
  const loaded = useLoaded(() => api.get(TOKENS));
  useEffect(() => {
    const look = async () => {
      const found = document.hidden ? null : await api.get(TOKENS).catch(() => null);
      if (found) loaded.value.value = found;
    };
    const timer = setInterval(look, AGAIN_MS);
    return () => clearInterval(timer);
  }, []);
  return html`<${Page} title="Forges" lead="With a token of yours your chats fetch and push at a forge, and show the pull requests of their branches. It is sent to that forge only, and nobody can read it again, not even you.">
    <${Loaded} of=${loaded}>${(/** @type {Forge[]} */ forges) => html`
      <${Rows} empty="No forge is set up here. An administrator names them in the setting “forges”.">${forges.map((each) => html`<${OneForge} key=${each.host} forge=${each} again=${loaded.again} />`)}<//>`}<//>
  <//>`;
}

/** @param {{forge: Forge, again: () => Promise<void>}} props */
function OneForge({ forge, again }) {
  const [isOpen, setOpen] = useState(false);
  const { host, kind, url } = forge;
  const path = `${TOKENS}/${encodeURIComponent(host)}`;
  const remove = async () => {
    const text = "Your chats cannot push there any more, and are not told of pull requests.";
    if (!(await ask({ title: `Remove your token of ${host}?`, text, yes: "Remove", danger: true }))) return;
    await api.del(path);
    await again();
  };
  const title = isWebAddress(url) ? html`<a href=${url} target="_blank" rel="noopener noreferrer">${host}</a>` : host;
  const side = html`
    ${forge.has_token && html`<${Act} class="btn bad" label=${`Remove the token of ${host}`} run=${remove}>Remove<//>`}
    <button class="btn" aria-expanded=${isOpen} aria-label=${`${forge.has_token ? "Replace" : "Set"} the token of ${host}`} onClick=${() => setOpen(!isOpen)}>${forge.has_token ? "Replace…" : "Set a token…"}</button>`;
  return html`<${Row} title=${title} tags=${html` <${State} forge=${forge} />`} more=${wordsOf(forge)} side=${side} />
    ${isOpen && html`<li class="item-open"><${Setting} path=${path} help=${KINDS[kind]?.help} done=${async () => { setOpen(false); await again(); }} /></li>`}`;
}

/** @param {{forge: Forge}} props */
function State({ forge }) {
  if (!forge.has_token) return html`<${Tag} tone="wait">no token<//>`;
  return forge.failure ? html`<${Tag} tone="bad">refused<//>` : html`<${Tag} tone="go">your token<//>`;
}

/** @param {Forge} forge */
function wordsOf({ kind, failure, delayed_until: until }) {
  const patience = until && `It asks for patience until ${new Date(until).toLocaleTimeString([], { timeStyle: "short" })}.`;
  return [KINDS[kind]?.name ?? kind, failure, patience].filter(Boolean).join(" · ");
}

/** @param {{path: string, help?: string, done: () => Promise<void>}} props */
function Setting({ path, help, done }) {
  const form = useForm({ token: "" }, async (values) => {
    await api.put(path, { token: values.token.trim() });
    await done();
    return { token: "" };
  });
  return html`<${Form} form=${form} save="Save the token">
    <${Text} form=${form} name="token" label="Token" help=${help} type="password" mono autocomplete="off" />
  <//>`;
}
