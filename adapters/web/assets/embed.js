/** The page within a page of another: `?embed=1`, and `&theme=dark`, `light` or `contrast`. */

const query = new URLSearchParams(location.search);

/** Whether this page stands in another one: there is no list then. */
export const isEmbedded = query.get("embed") === "1";

/** The theme that the other page asks for; "" if it asks for none. */
export const embeddedTheme = (isEmbedded && query.get("theme")) || "";

/** Return an address of ours as it is here: it stays within the other page when it is loaded anew. @param {string} path */
export function addressHere(path) {
  if (!isEmbedded) return path;
  const url = new URL(path, location.origin);
  url.searchParams.set("embed", "1");
  if (embeddedTheme) url.searchParams.set("theme", embeddedTheme);
  return url.pathname + url.search;
}
