// The state of one chat as the page sees it, and how each event of the stream changes it. Pure.
//
//   newChat(id, shell)            the state before anything has come, or with what the shell carries
//   reduce(state, event)          the state after one event of the stream, or one of the page's own
//   reduceAll(state, events)      the same for many: what one frame of the screen shows
//   cursorOf(state)               the query with which a stream goes on where this state ends
//
// A state is never changed. What an event does not touch keeps its identity, so that a view which
// compares by `===` (`memo`) skips it: a delta of text makes a new `live` and its last part, and
// nothing else. A message that comes again with the same content is the same object as before.
//
// Keys: `message.key` is what nodes are keyed by. The streamed answer is shown under `live.node`
// while it runs; the message that it becomes has that as its `key`, so the nodes stay. The same
// goes for a message of the user's own: `own[i].key` while it is being sent, then `message.key`.
//
// Events of the page's own (`type`):
//   connect {whole?}     a stream has been opened, its beginning follows; whole: all messages come
//   page {messages, has_more, before|after|beside}   messages that were asked for
//   loading {before|after, state}               a page is being asked for, or could not be had
//   chat {chat}                                 the chat itself, from GET or from the watch
//   own {key, text}, own-gone {key}             a message is being sent; it was refused
//   costs {costs}                               a Map of what messages cost, by their ids
//   whole {message}                             a message of which there was only a cut one
//   retried {error, retry}                      the turn that had these is tried once more
//   edited {id, messages}                       the answer to an edit: what was there has gone
//   sent {key, message?, queued?}               the answer to sending: the message, or its row

import { HANDLERS, LOCAL, keepUnknown, swap } from "./events.js";
import { merged } from "./messages.js";

/**
 * @typedef {import("./messages.js").Message} Message
 * @typedef {import("./messages.js").Hole} Hole
 * @typedef {import("./live.js").Live & {node: string}} Live
 * @typedef {import("../wire/types.js").ChatQueuedMessage & {key: string}} Queued
 * @typedef {import("../wire/types.js").ChatError} ChatError
 * @typedef {import("../wire/types.js").ChatStreamRetry} Retry
 * @typedef {import("../wire/types.js").ChatApproval} Approval
 * @typedef {import("../wire/types.js").ChatStreamToolCall} ClientCall
 *
 * `lastId`: the newest message when it was sent; only a newer one can be it.
 * @typedef {{key: string, text: string, lastId: number}} Own
 *
 * The beginning of a connection: what was known before, so that what is told again keeps its
 * identity. `begun`: the status has come, and behind it comes only what still holds.
 * @typedef {{begun: boolean, error: ChatError | null, retry: Retry | null, asks: readonly Approval[],
 *   calls: readonly ClientCall[]}} Arriving
 *
 * @typedef {object} ChatState
 * @property {string} id
 * @property {import("../wire/types.js").Chat | null} chat
 * @property {readonly Message[]} messages   by id
 * @property {"more" | "loading" | "failed" | "end"} older   what lies before the first message
 * @property {readonly Hole[]} holes   places between messages where some are not loaded
 * @property {Live | null} live   the attempt that runs
 * @property {string | null} status   waiting, running, interrupting, requires_action, error
 * @property {readonly Queued[]} queue
 * @property {Retry | null} retry
 * @property {ChatError | null} error
 * @property {readonly Approval[]} asks   calls of the family that wait for consent
 * @property {readonly ClientCall[]} calls   calls that the client itself has to answer
 * @property {readonly Own[]} own   messages of the user that are being sent
 * @property {number} history   the newest history version that is known
 * @property {number} lastId   the newest message that has come
 * @property {number} lastQueued   the newest message that was ever queued
 * @property {boolean} gap   pieces are missing: connect again with `cursorOf`
 * @property {readonly unknown[]} unknown   the last events of types that this page does not know
 * @property {readonly import("../wire/types.js").ChatMessage[] | null} gather   behind a history_reset
 * @property {Arriving | null} arriving
 *
 * @typedef {{type: string, [name: string]: any}} Event
 */

/**
 * Return the state of a chat. `shell` is what the page carries: the chat and its newest messages.
 * @param {string} id
 * @param {{chat?: any, messages?: any[], has_more?: boolean, history_version?: number}} [shell]
 * @returns {ChatState}
 */
export function newChat(id, shell = {}) {
  const messages = merged([], shell.messages ?? []);
  const chat = shell.chat ?? null;
  return {
    id,
    chat,
    messages,
    older: shell.messages && !shell.has_more ? "end" : "more",
    holes: [],
    live: null,
    status: chat?.status ?? null,
    queue: [], // pages have it in the order in which it was written; the stream tells the true one
    retry: null,
    error: chat?.last_error ?? null,
    asks: chat?.approvals ?? [],
    calls: [],
    own: [],
    history: shell.history_version ?? 0,
    lastId: messages.length ? messages[messages.length - 1].id : 0,
    lastQueued: 0,
    gap: false,
    unknown: [],
    gather: null,
    arriving: null,
  };
}

/**
 * Return the state after an event.
 * @param {ChatState} state
 * @param {Event} event
 */
export function reduce(state, event) {
  return reduceAll(state, [event]);
}

/**
 * Return the state after these events; `state` itself if they change nothing.
 * @param {ChatState} state
 * @param {readonly Event[]} events
 * @returns {ChatState}
 */
export function reduceAll(state, events) {
  /** @type {import("./events.js").Draft} */
  const draft = { next: { ...state }, owned: [] };
  for (const event of events) {
    if (event.type !== "message" && draft.next.gather && !LOCAL.has(event.type)) swap(draft);
    const handle = Object.hasOwn(HANDLERS, event.type) ? HANDLERS[event.type] : keepUnknown;
    handle(draft, event);
  }
  return shallowSame(state, draft.next) ? state : draft.next;
}

/**
 * Return the query with which a stream goes on behind all that this state knows.
 * @param {ChatState} state
 * @returns {{after_part?: string, after_id?: string}}
 */
export function cursorOf(state) {
  const { live, history, lastId } = state;
  /** @type {{after_part?: string, after_id?: string}} */
  const query = lastId ? { after_id: String(lastId) } : {};
  if (live) query.after_part = `${live.key}.${live.seq}`;
  else if (history && lastId) query.after_part = `${history}.0.0`;
  return query;
}

/** @param {ChatState} a @param {ChatState} b */
function shallowSame(a, b) {
  return Object.keys(b).every((name) => Object.is(Reflect.get(a, name), Reflect.get(b, name)));
}
