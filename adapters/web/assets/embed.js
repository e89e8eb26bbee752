/** The page in a frame of another site's page: `?embed=1`, and `&theme=dark`, `light` or `contrast`. */

const query = new URLSearchParams(location.search);

/** Whether this page stands in a frame. It has no list there. */
export const isEmbedded = query.get("embed") === "1";

/** The theme that the other page asks for; "" if it asks for none. */
export const embeddedTheme = (isEmbedded && query.get("theme")) || "";

/** Return a path of ours that keeps the page embedded when it is loaded again. @param {string} path */
export function addressHere(path) {
  if (!isEmbedded) return path;
  const url = new URL(path, location.origin);
  url.searchParams.set("embed", "1");
  if (embeddedTheme) url.searchParams.set("theme", embeddedTheme);
  return url.pathname + url.search;
}
