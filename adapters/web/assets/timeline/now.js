// What goes on in a chat when nothing of it is to be seen, kept up to date.

import { html, useComputed, useEffect, useRef, useSignal, useSignalEffect } from "../ui.js";
import { NOTHING_SEEN, nowWords, seenNow } from "./now_words.js";

/** @typedef {import("./timeline.js").Conversation} Conversation */

const BOOKED_MS = 300; // after a turn, until what it cost is booked
const LOOK_MS = 5000; // between two questions why nothing comes
const LOOK_SOON_MS = 2000; // likewise, when the answer has broken off

/** One quiet line that says what goes on when nothing else does. @param {{conversation: Conversation}} props */
export function Now({ conversation }) {
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
