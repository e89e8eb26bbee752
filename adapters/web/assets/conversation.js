// One open chat: its state, kept by the stream, and what a person can do with it.
//
//   const conversation = openConversation(id, shell)
//
//   .id
//   .state        signal of the ChatState of state/chat.js, set at most once a frame
//   .line         signal of {state: "wait"|"live"|"broken"|"gone", since, next_at} (wire/line.js)
//   .opening      signal: "loading", "ready", or the ApiError because of which it cannot be shown
//   .sending      signal of messages on their way: [{key, text, files, refs, busy, at, queues}]
//                 `key` is the key of the message or of the row that it becomes; queues: it is
//                 expected to become a row of the queue; slow: the daemon was not reached yet
//   .core         for what is loaded later: the queue (conversation/queue.js)
//
//   .send({text, files, refs, model, effort, busy, plan, servers})   → the answer
//   .edit(messageId, {text, files, refs, model, effort})             → the answer
//   .interrupt(), .retry({model}), .compact(), .takeContext()
//   .patch(changes)                       PATCH of the chat: plan_mode, workspace_id, title …
//   .decide(approval, decision, words)    decision: allow_once, allow_always, deny
//   .askAgain(tool)                       no longer always allowed in this family
//   .answer([{tool_call_id, output, is_error}])       the client's own calls
//   .prompts()                            → [{id, text}], the newest first
//   .loadOlder(), .loadHole(hole), .openAt(messageId) → whether the message is there
//   .readCosts()                          what the messages of the last turn cost (`cost_micros`)
//   .readWhole(messageId)                 a message whose results were cut (`result_bytes`), whole
//   .refresh()                            reads the chat itself again
//   .close()
//
// All that ask the daemon return promises, and throw ApiError with what was not done and why.

import { onceAFrame } from "./kernel/frame.js";
import { newChat, cursorOf, reduceAll } from "./state/chat.js";
import { signal } from "./ui.js";
import { ApiError, api } from "./wire/api.js";
import { openStream } from "./wire/stream.js";
import { hearWatch } from "./wire/watch.js";
import { actionsOf } from "./conversation/actions.js";
import { pagesOf } from "./conversation/pages.js";
import { sendingOf } from "./conversation/sending.js";
import { isKeptUnread } from "./conversation/unread.js";

const FIRST_PAGE = 30; // messages; the shell carries as many
const AT_WORK = new Set(["running", "interrupting"]);

/** @typedef {ReturnType<typeof openConversation>} Conversation */

/**
 * Open a chat. `shell` is what is there already: {chat, messages, has_more, history_version}.
 * @param {string} id
 * @param {any} [shell]
 */
export function openConversation(id, shell) {
  const core = coreOf(id, shell);
  const ready = shell?.messages ? Promise.resolve() : read(core);
  ready.then(() => {
    if (core.closed) return;
    core.opening.value = "ready";
    core.stream = streamOf(core);
  }, (error) => void (core.opening.value = error));
  core.closers.push(hearWatch((event) => event.chat?.id === id && core.take({ type: "chat", chat: newsOf(event) })));
  return {
    id,
    state: core.state,
    line: core.line,
    opening: core.opening,
    ...sendingOf(core),
    ...actionsOf(core),
    ...pagesOf(core),
    core,
    close: () => {
      core.closed = true;
      core.stream?.close();
      core.frame.cancel();
      for (const close of core.closers) close();
    },
  };
}

/**
 * The parts of a conversation that its actions share. `take` reduces an event at the next frame,
 * `takeNow` at once.
 * @param {string} id
 * @param {any} shell
 */
function coreOf(id, shell) {
  const state = signal(newChat(id, shell));
  /** @type {import("./state/chat.js").Event[]} */
  let come = [];
  const frame = onceAFrame(() => {
    const events = come;
    come = [];
    const next = reduceAll(state.peek(), events);
    if (next.unknown !== state.peek().unknown) console.warn("events of an unknown type", next.unknown.at(-1));
    state.value = next;
    if (next.gap) core.stream?.again();
  });
  const core = {
    id,
    state,
    frame,
    line: signal(/** @type {import("./wire/line.js").LineState} */ ({ state: "wait", since: Date.now() })),
    opening: signal(/** @type {"loading" | "ready" | unknown} */ (shell?.messages ? "ready" : "loading")),
    closed: false,
    stream: /** @type {{again: () => void, close: () => void} | null} */ (null),
    closers: /** @type {(() => void)[]} */ ([]),
    /** @param {...import("./state/chat.js").Event} events */
    take: (...events) => {
      for (const event of events) come.push(event);
      frame.ask();
    },
    /** @param {...import("./state/chat.js").Event} events */
    takeNow: (...events) => {
      core.take(...events);
      frame.now();
    },
    /** Return the state with all that has come, drawn or not. */
    latest: () => {
      frame.now();
      return state.peek();
    },
  };
  return core;
}

/** @typedef {ReturnType<typeof coreOf>} Core */

/** Read the chat and its newest messages. @param {Core} core */
async function read(core) {
  const [chat, page] = await Promise.all([
    api.get(`chats/${core.id}`),
    api.get(`chats/${core.id}/messages`, { limit: FIRST_PAGE, results: "cut", costs: "true" }),
  ]);
  core.takeNow(
    { type: "chat", chat },
    { type: "page", ...page },
    { type: "approvals", approvals: chat.approvals },
    ...(chat.last_error ? [{ type: "error", error: chat.last_error }] : []),
  );
}

/** @param {Core} core */
function streamOf(core) {
  return openStream({
    chat: core.id,
    cursor: () => cursorOf(core.latest()),
    isWorking: () => AT_WORK.has(core.state.peek().status ?? ""),
    isKeptUnread: () => isKeptUnread(core.id),
    onOpen: (query) => core.take({ type: "connect", whole: !Object.keys(query).length }),
    onEvents: (events) => core.take(...events),
    onLine: (line) => {
      core.line.value = line;
      if (line.state === "gone") core.opening.value = new ApiError(404, { message: "This chat is not there." });
    },
  });
}

/**
 * Return what an event of the watch says of the chat. It has no files, children or read mark, and
 * says of the repository only where that is its news.
 * @param {{kind: string, chat: any}} event
 */
function newsOf({ kind, chat }) {
  const { files, children, has_unread, diff_status, context, ...news } = chat;
  return kind === "diff_status_change" ? { ...news, diff_status } : news;
}
