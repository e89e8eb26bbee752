/** Renaming a chat, with a proposal by the model. */

import { chats } from "../chats_store.js";
import { icon } from "../shared/icons.js";
import { openDialog } from "../shared/dialog.js";
import { html, useEffect, useRef, useState } from "../ui.js";
import { isMine, reasonOf } from "./acts.js";

/** @typedef {import("../wire/types.js").Chat} Chat */

const TITLE_MAX = 200;

/** Ask for another title. @param {Chat} chat */
export const rename = (chat) =>
  openDialog(({ close }) => html`<${RenameForm} chat=${chat} close=${close} />`, {
    label: "Rename the chat",
  });

/** @param {{chat: Chat, close: () => void}} props */
function RenameForm({ chat, close }) {
  const [title, setTitle] = useState(chat.title);
  const [fault, setFault] = useState("");
  const { proposing, propose } = useProposal(chat, setTitle, setFault);
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => field.current?.select(), []);
  const save = (/** @type {Event} */ event) => {
    event.preventDefault();
    renamed(chat, title.trim()).then(close, (error) => setFault(`It was not renamed: ${reasonOf(error)}`));
  };
  return html`<form class="form" onSubmit=${save}>
    <h2>Rename the chat</h2>
    <label class="field"><span>Title</span>
      <input class="input" ref=${field} value=${title} maxlength=${TITLE_MAX} autofocus required
        onInput=${(/** @type {any} */ event) => setTitle(event.target.value)} />
    </label>
    ${fault ? html`<p class="err" role="alert">${fault}</p>` : null}
    <footer>
      ${isMine(chat) ? html`<button type="button" class="btn" disabled=${proposing}
        onClick=${propose}>${icon("bulb")}${proposing ? "Asking the model…" : "Propose a title"}</button>` : null}
      <span class="sp"></span>
      <button type="button" class="btn quiet" onClick=${close}>Cancel</button>
      <button class="btn main">Rename</button>
    </footer>
  </form>`;
}

/** @param {Chat} chat @param {string} title */
const renamed = async (chat, title) => void (title && title !== chat.title && (await chats.rename(chat.id, title)));

/**
 * Ask the model for a title. An answer that comes after the form was closed is dropped.
 * @param {Chat} chat
 * @param {(title: string) => void} setTitle
 * @param {(fault: string) => void} setFault
 */
function useProposal(chat, setTitle, setFault) {
  const [proposing, setProposing] = useState(false);
  const open = useRef(true);
  useEffect(() => () => void (open.current = false), []);
  const propose = async () => {
    setProposing(true);
    setFault("");
    try {
      const title = await chats.propose(chat.id);
      if (open.current && title) setTitle(title.slice(0, TITLE_MAX));
      if (open.current && !title) setFault("There is nothing yet to name it by");
    } catch (error) {
      if (open.current) setFault(`No proposal: ${reasonOf(error)}`);
    }
    if (open.current) setProposing(false);
  };
  return { proposing, propose };
}
