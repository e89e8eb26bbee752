/** The open chat is read while somebody looks at it, unless they have just marked it as unread. */

import { chats } from "../chats_store.js";
import { useEffect, useState } from "../ui.js";

const STREAM_ENDS_MS = 1000; // after a chat was left

/** The chat that was marked as unread while it was open. */
let keptUnread = "";

/** @param {readonly string[]} ids */
export function keepUnread(ids) {
  keptUnread = ids[0] ?? keptUnread;
}

/** Say once more that a chat is unread: the daemon takes it as read when its stream ends. @param {string} id */
function leave(id) {
  if (!id || keptUnread !== id) return;
  keptUnread = "";
  setTimeout(() => chats.markUnread([id]).catch(() => {}), STREAM_ENDS_MS);
}

/** @param {import("../wire/types.js").Chat | null} chat */
export function useSeen(chat) {
  const [hidden, setHidden] = useState(document.hidden);
  const id = chat?.id ?? "";
  useEffect(() => {
    const look = () => setHidden(document.hidden);
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
  useEffect(() => () => void leave(id), [id]);
  useEffect(() => {
    if (chat?.has_unread && !hidden && keptUnread !== id) chats.seen(id);
  }, [id, chat?.has_unread, hidden]);
}
