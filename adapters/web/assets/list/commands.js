/** What can be done to chats, by name: for keys, the palette, menus and cards. */

import { command } from "../commands.js";
import { go } from "../routes.js";
import { toast } from "../shared/toast.js";
import { addressOf } from "../state/filters.js";
import {
  archive,
  copyLink,
  isMine,
  mark,
  mayChange,
  openTab,
  pin,
  shift,
  target,
  targets,
  unarchive,
} from "./acts.js";
import { choose, filters, focused, unfold, unfolded } from "./look.js";
import { openChatMenu } from "./menu.js";
import { openNeedy, openNext } from "./moving.js";
import { editLabels, rename, share } from "./forms.js";

/** @typedef {import("../wire/types.js").Chat} Chat */
/** @typedef {{chat?: string, chats?: string[], at?: Element}} Args */

/** Say whether an act is possible for the chat that is meant. @param {(chat: Chat) => boolean} test */
const can = (test) => () => {
  const [chat] = targets();
  return Boolean(chat && test(chat));
};

/** @type {(act: (chat: Chat) => unknown) => (args?: Args) => unknown} */
const one = (act) => (args) => {
  const chat = target(args);
  return chat && act(chat);
};

/** @type {(act: (chats: Chat[]) => unknown) => (args?: Args) => unknown} */
const many = (act) => (args) => {
  const found = targets(args);
  return found.length ? act(found) : undefined;
};

const isRoot = (/** @type {Chat} */ chat) => !chat.parent_chat_id;
const isPinnable = (/** @type {Chat} */ chat) => isRoot(chat) && isMine(chat) && !chat.archived;
const isPinned = (/** @type {Chat} */ chat) => chat.pin_order > 0 && isPinnable(chat);

/** @type {Parameters<typeof command>[0][]} */
const COMMANDS = [
  { id: "chat.new", title: "New chat", group: "Chats", run: () => go(`/new${addressOf(filters.peek())}`) },
  {
    id: "search.open",
    title: "Search all chats",
    group: "Chats",
    run: (args) => go(`/search${args?.words ? `?q=${encodeURIComponent(args.words)}` : ""}`),
  },
  { id: "chat.next", title: "Next chat", group: "Chats", run: () => openNext(1) },
  { id: "chat.previous", title: "Previous chat", group: "Chats", run: () => openNext(-1) },
  {
    id: "chat.needsMe",
    title: "Next chat that needs you",
    group: "Chats",
    run: () => openNeedy() || toast("No chat needs you."),
  },
  {
    id: "chat.parent",
    title: "Up to the chat that began this one",
    group: "Chat",
    when: can((chat) => !isRoot(chat)),
    run: one((chat) => go(`/c/${chat.parent_chat_id}${addressOf(filters.peek())}`)),
  },
  { id: "chat.openTab", title: "Open in a new tab", group: "Chat", when: can(() => true), run: one(openTab) },
  { id: "chat.copyLink", title: "Copy the link", group: "Chat", when: can(() => true), run: one(copyLink) },
  { id: "chat.rename", title: "Rename…", group: "Chat", when: can(mayChange), run: one(rename) },
  { id: "chat.label", title: "Labels…", group: "Chat", when: can(mayChange), run: many(editLabels) },
  {
    id: "chat.share",
    title: "Share…",
    group: "Chat",
    when: can((chat) => isRoot(chat) && mayChange(chat)),
    run: (args) => one((chat) => share(chat, args?.at))(args),
  },
  { id: "chat.pin", title: "Pin or unpin", group: "Chat", when: can(isPinnable), run: one(pin) },
  {
    id: "chat.up",
    title: "Move the pinned chat up",
    group: "Chat",
    when: can(isPinned),
    run: one((chat) => shift(chat, -1)),
  },
  {
    id: "chat.down",
    title: "Move the pinned chat down",
    group: "Chat",
    when: can(isPinned),
    run: one((chat) => shift(chat, 1)),
  },
  {
    id: "chat.read",
    title: "Mark as read",
    group: "Chat",
    when: can((chat) => isPinnable(chat) && chat.has_unread),
    run: many((found) => mark(found, true)),
  },
  {
    id: "chat.unread",
    title: "Mark as unread",
    group: "Chat",
    when: can((chat) => isPinnable(chat) && !chat.has_unread),
    run: many((found) => mark(found, false)),
  },
  {
    id: "chat.archive",
    title: "Archive",
    group: "Chat",
    when: can((chat) => isRoot(chat) && mayChange(chat) && !chat.archived),
    run: many(archive),
  },
  {
    id: "chat.unarchive",
    title: "Take out of the archive",
    group: "Chat",
    when: can((chat) => isRoot(chat) && mayChange(chat) && chat.archived),
    run: many((found) => unarchive(found)),
  },
  {
    id: "chat.agents",
    title: "Show or fold the agents",
    group: "Chat",
    when: can((chat) => chat.children.length > 0),
    run: one((chat) => unfold(chat.id, !unfolded.peek()[chat.id])),
  },
  {
    id: "row.choose",
    title: "Choose the row",
    group: "Chats",
    when: () => Boolean(chosenRow()),
    run: () => choose(/** @type {string} */ (chosenRow())),
  },
  {
    id: "menu.open",
    title: "Menu of the chat",
    group: "Chat",
    when: can(() => true),
    run: one((chat) => openChatMenu(chat.id, rowElement(chat.id))),
  },
];

/** Make the commands known. @returns {() => void} */
export function chatCommands() {
  const removers = COMMANDS.map(command);
  return () => removers.forEach((remove) => remove());
}

/** The root in whose row the keyboard is. */
function chosenRow() {
  const row = document.activeElement?.closest(".list [data-chat]:not(.below)");
  return row instanceof HTMLElement ? row.dataset.chat : undefined;
}

/** @param {string} id @returns {Element | {x: number, y: number}} */
function rowElement(id) {
  const row = document.querySelector(`.list [data-chat="${CSS.escape(id)}"]`);
  const isThere = focused.peek() === id && row?.contains(document.activeElement);
  return (isThere ? row : document.querySelector(".top .chat-menu")) ?? row ?? { x: innerWidth / 2, y: 60 };
}
