// Chats that were opened, by their ids: they may be archived, or stand in no list that was read.

/** @typedef {import("./state/chats.js").Chat} Chat */

const KNOWN_MAX = 50; // the oldest is forgotten

/** @type {Map<string, Chat>} */
const known = new Map();

/** @param {string} id */
export const knownChat = (id) => known.get(id);

/** Remember a chat that was read by itself. @param {Partial<Chat>} chat */
export function know(chat) {
  if (!chat.id) return;
  known.delete(chat.id);
  known.set(chat.id, /** @type {any} */ (chat));
  const [oldest] = known.keys();
  if (known.size > KNOWN_MAX) known.delete(oldest);
}

/** Change a chat, if it is known. @param {string} id @param {Partial<Chat>} changes */
export function changeKnown(id, changes) {
  const chat = known.get(id);
  if (chat) known.set(id, { ...chat, ...changes });
}
