/** Whether the user's model calls are recorded. */
import {html} from "../../ui.js";
import {api} from "../../wire/api.js";
import {Switch} from "../fields.js";
import {Form, useForm} from "../form.js";
import {Loaded, useLoaded} from "../loading.js";
import {Notice, Page} from "../page.js";

const OWN = "/api/experimental/chats/config/user-debug-logging";

export function View() {
  const loaded = useLoaded(() => api.get(OWN));
  return html`<${Page} title="Records of calls" lead="What models are asked in your chats, and what they answer, is recorded without keys. You and administrators find it beside each chat, under Calls.">
    <${Loaded} of=${loaded}>${(/** @type {any} */ found) => found.user_toggle_allowed ? html`<${Own} found=${found} />` : html`<${Notice}>${found.forced_by_deployment ? "This deployment records the calls of all users." : "An administrator has not allowed users to have their calls recorded."}<//>`}<//>
  <//>`;
}

/** @param {{found: any}} props */
function Own({ found }) {
  const form = useForm(found, async (values) => { await api.put(OWN, { debug_logging_enabled: Boolean(values.debug_logging_enabled) }); });
  return html`<${Form} form=${form}>
    <${Switch} form=${form} name="debug_logging_enabled" label="Record my calls" help="From the next turn of each chat on. What is said in a chat is in its records, too." />
  <//>`;
}
