// News of all of a user's chats, over one socket for all tabs of a browser.
//
//   hearWatch(heard)   hears every event, {kind, chat}; returns what stops it
//   watchLine          signal of the line's state, as wire/line.js describes it
//
// Beside the daemon's own kinds there is {kind: "again"}: news may have been missed, so what is
// shown has to be read anew. The tab that leads holds the socket and tells the others.

import { effect, signal } from "../ui.js";
import { address, api } from "./api.js";
import { dialSocket } from "./dial.js";
import { keepLine } from "./line.js";
import { tabs } from "./tabs.js";
import { isSeen } from "./wake.js";

const SEEN_SILENCE_MS = 120_000; // a line that has said nothing for so long may be dead
const HIDDEN_SILENCE_MS = 600_000;
const ASK_MS = 15_000; // between questions where sockets are blocked: nothing else tells of all chats
const PROBE = "/api/v2/users/me";

export const watchLine = signal(/** @type {import("./line.js").LineState} */ ({ state: "wait", since: Date.now() }));

/** @type {Set<(event: any) => void>} */
const listeners = new Set();
let begun = false;
let hasHeard = false; // of the line of the tab that leads

/**
 * @param {(event: any) => void} heard
 * @returns {() => void}
 */
export function hearWatch(heard) {
  listeners.add(heard);
  begin();
  return () => void listeners.delete(heard);
}

/** @param {any} event */
function tell(event) {
  for (const heard of [...listeners]) heard(event);
}

function begin() {
  if (begun) return;
  begun = true;
  tabs.hear("watch", tell);
  tabs.hear("watch.line", (line) => {
    watchLine.value = line;
    // What came with the page is older than that line, which may have told news since.
    if (!hasHeard && line.state === "live") tell({ kind: "again" });
    hasHeard = true;
  });
  tabs.hear("watch.hello", () => tabs.leads.peek() && tabs.say("watch.line", watchLine.peek()));
  tabs.stand();
  tabs.say("watch.hello");
  effect(() => void (tabs.leads.value && lead()));
}

function lead() {
  const tellAll = (/** @type {any} */ event) => {
    tell(event);
    tabs.say("watch", event);
  };
  keepLine({
    dial: (way, hear) =>
      way === 0 ? dialSocket(address("chats/watch", { shared: true }), hear) : askAgain(hear),
    onOpen: () => tellAll({ kind: "again" }),
    onData: tellAll,
    onState: (line) => {
      watchLine.value = line;
      tabs.say("watch.line", line);
    },
    probe: async (failures) => {
      await api.get(PROBE);
      return failures > 1 ? "other" : "again";
    },
    silenceMs: () => (isSeen() ? SEEN_SILENCE_MS : HIDDEN_SILENCE_MS),
  });
}

/**
 * Have everything read anew from time to time, where no socket can be had.
 * @param {import("./line.js").Hear} hear
 * @returns {() => void} ends it
 */
function askAgain(hear) {
  const timer = setInterval(() => {
    api.get(PROBE).then(() => hear.data({ kind: "again" }), () => hear.closed());
  }, ASK_MS);
  queueMicrotask(hear.open);
  return () => clearInterval(timer);
}
