// The working tree of a workspace: what the daemon's messages say of repositories, and files of their diffs. Pure.

import { counts, parse } from "../text/diff.js";

/**
 * @typedef {{root: string, branch: string, origin: string, diff: string}} TreeRepository
 * @typedef {{
 *   key: string, root: string, path: string, name: string, note: string, added: number, removed: number,
 *   hunks: import("../text/diff.js").Hunk[],
 * }} TreeFile `note`: what lines do not say, such as that it was renamed
 */

/**
 * Return what is known after a message of the daemon.
 * @param {readonly TreeRepository[]} known @param {any} message
 * @returns {readonly TreeRepository[]}
 */
export function afterMessage(known, message) {
  if (!message.repositories) return known;
  const by = new Map(known.map((one) => [one.root, one]));
  for (const told of message.repositories) {
    if (told.removed) by.delete(told.repo_root);
    else by.set(told.repo_root, { root: told.repo_root, branch: told.branch, origin: told.remote_origin ?? "", diff: told.unified_diff ?? "" });
  }
  return [...by.values()].sort((one, other) => (one.root < other.root ? -1 : 1));
}

/**
 * Return the files of a repository's diff. A line of content never begins with a letter, so each head is one.
 * @param {TreeRepository} repository
 * @returns {TreeFile[]}
 */
export function treeFiles({ root, diff }) {
  return diff.split(/^(?=diff --git )/m).filter((one) => one.startsWith("diff --git ")).map((text) => {
    const head = text.split(/^@@ /m, 1)[0];
    const hunks = parse(text).flatMap((file) => file.hunks);
    const name = nameOf(head);
    return { key: `${root}/${name}`, root, path: `${root}/${name}`, name, note: noteOf(head), hunks, ...counts([{ path: "", hunks }]) };
  });
}

/** @param {string} head */
function nameOf(head) {
  const [, named] = /^(?:rename to|\+\+\+ b\/|\+\+\+ "b\/)(.*?)"?\t?$/m.exec(head) ?? [];
  if (named) return named.replace(/^ /, "");
  const [, old] = /^--- "?a\/(.*?)"?\t?$/m.exec(head) ?? [];
  const both = head.slice("diff --git ".length).split("\n")[0]; // a/x b/x
  return old ?? both.slice(Math.ceil(both.length / 2)).replace(/^"?b\//, "").replace(/"$/, "");
}

/** @param {string} head */
function noteOf(head) {
  const notes = [];
  const renamed = /^rename from (.*)$/m.exec(head);
  if (renamed) notes.push(`was ${renamed[1]}`);
  if (/^new file mode 120000$/m.test(head)) notes.push("new link");
  else if (/^new file mode /m.test(head)) notes.push("new");
  if (/^deleted file mode /m.test(head)) notes.push("deleted");
  if (/^old mode /m.test(head)) notes.push(/^new mode 100755$/m.test(head) ? "now a program" : "no program any more");
  if (/^Binary files /m.test(head)) notes.push("not text");
  return notes.join(", ");
}

/** Return what is said in the place of a diff, or "". @param {TreeRepository} repository */
export const sentenceOf = ({ diff }) => (diff && !diff.startsWith("diff --git ") ? diff : "");
