// The messages that wait in a chat's queue, as a person has just left them.
//
//   const queue = queueOf(conversation)
//
//   queue.rows            signal: the rows there are, in the wanted order; `busy_behavior` "steer"
//   queue.order(ids)      puts the whole queue into this order; after a 409 it is as it was told
//   queue.change(id, {text, files, refs, model, effort})
//   queue.promote(id)     it comes next
//   queue.remove(id)
//
// What is asked for shows at once; the truth is `queue_update`, and what it says comes last.

import { computed, effect, signal } from "../ui.js";
import { api } from "../wire/api.js";
import { bodyOf } from "./sending.js";

/** @typedef {import("../state/chat.js").Queued} Queued */

/** @type {WeakMap<import("../conversation.js").Core, ReturnType<typeof madeOf>>} */
const queues = new WeakMap();

/** Return the queue of an open chat. @param {{core: import("../conversation.js").Core}} conversation */
export function queueOf({ core }) {
  const queue = queues.get(core) ?? madeOf(core);
  queues.set(core, queue);
  return queue;
}

/** @param {import("../conversation.js").Core} core */
function madeOf(core) {
  const held = signal(/** @type {ReadonlySet<number>} */ (new Set()));
  const wanted = signal(/** @type {readonly number[] | null} */ (null));
  const path = `chats/${core.id}/queue`;
  let told = core.state.peek().queue;
  /** The last order that was asked for: they go out one after the other. @type {Promise<unknown>} */
  let before = Promise.resolve();
  let orders = 0; // that are not answered
  core.closers.push(
    effect(() => {
      const { queue } = core.state.value;
      if (queue === told) return;
      told = queue;
      if (!orders) wanted.value = null; // the truth has come
    }),
  );
  const hold = (/** @type {number} */ id) => void (held.value = new Set([...held.value, id]));
  const release = (/** @type {number} */ id) =>
    void (held.value = new Set([...held.value].filter((one) => one !== id)));

  /** @param {readonly number[]} ids */
  async function put(ids) {
    const { queue } = core.latest();
    const there = queue.map((row) => row.id);
    const order = [...ids.filter((id) => there.includes(id)), ...there.filter((id) => !ids.includes(id))];
    const answer = await api.put(`${path}/order`, { order });
    if (core.latest().queue === queue) core.takeNow({ type: "queue_update", ...answer }); // the stream may be ahead
  }

  return {
    rows: computed(() => {
      const rows = core.state.value.queue.filter((row) => !held.value.has(row.id));
      return wanted.value ? inOrder(rows, wanted.value) : rows;
    }),

    /** @param {readonly number[]} ids */
    async order(ids) {
      wanted.value = ids;
      const done = orders++ ? before.then(() => put(ids)) : put(ids);
      before = done.catch(() => {});
      try {
        await done;
      } finally {
        if (!--orders) wanted.value = null;
      }
    },

    /** @param {number} id @param {import("./sending.js").Written} written */
    async change(id, written) {
      const { content, model_config_id, reasoning_effort } = bodyOf(written);
      const old = core.latest().queue.find((one) => one.id === id);
      const row = await api.patch(`${path}/${id}`, { content, model_config_id, reasoning_effort });
      const queued_messages = core.latest().queue.map((one) => (one === old ? row : one));
      core.takeNow({ type: "queue_update", queued_messages });
      return row;
    },

    /** @param {number} id */
    promote: (id) => api.post(`${path}/${id}/promote`),

    /** @param {number} id */
    async remove(id) {
      hold(id);
      try {
        await api.del(`${path}/${id}`);
        const queued_messages = core.latest().queue.filter((one) => one.id !== id);
        core.takeNow({ type: "queue_update", queued_messages });
      } finally {
        release(id);
      }
    },
  };
}

/**
 * Return the rows in an order; those that it does not name come last, as they were.
 * @param {readonly Queued[]} rows
 * @param {readonly number[]} ids
 */
function inOrder(rows, ids) {
  const place = (/** @type {Queued} */ row) => (ids.includes(row.id) ? ids.indexOf(row.id) : ids.length);
  return rows.map((row, at) => ({ row, at })).sort((a, b) => place(a.row) - place(b.row) || a.at - b.at)
    .map(({ row }) => row);
}
