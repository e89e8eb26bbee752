/**
 * What a person who looks elsewhere is told of their chats. Pure.
 *
 * @typedef {import("../wire/types.js").Chat} Chat
 * @typedef {import("./lights.js").Light} Light
 * @typedef {{kind: "asks" | "failed" | "ended", chat: string, title: string, body: string}} Notice
 */

import { lightOf } from "./lights.js";

const BODY = { asks: "asks you", failed: "failed", ended: "is done" };

/**
 * Return what is worth a word in news of a chat; null: nothing is. Of agents only what they ask
 * counts: all else is for their root.
 * @param {Light | undefined} before its light; undefined: nothing was known of it
 * @param {Chat} chat
 * @returns {Notice | null}
 */
export function noticeOf(before, chat) {
  const kind = kindOf(before, lightOf(chat));
  if (!kind || (chat.parent_chat_id && kind !== "asks")) return null;
  const more = kind === "failed" ? chat.last_error?.message : kind === "ended" ? chat.last_turn_summary : "";
  return { kind, chat: chat.id, title: chat.title || "A chat", body: more || BODY[kind] };
}

/** @param {Light | undefined} before @param {Light} now @returns {Notice["kind"] | null} */
function kindOf(before, now) {
  if (now === before) return null;
  if (now === "ask") return "asks";
  if (now === "bad") return before ? "failed" : null;
  return before === "go" && now !== "go" ? "ended" : null;
}
