/** Sharing a chat: people who may read it besides its owner. */

import { current } from "../current.js";
import { loadSheet } from "../shared/sheet.js";
import { icon } from "../shared/icons.js";
import { api } from "../wire/api.js";
import { initials } from "../state/initials.js";
import { html, useEffect, useRef, useState } from "../ui.js";
import { copyLink, reasonOf } from "./acts.js";
import { openBeside } from "./beside.js";

/** @typedef {import("../wire/types.js").Chat} Chat */
/** @typedef {{id: string, username: string, name?: string}} Person */
/** @typedef {{id: string, name: string, display_name: string, total_member_count: number}} Group */

const SHOWN_MAX = 8;
const READ_MAX = 30; // people at once; typing finds the others
const PAUSE = 200; // milliseconds without a key

/** Show who may read a chat. @param {Chat} chat @param {import("../shared/popover.js").Anchor} [at] */
export async function share(chat, at) {
  const anchor = at ?? document.querySelector(".top .share") ?? document.body;
  await loadSheet("list/share.css");
  openBeside(anchor, { label: "Share", className: "sharing", view: () => html`<${Readers} chat=${chat} />` });
}

/** @param {{chat: Chat}} props */
function Readers({ chat }) {
  const { readers, everyone, fault, change } = useReaders(chat);
  if (!readers)
    return html`<div>${fault ? html`<p class="err" role="alert">${fault}</p>` : html`<p
      class="dim">Reading who may see it…</p>`}</div>`;
  return html`<div>
    <h2>Who may read it</h2>
    <p class="dim">They see the chat and its agents as they go on, and can change nothing.</p>
    <${AddPerson} chat=${chat} readers=${readers} everyone=${everyone} onAdd=${change} />
    ${readers.users.map((person) => html`<${Reader} key=${person.id} name=${nameOf(person)}
      note=${person.name ? person.username : ""} onRemove=${() => change("user_roles", person.id, "")} />`)}
    ${readers.groups.map((group) => html`<${Reader} key=${group.id}
      name=${group.display_name || group.name || "Everyone here"}
        note=${`${group.total_member_count} ${group.total_member_count === 1 ? "person" : "people"}`}
          onRemove=${() => change("group_roles", group.id, "")} />`)}
    ${readers.users.length || readers.groups.length ? null : html`<p
      class="dim">Nobody besides ${chat.owner_name || chat.owner_username || "its owner"}.</p>`}
    ${fault ? html`<p class="err" role="alert">${fault}</p>` : null}
    <footer><button class="btn" onClick=${() => copyLink(chat)}>${icon("copy")}Copy link</button></footer>
  </div>`;
}

/** @param {Person} person */
const nameOf = (person) => person.name || person.username;

/** @param {{name: string, note: string, onRemove: () => void}} props */
const Reader = ({ name, note, onRemove }) => html`<div class="reader">
  <${Who} name=${name} note=${note} /><span class="dim">reads</span>
  <button class="ic sm" aria-label=${`${name} may no longer read it`} onClick=${onRemove}>${icon("x")}</button>
</div>`;

/** @param {{name: string, note?: string, sign?: string}} props */
const Who = ({ name, note = "", sign = "" }) => html`
  <span class="av" aria-hidden="true">${sign ? icon(sign) : initials(name)}</span>
  <span class="person">${name}${note ? html` <small>${note}</small>` : null}</span>`;

/**
 * @typedef {(kind: "user_roles" | "group_roles", id: string, role: string) => void} Change
 * @param {{chat: Chat, readers: {users: Person[], groups: Group[]}, everyone: string, onAdd: Change}} props
 */
function AddPerson({ chat, readers, everyone, onAdd }) {
  const [words, setWords] = useState("");
  const [people, fault] = usePeople(chat.organization_id, words);
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => field.current?.focus(), []);
  const found = people.filter(
    (person) => person.id !== chat.owner_id && !readers.users.some((one) => one.id === person.id),
  );
  const all = everyone && !readers.groups.length && "everyone".includes(words.trim().toLowerCase());
  const add = (/** @type {"user_roles" | "group_roles"} */ kind, /** @type {string} */ id) => {
    onAdd(kind, id, "read");
    setWords("");
    field.current?.focus();
  };
  return html`<div class="add-reader">
    <input ref=${field} class="input" type="search" value=${words} placeholder="Add a person…"
      aria-label="Add a person" onKeyDown=${keysOf(found, words, (id) => add("user_roles", id))}
      onInput=${(/** @type {any} */ event) => setWords(event.target.value)} />
    <ul aria-label="People">
      ${all && html`<li><button onClick=${() => add("group_roles", everyone)}>
        <${Who} name="Everyone here" sign="globe" /></button></li>`}
      ${found.slice(0, SHOWN_MAX).map(
        (person) => html`<li key=${person.id}><button onClick=${() => add("user_roles", person.id)}>
          <${Who} name=${nameOf(person)} note=${person.name ? person.username : ""} /></button></li>`,
      )}
    </ul>
    ${found.length > SHOWN_MAX && html`<p class="dim">${found.length - SHOWN_MAX} more: type a name.</p>`}
    ${words.trim() && !found.length && !all && !fault ? html`<p class="dim">Nobody is called that.</p>` : null}
    ${fault && html`<p class="err" role="alert">${fault}</p>`}
  </div>`;
}

/**
 * Return the keys of the field: ArrowDown goes to the people below, Enter adds the only one whose name fits.
 * @param {Person[]} found @param {string} words @param {(id: string) => void} add
 */
function keysOf(found, words, add) {
  const wanted = words.trim().toLowerCase();
  const [first, ...others] = found.filter((one) => `${one.name} ${one.username}`.toLowerCase().includes(wanted));
  return (/** @type {KeyboardEvent} */ event) => {
    const field = /** @type {HTMLElement} */ (event.currentTarget);
    if (event.key === "Enter" && wanted && first && !others.length) add(first.id);
    else if (event.key === "ArrowDown") /** @type {HTMLElement | null} */ (field.parentElement?.querySelector("li button"))?.focus();
    else return;
    event.preventDefault();
  };
}

/** Read the readers of a chat, and change them. @param {Chat} chat */
function useReaders(chat) {
  const [readers, setReaders] = useState(/** @type {{users: Person[], groups: Group[]} | null} */ (null));
  const [fault, setFault] = useState("");
  const path = `/api/experimental/chats/${chat.id}/acl`;
  const turns = useRef(0);
  const read = async () => {
    const turn = ++turns.current; // of several answers the one that was asked for last counts
    try {
      const found = await api.get(path);
      if (turn === turns.current) setReaders(found);
    } catch (error) {
      if (turn === turns.current) setFault(`Who may read it is not known: ${reasonOf(error)}`);
    }
  };
  useEffect(() => void read(), [chat.id]);
  const change = async (/** @type {string} */ kind, /** @type {string} */ id, /** @type {string} */ role) => {
    setFault("");
    try {
      await api.patch(path, { [kind]: { [id]: role } });
      const open = current.peek();
      if (open?.id === chat.id) void open.refresh().catch(() => {}); // its head says whether it is shared
    } catch (error) {
      setFault(`Nothing was changed: ${reasonOf(error)}`);
    }
    await read();
  };
  return { readers, everyone: chat.organization_id, fault, change };
}

/**
 * Find people of the organization; the daemon is asked when typing pauses.
 * @param {string} organization
 * @param {string} words
 * @returns {[Person[], string]}
 */
function usePeople(organization, words) {
  const [people, setPeople] = useState(/** @type {Person[]} */ ([]));
  const [fault, setFault] = useState("");
  useEffect(() => {
    let wanted = true;
    const timer = setTimeout(
      () => {
        api.get(`/api/v2/organizations/${organization}/members`, { q: words.trim(), limit: READ_MAX }).then(
          (/** @type {any[]} */ members) =>
            wanted &&
            setPeople(
              members.map((member) => ({ id: member.user_id, username: member.username, name: member.name })),
            ),
          (error) => wanted && setFault(`Nobody could be read: ${reasonOf(error)}`),
        );
      },
      words ? PAUSE : 0,
    );
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [organization, words]);
  return [people, fault];
}
