// Messages on their way: shown at once, sent once, and found again in what the stream tells.

import { computed, signal } from "../ui.js";
import { ApiError, api } from "../wire/api.js";

const TRY_AGAIN_MS = [500, 1000, 2000, 4000, 8000, 8000]; // while the daemon is away or restarts
const AWAY = new Set([0, 502, 503, 504]);
const AT_WORK = new Set(["running", "interrupting", "requires_action"]);

/**
 * A message as it is written: files are stored ones.
 * @typedef {{text: string, files?: {id: string, name?: string, type?: string, size?: number}[],
 *   refs?: {file_name: string, start_line: number, end_line: number, content: string}[],
 *   model?: string | null, effort?: string | null, busy?: "queue" | "steer" | "interrupt",
 *   plan?: boolean, servers?: string[]}} Written
 *
 * @typedef {Written & {key: string, at: number, queues: boolean, slow: boolean}} Sending
 */

let lastNumber = 0;

/** @param {import("../conversation.js").Core} core */
export function sendingOf(core) {
  const all = signal(/** @type {readonly Sending[]} */ ([]));
  const known = computed(() => new Set(core.state.value.own.map((one) => one.key)));
  const path = `chats/${core.id}/messages`;
  /** The request before, which is waited for: requests at the same time could arrive in another order. @type {Promise<any>} */
  let before = Promise.resolve();
  return {
    // What the stream has told already is shown by the state.
    sending: computed(() => all.value.filter((one) => known.value.has(one.key))),

    /** @param {Written} written @returns {Promise<any>} */
    async send(written) {
      const key = `own${Date.now().toString(36)}.${++lastNumber}`;
      const queues = AT_WORK.has(core.latest().status ?? "");
      all.value = [...all.value, { ...written, key, at: Date.now(), queues, slow: false }];
      core.takeNow({ type: "own", key, text: written.text });
      const slow = () => (all.value = all.value.map((one) => (one.key === key ? { ...one, slow: true } : one)));
      try {
        const ask = () => api.post(path, bodyOf(written), { key: core.id + key });
        const asked = before.then(() => patiently(core, ask, slow));
        before = asked.catch(() => {});
        const answer = await asked;
        core.takeNow(...answered(key, answer));
        return answer;
      } catch (error) {
        core.takeNow({ type: "own-gone", key });
        throw error;
      } finally {
        all.value = all.value.filter((one) => one.key !== key);
      }
    },

    /** @param {number} message @param {Written} written @returns {Promise<any>} */
    async edit(message, written) {
      const { content, model_config_id, reasoning_effort } = bodyOf(written);
      const answer = await api.patch(`${path}/${message}`, { content, model_config_id, reasoning_effort });
      core.takeNow({ type: "edited", id: message, messages: answer.messages ?? [answer.message] });
      return answer;
    },
  };
}

/**
 * Return the events that an answer to sending amounts to.
 * @param {string} key
 * @param {any} answer
 */
function answered(key, answer) {
  const others = (answer.messages ?? []).filter((/** @type {any} */ one) => one.id !== answer.message?.id);
  const rest = others.map((/** @type {any} */ message) => ({ type: "sent", key: undefined, message }));
  return [...rest, { type: "sent", key, message: answer.message, queued: answer.queued_message }];
}

/**
 * Send a request again while the daemon is away. By its key the daemon does it only once.
 * @template T
 * @param {import("../conversation.js").Core} core
 * @param {() => Promise<T>} ask
 * @param {() => void} slow
 * @returns {Promise<T>}
 */
async function patiently(core, ask, slow) {
  for (let waits = 0; ; ) {
    const line = core.line.peek();
    try {
      return await ask();
    } catch (error) {
      const isAway = error instanceof ApiError && AWAY.has(error.status);
      if (!isAway || waits === TRY_AGAIN_MS.length) throw error;
      slow();
      if (!(await comesBack(core, line, TRY_AGAIN_MS[waits]))) waits += 1;
    }
  }
}

/**
 * Wait until the line of the chat is open again, or until the time is over.
 * @param {import("../conversation.js").Core} core
 * @param {import("../wire/line.js").LineState} before
 * @param {number} ms
 * @returns {Promise<boolean>} whether it is open again
 */
function comesBack(core, before, ms) {
  return new Promise((resolve) => {
    const end = (/** @type {boolean} */ isBack) => {
      clearTimeout(timer);
      queueMicrotask(() => stop()); // `subscribe` may call this before it has returned `stop`
      resolve(isBack);
    };
    const timer = setTimeout(end, ms, false);
    const stop = core.line.subscribe((line) => {
      if (line.state === "live" && line !== before) end(true);
    });
  });
}

/**
 * Return a message as the API takes it.
 * @param {Written} written
 */
export function bodyOf({ text, files = [], refs = [], model, effort, busy, plan, servers }) {
  const content = [
    ...refs.map((ref) => ({ type: "file-reference", ...ref })),
    ...(text ? [{ type: "text", text }] : []),
    ...files.map((file) => ({ type: "file", file_id: file.id })),
  ];
  return {
    content,
    model_config_id: model || undefined,
    reasoning_effort: effort || undefined,
    busy_behavior: busy,
    plan_mode: plan === undefined ? undefined : plan ? "plan" : "",
    mcp_server_ids: servers,
  };
}
