/** The provider whose model operates desktops. */
import {html} from "../../ui.js";
import {api} from "../../wire/api.js";
import {Form, useForm} from "../form.js";
import {Radios} from "../fields.js";
import {Loaded, useLoaded} from "../loading.js";
import {Notice, Page} from "../page.js";

const PROVIDER = "/api/experimental/chats/config/computer-use-provider";
const PROVIDERS = [
  ["anthropic", "Anthropic", "One action a call. The model is shown the desktop at 1280×720."],
  ["openai", "OpenAI", "Several actions a call. The model is shown the desktop at 1600×900."],
];

export function View() {
  const loaded = useLoaded(read);
  return html`<${Page} title="Desktops" lead="Agents of type computer_use see a screen, and use pointer and keys on it. Which model does that is chosen here; the model of the chat does not matter.">
    <${Loaded} of=${loaded}>${(/** @type {any} */ found) => found.config ? html`<${Config} config=${found.config} />` : html`<${Notice}>Desktops are switched off in this daemon. Start it with <code>PROMPTCORNER_EXPERIMENTS=chat-virtual-desktop</code> to switch them on.<//>`}<//>
  <//>`;
}

/** Return how it is set; null if the daemon has no desktops. */
async function read() {
  const experiments = await api.get("/api/v2/experiments");
  return { config: experiments.includes("chat-virtual-desktop") ? await api.get(PROVIDER) : null };
}

/** @param {{config: {provider: string}}} props */
function Config({ config }) {
  const form = useForm({ provider: config.provider }, async (values) => { await api.put(PROVIDER, { provider: values.provider }); });
  return html`<${Form} form=${form}><${Radios} form=${form} name="provider" label="Provider" options=${PROVIDERS} /><//>`;
}
