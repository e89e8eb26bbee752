// What was bought for a chat, message by message: tokens and costs. Read when the summary is shown,
// and what is new whenever a turn is over; the stream tells no costs.

import { signal, useEffect, useMemo } from "../ui.js";
import { usePart } from "../shared/part.js";
import { api } from "../wire/api.js";

/** @typedef {{messages: import("../vendor/preact.js").Signal<any[]>, state: import("../vendor/preact.js").Signal<"loading" | "failed" | "end" | "bound">, read: () => Promise<void>}} Bought */

const PAGE = 200;
const PAGES_MAX = 50; // 10,000 messages; then it says so, and shows what it has

/** @param {any} conversation @returns {Bought} */
export function useBought(conversation) {
  const bought = useMemo(() => boughtBy(conversation.id), [conversation]);
  const rests = usePart(conversation, (state) => !["running", "interrupting"].includes(state.status));
  useEffect(() => void (rests && bought.read()), [bought, rests]);
  return bought;
}

/** @param {string} chat @returns {Bought} */
function boughtBy(chat) {
  const messages = signal(/** @type {any[]} */ ([]));
  const state = signal(/** @type {"loading" | "failed" | "end" | "bound"} */ ("end"));
  let isWanted = false; // once more: a turn has ended while it was being read
  const read = async () => {
    if (state.peek() === "loading") return void (isWanted = true);
    isWanted = false;
    state.value = "loading";
    try {
      const last = messages.peek().at(-1)?.id;
      const found = await pages(chat, last);
      messages.value = [...messages.peek(), ...found.messages];
      state.value = found.more ? "bound" : "end";
    } catch {
      state.value = "failed";
    }
    if (isWanted) await read();
  };
  return { messages, state, read };
}

/** Read what is newer than a message, or all there is, the newest first. @param {string} chat @param {number | undefined} last */
async function pages(chat, last) {
  const messages = [];
  let more = true;
  let before = null;
  for (let page = 0; page < PAGES_MAX && more; page++) {
    const place = last ? { after_id: messages.at(-1)?.id ?? last } : { before_id: before };
    const answer = await api.get(`chats/${chat}/messages`, { limit: PAGE, results: "cut", costs: true, ...place });
    const some = answer.messages.map(slim);
    before = some.at(-1)?.id ?? before;
    if (last) messages.push(...some);
    else messages.unshift(...some.reverse());
    more = answer.has_more && some.length > 0;
  }
  return { messages, more };
}

/** @param {any} message */
function slim({ id, usage, model_config_id, cost_micros }) {
  return { id, usage, model_config_id, cost_micros };
}
