/** The models that there are: their names for rows, and whether any can be asked. */

import { signal, useEffect } from "../ui.js";
import { api } from "../wire/api.js";

/** @typedef {{state: "loading" | "ready" | "failed", models: {id: string, name: string, enabled: boolean, source: string}[]}} Models */

const models = signal(/** @type {Models} */ ({ state: "loading", models: [] }));
let isAsked = false;

/** Read the models, once. */
async function readModels() {
  if (isAsked) return;
  isAsked = true;
  try {
    const configs = await api.get("chats/model-configs");
    models.value = { state: "ready", models: configs.map(named) };
  } catch {
    isAsked = false;
    models.value = { ...models.peek(), state: "failed" };
  }
}

/** @param {any} config */
const named = ({ id, display_name: name, model, enabled, source = "" }) => ({ id, name: name || model, enabled, source });

/** Return the name of a model, or "" while it is not known. @param {string | null} id */
export function modelName(id) {
  const found = models.value.models.find((model) => model.id === id);
  return (found?.name ?? "").replace(/\s*\(.*\)\s*$/, "");
}

/** Return all models, and whether they have been read. */
export function useModels() {
  useEffect(() => void readModels(), []);
  return models.value;
}
