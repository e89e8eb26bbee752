/** The users of the deployment. */
import {html, useEffect, useState} from "../../ui.js";
import {icon} from "../../shared/icons.js";
import {api} from "../../wire/api.js";
import {Failed, Loaded, useLoaded} from "../loading.js";
import {Page, Row, Rows, Tag} from "../page.js";
import {counted, when} from "../words.js";
import {EditUser, NewUser} from "./user.js";

const USERS = "/api/v2/users";
const HERE = "/admin/users";
const PAGE_ROWS = 50;
const PAUSE_MS = 250; // after a letter is typed
const FILTERS = [["", "All"], ["role:owner", "Owners"], ["status:active", "Active"], ["status:dormant", "Never logged in"], ["status:suspended", "Suspended"]];

/** @param {{rest: string}} props */
export function View({ rest }) {
  if (rest === "new") return html`<${NewUser} />`;
  return rest ? html`<${EditUser} key=${rest} id=${rest} />` : html`<${All} />`;
}

function All() {
  const [words, setWords] = useState("");
  const [filter, setFilter] = useState("");
  const act = html`<a class="btn main" href="${HERE}/new">${icon("plus")} Add a user</a>`;
  return html`<${Page} title="Users" lead="Everybody has chats, files and settings of their own. An owner also looks after this deployment." act=${act}>
    <div class="set-find">
      <input class="in" type="search" placeholder="Search by name or address" aria-label="Search users" value=${words} onInput=${(/** @type {any} */ event) => setWords(event.currentTarget.value)} />
      <div class="chips" role="group" aria-label="Show">${FILTERS.map(([value, label]) => html`<button key=${value} class=${filter === value ? "chip on" : "chip"} aria-pressed=${filter === value} onClick=${() => setFilter(value)}>${label}</button>`)}</div>
    </div>
    <${Found} q=${`${searchable(words)} ${filter}`.trim()} />
  <//>`;
}

/** A colon would be read as a filter. @param {string} words */
const searchable = (words) => words.replaceAll(":", " ").trim();

/** @param {{q: string}} props */
function Found({ q }) {
  const [asked, setAsked] = useState(q);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(q), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [q]);
  const loaded = useLoaded(() => api.get(USERS, { q: asked, limit: String(PAGE_ROWS) }), [asked]);
  return html`<${Loaded} of=${loaded}>${(/** @type {any} */ first) => html`<${Listed} key=${asked} q=${asked} first=${first} />`}<//>`;
}

/** @param {{q: string, first: {users: any[], count: number}}} props */
function Listed({ q, first }) {
  const [users, setUsers] = useState(first.users);
  const [error, setError] = useState(/** @type {any} */ (null));
  const more = async () => {
    try {
      const next = await api.get(USERS, { q, limit: String(PAGE_ROWS), offset: String(users.length) });
      setUsers([...users, ...next.users]);
      setError(null);
    } catch (wrong) {
      setError(wrong);
    }
  };
  return html`<${Rows} empty=${q ? "No user is like that." : "There are no users."}>${users.map((user) => html`<${User} key=${user.id} user=${user} />`)}<//>
    ${error ? html`<${Failed} error=${error} again=${more} />` : users.length < first.count && html`<p class="set-acts"><button class="btn" onClick=${more}>Show more</button> <span class="field-help">${users.length} of ${counted(first.count, "user")}</span></p>`}`;
}

/** @param {{user: any}} props */
function User({ user }) {
  const seen = when(user.last_seen_at);
  return html`<${Row} href="${HERE}/${user.id}" mark=${user.status === "suspended" ? "bad" : user.status === "active" ? "go still" : "off"}
    title=${user.name || user.username} tags=${rolesOf(user)}
    more=${[user.name && user.username, user.email, seen === "never" ? "never logged in" : `last seen ${seen}`].filter(Boolean).join(" · ")} />`;
}

/** @param {any} user */
export function rolesOf(user) {
  return html`
    ${user.roles.map((/** @type {any} */ role) => html`<${Tag} key=${role.name} tone="on">${role.display_name.toLowerCase()}<//>`)}
    ${user.status === "suspended" && html`<${Tag} tone="bad">suspended<//>`}`;
}
