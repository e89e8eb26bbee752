// What each event does to the state of a chat. Pure: `draft.next` is a state that is being made, a
// copy of the one before; its lists are changed only after `own` has copied them.

import { withPiece } from "./live.js";
import { asKept, merged, messageOf, put, textOf } from "./messages.js";
import { markPlace, takePage } from "./pages.js";
import { kept, same } from "./same.js";

/**
 * @typedef {import("./chat.js").ChatState} ChatState
 * @typedef {import("./chat.js").Arriving} Arriving
 * @typedef {import("./chat.js").Event} Event
 * @typedef {import("./messages.js").Message} Message
 * @typedef {{next: ChatState, owned: unknown[]}} Draft  `owned`: lists of `next` that may be changed
 */

const UNKNOWN_MAX = 20; // events of unknown types that are kept; older ones are dropped
const AT_WORK = new Set(["running", "interrupting"]);

/** @type {Record<string, (draft: Draft, event: Event) => void>} */
export const HANDLERS = {
  message: onMessage,
  message_part: onPiece,
  preview_reset: ({ next }) => void (next.live = null),
  history_reset: ({ next }) => void ((next.gather = []), (next.live = null)),
  status: onStatus,
  queue_update: onQueue,
  approvals: ({ next }, event) =>
    void (next.asks = told(next.arriving?.asks, next.asks, event.approvals ?? [])),
  retry: ({ next }, event) => {
    next.retry = next.arriving ? told(next.arriving.retry, next.retry, event.retry) : event.retry;
    next.live = null;
  },
  error: ({ next }, event) => {
    next.error = next.arriving ? told(next.arriving.error, next.error, event.error) : event.error;
  },
  action_required: ({ next }, event) => {
    const calls = event.action_required?.tool_calls ?? [];
    next.calls = told(next.arriving?.calls, next.calls, calls);
  },
  connect: onConnect,
  page: ({ next }, event) => takePage(next, /** @type {any} */ (event)),
  loading: ({ next }, event) => markPlace(next, /** @type {any} */ (event)),
  chat: onChat,
  own: ({ next }, { key, text }) => {
    next.own = [...next.own, { key, text, lastId: next.lastId }];
  },
  "own-gone": ({ next }, { key }) => void (next.own = next.own.filter((one) => one.key !== key)),
  sent: onSent,
  edited: onEdited,
  whole: onWhole,
  costs: onCosts,
  retried: onRetried,
};
// Events of the page's own: those that say nothing of where the stream is.
export const LOCAL = new Set(["connect", "page", "loading", "chat", "own", "own-gone", "sent", "edited", "retried", "whole", "costs"]);

/** @param {Draft} draft @param {Event} event */
function onCosts({ next }, { costs }) {
  const isNews = (/** @type {any} */ one) => costs.has(one.id) && one.cost_micros !== costs.get(one.id);
  if (!next.messages.some(isNews)) return;
  next.messages = next.messages.map((one) => (isNews(one) ? { ...one, cost_micros: costs.get(one.id) } : one));
}

/** @param {Draft} draft @param {Event} event */
function onMessage(draft, { message }) {
  const { next } = draft;
  if (next.gather) {
    gathered(draft).push(message);
    return;
  }
  const old = messageOf(next.messages, message.id);
  const fresh = asKept(old, message, old ? undefined : nodeFor(draft, message));
  next.lastId = Math.max(next.lastId, message.id);
  if (fresh !== old) put(ownedMessages(draft), fresh);
}

/**
 * Return the key of the nodes that already show a message which is new to the history, if any do.
 * @param {Draft} draft
 * @param {import("../wire/types.js").ChatMessage} message
 */
function nodeFor({ next }, message) {
  const { live } = next;
  if (message.role === "assistant" && live && live.parts.some((part) => part.role === "assistant")) {
    next.live = null;
    next.retry = null;
    return live.node;
  }
  if (message.role !== "user") return undefined;
  return takenFromOwn(next, textOf(message.content ?? []), message.id);
}

/**
 * Return the key of the own message with this text that is being sent, which is over by this.
 * @param {ChatState} next
 * @param {string} text
 * @param {number} id
 */
function takenFromOwn(next, text, id) {
  const own = next.own.find((one) => one.text === text && one.lastId < id);
  if (own) next.own = next.own.filter((one) => one !== own);
  return own?.key;
}

/** @param {Draft} draft @param {Event} event */
function onPiece({ next }, { message_part: piece }) {
  if (next.gap || (next.status && !AT_WORK.has(next.status))) return;
  const live = withPiece(next.live, piece);
  if (live === "gap") next.gap = true;
  if (typeof live === "string") return;
  next.live = { ...live, node: `live${live.key}` };
  if (next.chat?.takeover_seconds !== undefined || next.chat?.queued_for_capacity)
    next.chat = { ...next.chat, takeover_seconds: undefined, queued_for_capacity: undefined, place_in_line: undefined }; // it goes on
  next.history = Math.max(next.history, live.history);
  next.retry = null;
}

/** @param {Draft} draft @param {Event} event */
function onStatus({ next }, event) {
  next.status = event.status.status;
  const begins = next.arriving && !next.arriving.begun;
  if (begins || next.status === "running") next.error = next.retry = null;
  if (begins) {
    next.asks = next.calls = [];
    next.arriving = { .../** @type {Arriving} */ (next.arriving), begun: true };
  }
  if (next.status !== "requires_action" && next.calls.length) next.calls = [];
  if (!AT_WORK.has(event.status.status)) next.live = null;
}

/** @param {Draft} draft @param {Event} event */
function onQueue({ next }, { queued_messages: rows = [] }) {
  const known = new Map(next.queue.map((row) => [row.id, row]));
  const queue = rows.map((/** @type {any} */ row) => {
    const old = known.get(row.id);
    const key = old?.key ?? takenFromOwn(next, textOf(row.content), Infinity) ?? `q${row.id}`;
    return old && same(old, { ...row, key }) ? old : { ...row, key };
  });
  next.queue = kept(next.queue, queue);
  for (const row of rows) next.lastQueued = Math.max(next.lastQueued, row.id);
}

/** @param {Draft} draft @param {Event} event */
function onConnect({ next }, { whole }) {
  if (whole) next.older = "end";
  const { error, retry, asks, calls } = next;
  next.arriving = { begun: false, error, retry, asks, calls };
  next.gather = null;
  next.gap = false;
}

/** @param {Draft} draft @param {Event} event */
function onChat({ next }, { chat }) {
  const isOld = next.chat && next.chat.updated_at > chat.updated_at; // an answer behind newer news
  next.chat = kept(next.chat, isOld ? { ...chat, ...next.chat } : { ...next.chat, ...chat });
  next.status ??= chat.status;
}

/**
 * The answer to a retry: what it was asked for has gone. The next attempt may have failed before the
 * answer came; what the stream has told of that stays.
 * @param {Draft} draft
 * @param {Event} event
 */
function onRetried({ next }, { error, retry }) {
  if (next.error === error) next.error = null;
  if (next.retry === retry) next.retry = null;
}

/** @param {Draft} draft @param {Event} event */
function onSent(draft, { key, message, queued }) {
  const { next } = draft;
  const own = next.own.find((one) => one.key === key); // none: the stream has told it, as a row or as a message
  next.own = next.own.filter((one) => one !== own);
  if (queued && own && queued.id > next.lastQueued) {
    next.lastQueued = queued.id;
    next.queue = [...next.queue, { ...queued, key }];
  }
  if (!message || message.id <= next.lastId) return; // told, and it may have gone since
  next.lastId = message.id;
  put(ownedMessages(draft), asKept(undefined, message, key));
}

/** @param {Draft} draft @param {Event} event */
function onWhole(draft, { message }) {
  const old = messageOf(draft.next.messages, message.id);
  const fresh = old && asKept(old, message);
  if (fresh && fresh !== old) put(ownedMessages(draft), fresh);
}

/** A message was edited: it and all behind it have gone. @param {Draft} draft @param {Event} event */
function onEdited({ next }, { id, messages }) {
  const last = messages[messages.length - 1];
  if (last.id <= next.lastId) return; // the stream was faster, and it may have been edited again
  next.messages = merged(next.messages.filter((message) => message.id < id), [...messages.slice(0, -1), { ...last, edited: true }]);
  next.queue = [];
  next.live = next.error = next.retry = null;
}

/** @param {Draft} draft @param {Event} event */
export function keepUnknown({ next }, event) {
  next.unknown = [...next.unknown, event].slice(-UNKNOWN_MAX);
}

/**
 * Put the whole history that was gathered behind a reset in the place of the one there was.
 * @param {Draft} draft
 */
export function swap(draft) {
  const { next } = draft;
  const old = next.messages;
  const come = withEdited(old, [...(next.gather ?? [])].sort((a, b) => a.id - b.id));
  next.messages = come.map((message) => {
    const known = messageOf(old, message.id);
    return asKept(known, message, known ? undefined : takenForReset(next, message));
  });
  next.gather = null;
  next.holes = [];
  next.older = "end";
  next.lastId = Math.max(0, ...come.slice(-1).map((message) => message.id));
}

/**
 * Return a history with its edited message marked, if one took the place of what was known: the stream
 * does not say which it is.
 * @param {readonly Message[]} old
 * @param {readonly import("../wire/types.js").ChatMessage[]} come
 */
function withEdited(old, come) {
  const last = old[old.length - 1]?.id ?? 0;
  if (old.every(({ id }) => messageOf(come, id))) return come;
  const edited = come.find((message) => message.id > last && message.role === "user");
  return edited ? come.map((message) => (message === edited ? { ...message, edited: true } : message)) : come;
}

/** @param {ChatState} next @param {import("../wire/types.js").ChatMessage} message */
function takenForReset(next, message) {
  if (message.role !== "user") return undefined;
  return takenFromOwn(next, textOf(message.content ?? []), message.id);
}

/**
 * Return what was told, as the object that is known already if it says the same.
 * @template T
 * @param {T | undefined} before
 * @param {T} now
 * @param {T} come
 * @returns {T}
 */
function told(before, now, come) {
  if (same(now, come)) return now;
  return before !== undefined && same(before, come) ? before : come;
}

/** @param {Draft} draft @returns {Message[]} */
function ownedMessages(draft) {
  return own(draft, "messages");
}

/** @param {Draft} draft @returns {any[]} */
function gathered(draft) {
  return own(draft, "gather");
}

/**
 * Return a list of the new state that may be changed: a copy, once for all events of a reduction.
 * @param {Draft} draft
 * @param {"messages" | "gather"} name
 */
function own({ next, owned }, name) {
  const list = /** @type {any[]} */ (next[name]);
  if (owned.includes(list)) return list;
  const copy = list.slice();
  owned.push(copy);
  next[name] = copy;
  return copy;
}
