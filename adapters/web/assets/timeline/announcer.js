// What a screen reader is told: short sentences, at most one each two seconds, never the text as it
// streams.

import { html, signal, useEffect, useMemo, useSignalEffect } from "../ui.js";
import { command } from "../commands.js";
import { callWords } from "./cards/asks.js";

const PAUSE_MS = 2000;
const SPOKEN_MAX = 8000; // characters of an answer that is read

/** @param {{conversation: import("./timeline.js").Conversation}} props */
export function Announcer({ conversation }) {
  const voice = useMemo(() => voiceOf(), [conversation]);
  const before = useMemo(() => ({ status: conversation.state.peek().status, asks: conversation.state.peek().asks, speaks: false, error: conversation.state.peek().error }), [conversation]);
  useEffect(() => voice.close, []);
  useSignalEffect(() => {
    const { status, asks, live, error } = conversation.state.value;
    const speaks = Boolean(live?.parts.some((part) => part.type === "text"));
    if (speaks && !before.speaks) voice.say("Answer begins");
    const fresh = asks.find((ask) => !before.asks.includes(ask));
    if (fresh) voice.say(`Asks: ${callWords(fresh)}`);
    if (error && error !== before.error) import("./faults.js").then(({ faultOf }) => voice.say(faultOf(error).title));
    else if (status === "waiting" && before.status && before.status !== "waiting") voice.say("Done");
    Object.assign(before, { status, asks, speaks, error });
  });
  useEffect(() => command({ id: "message.speak", title: "Read the last answer aloud", group: "Conversation", run: () => voice.say(lastAnswer(conversation)) }), [conversation]);
  return html`<div class="sr" role="status" aria-live="polite">${voice.words}</div>`;
}

/** @param {import("./timeline.js").Conversation} conversation */
function lastAnswer(conversation) {
  const { messages, live } = conversation.state.peek();
  const said = live?.parts ?? messages.findLast((each) => each.role === "assistant" && textIn(each.content))?.content ?? [];
  return textIn(said).slice(0, SPOKEN_MAX) || "There is no answer yet";
}

/** @param {readonly any[]} parts */
const textIn = (parts) => parts.filter((part) => part.type === "text").map((part) => part.text).join("\n").trim();

function voiceOf() {
  const words = signal("");
  /** @type {string[]} */
  let queue = [];
  let timer = 0;
  const next = () => {
    timer = 0;
    const said = queue.shift();
    if (said === undefined) return;
    words.value = said;
    timer = setTimeout(next, PAUSE_MS);
  };
  return {
    words,
    say: (/** @type {string} */ sentence) => {
      queue = [...queue.slice(-2), sentence];
      if (!timer) next();
    },
    close: () => clearTimeout(timer),
  };
}
