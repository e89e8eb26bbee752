// The messages of a chat: a list in the order of their ids, with holes where some are not loaded.
// Pure; every function returns a new list, or the one that it was given if nothing changes.

import { same } from "./same.js";

/**
 * A message as the page keeps it: as it came, its content never absent.
 * `key` is what its nodes are keyed by: it stays when a streamed answer, or a message that was
 * being sent, becomes a message of the history.
 * @typedef {import("../wire/types.js").ChatMessage & {key: string,
 *   content: readonly import("../wire/types.js").ChatMessagePart[]}} Message
 *
 * Messages that lie between two loaded ones and are not loaded.
 * @typedef {{after: number, before: number, state: "more" | "loading" | "failed"}} Hole
 */

/**
 * Return the place of an id in the list: where it is, or where it would have to be put.
 * @param {readonly {id: number}[]} list
 * @param {number} id
 */
export function placeOf(list, id) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle].id < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Return the message with this id, or undefined.
 * @template {{id: number}} T
 * @param {readonly T[]} list
 * @param {number} id
 * @returns {T | undefined}
 */
export function messageOf(list, id) {
  const found = list[placeOf(list, id)];
  return found && found.id === id ? found : undefined;
}

/**
 * Return a message as the page keeps it: the one that is there already if it says the same.
 * @param {Message | undefined} old
 * @param {import("../wire/types.js").ChatMessage} come
 * @param {string} [key]
 * @returns {Message}
 */
export function asKept(old, come, key) {
  if (old && isCut(come) && !isCut(old)) return old;
  const edited = old?.edited ? { edited: true } : null; // streams do not say so
  const next = { ...edited, ...come, content: come.content ?? [], key: key ?? old?.key ?? `m${come.id}` };
  return old && same(old, next) ? old : next;
}

/** Return whether a page had a long result of this message cut. @param {{content?: readonly any[]}} message */
function isCut({ content = [] }) {
  return content.some((part) => part.result_bytes !== undefined);
}

/**
 * Put a message into a list that the caller owns: it is changed.
 * @param {Message[]} list
 * @param {Message} message
 */
export function put(list, message) {
  const place = placeOf(list, message.id);
  if (place < list.length && list[place].id === message.id) list[place] = message;
  else list.splice(place, 0, message);
}

/**
 * Merge two lists in the order of their ids; of a message that is in both, that of `come` stays,
 * unless it says the same.
 * @param {readonly Message[]} list
 * @param {readonly import("../wire/types.js").ChatMessage[]} come
 * @returns {Message[]}
 */
export function merged(list, come) {
  const byId = new Map(list.map((message) => [message.id, message]));
  for (const one of come) byId.set(one.id, asKept(byId.get(one.id), one));
  return [...byId.values()].sort((a, b) => a.id - b.id);
}

/**
 * Return the text of a message's parts.
 * @param {readonly {type: string, text?: string}[]} parts
 */
export function textOf(parts) {
  return parts
    .filter((part) => part.type === "text")
    .map((part) => part.text)
    .join("");
}
