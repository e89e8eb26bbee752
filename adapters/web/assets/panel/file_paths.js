// Paths in a workspace, and how its entries are shown. Pure.

/**
 * @typedef {{name: string, path?: string, kind: "file" | "directory" | "link" | "other", size_bytes: number,
 *   modified_at: string | null, is_executable: boolean, link_to?: string, is_ignored?: boolean}} Entry
 */

/** The folders on the way to a path, the workspace first. @param {string} path */
export function crumbsOf(path) {
  const parts = path.split("/").filter(Boolean);
  return [{ name: "Workspace", path: "" }, ...parts.map((name, at) => ({ name, path: parts.slice(0, at + 1).join("/") }))];
}

/** @param {string} path */
export const parentOf = (path) => path.split("/").slice(0, -1).join("/");

/** Whether there is something to open: an entry whose name no address can say has no path. @param {Entry} entry */
export const isShown = ({ path, kind }) => path !== undefined && kind !== "other";
