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
  const state = signal(/** @type {"idle" | "loading" | "failed" | "end" | "bound"} */ ("idle"));
  const whole = signal(/** @type {ReadonlyMap<number, any>} */ (new Map())); // of messages whose results are cut
  let before = 0;
  const newest = partOf(conversation, (state) => state.messages);
  const messages = computed(() => {
    const near = newest.value;
    const first = near[0]?.id ?? Infinity;
    const far = older.value.filter((message) => message.id < first);
    const all = far.length ? [...far, ...near] : near;
    return whole.value.size ? all.map((/** @type {any} */ message) => whole.value.get(message.id) ?? message) : all;
  });
  const asked = new Set();
  const complete = async (/** @type {(message: any) => boolean} */ wanted) => {
    for (const message of messages.peek()) {
      if (asked.has(message.id) || !isCut(message) || !wanted(message)) continue;
      asked.add(message.id);
      const found = await api.get(`chats/${conversation.id}/messages/${message.id}`).catch(() => null);
      if (found) whole.value = new Map(whole.peek()).set(message.id, found);
      else asked.delete(message.id);
    }
  };
  const read = async () => {
    if (state.peek() === "loading" || state.peek() === "end") return;
    const { messages: near, older: more } = conversation.state.peek();
    if (more === "end") return void (state.value = "end");
    before ||= near[0]?.id ?? 0;
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
  return { messages, state, read, complete };
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
