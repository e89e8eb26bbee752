/** The open chat as its views show it: what the daemon told of it, with what its stream says now. */

import { chats } from "../chats_store.js";

/** @typedef {import("../wire/types.js").Chat} Chat */

/**
 * Return the open chat. Titles, labels, pins and agents are as the list knows them, which hears of
 * changes; the state is as the stream tells it, which is the first to know.
 *
 * @param {any} conversation
 * @returns {Chat | null}
 */
export function openChat(conversation) {
  const state = conversation?.state.value;
  if (!state) return null;
  const listed = chats.list.value && chats.listed(conversation.id);
  /** @type {Chat | null} */
  const chat = listed ?? state.chat;
  if (!chat) return null;
  return { ...(state.chat ?? {}), ...chat, ...live(chat, state) };
}

/** @param {Chat} chat @param {any} state */
function live(chat, state) {
  const own = (state.asks ?? []).filter((/** @type {any} */ ask) => !ask.chat_id || ask.chat_id === chat.id);
  return {
    status: state.status ?? chat.status,
    last_error: state.error ?? chat.last_error,
    approvals: state.asks ? own : chat.approvals,
  };
}
