// Plan first: the chat only looks and proposes, until somebody lets it carry the plan out.

import { patch } from "./acts.js";

/** @typedef {import("./composer.js").Place} Place */

/** @param {Place} place */
export function togglePlan(place) {
  const plan = place.plan.peek() ? "" : "plan";
  if (place.conversation) return void patch(place, { plan_mode: plan });
  place.desk.fresh.value = { ...place.desk.fresh.peek(), plan };
}
