// Messages that are not loaded yet: older ones, holes, and places far from the end.

import { messageOf } from "../state/messages.js";
import { api } from "../wire/api.js";

const PAGE = 100; // messages
const AROUND = 40; // messages on each side of a place that is opened

/** @param {import("../conversation.js").Core} core */
export function pagesOf(core) {
  const path = `chats/${core.id}/messages`;

  /**
   * Read a page before or after a message, once: who asks while it is coming gets the same.
   * @param {{before?: number, after?: number}} place
   */
  async function load(place) {
    core.takeNow({ type: "loading", ...place, state: "loading" });
    try {
      const page = await api.get(path, { before_id: place.before, after_id: place.after, limit: PAGE, results: "cut", costs: "true" });
      core.takeNow({ type: "page", ...page, ...place });
    } catch (error) {
      core.takeNow({ type: "loading", ...place, state: "failed" });
      throw error;
    }
  }

  return {
    /** Read what lies before the first message; nothing if there is nothing, or it is coming. */
    async loadOlder() {
      const { older, messages } = core.latest();
      if (older === "end" || older === "loading" || !messages.length) return;
      await load({ before: messages[0].id });
    },

    /**
     * Read on in a hole, from its newer end or with `fromAfter` from its older one.
     * @param {import("../state/messages.js").Hole} hole
     * @param {boolean} [fromAfter]
     */
    async loadHole(hole, fromAfter = false) {
      const known = core.latest().holes.find((one) => one.after === hole.after && one.before === hole.before);
      if (!known || known.state === "loading") return;
      await load(fromAfter ? { after: hole.after } : { before: hole.before });
    },

    /** Read the costs of the last turn's messages, which the stream does not tell. */
    async readCosts() {
      const last = core.latest().messages.findLast((message) => message.role === "user");
      if (!last) return;
      const page = await api.get(path, { after_id: last.id, limit: PAGE, results: "cut", costs: "true" });
      const bought = page.messages.filter((/** @type {any} */ one) => one.cost_micros !== undefined);
      const costs = bought.map((/** @type {any} */ one) => [one.id, one.cost_micros]);
      core.takeNow({ type: "costs", costs: new Map(costs) });
    },

    /** Read a message whole: pages have long results cut. @param {number} id */
    async readWhole(id) {
      core.takeNow({ type: "whole", message: await api.get(`${path}/${id}`) });
    },

    /**
     * See to it that a message is loaded, with those around it. Return whether it is there.
     * @param {number} id
     */
    async openAt(id) {
      if (messageOf(core.latest().messages, id)) return true;
      const [until, from] = await Promise.all([
        api.get(path, { before_id: id + 1, limit: AROUND, results: "cut", costs: "true" }),
        api.get(path, { after_id: id, limit: AROUND, results: "cut", costs: "true" }),
      ]);
      core.takeNow({
        type: "page",
        beside: true,
        messages: [...until.messages, ...from.messages],
        has_more: until.has_more,
      });
      return messageOf(core.latest().messages, id) !== undefined;
    },
  };
}
