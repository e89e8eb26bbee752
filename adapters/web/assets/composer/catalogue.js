// The models that there are: read once, and again when the picker is opened after a while.

import { signal } from "../ui.js";
import { api } from "../wire/api.js";

/**
 * @typedef {{
 *   id: string, name: string, model: string, efforts: string[], effort: string, isDefault: boolean,
 *   contextLimit: number, threshold: number, why: string, source: string,
 * }} Model `why`: why it cannot be chosen
 * @typedef {{title: string, vendor: string, models: Model[]}} ModelGroup
 */

const STALE_MS = 60_000;

/** @type {import("../vendor/preact.js").Signal<{state: "loading" | "ready" | "failed", groups: ModelGroup[], why: string}>} */
export const catalogue = signal({ state: "loading", groups: [], why: "" });
/** Percents at which this user's chats are summarised, by model. @type {import("../vendor/preact.js").Signal<Record<string, number>>} */
export const thresholds = signal({});
/** What this user's new chats are begun with by their own settings; "" if these say nothing. @type {import("../vendor/preact.js").Signal<{model: string, effort: string}>} */
export const ownChoice = signal({ model: "", effort: "" });
let readAt = 0;

/** Read the models, unless they have been read a moment ago. @param {number} [staleMs] */
export async function readModels(staleMs = STALE_MS) {
  if (Date.now() - readAt < staleMs) return;
  readAt = Date.now();
  try {
    const [configs, keys, own, choices] = await Promise.all([
      api.get("chats/model-configs"),
      api.get("users/me/ai-provider-keys").catch(() => []),
      api.get("chats/config/user-compaction-thresholds").catch(() => ({ thresholds: [] })),
      api.get("chats/config/user-personal-model-overrides").catch(() => null),
    ]);
    thresholds.value = Object.fromEntries(own.thresholds.map((/** @type {any} */ row) => [row.model_config_id, row.threshold_percent]));
    const root = choices?.enabled && choices.root.mode === "model" ? choices.root : null;
    ownChoice.value = { model: root?.model_config_id ?? "", effort: root?.reasoning_effort ?? "" };
    catalogue.value = { state: "ready", groups: grouped(configs, keys), why: "" };
  } catch (error) {
    readAt = 0;
    catalogue.value = { ...catalogue.peek(), state: "failed", why: `The models could not be read: ${/** @type {Error} */ (error).message}` };
  }
}

/**
 * Return a model by its id; null stands for the default.
 * @param {string | null} id
 */
export function modelOf(id) {
  const all = catalogue.value.groups.flatMap((group) => group.models);
  return all.find((model) => (id ? model.id === id : model.isDefault)) ?? (id ? undefined : all.find((model) => !model.why));
}

const REASONS = {
  off: "It is switched off.",
  provider: "Its provider is switched off.",
  key: "It needs a key of your own: Settings, Keys.",
};

/** @param {any[]} configs @param {any[]} keys @returns {ModelGroup[]} */
function grouped(configs, keys) {
  const providers = new Map(keys.map((row) => [row.provider.id, row]));
  /** @type {Map<string, ModelGroup>} */
  const groups = new Map();
  for (const config of configs) {
    const row = providers.get(config.ai_provider_id);
    const title = row?.provider.display_name || row?.provider.name || (config.source === "rehearsal" ? "Rehearsal" : "Other providers");
    const group = /** @type {ModelGroup} */ (groups.get(title) ?? { title, vendor: row?.provider.type ?? config.source ?? "", models: [] });
    groups.set(title, group);
    group.models.push(modelFrom(config, row));
  }
  return [...groups.values()];
}

/** @param {any} config @param {any} row @returns {Model} */
function modelFrom(config, row) {
  const hasKey = !row || row.has_user_api_key || row.has_provider_api_key;
  const why = !config.enabled ? REASONS.off : row && !row.provider.enabled ? REASONS.provider : hasKey ? "" : REASONS.key;
  return {
    id: config.id, name: config.display_name || config.model, model: config.model,
    efforts: config.reasoning_efforts ?? [], effort: config.model_config?.reasoning_effort?.default ?? "",
    isDefault: config.is_default, contextLimit: config.context_limit, threshold: config.compression_threshold, why,
    source: config.source ?? "",
  };
}
