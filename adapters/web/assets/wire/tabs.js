// The tabs of one browser: one of them leads, all hear what is said between them.
//
//   tabs.leads              signal: this tab is the one that does what only one should do
//   tabs.say(topic, data)   to all other tabs
//   tabs.hear(topic, heard) → stops it

import { signal } from "../ui.js";

const NAME = "promptcorner";
const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel(NAME) : null;
const leads = signal(!("locks" in navigator));
let asked = false;

/** Ask to lead; it is granted once no other tab does, and held as long as this tab is there. */
function stand() {
  if (asked || leads.peek()) return;
  asked = true;
  navigator.locks.request(`${NAME}.leader`, () => {
    leads.value = true;
    return new Promise(() => {});
  });
}

export const tabs = {
  leads,
  stand,

  /** @param {string} topic @param {unknown} [data] */
  say: (topic, data) => channel?.postMessage({ topic, data }),

  /**
   * @param {string} topic
   * @param {(data: any) => void} heard
   * @returns {() => void}
   */
  hear(topic, heard) {
    const hear = (/** @type {MessageEvent} */ event) => event.data?.topic === topic && heard(event.data.data);
    channel?.addEventListener("message", hear);
    return () => channel?.removeEventListener("message", hear);
  },
};
