/** Whose chats may use a server of tools: everybody, or the users of a list. A change holds at once. */
import {html, useEffect, useState} from "../../ui.js";
import {me} from "../../session.js";
import {icon} from "../../shared/icons.js";
import {api} from "../../wire/api.js";
import {Loaded, useLoaded} from "../loading.js";
import {Act, Notice, Row, Rows} from "../page.js";
import {serversPath} from "../personal/servers.js";

const FOUND_MAX = 8;
const PAUSE_MS = 250;

/** @param {{server: any}} props */
export function AccessList({ server }) {
  const path = `${serversPath()}/${server.id}/acl`;
  const loaded = useLoaded(() => api.get(path));
  const change = async (/** @type {any} */ body) => { await api.patch(path, body); await loaded.again(); };
  return html`<${Loaded} of=${loaded}>${(/** @type {any} */ list) => html`<${Readers} list=${list} change=${change} />`}<//>`;
}

/** @param {{list: {users: any[], groups: any[]}, change: (body: any) => Promise<void>}} props */
function Readers({ list, change }) {
  const everybody = me.peek()?.organization_ids[0];
  const isOpen = list.groups.length > 0;
  return html`
    ${isOpen ? html`<${Notice}><span class="set-acts">Everybody may use it.<span class="sp"></span><${Act} run=${() => change({ group_roles: { [everybody]: "" } })}>Only those I name<//></span><//>`
    : html`<${Notice} tone=${list.users.length ? "" : "wait"}><span class="set-acts">${list.users.length ? "Only these users may use it:" : "Only administrators may use it."}<span class="sp"></span><${Act} run=${() => change({ group_roles: { [everybody]: "read" } })}>Everybody may<//></span><//>`}
    ${list.users.length > 0 && html`<${Rows}>${list.users.map((user) => html`<${Row} key=${user.id} title=${user.name || user.username} more=${user.name && user.username} side=${html`<${Act} class="ic" label="Remove ${user.username}" run=${() => change({ user_roles: { [user.id]: "" } })}>${icon("x")}<//>`} />`)}<//>`}
    ${!isOpen && html`<${Finder} taken=${list.users.map((each) => each.id)} add=${(/** @type {string} */ id) => change({ user_roles: { [id]: "read" } })} />`}`;
}

/** @param {{taken: string[], add: (id: string) => Promise<void>}} props */
function Finder({ taken, add }) {
  const [words, setWords] = useState("");
  const [found, setFound] = useState(/** @type {any[]} */ ([]));
  const q = words.replaceAll(":", " ").trim();
  useEffect(() => {
    if (!q) { setFound([]); return undefined; }
    let isOver = false;
    const timer = setTimeout(() => void members(q).then((users) => isOver || setFound(users)), PAUSE_MS);
    return () => { isOver = true; clearTimeout(timer); };
  }, [q]);
  const rest = found.filter((each) => !taken.includes(each.user_id)).slice(0, FOUND_MAX);
  return html`<input class="in" type="search" placeholder="Add a user by name" aria-label="Add a user by name" value=${words} onInput=${(/** @type {any} */ event) => setWords(event.currentTarget.value)} />
    ${q && html`<${Rows} empty="No other user has that name.">${rest.map((each) => html`<${Row} key=${each.user_id} title=${each.name || each.username} more=${each.name && each.username} side=${html`<${Act} run=${async () => { await add(each.user_id); setWords(""); }}>Add<//>`} />`)}<//>`}`;
}

/** @param {string} q */
function members(q) {
  return api.get(`/api/v2/organizations/${me.peek()?.organization_ids[0]}/members`, { q, limit: String(FOUND_MAX + 20) }).catch(() => []);
}
