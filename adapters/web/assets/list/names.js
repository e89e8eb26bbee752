/** The models that there are: their names for rows, and whether any can be asked. */

import { catalogue, modelOf, readModels } from "../composer/catalogue.js";
import { useEffect } from "../ui.js";

/** Return the name of a model, or "" while it is not known. @param {string | null} id */
export const modelName = (id) => (id ? (modelOf(id)?.name ?? "") : "").replace(/\s*\(.*\)\s*$/, "");

/** Return all models, and whether they have been read. */
export function useModels() {
  useEffect(() => void readModels(), []);
  const { state, groups } = catalogue.value;
  return { state, models: groups.flatMap((group) => group.models) };
}
