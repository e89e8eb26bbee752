/** What people do to chats: each act is done at once, shown, and put back if the daemon refuses it. */

import { chats } from "../chats_store.js";
import { keepUnread, letBeRead } from "../conversation/unread.js";
import { go, route } from "../routes.js";
import { isAdmin, me } from "../session.js";
import { ask } from "../shared/dialog.js";
import { toast } from "../shared/toast.js";
import { asks, works } from "../state/lights.js";
import { api } from "../wire/api.js";
import { chooseNone, chosen, roots } from "./look.js";
import { focusRow, neighbourOf } from "./moving.js";

/** @typedef {import("../wire/types.js").Chat} Chat */

const UNDO_SECONDS = 8;

/**
 * Say what was not done if an act is refused.
 * @param {Promise<unknown>} act
 * @param {string} failed "It was not renamed"
 */
export async function report(act, failed) {
  try {
    await act;
    return true;
  } catch (error) {
    toast({ text: `${failed}: ${reasonOf(error)}` });
    return false;
  }
}

/** @param {unknown} error */
export function reasonOf(error) {
  const { message = "", detail = "" } = /** @type {{message?: string, detail?: string}} */ (error ?? {});
  return (detail || message || "no answer").replace(/\.$/, "");
}

/** Say whether the user may change a chat: its owner may, and administrators. @param {Chat} chat */
export const mayChange = (chat) => isMine(chat) || isAdmin.value;

/** @param {Chat} chat */
export const isMine = (chat) => chat.owner_id === me.value?.id;

/** Say why a chat cannot be archived now, or "". @param {Chat} chat */
export function whyNotArchived(chat) {
  if (chat.parent_chat_id) return "An agent is archived with its root";
  const family = [chat, ...(chat.children ?? [])];
  if (family.some(works)) return "It works: stop it first";
  if (family.some((one) => asks(one) && one.status === "requires_action"))
    return "It waits for you: answer or stop it first";
  return "";
}

/** Archive chats, and offer to undo it. @param {Chat[]} wanted */
export async function archive(wanted) {
  const able = wanted.filter((chat) => !whyNotArchived(chat));
  if (!able.length) return wanted[0] && toast({ text: whyNotArchived(wanted[0]) });
  const ids = able.map((chat) => chat.id);
  passFocus(ids);
  leave(ids);
  chooseNone();
  if (!(await report(chats.archive(ids), "Not archived"))) return undefined;
  toast({
    text: archivedWords(able, wanted.length - able.length),
    seconds: UNDO_SECONDS,
    act: { label: "Undo", run: () => void unarchive(able, false) },
  });
  return undefined;
}

/** @param {Chat[]} archived @param {number} left chats that are at work, and stay */
function archivedWords(archived, left) {
  const done = archived.length === 1 ? `“${archived[0].title}” is archived` : `${archived.length} chats are archived`;
  return left ? `${done}; ${left === 1 ? "1 at work is" : `${left} at work are`} not` : done;
}

/** Take chats back out of the archive. @param {Chat[]} wanted @param {boolean} [told] */
export async function unarchive(wanted, told = true) {
  const done = await report(chats.unarchive(wanted.map((chat) => chat.id)), "Still archived");
  if (done && told)
    toast({
      text:
        wanted.length === 1
          ? `“${wanted[0].title}” is back in the list`
          : `${wanted.length} chats are back in the list`,
    });
}

/** Archive a chat and remove its workspace, after a question, because that cannot be undone. @param {Chat} chat */
export async function archiveWithWorkspace(chat) {
  const sure = await ask({
    title: `Archive “${chat.title}” and remove its workspace?`,
    text: "All files of the workspace are gone for good, for other chats that work in it, too.",
    yes: "Archive and remove",
    danger: true,
  });
  if (!sure || !(await report(chats.archive([chat.id]), "Not archived"))) return;
  leave([chat.id]);
  const removed = await report(api.del(`/api/v2/workspaces/${chat.workspace_id}`), "Archived, but the workspace is still there");
  if (removed) toast(`“${chat.title}” is archived, and its workspace is gone`);
}

/** Give the focus to the neighbour of a row that leaves the list. @param {string[]} ids */
function passFocus(ids) {
  const row = document.activeElement?.closest(".list [data-chat]");
  const id = row instanceof HTMLElement ? row.dataset.chat : undefined;
  const next = id && ids.includes(id) ? neighbourOf(id, ids) : undefined;
  if (next) focusRow(next);
}

/** Go on to the neighbour if the open chat leaves the list. @param {string[]} ids */
function leave(ids) {
  const open = route.peek().chat;
  if (!open || !ids.includes(open) || !matchMedia("(min-width: 721px)").matches) return;
  const next = neighbourOf(open, ids);
  go(next ? `/c/${next}` : "/new");
}

/** @param {Chat} chat */
export const pin = (chat) =>
  report(
    chat.pin_order > 0 ? chats.unpin(chat.id) : chats.pin(chat.id),
    chat.pin_order > 0 ? "Still pinned" : "Not pinned",
  );

/** Mark chats as read or unread. @param {Chat[]} wanted @param {boolean} read */
export async function mark(wanted, read) {
  const ids = wanted.filter(isMine).map((chat) => chat.id);
  chooseNone();
  const open = ids.find((id) => route.peek().chats.includes(id));
  if (open) read ? letBeRead() : keepUnread(open);
  await report(read ? chats.markRead(ids) : chats.markUnread(ids), read ? "Still unread" : "Still read");
}

/** @param {Chat} chat */
export async function copyLink(chat) {
  const done = await report(
    navigator.clipboard.writeText(new URL(`/c/${chat.id}`, location.href).href),
    "Not copied",
  );
  if (done) toast({ text: "The link is copied" });
}

/** @param {Chat} chat */
export const openTab = (chat) => void window.open(`/c/${chat.id}`, "_blank", "noopener");

/**
 * Move a pinned chat to a place among the pinned ones.
 * @param {string} id
 * @param {number} place counted from 1
 */
export function moveTo(id, place) {
  const now = roots.peek().find((root) => root.id === id)?.pin_order;
  return now === place ? Promise.resolve(true) : report(chats.move(id, place), "It was not moved");
}

/** Move a pinned chat by one place. @param {Chat} chat @param {1 | -1} by */
export function shift(chat, by) {
  const last = roots.peek().filter((root) => root.pin_order > 0).length;
  return moveTo(chat.id, Math.min(last, Math.max(1, chat.pin_order + by)));
}

/**
 * Return the chats that an act is for: those named, those chosen, or the one that is meant.
 * @param {{chat?: string, chats?: string[]}} [args]
 * @returns {Chat[]}
 */
export function targets(args = {}) {
  const ids = args.chats ?? (args.chat ? [args.chat] : chosen.peek().size ? [...chosen.peek()] : [meant()]);
  return ids.flatMap((id) => (id && chats.find(id)) || []);
}

/** Return the one chat that an act is for. @param {{chat?: string}} [args] */
export const target = (args = {}) => chats.find(args.chat ?? meant() ?? "");

/** The row with the focus is meant, else the open chat. */
function meant() {
  const row = document.activeElement?.closest(".list [data-chat]");
  return row instanceof HTMLElement ? row.dataset.chat : route.peek().chat;
}
