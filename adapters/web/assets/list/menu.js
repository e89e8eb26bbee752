/** The menu of a chat: the same on right click, long press, `.` and the three dots. */

import { chats } from "../chats_store.js";
import { find } from "../commands.js";
import { keysOf } from "../keys.js";
import { go } from "../routes.js";
import { isAdmin } from "../session.js";
import { openMenu } from "../shared/menu.js";
import { addressOf } from "../state/filters.js";
import { unfoldsItself } from "../state/rows.js";
import {
  archive,
  archiveWithWorkspace,
  copyLink,
  isMine,
  mark,
  mayChange,
  openTab,
  pin,
  shift,
  unarchive,
  whyNotArchived,
} from "./acts.js";
import { choose, chosen, filters, roots, unfold, unfolded } from "./look.js";
import { editLabels, erase, hold, rename, share } from "./forms.js";

/** @typedef {import("../wire/types.js").Chat} Chat */
/** @typedef {import("../shared/menu.js").Item | "-"} Item */

/**
 * Open the menu of a chat, or of all that are chosen if it is one of them.
 * @param {string} id
 * @param {Element | {x: number, y: number}} at
 */
export function openChatMenu(id, at) {
  const chat = chats.find(id);
  if (!chat) return;
  const together = chosen.peek().has(id) ? [...chosen.peek()].flatMap((one) => chats.find(one) ?? []) : [];
  const many = together.length > 1;
  openMenu({
    at,
    label: many ? `${together.length} chats` : chat.title,
    items: many ? itemsOfMany(together) : itemsOf(chat, at),
  });
}

/** @param {Chat} chat @param {Element | {x: number, y: number}} at @returns {Item[]} */
function itemsOf(chat, at) {
  const child = Boolean(chat.parent_chat_id);
  return [
    ...(mayChange(chat) && !child ? places(chat) : []),
    ...(mayChange(chat) ? changes(chat, child, at) : []),
    { label: "Copy link", icon: "link", run: () => void copyLink(chat) },
    ...(find("chat.beside") ? [{ command: "chat.beside", args: chat.id, icon: "side" }] : []),
    { label: "Open in a new tab", icon: "out", run: () => openTab(chat) },
    ...(child ? upwards(chat) : agents(chat)),
    ...(roots.peek().some((root) => root.id === chat.id) ? choosing(chat) : []),
    ...(child || !mayChange(chat) ? [] : archiving(chat)),
  ];
}

/** @param {Chat} chat @returns {Item[]} */
function upwards(chat) {
  const run = () => void go(`/c/${chat.parent_chat_id}${addressOf(filters.peek())}`);
  return [{ label: "Up to its root", icon: "up", key: keysOf("chat.parent"), run }];
}

/** @param {Chat} chat @returns {Item[]} */
function choosing(chat) {
  const label = chosen.peek().has(chat.id) ? "Choose no longer" : "Choose";
  return [{ label, icon: "check", key: keysOf("row.choose"), run: () => choose(chat.id) }];
}

/** @param {Chat} chat @returns {Item[]} */
function places(chat) {
  if (!isMine(chat) || chat.archived) return [];
  const pinned = chat.pin_order > 0;
  return [
    { label: pinned ? "Unpin" : "Pin", icon: "pin", run: () => void pin(chat) },
    ...(pinned
      ? [
          { label: "Move up", icon: "up", key: "⌥↑", run: () => void shift(chat, -1) },
          { label: "Move down", icon: "arrow-down", key: "⌥↓", run: () => void shift(chat, 1) },
        ]
      : []),
  ];
}

/** @param {Chat} chat @param {boolean} child @param {Element | {x: number, y: number}} at @returns {Item[]} */
function changes(chat, child, at) {
  return [
    { label: "Rename…", icon: "pen", key: keysOf("chat.rename"), run: () => void rename(chat) },
    { label: "Labels…", icon: "tag", key: keysOf("chat.label"), run: () => void editLabels([chat]) },
    ...(child ? [] : [{ label: "Share…", icon: "share", run: () => void share(chat, at) }]),
    ...(isMine(chat) && !child && !chat.archived ? [marking(chat)] : []),
    "-",
  ];
}

/** @param {Chat} chat @returns {Item} */
const marking = (chat) => ({
  label: chat.has_unread ? "Mark as read" : "Mark as unread",
  icon: "eye",
  run: () => void mark([chat], chat.has_unread),
});

/** @param {Chat} chat @returns {Item[]} */
function agents(chat) {
  if (!chat.children?.length) return [];
  const open = unfolded.peek()[chat.id] ?? unfoldsItself(chat, null);
  return [
    { label: open ? "Fold its agents" : "Show its agents", icon: "tree", run: () => unfold(chat.id, !open) },
  ];
}

/** @param {Chat} chat @returns {Item[]} */
function archiving(chat) {
  const disabled = whyNotArchived(chat);
  /** @type {Item[]} */
  const rest = [
    ...(isAdmin.value ? [{ label: "Legal hold…", run: () => void hold(chat) }] : []),
    { label: "Erase for good…", icon: "trash", danger: true, disabled, run: () => void erase(chat) },
  ];
  if (chat.archived)
    return ["-", { label: "Take out of the archive", icon: "archive", run: () => void unarchive([chat]) }, ...rest];
  const key = keysOf("chat.archive");
  /** @type {Item[]} */
  const items = ["-", { label: "Archive", icon: "archive", key, disabled, run: () => void archive([chat]) }];
  if (chat.workspace_id && isMine(chat)) {
    const run = () => void archiveWithWorkspace(chat);
    items.push({ label: "Archive, and remove its workspace…", icon: "trash", danger: true, disabled, run });
  }
  return [...items, ...rest];
}

/** @param {Chat[]} together @returns {Item[]} */
export function itemsOfMany(together) {
  return [
    { label: "Labels…", icon: "tag", key: keysOf("chat.label"), run: () => void editLabels(together) },
    { label: "Mark as read", icon: "eye", run: () => void mark(together, true) },
    { label: "Mark as unread", run: () => void mark(together, false) },
    together[0].archived
      ? { label: "Take out of the archive", icon: "archive", run: () => void unarchive(together) }
      : { label: "Archive", icon: "archive", key: keysOf("chat.archive"), run: () => void archive(together) },
  ];
}
