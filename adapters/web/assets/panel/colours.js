// Colours of code in diffs: each side is read as a whole, and cut into its lines again.

import { colourText } from "../text/code.js";

/** @typedef {import("../text/diff.js").Hunk} Hunk */

const CHARACTERS_MAX = 64_000; // of a diff; longer ones stay plain

/**
 * Return the coloured pieces of each row, over all hunks; none where the language is not known.
 * @param {Hunk[]} hunks @param {string} name
 * @returns {Promise<({text: string, cls: string}[] | undefined)[]>}
 */
export async function colourLines(hunks, name) {
  const size = hunks.reduce((sum, hunk) => sum + hunk.rows.reduce((rest, row) => rest + row.text.length, 0), 0);
  if (size > CHARACTERS_MAX) return [];
  /** @type {any[]} */
  const lines = [];
  for (const hunk of hunks) {
    const old = await sideOf(hunk, "add", name), now = await sideOf(hunk, "del", name);
    if (!old || !now) return [];
    let before = 0, after = 0;
    for (const row of hunk.rows) {
      lines.push(row.kind === "del" ? old[before] : now[after]);
      if (row.kind !== "add") before++;
      if (row.kind !== "del") after++;
    }
  }
  return lines;
}

/** @param {Hunk} hunk @param {"add" | "del"} without @param {string} name */
async function sideOf(hunk, without, name) {
  return colourText(hunk.rows.filter((row) => row.kind !== without).map((row) => row.text).join("\n"), name);
}
