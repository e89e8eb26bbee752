// What a chat and its agents have cost. What has no price is said, and never counted as nothing.

import { computed, effect, html, signal, useEffect, useMemo } from "../ui.js";
import { api } from "../wire/api.js";
import { money } from "../text/money.js";

/** @typedef {{chat_id: string, total_cost_micros: number, request_count: number, unpriced_request_count: number, own_cost_micros: number, own_request_count: number, own_unpriced_request_count: number, beside: any[]}} Cost */

const STALE_MS = 20_000; // while a chat works
const COSTS_MAX = 200;

/** @type {Map<string, {cost: import("../vendor/preact.js").Signal<Cost | null>, at: number}>} */
const costs = new Map();

/** @param {string} chat */
function entryOf(chat) {
  const entry = costs.get(chat) ?? { cost: signal(/** @type {Cost | null} */ (null)), at: 0 };
  costs.delete(chat);
  costs.set(chat, entry);
  if (costs.size > COSTS_MAX) costs.delete(/** @type {string} */ (costs.keys().next().value));
  return entry;
}

/**
 * Read the cost of a chat unless it was read a moment ago.
 * @param {string} chat @param {number} [stale]
 */
export async function readCost(chat, stale = STALE_MS) {
  const entry = entryOf(chat);
  if (Date.now() - entry.at < stale) return;
  entry.at = Date.now();
  try {
    entry.cost.value = await api.get(`chats/${chat}/cost`);
  } catch {
    entry.at = 0; // what was known stays
  }
}

/** @param {string} chat */
export const costOf = (chat) => entryOf(chat).cost;

/** Keep the cost of a conversation fresh: when a turn ends, and now and then meanwhile. @param {any} conversation */
export function useCost(conversation) {
  const status = useMemo(() => computed(() => conversation.state.value.status), [conversation]);
  const count = useMemo(() => computed(() => conversation.state.value.messages.length), [conversation]);
  useEffect(() => effect(() => {
    const rests = !["running", "interrupting"].includes(status.value ?? "");
    void count.value;
    void readCost(conversation.id, rests ? 1000 : STALE_MS);
  }), [conversation]);
  return costOf(conversation.id).value;
}

/** @param {{conversation: any}} props */
export function CostLine({ conversation }) {
  const cost = useCost(conversation);
  if (!cost) return null;
  const own = money(cost.own_cost_micros, cost.own_unpriced_request_count);
  const all = money(cost.total_cost_micros, cost.unpriced_request_count);
  return html`<h4>Cost</h4><p class="num">${own}<span class="dim"> this chat</span>${all === own ? null : html` · ${all}<span class="dim"> with its agents</span>`}</p>`;
}
