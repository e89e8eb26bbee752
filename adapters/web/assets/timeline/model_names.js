// The models that there are, as far as the timeline names them.

import { signal } from "../ui.js";
import { api } from "../wire/api.js";

/** @typedef {{id: string, name: string, why: string}} Model */

/** @type {import("../vendor/preact.js").Signal<{groups: {title: string, models: Model[]}[], why: string}>} */
export const catalogue = signal({ groups: [], why: "" });
let isAsked = false;

export async function readModels() {
  if (isAsked) return;
  isAsked = true;
  try {
    const configs = await api.get("chats/model-configs");
    const models = configs.map((/** @type {any} */ each) => ({ id: each.id, name: each.display_name || each.model, why: each.enabled ? "" : "It is switched off." }));
    catalogue.value = { groups: [{ title: "", models }], why: "" };
  } catch (error) {
    isAsked = false;
    catalogue.value = { groups: [], why: `The models could not be read: ${/** @type {Error} */ (error).message}` };
  }
}

/** @param {string} id */
export const modelOf = (id) => catalogue.value.groups.flatMap((group) => group.models).find((model) => model.id === id);

/** @param {number} micros of a dollar @param {number} unpriced */
export const money = (micros, unpriced) => (unpriced ? "unknown" : `$${(micros / 1e6).toFixed(micros < 10_000 ? 4 : 2)}`);
