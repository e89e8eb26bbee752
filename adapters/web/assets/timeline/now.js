// The line that says what a chat does when nothing else on the page shows it.

import { html, useComputed, useEffect, useRef, useSignal, useSignalEffect } from "../ui.js";
import { NOTHING_SEEN, nowWords, seenNow } from "./now_words.js";

/** @typedef {import("./timeline.js").Conversation} Conversation */

const BOOKED_MS = 300; // after a turn, until what it cost is booked
const LOOK_MS = 5000; // between two readings of a chat from which nothing comes
const LOOK_SOON_MS = 2000; // likewise, when its answer has broken off

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

/** Read the costs of a turn when it is over. @param {Conversation} conversation */
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
 * Read the chat again and again: no event tells that it waits for a place, or that its process is silent.
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
