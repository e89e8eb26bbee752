// What stands below the last message: why nothing goes on, and what can be done about it.

import { html, useComputed, useEffect, useRef, useSignal, useSignalEffect } from "../ui.js";
import { later } from "../shared/later.js";
import { NOTHING_SEEN, nowWords, seenNow } from "./now_words.js";

/** @typedef {import("./timeline.js").Conversation} Conversation */

const ForeignAsk = later(() => import("./cards/endings.js").then((module) => module.ForeignAsk));
const Retry = later(() => import("./cards/endings.js").then((module) => module.Retry));
const Failed = later(() => import("./cards/endings.js").then((module) => module.Failed));

const NONE = new Set();
const BOOKED_MS = 300; // after a turn, until what it cost is booked
const LOOK_MS = 5000; // between two questions why nothing comes
const LOOK_SOON_MS = 2000; // likewise, when the answer has broken off

/** @param {{conversation: Conversation, at: any}} props */
export function Endings({ conversation, at }) {
  const asks = useComputed(() => conversation.state.value.asks);
  const retry = useComputed(() => conversation.state.value.retry);
  const error = useComputed(() => conversation.state.value.error);
  const shown = useComputed(() => (asks.value.length ? shownCalls(conversation.state.value) : NONE));
  const foreign = asks.value.filter((ask) => !shown.value.has(ask.tool_call_id) || ask.chat_id !== conversation.id);
  return html`${foreign.map((ask) => html`<${ForeignAsk} key=${`${ask.chat_id}.${ask.tool_call_id}`} ask=${ask} at=${at} />`)}
    ${retry.value && html`<${Retry} retry=${retry.value} at=${at} />`}
    ${error.value && html`<${Failed} error=${error.value} at=${at} />`}
    <${Now} conversation=${conversation} />`;
}

/** The ids of calls that stand in the messages themselves. @param {any} state */
function shownCalls(state) {
  const last = state.messages.findLast((/** @type {any} */ each) => each.role === "assistant");
  const parts = [...(last?.content ?? []), ...(state.live?.parts ?? [])];
  return new Set(parts.filter((part) => part.type === "tool-call").map((part) => part.tool_call_id));
}

/** One quiet line that says what goes on when nothing else does. @param {{conversation: Conversation}} props */
function Now({ conversation }) {
  const stopped = useStopped(conversation);
  useCosts(conversation);
  const isBrokenOff = useBrokenOff(conversation);
  const words = useComputed(() =>
    nowWords(conversation.state.value, conversation.line.value, { stopped: stopped.value, isBrokenOff: isBrokenOff.value }));
  const isIdle = useComputed(() => {
    const { status, live } = conversation.state.value;
    return status === "interrupting" || (status === "running" && !live);
  });
  useLook(conversation, !isIdle.value ? 0 : isBrokenOff.value ? LOOK_SOON_MS : LOOK_MS);
  if (!words.value) return null;
  const { text, light } = words.value;
  return html`<p class="now">${light && html`<i class=${`cue ${light}`}></i>`}<span>${text}</span></p>`;
}

/** The message behind which somebody stopped the chat, as far as this page saw it. @param {Conversation} conversation */
function useStopped(conversation) {
  const stopped = useSignal(-1);
  const before = useRef(conversation.state.peek().status);
  useSignalEffect(() => {
    const { status, lastId } = conversation.state.value;
    if (before.current === "interrupting" && status === "waiting") stopped.value = lastId;
    before.current = status;
  });
  return stopped;
}

/** What a turn cost is asked for when it is over. @param {Conversation} conversation */
function useCosts(conversation) {
  const before = useRef(conversation.state.peek().status);
  useSignalEffect(() => {
    const { status } = conversation.state.value;
    const isOver = before.current === "running" && (status === "waiting" || status === "error");
    before.current = status;
    if (isOver) setTimeout(() => conversation.readCosts().catch(() => {}), BOOKED_MS);
  });
}

/** Whether the answer went with the connection, and nothing has come since. @param {Conversation} conversation */
function useBrokenOff(conversation) {
  const isBrokenOff = useSignal(false);
  const seen = useRef(NOTHING_SEEN);
  useSignalEffect(() => {
    seen.current = seenNow(seen.current, conversation.state.value, conversation.line.value);
    isBrokenOff.value = seen.current.isBrokenOff;
  });
  return isBrokenOff;
}

/**
 * Whether a chat waits for a place, or its process is silent, is told by the chat alone: ask while nothing
 * else comes.
 * @param {Conversation} conversation
 * @param {number} ms between two questions; 0: none
 */
function useLook(conversation, ms) {
  useEffect(() => {
    if (!ms) return undefined;
    const timer = setInterval(() => conversation.refresh().catch(() => {}), ms);
    return () => clearInterval(timer);
  }, [ms]);
}
