/** Keys: which command each of them is, and the one listener that hears them. */

import {commandsChanged, find, isArriving, isExpected} from "./commands.js";
import {effect} from "./ui.js";

/**
 * The keys of commands. Where several rows have the same key, the last one that can be done is done.
 * Their titles stand in `keys_help.js`, which is loaded when a user opens it.
 */
export const KEYS = [
  {keys: "mod+k", command: "palette.open"},
  {keys: "c", command: "chat.new"},
  {keys: "/", command: "composer.focus"},
  {keys: "?", command: "keys.show"},
  {keys: "[", command: "region.list"},
  {keys: "]", command: "region.panel"},
  {keys: "Escape", command: "panel.close"},
  {keys: "F6", command: "region.next"},
  {keys: "shift+F6", command: "region.previous"},
  {keys: ">", command: "column.next"},
  {keys: "<", command: "column.previous"},
  {keys: "j", command: "message.next"},
  {keys: "k", command: "message.previous"},
  {keys: "g g", command: "message.first"},
  {keys: "G", command: "message.last"},
  {keys: "n", command: "next.needsMe"},
  {keys: "p", command: "previous.needsMe"},
  {keys: "o", command: "card.toggle"},
  {keys: "s", command: "message.speak"},
  {keys: "u", command: "chat.parent"},
  {keys: "Escape Escape", command: "chat.stop"},
  {keys: "y", command: "approval.allow"},
  {keys: "a", command: "approval.always"},
  {keys: "n", command: "approval.deny"},
  {keys: "J", command: "chat.next"},
  {keys: "K", command: "chat.previous"},
  {keys: "g i", command: "chat.needsMe"},
  {keys: "e", command: "chat.archive"},
  {keys: "l", command: "chat.label"},
  {keys: "r", command: "chat.rename"},
  {keys: "x", command: "row.choose"},
  {keys: ".", command: "menu.open"},
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

/** What is done once however long its key is held: the next time it would be about something else. */
const ONCE = /^(approval|chat\.archive)/;

/** @param {string} keys @param {boolean} [isHeld] @returns {boolean} whether something was done */
function done(keys, isHeld = false) {
  const near = KEYS.findLast((row) => row.keys === keys && find(row.command));
  if (near && !(isHeld && ONCE.test(near.command))) find(near.command)?.run();
  return !!near;
}

/** Keys that were pressed before their commands were known, and the keys after them. @type {string[]} */
let early = [];

/** Whether a command for these keys may still become known. @param {string} keys @returns {boolean} */
const mayMean = (keys) => KEYS.some((row) => row.keys === keys && isExpected(row.command));

/** Do the commands of keys that were pressed too early, in their order, as far as they are known now. */
function catchUp() {
  while (early.length && !mayMean(early[0])) {
    const [keys] = early.splice(0, 1);
    // A key that leads into a field is followed by letters for that field.
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
  if ((sequence && done(sequence, event.repeat)) || done(name, event.repeat)) {
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
    // Commands that come together are all known in the next microtask.
    if (commandsChanged.value || !isArriving.value) queueMicrotask(catchUp);
  });
}
