/** Webhooks: programs that are told of events, of a person or of the whole deployment. */
import {html, useState} from "../ui.js";
import {ask} from "../shared/dialog.js";
import {toast} from "../shared/toast.js";
import {api} from "../wire/api.js";
import {Text} from "./fields.js";
import {Form, useForm} from "./form.js";
import {List} from "./lists.js";
import {Loaded, useLoaded} from "./loading.js";
import {Act, More, Notice, Once, Page, Row, Rows, Section, Tag} from "./page.js";
import {counted, when} from "./words.js";

const EVENTS = ["chat.needs_you", "chat.ended", "chat.failed", "chat.shared", "chat.archived", "chat.status"];
const NEW = {url: "", description: "", events: ["chat.needs_you", "chat.ended", "chat.failed"]};

/**
 * @typedef {{id: string, url: string, description: string, events: string[], enabled: boolean,
 *   disabled_reason: string, failing_since: string | null, former_secret_until: string | null}} Hook
 * @typedef {{id: string, type: string, state: string, attempts: number, created_at: string,
 *   next_attempt_at: string | null, last_status: number | null, last_error: string}} Delivery
 */

export const OwnWebhooks = () => html`<${Webhooks} top="/api/v2/users/me/webhooks" lead="Programs that are told of what happens to your chats." />`;
export const AllWebhooks = () => html`<${Webhooks} top="/api/v2/webhooks" lead="Programs that are told of what happens to the chats of all users." />`;

/** @param {{top: string, lead: string}} props */
function Webhooks({ top, lead }) {
  const loaded = useLoaded(() => api.get(top), [top]);
  const [made, setMade] = useState("");
  const [tries, setTries] = useState(0); // after each the deliveries are read anew
  const form = useForm(NEW, async (/** @type {any} */ values) => {
    setMade((await api.post(top, values)).secret);
    void loaded.again();
    return NEW;
  });
  return html`<${Page} title="Webhooks" lead="${lead} Messages are signed, by the Standard Webhooks convention.">
    ${made && html`<${Secret} value=${made} />`}
    <${Section} title="New webhook">
      <${Form} form=${form} save="Add the webhook">
        <${Text} form=${form} name="url" label="Address" placeholder="https://example.org/hook" />
        <${Text} form=${form} name="description" label="What it is for" />
        <${List} form=${form} name="events" label="Events" help="Any of: ${EVENTS.join(", ")}." />
      <//>
    <//>
    <${Section} title="Webhooks">
      <${Loaded} of=${loaded}>${(/** @type {Hook[]} */ found) => html`<${Rows} empty="There are none.">${found.map((hook) => html`<${One} key=${hook.id} hook=${hook} top=${top} again=${loaded.again} show=${setMade} tried=${() => setTries(tries + 1)} />`)}<//>
        ${found.map((hook) => html`<${More} key=${hook.id} title="Deliveries to ${hook.url}"><${Deliveries} key=${tries} path="${top}/${hook.id}" /><//>`)}`}<//>
    <//>
  <//>`;
}

/** @param {{value: string}} props */
const Secret = ({ value }) => html`<${Once} label="The secret of the webhook" value=${value}><p>Copy it now: it is not shown again. The program checks signatures with it.</p><//>`;

/** @param {{hook: Hook, top: string, again: () => Promise<void>, show: (secret: string) => void, tried: () => void}} props */
function One({ hook, top, again, show, tried }) {
  const path = `${top}/${hook.id}`;
  const put = async (/** @type {boolean} */ enabled) => {
    await api.patch(path, {enabled});
    await again();
  };
  const rotate = async () => {
    if (!(await ask({title: "Make a new secret?", text: "For a day messages are signed with the former one, too.", yes: "Make a new one"}))) return;
    show((await api.post(`${path}/rotate-secret`)).secret);
    await again();
  };
  const remove = async () => {
    if (!(await ask({title: "Remove the webhook?", text: "What waits for it is dropped.", yes: "Remove", danger: true}))) return;
    await api.del(path);
    await again();
  };
  const test = async () => {
    await api.post(`${path}/test`);
    toast("A trial was sent: see its deliveries");
    tried();
  };
  const state = !hook.enabled ? html`<${Tag} tone="bad">off<//>` : hook.failing_since ? html`<${Tag} tone="wait">fails<//>` : html`<${Tag} tone="go">on<//>`;
  const why = hook.enabled ? hook.failing_since && `has failed since ${when(hook.failing_since)}` : hook.disabled_reason;
  return html`<${Row} title=${hook.url} tags=${state} more=${[hook.description, hook.events.join(", "), why].filter(Boolean).join(" · ")}
    side=${html`${hook.enabled && html`<${Act} label="Try ${hook.url}" run=${test}>Try<//>`}
      <${Act} label="New secret of ${hook.url}" run=${rotate}>New secret<//>
      <${Act} label="Switch ${hook.enabled ? "off" : "on"} ${hook.url}" run=${() => put(!hook.enabled)}>${hook.enabled ? "Off" : "On"}<//>
      <${Act} class="btn bad" label="Remove ${hook.url}" run=${remove}>Remove<//>`} />`;
}

/** @param {{path: string}} props */
function Deliveries({ path }) {
  const loaded = useLoaded(async () => (await api.get(`${path}/deliveries`)).deliveries, [path]);
  const replay = async (/** @type {Delivery} */ delivery) => {
    await api.post(`${path}/deliveries/${delivery.id}/replay`);
    await loaded.again();
  };
  return html`<${Loaded} of=${loaded}>${(/** @type {Delivery[]} */ found) => html`<p><${Act} run=${loaded.again}>Look again<//></p>
    ${!found.length && html`<${Notice}>Nothing was sent in the last days.<//>`}
    <${Rows}>${found.map((each) => html`<${Row} key=${each.id} mark=${each.state === "delivered" ? "go" : each.state === "failed" ? "bad" : "ask"}
      title=${each.type} more="${each.state}, ${counted(each.attempts, "attempt")}, ${when(each.created_at)}${each.last_error ? ` · ${each.last_error}` : ""}${each.next_attempt_at ? ` · next ${when(each.next_attempt_at)}` : ""}"
      side=${html`<${Act} label="Send again: ${each.type}" run=${() => replay(each)}>Send again<//>`} />`)}<//>`}<//>`;
}
