/** Who may have their model calls recorded, and for how long records are kept. */
import {html} from "../../ui.js";
import {api} from "../../wire/api.js";
import {Amount, Switch} from "../fields.js";
import {Form, useForm} from "../form.js";
import {Loaded, useLoaded} from "../loading.js";
import {Notice, Page} from "../page.js";

const CONFIG = "/api/experimental/chats/config";

export function View() {
  const loaded = useLoaded(async () => {
    const [logging, days] = await Promise.all([api.get(`${CONFIG}/debug-logging`), api.get(`${CONFIG}/debug-retention-days`)]);
    return { ...logging, ...days };
  });
  return html`<${Page} title="Records of calls" lead="What models are asked and answer, for the owner of a chat and for administrators. Keys are left out; what is said in a chat is not.">
    <${Loaded} of=${loaded}>${(/** @type {any} */ found) => html`${found.forced_by_deployment && html`<${Notice}>This daemon records the calls of all users: its setting <code>debug_logging_forced</code> is on.<//>`}<${Rules} found=${found} />`}<//>
  <//>`;
}

/** @param {{found: any}} props */
function Rules({ found }) {
  const form = useForm(found, async (values) => {
    const saved = form.saved.peek(), days = values.debug_retention_days ?? 0;
    if (values.allow_users !== saved.allow_users) await api.put(`${CONFIG}/debug-logging`, { allow_users: Boolean(values.allow_users) });
    if (days !== saved.debug_retention_days) await api.put(`${CONFIG}/debug-retention-days`, { debug_retention_days: days });
    return { ...values, debug_retention_days: days };
  });
  return html`<${Form} form=${form}>
    <${Switch} form=${form} name="allow_users" label="Users may have their calls recorded" help="Each user then switches it on in their own settings." />
    <${Amount} form=${form} name="debug_retention_days" label="Delete records after" unit="days" min=${0} max=${3650} help="0 means: with their chat. An archived chat has none." />
  <//>`;
}
