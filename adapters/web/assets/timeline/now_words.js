// The words for what a chat does when nothing else on the page shows it. Pure.

import { elapsed, grouped } from "./words.js";

/**
 * The state of the page when it was last looked at: the answer that was being written, the message
 * before it, and the line to the daemon by which it came.
 * @typedef {{live: object | null, lastId: number, line: number, isBrokenOff: boolean}} Seen
 */

/** @type {Seen} */
export const NOTHING_SEEN = { live: null, lastId: 0, line: 0, isBrokenOff: false };

/**
 * Return the state of the page now. An answer is broken off if it is gone, another line was opened, and
 * no message has taken its place; it stays so until something comes.
 * @param {Seen} before
 * @param {any} state
 * @param {{since: number}} line
 * @returns {Seen}
 */
export function seenNow(before, { live, lastId, status, retry }, { since }) {
  if (live) return live === before.live ? before : { live, lastId, line: since, isBrokenOff: false };
  const isOver = status !== "running" || retry || lastId !== before.lastId;
  if (isOver) return { live, lastId, line: since, isBrokenOff: false };
  const isLost = before.live !== null && before.line !== since;
  return { live, lastId, line: since, isBrokenOff: before.isBrokenOff || isLost };
}

/**
 * @param {any} state
 * @param {any} line
 * @param {{stopped: number, isBrokenOff: boolean}} seen the message behind which it was stopped
 * @returns {{text: string, light: string} | null}
 */
export function nowWords(state, line, { stopped, isBrokenOff }) {
  if (line.state === "broken" && state.live) return { text: "The connection is broken; it goes on when it is back.", light: "ask" };
  if (state.status === "interrupting") return { text: silence(state.chat, "It is stopped") || "Stopping…", light: "ask" };
  if (state.status === "waiting" && stopped === state.lastId) return { text: "Stopped. What there was of the answer is kept.", light: "" };
  if (state.status !== "running" || state.retry || state.error) return null;
  if (state.live) return state.live.isCut ? { text: "The answer goes on. The rest of it is shown when it is complete.", light: "go" } : null;
  if (state.chat?.queued_for_capacity) return { text: placeWords(state.chat.place_in_line), light: "ask" };
  const silent = silence(state.chat, "It goes on");
  if (silent) return { text: silent, light: "ask" };
  if (isBrokenOff) return { text: "The answer broke off when the connection did. It begins again as soon as the daemon works on it.", light: "ask" };
  return callsRun(state) ? null : { text: "Working…", light: "go" };
}

/** Return a sentence about a silent daemon, or "". @param {any} chat @param {string} goesOn */
function silence(chat, goesOn) {
  const seconds = chat?.takeover_seconds;
  if (seconds === undefined) return "";
  const when = seconds > 0 ? `in about ${elapsed(seconds * 1000)}` : "in a moment";
  return `The daemon stopped while it worked on this, or cannot be reached. ${goesOn} ${when}.`;
}

/** Return whether the last message calls tools: their cards say that they run. @param {any} state */
function callsRun({ messages }) {
  const last = messages.at(-1);
  return last?.role === "assistant" && last.content.some((/** @type {any} */ part) => part.type === "tool-call");
}

const ENDINGS = ["th", "st", "nd", "rd"];

/** Return "1st", "12th", "23rd". @param {number} value */
export const ordinal = (value) =>
  `${grouped(value)}${(Math.floor(value / 10) % 10 !== 1 && ENDINGS[value % 10]) || "th"}`;

const COUNTED_MAX = 1000; // places in the line; the daemon counts no further

/**
 * Return a sentence about a chat that waits for a place.
 * @param {number | undefined} place in the line
 */
export function placeWords(place) {
  if (!place || place >= COUNTED_MAX) return "Waits for a place: other chats are at work.";
  return place === 1 ? "Waits for a place: it is the next." : `Waits for a place: ${ordinal(place)} in line.`;
}
