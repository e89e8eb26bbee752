/** When chats are archived and deleted, and workspaces stopped. */
import {html} from "../../ui.js";
import {ask} from "../../shared/dialog.js";
import {receiptWords} from "../../shared/erasing.js";
import {pathOf} from "../../shared/holds.js";
import {api} from "../../wire/api.js";
import {Amount} from "../fields.js";
import {Form, useForm} from "../form.js";
import {Loaded, useLoaded} from "../loading.js";
import {Act, Page, Row, Rows, Section} from "../page.js";
import {valueAt} from "../values.js";
import {when} from "../words.js";

const CONFIG = "/api/experimental/chats/config";
const MINUTE_MS = 60_000;

/** Path and field of each, and how many of its units are one of the page's. */
const NUMBERS = /** @type {const} */ ([
  ["auto-archive-days", "auto_archive_days", 1],
  ["retention-days", "retention_days", 1],
  ["debug-retention-days", "debug_retention_days", 1],
  ["workspace-ttl", "workspace_ttl_ms", MINUTE_MS],
]);

export function View() {
  const loaded = useLoaded(async () => {
    const found = await Promise.all(NUMBERS.map(([path]) => api.get(`${CONFIG}/${path}`)));
    const numbers = Object.fromEntries(NUMBERS.map(([, field, unit], at) => [field, found[at][field] / unit]));
    return { numbers, house: await api.get("/api/v2/housekeeping") };
  });
  return html`<${Page} title="Lifecycle" lead="How long things are kept. 0 means: for ever. What is due goes within the hour.">
    <${Loaded} of=${loaded}>${(/** @type {any} */ found) => html`
      ${found.house.kept_since_upgrade && html`<p class="warn">This deployment is older than housekeeping: nothing is deleted until you set for how long it is kept.</p>`}
      <${Numbers} found=${found.numbers} />
      ${found.house.last && html`<${LastPass} last=${found.house.last} />`}`}<//>
    <${Holds} />
    <${Receipts} />
  <//>`;
}

/** @typedef {import("../../shared/holds.js").Hold} Hold */
/** @typedef {import("../../shared/erasing.js").Receipt} Receipt */

/** What is kept whatever is set here. */
function Holds() {
  const loaded = useLoaded(async () => (await api.get("/api/v2/legal-holds")).holds);
  const lift = async (/** @type {Hold} */ hold) => {
    if (!(await ask({title: `Lift the hold on ${nameOf(hold)}?`, text: "What is old of it goes with the next pass.", yes: "Lift", danger: true}))) return;
    await api.del(pathOf(hold));
    await loaded.again();
  };
  return html`<${Section} title="Legal holds" lead="Nothing of these is erased. Chats are put on hold in their menu, users on their page.">
    <${Loaded} of=${loaded}>${(/** @type {Hold[]} */ found) => html`<${Rows} empty="There are none.">${found.map((hold) => html`<${Row} key=${hold.id} title=${nameOf(hold)}
      more="${hold.chat_id ? "chat" : "user"} · ${hold.reason} · set by ${hold.set_by_username} ${when(hold.set_at)}"
      side=${html`<${Act} label="Lift the hold on ${nameOf(hold)}" run=${() => lift(hold)}>Lift<//>`} />`)}<//>`}<//>
  <//>`;
}

/** @param {Hold} hold */
const nameOf = (hold) => hold.username ?? (hold.chat_title || "a chat without a title");

const CAUSES = { retention: "Archived for long", chat: "A chat, on request", user: "All that a user had" };

/** What was erased lately. */
function Receipts() {
  const loaded = useLoaded(async () => (await api.get("/api/v2/erasures")).erasures);
  return html`<${Section} title="What was erased" lead="Receipts have no words of what was in it.">
    <${Loaded} of=${loaded}>${(/** @type {Receipt[]} */ found) => html`<${Rows} empty="Nothing yet.">${found.map((receipt) => html`<${Row} key=${receipt.id}
      title=${CAUSES[/** @type {keyof typeof CAUSES} */ (receipt.why)] ?? receipt.why} more="${when(receipt.begun_at)} · ${receiptWords(receipt)} · ${receipt.id}" />`)}<//>`}<//>
  <//>`;
}

/** What the last pass did, in a line. @param {{last: {ended_at: string, chores: {name: string, count: number, error?: string}[]}}} props */
function LastPass({ last }) {
  const done = last.chores.filter((each) => each.count).map((each) => `${each.name} ${each.count}`);
  const failed = last.chores.filter((each) => each.error).map((each) => each.name);
  return html`<p class="set-lead">Last done ${new Date(last.ended_at).toLocaleString()}: ${done.join(", ") || "nothing was due"}.
    ${failed.length > 0 && html`<b class="warn">Failed, and tried again: ${failed.join(", ")}.</b>`}</p>`;
}

/** @param {{found: Record<string, number>}} props */
function Numbers({ found }) {
  const form = useForm(found, async (values) => {
    const saved = form.saved.peek();
    for (const [path, field, unit] of NUMBERS) {
      if (values[field] !== saved[field]) await api.put(`${CONFIG}/${path}`, { [field]: Math.round((values[field] ?? 0) * unit) });
    }
    return Object.fromEntries(NUMBERS.map(([, field]) => [field, values[field] ?? 0]));
  });
  return html`<${Form} form=${form}>
    <${Amount} form=${form} name="auto_archive_days" label="Archive a chat after" unit="days without a word" min=${0} max=${3650} help="Pinned chats and chats at work stay. An archived chat can be brought back." />
    <${Amount} form=${form} name="retention_days" label="Delete an archived chat after" unit="days" min=${0} max=${3650} help=${form.get("retention_days") ? html`<b class="warn">For good:</b> it cannot be brought back.` : "For good: it cannot be brought back."} />
    <${Amount} form=${form} name="debug_retention_days" label="Delete records of model calls after" unit="days" min=${0} max=${3650} help="Chats that are erased take theirs along." />
    <${Amount} form=${form} name="workspace_ttl_ms" label="Stop a workspace after" unit="minutes without use" min=${0} max=${43200} help=${inHours(valueAt(form.values.value, "workspace_ttl_ms"))} />
  <//>`;
}

/** @param {number | undefined} minutes */
function inHours(minutes) {
  const words = minutes && minutes >= 120 ? `That is ${Math.round(minutes / 6) / 10} hours. ` : "";
  return `${words}What runs in it ends; its files stay, and it starts again when a chat needs it.`;
}
