/** What this browser keeps about being pushed to: the address by which it is, or nothing. */

const KEY = "push.endpoint";

export const isSubscribed = () => !!localStorage.getItem(KEY);

/** @returns {string} */
export const endpointHere = () => localStorage.getItem(KEY) ?? "";

/** @param {string} endpoint "": it is pushed to no more */
export function keepEndpoint(endpoint) {
  if (endpoint) localStorage.setItem(KEY, endpoint);
  else localStorage.removeItem(KEY);
}
