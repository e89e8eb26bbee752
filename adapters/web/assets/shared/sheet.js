/** Style sheets that are not needed at first. */

import {digest} from "../shell.js";

/** @type {Map<string, Promise<void>>} */
const loaded = new Map();

/**
 * Load a sheet of the page, once.
 * @param {string} path from the top of the files, as "settings/settings.css"
 * @returns {Promise<void>} settled once it holds, or cannot be had
 */
export function loadSheet(path) {
  const known = loaded.get(path);
  if (known) return known;
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = `/web/${digest}/${path}`;
  const done = new Promise((resolve) => (link.onload = link.onerror = resolve)).then(() => undefined);
  loaded.set(path, done);
  document.head.append(link);
  return done;
}
