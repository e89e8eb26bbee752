// The marks at the right edge of a chat: its user's messages, summaries, an error. Pure.

import { textOf } from "./turn.js";
import { firstLine } from "./words.js";

const MARKS_MAX = 120; // places on the rail; of those at one place the most telling is shown
const WEIGHT = { mine: 1, edited: 2, summary: 3, failed: 4 };

/**
 * `at`: how far down it lies, in hundredths of the whole; `key`: its row, "" for the end.
 * @typedef {{key: string, at: number, kind: keyof typeof WEIGHT, words: string}} Mark
 */

/**
 * @param {readonly import("./items.js").Item[]} items
 * @param {(place: number) => number} top where a row begins; of the place behind the last: the whole height
 * @param {boolean} isFailed whether the chat was stopped by an error
 * @returns {Mark[]}
 */
export function marksOf(items, top, isFailed) {
  const height = top(items.length) || 1;
  /** @type {Map<number, Mark>} */
  const found = new Map();
  const add = (/** @type {Omit<Mark, "at">} */ mark, /** @type {number} */ y) => {
    const place = Math.min(MARKS_MAX, Math.round((y / height) * MARKS_MAX));
    const there = found.get(place);
    if (!there || WEIGHT[mark.kind] > WEIGHT[there.kind]) found.set(place, { ...mark, at: (place / MARKS_MAX) * 100 });
  };
  items.forEach((item, place) => {
    const kind = kindOf(item);
    if (kind) add({ key: item.key, kind, words: kind === "summary" ? "Summarised here" : firstLine(textOf(item.said), 80) }, top(place));
  });
  if (isFailed) add({ key: "", kind: "failed", words: "Stopped by an error" }, height);
  return [...found.values()];
}

/** @param {import("./items.js").Item} item @returns {Mark["kind"] | null} */
function kindOf(item) {
  if (item.kind === "summary") return "summary";
  if (item.kind !== "me") return null;
  return item.said.edited ? "edited" : "mine";
}
