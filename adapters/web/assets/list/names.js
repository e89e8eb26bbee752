/** Names of models, for rows; and the models that there are, for the first start. */

import { catalogue, modelOf, readModels } from "../composer/catalogue.js";
import { useEffect } from "../ui.js";

/** Return the name of a model, or "" while it is not known. @param {string | null} id */
export function modelName(id) {
  const name = id ? modelOf(id)?.name : "";
  return (name ?? "").replace(/\s*\(.*\)\s*$/, "");
}

/** Return all models, and whether they have been read. */
export function useModels() {
  useEffect(() => void readModels(), []);
  const { state, groups } = catalogue.value;
  return { state, models: groups.flatMap((group) => group.models) };
}
