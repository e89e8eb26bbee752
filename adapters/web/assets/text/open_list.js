// A long list at the end of a text that grows: all its items but the last two are settled. Pure.
//
// Whether a list is tight is said by blank lines anywhere in it. So of the settled items is kept
// whether one was among or behind them, which is found by parsing them with one more item.

import { parsed } from "./blocks.js";
import { skipLines } from "./shared.js";

/**
 * @typedef {import("./blocks.js").Block} Block
 *
 * `items` are settled; `line`, `at`: where the next one begins; `loose`: blank lines were among them.
 * @typedef {{kind: "list", key: number, list: Block, items: readonly any[], line: number, at: number,
 *   lead: string, leadLines: number, loose: boolean}} OpenList
 */

const ITEMS_MIN = 6; // shorter lists are parsed as a whole

/**
 * Return what is settled of a list, or null if nothing new is, or it cannot be told.
 * @param {Block} list
 * @param {{text: string, line: number, at: number, open: any}} grown
 * @returns {OpenList | null}
 */
export function openedList(list, { text, line, at, open }) {
  if (list.type !== "list" || list.items.length < ITEMS_MIN) return null;
  const before = open?.kind === "list" && open.key === list.key ? open : null;
  const from = before ? before.line : list.lines[0];
  if (from < line) return null; // it begins before what is parsed anew, as another list's end
  const items = list.items.slice(0, -2);
  const next = list.items[items.length].line;
  const fresh = items.slice(before ? before.items.length : 0);
  if (!fresh.length || ![...fresh, list.items[items.length]].every(beginsWithWords)) return null;
  const begin = skipLines(text, at, from - line);
  const end = skipLines(text, begin, next - from);
  const chunk = text.slice(begin, end);
  const [probed, ...others] = parsed(`${chunk}${list.ordered ? "1" : ""}${list.mark} x\n`).blocks;
  if (others.length || probed?.type !== "list" || probed.items.length !== fresh.length + 1) return null;
  const loose = (before?.loose ?? false) || !probed.tight;
  return { kind: "list", key: list.key, list, items, line: next, at: end, lead: "", leadLines: 0, loose };
}

/**
 * Return the blocks of the end of a text, whose first one goes on with the open list, as blocks of
 * the whole; null if it does not go on with it.
 * @param {OpenList} open
 * @param {readonly Block[]} blocks
 * @returns {readonly Block[] | null}
 */
export function withList(open, blocks) {
  const [first, ...rest] = blocks;
  const { list, items, loose } = open;
  if (first?.type !== "list" || first.ordered !== list.ordered || first.mark !== list.mark) return null;
  if (!beginsWithWords(first.items[0])) return null;
  const whole = {
    ...first,
    key: list.key,
    start: list.start,
    tight: first.tight && !loose,
    items: [...items, ...first.items],
    lines: /** @type {[number, number]} */ ([list.lines[0], first.lines[1]]),
  };
  return [whole, ...rest];
}

/** @param {{blocks: readonly Block[]}} item */
function beginsWithWords({ blocks }) {
  return blocks[0]?.type === "paragraph";
}
