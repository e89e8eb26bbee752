// A workspace by its id, as it was when the panel asked for it.

import { signal, useEffect } from "../ui.js";
import { api } from "../wire/api.js";

/** @type {Map<string, import("../vendor/preact.js").Signal<any>>} */
const known = new Map();
const KNOWN_MAX = 50;

/** Return the workspace, null until it is read or if it is gone. @param {string | undefined} id */
export function useWorkspace(id) {
  const found = (id && known.get(id)) || signal(null);
  if (id && !known.has(id)) {
    known.set(id, found);
    if (known.size > KNOWN_MAX) known.delete(/** @type {string} */ (known.keys().next().value));
  }
  useEffect(() => {
    if (id) api.get(`/api/v2/workspaces/${id}`).then((space) => (found.value = space), () => {});
  }, [id]);
  return found.value;
}
