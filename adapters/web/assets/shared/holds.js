/** Legal holds: what is on hold is erased by nobody. Admins set and lift them. Loaded when asked for. */

import { html, useState } from "../ui.js";
import { api } from "../wire/api.js";
import { openDialog } from "./dialog.js";
import { toast } from "./toast.js";

/**
 * @typedef {{id: string, chat_id?: string, chat_title?: string, user_id?: string, username?: string,
 *   reason: string, set_by_username: string, set_at: string}} Hold
 */

const REASON_MAX = 500; // characters; the daemon takes no more

/** Show the hold of a chat, to set or lift it. @param {{id: string, title: string}} chat */
export const holdChat = (chat) => open(`/api/v2/chats/${chat.id}/legal-hold`, `“${chat.title}”`, (hold) => hold.chat_id === chat.id);

/** The same of a user. @param {{id: string, username: string}} user */
export const holdUser = (user) => open(`/api/v2/users/${user.id}/legal-hold`, user.username, (hold) => hold.user_id === user.id);

/** The address at which a hold is lifted. @param {Hold} hold */
export const pathOf = (hold) => (hold.chat_id ? `/api/v2/chats/${hold.chat_id}/legal-hold` : `/api/v2/users/${hold.user_id}/legal-hold`);

/**
 * @param {string} path
 * @param {string} name
 * @param {(hold: Hold) => boolean} isOwn not that of the chat's owner
 */
async function open(path, name, isOwn) {
  let holds;
  try {
    holds = /** @type {Hold[]} */ ((await api.get(path)).holds);
  } catch (error) {
    return toast(`The hold cannot be read: ${reasonOf(error)}`);
  }
  const view = (/** @type {any} */ { close }) => html`<${HoldForm} path=${path} name=${name} holds=${holds} isOwn=${isOwn} close=${close} />`;
  return openDialog(view, { label: "Legal hold" });
}

/** @param {unknown} error */
const reasonOf = (error) => /** @type {any} */ (error)?.detail || /** @type {any} */ (error)?.message || "no answer";

/** @param {{path: string, name: string, holds: Hold[], isOwn: (hold: Hold) => boolean, close: () => void}} props */
function HoldForm({ path, name, holds, isOwn, close }) {
  const own = holds.find(isOwn);
  const [reason, setReason] = useState(own?.reason ?? "");
  const [fault, setFault] = useState("");
  const save = async (/** @type {() => Promise<any>} */ act, /** @type {string} */ done) => {
    try {
      await act();
      toast(done);
      close();
    } catch (error) {
      setFault(`It stays as it was: ${reasonOf(error)}`);
    }
  };
  const set = (/** @type {Event} */ event) => {
    event.preventDefault();
    void save(() => api.put(path, { reason: reason.trim() }), `${name} is on legal hold`);
  };
  const lift = () => save(() => api.del(path), `The hold on ${name} is lifted`);
  return html`<form class="form" onSubmit=${set}>
    <h2>Legal hold on ${name}</h2>
    <p>As long as there is a hold nothing of it is erased: not by rules, not by its owner, not by admins.</p>
    ${holds.map((hold) => html`<p key=${hold.id}>On hold since <time datetime=${hold.set_at}>${new Date(hold.set_at).toLocaleDateString()}</time>
      by ${hold.set_by_username}${isOwn(hold) ? "" : `, as all that ${hold.username} has`}: ${hold.reason}</p>`)}
    <label class="field"><span>Reason</span>
      <input class="input" value=${reason} maxlength=${REASON_MAX} required autofocus
        onInput=${(/** @type {any} */ event) => setReason(event.target.value)} /></label>
    ${fault && html`<p class="err" role="alert">${fault}</p>`}
    <footer>
      ${own && html`<button type="button" class="btn bad" onClick=${lift}>Lift the hold</button>`}
      <span class="sp"></span>
      <button type="button" class="btn quiet" onClick=${close}>Cancel</button>
      <button class="btn main">${own ? "Change the reason" : "Put on hold"}</button>
    </footer>
  </form>`;
}
