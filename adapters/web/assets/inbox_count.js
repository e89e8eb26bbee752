/** How many notices a person has not read, and the bell that says so. What lies behind it comes later. */

import { icon } from "./shared/icons.js";
import { html, signal } from "./ui.js";

export const unread = signal(0);

/** The inbox is loaded when it is opened. @param {any} event */
const open = (event) => {
  const at = event.currentTarget;
  void import("./inbox/inbox.js").then((module) => module.openInbox(at), (detail) =>
    dispatchEvent(new CustomEvent("module-missing", { detail })));
};

/** The number is a description and no part of the name: it changes while the bell stays the same. */
export const Bell = () => html`<button class="ic bell" aria-label="Inbox" aria-haspopup="dialog"
  title=${unread.value ? `Inbox: ${unread.value} unread` : "Inbox"} data-count=${!unread.value ? undefined : unread.value > 99 ? "99+" : unread.value} onClick=${open}>${icon("bell")}</button>`;
