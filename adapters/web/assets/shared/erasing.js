/** Erasing for good: a question that names what goes, and the receipt. Loaded when it is asked for. */

import { go, route } from "../routes.js";
import { counted, size } from "../timeline/words.js";
import { html, useState } from "../ui.js";
import { api } from "../wire/api.js";
import { openDialog } from "./dialog.js";

/** @typedef {import("../wire/types.js").Chat} Chat */
/**
 * @typedef {{id: string, why: string, chat_id?: string, begun_at: string, ended_at?: string, chats: number,
 *   messages: number, files: number, workspaces: number, other_rows: number, bytes: number}} Receipt
 */

const CANNOT = "It cannot be brought back. Backups that were made before have it still.";

/**
 * Ask whether a chat is to be erased, erase it, and show the receipt.
 * @param {Chat} chat
 * @returns {Promise<boolean>} whether it was begun
 */
export async function eraseChat(chat) {
  const agents = chat.children?.length ?? 0;
  const what = [
    `The chat “${chat.title}”${agents ? ` with ${counted(agents, "agent")}` : ""}, with all messages, its queue and decisions`,
    "Records of its tool calls and model calls, its notices, and who may read it",
    "Files that no other chat has",
    ...(chat.workspace_id ? ["Its workspace with all files in it, if no other chat works there"] : []),
  ];
  const done = await erase({ title: `Erase “${chat.title}” for good?`, what, path: `/api/v2/chats/${chat.id}` });
  if (done && route.peek().chats.includes(chat.id)) go("/new");
  return done;
}

/**
 * The same of all that a user has.
 * @param {{id: string, username: string}} user
 */
export function eraseUser(user) {
  const what = [
    `All chats that ${user.username} has now, with their messages, agents and records`,
    "Their files, and their workspaces with all files in them",
    "Their tokens for servers of tools and for forges, skills, instructions and other settings",
    "Their rules of consent, notices, webhooks and browsers that are pushed to",
  ];
  const stays = "The account, its tokens and its keys for providers stay.";
  return erase({ title: `Erase what ${user.username} has?`, what, stays, path: `/api/v2/users/${user.id}/chat-data` });
}

/** @param {{title: string, what: string[], stays?: string, path: string}} how */
async function erase(how) {
  return Boolean(await openDialog(({ close }) => html`<${Question} ...${how} close=${close} />`, { label: how.title, className: "erasing" }));
}

/** @param {{title: string, what: string[], stays?: string, path: string, close: (done: boolean) => void}} props */
function Question({ title, what, stays, path, close }) {
  const [fault, setFault] = useState("");
  const [busy, setBusy] = useState(false);
  const [receipt, setReceipt] = useState(/** @type {Receipt | null} */ (null));
  const begin = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setBusy(true);
    setFault("");
    try {
      setReceipt(await api.del(path));
    } catch (error) {
      const { message = "", detail = "", status } = /** @type {any} */ (error ?? {});
      const became = [0, 502, 503, 504].includes(status) ? "Nobody knows whether it is being erased." : "Nothing was erased.";
      setFault(`${became} ${message}${detail ? ` (${detail})` : ""}`);
    }
    setBusy(false);
  };
  if (receipt) return html`<${Ended} receipt=${receipt} close=${() => close(true)} />`;
  return html`<form class="form" onSubmit=${begin}>
    <h2>${title}</h2>
    <p>This goes:</p>
    <ul>${what.map((each) => html`<li key=${each}>${each}</li>`)}</ul>
    <p>${stays} <b>${CANNOT}</b></p>
    ${fault && html`<p class="err" role="alert">${fault}</p>`}
    <footer>
      <button type="button" class="btn" autofocus onClick=${() => close(false)}>Cancel</button>
      <button class="btn bad" disabled=${busy}>${busy ? "Erasing…" : "Erase for good"}</button>
    </footer>
  </form>`;
}

/** @param {{receipt: Receipt, close: () => void}} props */
function Ended({ receipt, close }) {
  return html`<form class="form" onSubmit=${(/** @type {Event} */ event) => (event.preventDefault(), close())}>
    <h2>${receipt.ended_at ? "It is erased" : "It is being erased"}</h2>
    ${!receipt.ended_at && html`<p>There is much of it: it goes on by itself, also after a restart.</p>`}
    <${ReceiptFacts} receipt=${receipt} />
    <footer><button class="btn main" autofocus>Close</button></footer>
  </form>`;
}

/** What was erased, in numbers. @param {{receipt: Receipt}} props */
export const ReceiptFacts = ({ receipt }) => html`<dl class="facts">
  <dt>Chats</dt><dd>${receipt.chats}</dd>
  <dt>Messages</dt><dd>${receipt.messages}</dd>
  <dt>Files</dt><dd>${receipt.files}</dd>
  <dt>Workspaces</dt><dd>${receipt.workspaces}</dd>
  <dt>Other rows</dt><dd>${receipt.other_rows}</dd>
  <dt>Size</dt><dd>${size(receipt.bytes)}</dd>
  <dt>Receipt</dt><dd class="mono">${receipt.id}</dd>
</dl>`;

/** A receipt in a line. @param {Receipt} receipt */
export function receiptWords(receipt) {
  const went = [counted(receipt.chats, "chat"), counted(receipt.messages, "message"), counted(receipt.files, "file"), counted(receipt.workspaces, "workspace")];
  return `${receipt.ended_at ? "" : "goes on: "}${went.join(", ")}, ${size(receipt.bytes)}`;
}
