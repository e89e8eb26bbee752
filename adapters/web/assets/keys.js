/** Keys: which command each of them is, and the one listener that hears them. */

import {find} from "./commands.js";

/** All keys, in groups of one. Of several rows with one key the first that can be done is done. */
export const KEYS = [
  {keys: "mod+k", command: "palette.open", title: "Search or do…"},
  {keys: "c", command: "chat.new", title: "New chat"},
  {keys: "/", command: "composer.focus", title: "Write a message"},
  {keys: "j", command: "message.next", title: "Next message of mine"},
  {keys: "k", command: "message.previous", title: "Previous message of mine"},
  {keys: "J", command: "chat.next", title: "Next chat"},
  {keys: "K", command: "chat.previous", title: "Previous chat"},
  {keys: "g g", command: "message.first", title: "Start of the chat"},
  {keys: "G", command: "message.last", title: "End of the chat"},
  {keys: "g i", command: "chat.needsMe", title: "Next chat that needs you"},
  {keys: "y", command: "approval.allow", title: "Allow once"},
  {keys: "a", command: "approval.always", title: "Always allow in this chat"},
  {keys: "n", command: "approval.deny", title: "Deny"},
  {keys: "n", command: "next.needsMe", title: "Next thing that needs you"},
  {keys: "p", command: "previous.needsMe", title: "Previous thing that needs you"},
  {keys: "e", command: "chat.archive", title: "Archive the chat"},
  {keys: "l", command: "chat.label", title: "Label the chat"},
  {keys: "r", command: "chat.rename", title: "Rename the chat"},
  {keys: "u", command: "chat.parent", title: "Up to the chat that began this one"},
  {keys: "o", command: "card.toggle", title: "Open or close a card"},
  {keys: "s", command: "message.speak", title: "Read the last answer aloud"},
  {keys: ".", command: "menu.open", title: "Menu of what is chosen"},
  {keys: "x", command: "row.choose", title: "Choose the row"},
  {keys: "[", command: "region.list", title: "Fold the list"},
  {keys: "]", command: "region.panel", title: "Fold the side panel"},
  {keys: "F6", command: "region.next", title: "Next region"},
  {keys: "shift+F6", command: "region.previous", title: "Previous region"},
  {keys: "Escape Escape", command: "chat.stop", title: "Stop"},
  {keys: "?", command: "keys.show", title: "All keys"},
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
  for (const row of KEYS.filter((each) => each.keys === keys)) {
    const found = find(row.command);
    if (found) {
      found.run();
      return true;
    }
  }
  return false;
}

/** @param {KeyboardEvent} event */
function pressed(event) {
  if (event.defaultPrevented || event.isComposing) return;
  const name = nameOf(event);
  const single = event.key.length === 1 && !name.startsWith("mod+");
  if (single && (!letters.on || isTyping(event.target))) return;
  if (document.querySelector("dialog[open]") && name !== "mod+k") return;
  const sequence = event.timeStamp - beforeAt < SEQUENCE_MS ? `${before} ${name}` : "";
  before = name;
  beforeAt = event.timeStamp;
  if ((sequence && done(sequence)) || done(name)) {
    event.preventDefault();
    before = "";
  }
}

/** @param {string} keys @returns {string[]} each key as people read it */
export function keyWords(keys) {
  const words = /** @type {Record<string, string>} */ ({
    mod: MAC ? "⌘" : "Ctrl", alt: MAC ? "⌥" : "Alt", shift: "⇧", Enter: "↵", Escape: "Esc",
    ArrowUp: "↑", ArrowDown: "↓",
  });
  return keys.split(" ").map((key) =>
    key.split("+").map((part) => words[part] || part).join(MAC ? "" : "+") || "+",
  );
}

/** @param {string} id @returns {string} the keys of a command as people read them, or "" */
export function keysOf(id) {
  const row = KEYS.find((each) => each.command === id);
  return row ? keyWords(row.keys).join(" ") : "";
}

/** Hear keys from now on. */
export function followKeys() {
  addEventListener("keydown", pressed);
}
