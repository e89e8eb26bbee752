/** What forms need of models and providers: names, choices, efforts. Pure. */

/** @param {any} model */
export function modelName(model) {
  return model.display_name || model.model;
}

/**
 * Return the models for a choice, grouped by provider where there are several.
 * @param {any[]} models @param {Map<string, string>} [providers] names by id
 */
export function modelOptions(models, providers = new Map()) {
  const groups = new Map();
  for (const model of models) {
    const label = providers.get(model.ai_provider_id) ?? "";
    groups.set(label, [...(groups.get(label) ?? []), [model.id, modelName(model) + (model.is_default ? " (default)" : ""), model.enabled ? "" : "switched off"]]);
  }
  const all = [...groups].map(([label, options]) => ({ label, options }));
  return all.length > 1 ? all : (all[0]?.options ?? []);
}

/** Return the efforts of a model for a choice. @param {any[]} models @param {string | undefined} id */
export function effortOptions(models, id) {
  const efforts = models.find((each) => each.id === id)?.reasoning_efforts ?? [];
  return efforts.map((/** @type {string} */ each) => [each, each]);
}
