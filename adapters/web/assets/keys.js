/** Keys: which command each of them is, and the one listener that hears them. */

import {commandsChanged, find, isArriving, isExpected} from "./commands.js";
import {effect} from "./ui.js";

/**
 * All keys. Of several rows with one key the last that can be done is done: the nearest. Rows without
 * a command are for people: the part that they are about hears them itself.
 */
export const KEYS = [
  {keys: "mod+k", command: "palette.open", title: "Search or do…", group: "Everywhere"},
  {keys: "c", command: "chat.new", title: "New chat", group: "Everywhere"},
  {keys: "/", command: "composer.focus", title: "Write a message", group: "Everywhere"},
  {keys: "?", command: "keys.show", title: "All keys", group: "Everywhere"},
  {keys: "[", command: "region.list", title: "Fold the list", group: "Everywhere"},
  {keys: "]", command: "region.panel", title: "Fold the side panel", group: "Everywhere"},
  {keys: "Escape", command: "panel.close", title: "Close the side panel that lies over", group: "Everywhere"},
  {keys: "F6", command: "region.next", title: "Next region", group: "Everywhere"},
  {keys: "shift+F6", command: "region.previous", title: "Previous region", group: "Everywhere"},
  {keys: ">", command: "column.next", title: "Next column, where several chats are open", group: "Everywhere"},
  {keys: "<", command: "column.previous", title: "Previous column", group: "Everywhere"},
  {keys: "j", command: "message.next", title: "Next message of mine", group: "In a chat"},
  {keys: "k", command: "message.previous", title: "Previous message of mine", group: "In a chat"},
  {keys: "g g", command: "message.first", title: "Start of the chat", group: "In a chat"},
  {keys: "G", command: "message.last", title: "End of the chat", group: "In a chat"},
  {keys: "n", command: "next.needsMe", title: "Next thing that needs you", group: "In a chat"},
  {keys: "p", command: "previous.needsMe", title: "Previous thing that needs you", group: "In a chat"},
  {keys: "o", command: "card.toggle", title: "Open or close a card", group: "In a chat"},
  {keys: "s", command: "message.speak", title: "Read the last answer aloud", group: "In a chat"},
  {keys: "u", command: "chat.parent", title: "Up to the chat that began this one", group: "In a chat"},
  {keys: "Escape Escape", command: "chat.stop", title: "Stop", group: "In a chat"},
  {keys: "Enter", command: "", title: "Send; while it works: queue", group: "Writing"},
  {keys: "mod+Enter", command: "", title: "While it works: steer", group: "Writing"},
  {keys: "alt+Enter", command: "", title: "While it works: interrupt", group: "Writing"},
  {keys: "shift+Enter", command: "", title: "New line", group: "Writing"},
  {keys: "ArrowUp", command: "", title: "What you wrote before", group: "Writing"},
  {keys: "mod+shift+v", command: "", title: "Paste as text, however long", group: "Writing"},
  {keys: "1–9", command: "", title: "Choose an answer", group: "A question to you"},
  {keys: "y", command: "approval.allow", title: "Allow once", group: "A question to you"},
  {keys: "a", command: "approval.always", title: "Always allow in this chat", group: "A question to you"},
  {keys: "n", command: "approval.deny", title: "Deny", group: "A question to you"},
  {keys: "J", command: "chat.next", title: "Next chat", group: "List of chats"},
  {keys: "K", command: "chat.previous", title: "Previous chat", group: "List of chats"},
  {keys: "g i", command: "chat.needsMe", title: "Next chat that needs you", group: "List of chats"},
  {keys: "e", command: "chat.archive", title: "Archive the chat", group: "List of chats"},
  {keys: "l", command: "chat.label", title: "Label the chat", group: "List of chats"},
  {keys: "r", command: "chat.rename", title: "Rename the chat", group: "List of chats"},
  {keys: "alt+ArrowUp", command: "", title: "Move a pinned chat or a waiting message up", group: "List of chats"},
  {keys: "x", command: "row.choose", title: "Choose the row", group: "List of chats"},
  {keys: ".", command: "menu.open", title: "Menu of what is chosen", group: "List of chats"},
];

const SEQUENCE_MS = 1000; // between two keys of one sequence
const MAC = /mac|iphone|ipad/i.test(navigator.platform);

/** Whether keys that are single letters are heard; switched off in the settings. */
export const letters = {on: true};

/** @param {KeyboardEvent} event @returns {string} as it is written in the table */
function nameOf(event) {
  const mod = MAC ? event.metaKey : event.ctrlKey;
  const named = event.key.length > 1;
  return [
    mod && "mod+",
    event.altKey && "alt+",
    event.shiftKey && (named || mod) && "shift+",
    named || !mod ? event.key : event.key.toLowerCase(),
  ].filter(Boolean).join("");
}

/** @param {EventTarget | null} target */
export function isTyping(target) {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || !!target.closest("textarea, select, input:not([type=checkbox], [type=radio])");
}

let before = "";
let beforeAt = 0;

/** @param {string} keys @returns {boolean} whether something was done */
function done(keys) {
  const near = KEYS.findLast((row) => row.keys === keys && find(row.command));
  if (near) find(near.command)?.run();
  return !!near;
}

/** Keys that were pressed before their commands were known, and those behind them. @type {string[]} */
let early = [];

/** @param {string} keys @returns {boolean} whether it may become known what they do */
const mayMean = (keys) => KEYS.some((row) => row.keys === keys && row.command && isExpected(row.command));

/** Do what the keys say that were pressed too early, as far as it is known by now, in their order. */
function catchUp() {
  while (early.length && !mayMean(early[0])) {
    const [keys] = early.splice(0, 1);
    // What leads into a field takes along what was typed behind it.
    if (keys.length === 1 && isTyping(document.activeElement)) document.execCommand("insertText", false, keys);
    else done(keys);
  }
}

/** @param {KeyboardEvent} event */
function pressed(event) {
  if (event.defaultPrevented || event.isComposing) return;
  const name = nameOf(event);
  const single = event.key.length === 1 && !name.startsWith("mod+");
  if (single && (!letters.on || isTyping(event.target))) return;
  if (document.querySelector("dialog[open]")) return;
  const sequence = event.timeStamp - beforeAt < SEQUENCE_MS ? `${before} ${name}` : "";
  before = name;
  beforeAt = event.timeStamp;
  const meant = sequence && KEYS.some((row) => row.keys === sequence) ? sequence : name;
  if ((early.length && single) || mayMean(meant)) {
    early.push(meant);
    event.preventDefault();
    before = "";
    return;
  }
  if ((sequence && done(sequence)) || done(name)) {
    event.preventDefault();
    before = "";
  }
}

/** @param {string} keys @returns {string[]} each key as people read it */
export function keyWords(keys) {
  const words = /** @type {Record<string, string>} */ ({
    mod: MAC ? "⌘" : "Ctrl", alt: MAC ? "⌥" : "Alt", shift: MAC ? "⇧" : "Shift", Enter: "Enter",
    Escape: "Esc", ArrowUp: "↑", ArrowDown: "↓",
  });
  const word = (/** @type {string} */ part, /** @type {number} */ at) =>
    words[part] || (at && part.length === 1 ? part.toUpperCase() : part);
  return keys.split(" ").map((key) => key.split("+").map(word).join(MAC ? "" : "+"));
}

/** @param {string} id @returns {string} the keys of a command as people read them, or "" */
export function keysOf(id) {
  const row = KEYS.find((each) => each.command === id);
  return row ? keyWords(row.keys).join(" ") : "";
}

/** Hear keys from now on. */
export function followKeys() {
  addEventListener("keydown", pressed);
  effect(() => {
    if (commandsChanged.value || !isArriving.value) queueMicrotask(catchUp); // when all are known that come together
  });
}
