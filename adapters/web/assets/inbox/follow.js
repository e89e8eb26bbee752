/**
 * Follows the inbox of a person: how many notices are unread is asked anew when something that may
 * be one has happened, and while the page is looked at only. This module is loaded when the page has
 * nothing else to do.
 */

import { unread } from "../inbox_count.js";
import { route } from "../routes.js";
import { rereader } from "../shared/rereader.js";
import { effect, signal } from "../ui.js";
import { api } from "../wire/api.js";
import { hearWatch } from "../wire/watch.js";
import { isSubscribed } from "./device.js";

/**
 * @typedef {{id: string, title: string, content: string, targets: string[], created_at: string,
 *   read_at: string | null, actions: {label: string, url: string}[]}} Notice
 */

export const INBOX = "/api/v2/notifications/inbox";
const PAUSE_MS = 1000; // what happens meanwhile is asked about together
const KINDS = new Set(["again", "created", "status_change", "action_required", "shared"]);

/** The newest notices as they were read last; null: never. */
export const notices = signal(/** @type {Notice[] | null} */ (null));

/** Follow the inbox from now on. */
export function followInbox() {
  hearWatch((event) => KINDS.has(event.kind) && soon());
  void readInbox().catch(() => {}); // the next news ask again
  if (isSubscribed()) void import("./push.js").then((push) => push.followWatching(), () => {});
}

const soon = rereader(readInbox, PAUSE_MS);

let marks = 0; // that were asked for, and that were answered

/** Read the newest page, and mark what is about chats that are looked at. Older ones that were read stay. */
export async function readInbox() {
  const before = marks;
  const page = await api.get(INBOX);
  if (marks !== before) return soon(); // it may be older than the mark
  const known = notices.peek() ?? [];
  const at = known.findIndex((each) => each.id === page.notifications.at(-1)?.id);
  take({ ...page, notifications: [...page.notifications, ...(at < 0 ? [] : known.slice(at + 1))] });
  const seen = (notices.peek() ?? []).filter((each) => !each.read_at && isShown(each));
  for (const each of seen) await mark(each, true);
}

/** Whether a chat that a notice leads to is looked at now. @param {Notice} notice */
function isShown(notice) {
  const { name, chats } = route.peek();
  return name === "chat" && document.visibilityState === "visible" && notice.targets.some((id) => chats.includes(id));
}

/** @param {{notifications: Notice[], unread_count: number}} page */
function take(page) {
  notices.value = page.notifications;
  unread.value = page.unread_count;
}

/** Read the page behind the last notice that is known. @returns {Promise<boolean>} whether there may be more */
export async function readMore() {
  const last = notices.peek()?.at(-1)?.id;
  const page = await api.get(INBOX, { starting_before: last });
  const known = notices.peek() ?? [];
  if (known.at(-1)?.id !== last) return true; // it was read already, or no longer joins on
  take({ ...page, notifications: [...known, ...page.notifications] });
  return page.notifications.length > 0;
}

/** @param {Notice} notice @param {boolean} isRead */
export async function mark(notice, isRead) {
  marks += 1;
  const answer = await api.put(`${INBOX}/${notice.id}/read-status`, { is_read: isRead }).finally(() => (marks += 1));
  notices.value = (notices.peek() ?? []).map((each) => (each.id === notice.id ? answer.notification : each));
  unread.value = answer.unread_count;
}

export async function markAll() {
  await api.put(`${INBOX}/mark-all-as-read`);
  await readInbox();
}

effect(() => {
  if (route.value.name === "chat" && (notices.value ?? []).some((each) => !each.read_at && isShown(each))) soon();
});
