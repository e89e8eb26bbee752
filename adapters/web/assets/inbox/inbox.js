/** The inbox of a person, beside its bell. */

import { openBeside } from "../list/beside.js";
import { go } from "../routes.js";
import { when } from "../settings/words.js";
import { icon } from "../shared/icons.js";
import { loadSheet } from "../shared/sheet.js";
import { html, useEffect, useState } from "../ui.js";
import { unread } from "../inbox_count.js";
import { mark, markAll, notices, readInbox, readMore } from "./follow.js";

/** @typedef {import("./follow.js").Notice} Notice */

const PAGE = 25; // as many notices as the daemon tells at once

/** @param {Element} at */
export async function openInbox(at) {
  await loadSheet("inbox/inbox.css");
  openBeside(at, { label: "Inbox", className: "inbox", view: (close) => html`<${Inbox} close=${close} />` });
}

/** @param {{close: () => void}} props */
function Inbox({ close }) {
  const [fault, setFault] = useState("");
  const [isWhole, setWhole] = useState(false);
  const tried = async (/** @type {() => Promise<any>} */ act) => {
    setFault("");
    await act().catch((error) => setFault(error.message));
  };
  useEffect(() => void tried(readInbox), []);
  const found = notices.value;
  return html`<div>
    <header><h2>Inbox</h2><span class="sp"></span>
      <button class="btn" disabled=${!unread.value} onClick=${() => tried(markAll)}>${icon("check")}Mark all as read</button></header>
    ${fault ? html`<p class="err" role="alert">${fault}</p>` : null}
    ${found?.length === 0 ? html`<p class="dim">Nothing yet. What needs you, and what has ended or failed, comes here.</p>` : null}
    <ul aria-busy=${!found && !fault}>${(found ?? []).map((each) => html`<${Item} key=${each.id} notice=${each} close=${close} tried=${tried} />`)}</ul>
    <footer>
      ${(found?.length ?? 0) >= PAGE && !isWhole ? html`<button class="btn" onClick=${() => tried(async () => setWhole(!(await readMore())))}>Older ones</button>` : null}
      <span class="sp"></span><a href="/settings/notifications" onClick=${close}>Settings</a></footer>
  </div>`;
}

/** @param {{notice: Notice, close: () => void, tried: (act: () => Promise<any>) => Promise<void>}} props */
function Item({ notice, close, tried }) {
  const isUnread = !notice.read_at;
  const action = notice.actions[0];
  const open = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (isUnread) void tried(() => mark(notice, true));
    close();
    await go(action.url);
  };
  const words = html`<b>${notice.title}</b><small>${when(notice.created_at)}</small>`;
  return html`<li class=${isUnread ? "new" : ""}>
    ${action ? html`<a href=${action.url} onClick=${open}>${words}</a>` : html`<div>${words}</div>`}
    <button class="ic sm" aria-label=${`${isUnread ? "Mark as read" : "Mark as unread"}: ${notice.title}`}
      onClick=${() => tried(() => mark(notice, isUnread))}>${icon(isUnread ? "check" : "retry")}</button>
  </li>`;
}
