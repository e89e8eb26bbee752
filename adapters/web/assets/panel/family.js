// The family of a chat: its root, and the agents that it has begun. From the list where it is
// there, for news of agents comes to it; else as it was read with the chat.

import { signal } from "../ui.js";
import { api } from "../wire/api.js";
import { chats } from "../chats_store.js";

const FAMILIES_MAX = 50;

/** @type {Map<string, import("../vendor/preact.js").Signal<any>>} roots that no list has */
const read = new Map();

/**
 * Return the root of a chat with its children, or null while it is not known.
 * @param {any} chat
 */
export function familyOf(chat) {
  if (!chat) return null;
  const root = chat.parent_chat_id ? chat.root_chat_id : chat.id;
  const listed = chats.list.value && chats.find(root);
  if (listed && listed.children) return listed;
  if (!chat.parent_chat_id) return chat.children ? chat : null;
  return readRoot(root).value;
}

/** @param {string} id */
function readRoot(id) {
  const known = read.get(id) ?? signal(null);
  if (!read.has(id)) {
    read.set(id, known);
    if (read.size > FAMILIES_MAX) read.delete(/** @type {string} */ (read.keys().next().value));
    api.get(`chats/${id}`).then((chat) => (known.value = chat), () => read.delete(id));
  }
  return known;
}
