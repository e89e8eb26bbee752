// All messages of a chat, for what is made of the whole of it: those of the conversation, and the
// older ones, of which only calls and results are kept.

import { computed, signal } from "../ui.js";
import { partOf } from "../shared/part.js";
import { api } from "../wire/api.js";

/** @typedef {{messages: import("../vendor/preact.js").ReadonlySignal<readonly any[]>, state: import("../vendor/preact.js").Signal<"idle" | "loading" | "failed" | "end" | "bound">, read: () => Promise<void>, complete: (wanted: (message: any) => boolean) => Promise<void>}} Past `complete`: reads results
 * whole that the daemon cut in lists */

const PAGE = 200;
const PAGES_MAX = 50; // 10,000 messages; then it says so, and shows what it has
const WORKING_TOOLS = new Set(["edit_files", "write_file", "execute", "process_output", "process_list", "process_signal"]);

/** @type {WeakMap<object, Past>} */
const pasts = new WeakMap();

/** @param {any} conversation @returns {Past} */
export function pastOf(conversation) {
  const known = pasts.get(conversation);
  if (known) return known;
  const past = begin(conversation);
  pasts.set(conversation, past);
  return past;
}

/** @param {any} conversation @returns {Past} */
function begin(conversation) {
  const older = signal(/** @type {any[]} */ ([]));
  const whole = signal(/** @type {ReadonlyMap<number, any>} */ (new Map())); // of messages whose results are cut
  const newest = partOf(conversation, (state) => state.messages), holes = partOf(conversation, (state) => state.holes);
  const isWhole = partOf(conversation, (state) => state.older === "end");
  const messages = computed(() => {
    const all = merged(older.value.filter(isUnknown(newest.value, holes.value, isWhole.value)), newest.value);
    return whole.value.size ? all.map((/** @type {any} */ message) => whole.value.get(message.id) ?? message) : all;
  });
  return { messages, ...readerOf(conversation, older), complete: completerOf(conversation.id, messages, whole) };
}

/**
 * Return what says of a message whether the conversation may have it and has not loaded it. What lies between
 * those that are loaded, and is none of them, was removed by an edit.
 * @param {readonly any[]} near @param {readonly import("../state/messages.js").Hole[]} holes @param {boolean} isWhole
 */
function isUnknown(near, holes, isWhole) {
  const first = isWhole ? 0 : (near[0]?.id ?? Infinity);
  return (/** @type {{id: number}} */ { id }) => id < first || holes.some(({ after, before }) => after < id && id < before);
}

/** Join two lists by id. @param {readonly any[]} far @param {readonly any[]} near */
function merged(far, near) {
  return far.length ? [...far, ...near].sort((one, other) => one.id - other.id) : near;
}

/** @param {any} conversation @param {import("../vendor/preact.js").Signal<any[]>} older */
function readerOf(conversation, older) {
  const state = signal(/** @type {"idle" | "loading" | "failed" | "end" | "bound"} */ ("idle"));
  let before = 0;
  const read = async () => {
    if (state.peek() === "loading" || state.peek() === "end") return;
    const { messages: near, older: more, holes } = conversation.state.peek();
    if (more === "end" && !holes.length) return void (state.value = "end");
    before ||= holes.at(-1)?.before ?? near[0]?.id ?? 0;
    state.value = "loading";
    try {
      state.value = await pages(conversation.id, () => before, (page) => {
        before = page.at(-1).id;
        older.value = [...page.reverse().map(slim), ...older.peek()];
      });
    } catch {
      state.value = "failed";
    }
  };
  return { state, read };
}

/**
 * @param {string} chat @param {import("../vendor/preact.js").ReadonlySignal<readonly any[]>} messages
 * @param {import("../vendor/preact.js").Signal<ReadonlyMap<number, any>>} whole
 */
function completerOf(chat, messages, whole) {
  const asked = new Set();
  return async (/** @type {(message: any) => boolean} */ wanted) => {
    for (const message of messages.peek()) {
      if (asked.has(message.id) || !isCut(message) || !wanted(message)) continue;
      asked.add(message.id);
      const found = await api.get(`chats/${chat}/messages/${message.id}`).catch(() => null);
      if (found) whole.value = new Map(whole.peek()).set(message.id, found);
      else asked.delete(message.id);
    }
  };
}

/**
 * Read page by page, the newest first, until there is no more.
 * @param {string} chat @param {() => number} before @param {(page: any[]) => void} take
 * @returns {Promise<"end" | "bound">}
 */
async function pages(chat, before, take) {
  for (let page = 0; page < PAGES_MAX; page++) {
    const at = before();
    const answer = await api.get(`chats/${chat}/messages`, { limit: PAGE, results: "cut", before_id: at || null });
    const more = answer.has_more;
    if (answer.messages.length) take(answer.messages);
    if (!more) return "end";
  }
  return "bound";
}

/** @param {any} message */
const isCut = ({ content }) => content?.some((/** @type {any} */ part) => part.result_bytes);

/** Keep of a message what the panel is made of. @param {any} message */
function slim(message) {
  const content = (message.content ?? []).filter((/** @type {any} */ part) => WORKING_TOOLS.has(part.tool_name));
  const { id, role, created_at, model_config_id, usage, cost } = message;
  return { id, role, created_at, model_config_id, usage, cost, content };
}
