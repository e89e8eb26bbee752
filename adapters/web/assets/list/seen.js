/** The open chat is read while somebody looks at it, unless they have just marked it as unread. */

import { chats } from "../chats_store.js";
import { isKeptUnread, letBeRead } from "../conversation/unread.js";
import { useEffect, useState } from "../ui.js";

/** @param {import("../wire/types.js").Chat | null} chat */
export function useSeen(chat) {
  const [hidden, setHidden] = useState(document.hidden);
  const id = chat?.id ?? "";
  useEffect(() => {
    const look = () => setHidden(document.hidden);
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
  useEffect(() => () => void (isKeptUnread(id) && letBeRead()), [id]);
  useEffect(() => {
    if (chat?.has_unread && !hidden && !isKeptUnread(id)) chats.seen(id);
  }, [id, chat?.has_unread, hidden]);
}
