// Changes file by file, their counts, and a patch of them. Pure.

import { applied, parse } from "../text/diff.js";
import { commonFolder } from "./changes_of.js";

/** @typedef {import("./changes_of.js").Change} Change */

/**
 * @typedef {{path: string, name: string, changes: Change[], added: number, removed: number}} ChangedFile
 */

/**
 * Return the changes file by file, the one touched last first. Names are without what all have in common.
 * @param {Change[]} changes
 * @returns {ChangedFile[]}
 */
export function filesOf(changes) {
  /** @type {Map<string, Change[]>} */
  const files = new Map();
  for (const change of changes) {
    const before = files.get(change.path) ?? [];
    files.delete(change.path);
    files.set(change.path, change.kind === "write" ? [change] : [...before, change]);
  }
  const root = commonFolder([...files.keys()]);
  return [...files].reverse().map(([path, list]) => ({ path, name: path.slice(root.length), changes: list, ...countsOf(list) }));
}

/** Count lines; a file that was written here has the lines that it has at the end. @param {Change[]} changes */
function countsOf(changes) {
  const end = contentOf(changes);
  if (end !== null) return { added: end ? end.replace(/\n$/, "").split("\n").length : 0, removed: 0 };
  let added = 0, removed = 0;
  for (const { kind, diff, content } of changes) {
    if (kind === "write") added += content ? content.replace(/\n$/, "").split("\n").length : 0;
    for (const line of kind === "edit" ? diff.split("\n") : []) {
      if (line.startsWith("+") && !line.startsWith("+++ ")) added++;
      else if (line.startsWith("-") && !line.startsWith("--- ")) removed++;
    }
  }
  return { added, removed };
}

/** Return a file as it is at the end, or null where that is not known. @param {Change[]} changes @returns {string | null} */
function contentOf([first, ...edits]) {
  if (first.kind !== "write" || first.cut) return null;
  return edits.reduce(
    (/** @type {string | null} */ text, change) => (text === null ? null : applied(text, parse(change.diff).flatMap((file) => file.hunks))),
    first.content,
  );
}

/**
 * Return one patch of all changes, in their order, with paths below the folder that they share.
 * @param {Change[]} changes
 */
export function patchOf(changes) {
  const root = commonFolder([...new Set(changes.map((change) => change.path))]);
  return changes.map((change) => (change.kind === "edit" ? editPatch(change, root) : newPatch(change, root))).join("");
}

/** @param {Change} change @param {string} root */
function editPatch({ path, diff }, root) {
  const name = path.slice(root.length);
  const body = diff.replace(/^--- .*\n\+\+\+ .*\n/, "");
  return `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n${body}${body.endsWith("\n") ? "" : "\n"}`;
}

/** @param {Change} change @param {string} root */
function newPatch({ path, content }, root) {
  const name = path.slice(root.length);
  const whole = content.endsWith("\n");
  const lines = (whole ? content.slice(0, -1) : content).split("\n");
  const body = lines.map((line) => `+${line}\n`).join("") + (whole ? "" : "\\ No newline at end of file\n");
  return `diff --git a/${name} b/${name}\nnew file mode 100644\n--- /dev/null\n+++ b/${name}\n@@ -0,0 +1,${lines.length} @@\n${body}`;
}
