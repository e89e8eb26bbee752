// The stream of one chat: over a WebSocket, or as server-sent events where sockets are blocked.
//
//   const stream = openStream({chat, cursor, isWorking, isKeptUnread, onOpen, onEvents, onLine})
//   stream.again()    begin anew where `cursor()` says: pieces are missing
//   stream.close()
//
// `cursor()` returns the query to go on with (`cursorOf` of state/chat.js). `onOpen(query)` comes
// before the first events of each connection, `onEvents(events)` with each frame, `onLine` with the
// states that wire/line.js describes.

import { address, api, ApiError } from "./api.js";
import { keepLine } from "./line.js";
import { dialEvents, dialSocket } from "./dial.js";

const SILENCE_MS = 45_000; // while the chat works
const RESTING_MS = 120_000; // while it rests there is nothing to say, and the line may be dead

/**
 * @param {{chat: string, cursor: () => Record<string, string>, isWorking: () => boolean,
 *   isKeptUnread: () => boolean, onOpen: (query: Record<string, string>) => void, onEvents: (events: any[]) => void,
 *   onLine: (state: import("./line.js").LineState) => void}} parts
 */
export function openStream({ chat, cursor, isWorking, isKeptUnread, onOpen, onEvents, onLine }) {
  const base = `chats/${chat}/stream`;
  /** @type {Record<string, string>} */
  let query = {};
  return keepLine({
    dial: (way, hear) => {
      query = cursor();
      const asked = { ...query, seen: isKeptUnread() ? false : undefined };
      if (way === 0) return dialSocket(address(base, asked), hear);
      return dialEvents(address(`${base}/sse`, asked), hear);
    },
    onOpen: () => onOpen(query),
    onData: onEvents,
    onState: onLine,
    probe: (failures) => whyRefused(`chats/${chat}`, failures),
    silenceMs: () => (isWorking() ? SILENCE_MS : RESTING_MS),
  });
}

/**
 * Ask for what a line is about, to learn why the line could not be had.
 * @param {string} path
 * @param {number} failures
 * @returns {Promise<"again" | "other" | "gone">}
 */
async function whyRefused(path, failures) {
  try {
    await api.get(path);
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 403)) return "gone";
    throw error;
  }
  return failures > 1 ? "other" : "again";
}
