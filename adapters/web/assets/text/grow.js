// Markdown that grows: what is complete is parsed once and stays the same object. Pure.
//
//   grown(null, text)      → Grown {text, blocks}
//   grown(before, text)    → the same for a longer text; parses only the end of it
//
// For every text the blocks say what `blocksOf(text)` says. A block that does not change is the
// same object as before, and so is every part of one that does, so that a view may compare by `===`.
//
// What follows can change only the block that the last complete line is in, and what is behind it;
// of a list only its last two items, of a table its last two rows, of a long paragraph its last words.
// A link definition may change any block, so that all is parsed anew when one comes.

import { same } from "../state/same.js";
import { parsed } from "./blocks.js";
import { openedList, withList } from "./open_list.js";
import { openedParagraph, withParagraph } from "./open_paragraph.js";
import { openedTable, withTable } from "./open_table.js";
import { shared, skipLines } from "./shared.js";

/**
 * @typedef {import("./blocks.js").Block} Block
 * @typedef {import("./blocks.js").References} References
 *
 * @typedef {import("./open_list.js").OpenList | import("./open_table.js").OpenTable
 *   | import("./open_paragraph.js").OpenParagraph} Open
 *
 * `line`, `at`: where the part begins that is parsed anew, in lines and characters; `settled`: how
 * many blocks lie before it; `open`: the block that it begins within; `defined`: the link
 * definitions before it; `references`: all of them.
 * @typedef {{text: string, blocks: readonly Block[], line: number, at: number, settled: number,
 *   open: Open | null, defined: References, references: References}} Grown
 */

const DEFINITION = /\]:/;

/**
 * @param {Grown | null} before
 * @param {string} given
 * @returns {Grown}
 */
export function grown(before, given) {
  const text = plain(given);
  if (before && text === before.text) return before;
  const from = before && text.startsWith(before.text) ? before : null;
  const next = (from && goneOn(from, text)) ?? begun(text);
  const blocks = before ? shared(before.blocks, next.blocks) : next.blocks;
  return { ...next, blocks };
}

/** @param {string} text @returns {Grown} */
function begun(text) {
  const { blocks, references } = parsed(text);
  return settle({ text, blocks, line: 0, at: 0, settled: 0, open: null, defined: {}, references });
}

/**
 * Return what a longer text is; null if what was settled does not hold for it.
 * @param {Grown} before
 * @param {string} text
 * @returns {Grown | null}
 */
function goneOn(before, text) {
  const { line, at, settled, open, defined } = before;
  const tail = parsed((open?.lead ?? "") + text.slice(at), defined);
  if (!same(tail.references, before.references)) return null;
  const come = withOpen(open, tail.blocks.map((block) => moved(block, line - (open?.leadLines ?? 0))));
  if (!come) return null;
  const blocks = [...before.blocks.slice(0, settled), ...come];
  return settle({ ...before, text, blocks, references: tail.references });
}

/**
 * Move the beginning of what is parsed anew as far as what follows can change nothing before it.
 * The last line may not be complete: what comes may still take it, and with it the last block,
 * into the block before, but for one whose own beginning is settled: a list, a table, a paragraph.
 * @param {Grown} grown
 * @returns {Grown}
 */
function settle(grown) {
  const { blocks } = grown;
  const last = blocks.length - 1;
  const inLast = last >= 0 && opened(blocks[last], grown);
  if (inLast) return begunAt(grown, last, inLast, inLast);
  const settled = Math.max(grown.settled, last - 1);
  if (!blocks[settled]) return grown;
  const inside = opened(blocks[settled], grown);
  if (inside) return begunAt(grown, settled, inside, inside);
  if (settled <= grown.settled) return grown;
  const line = blocks[settled].lines[0];
  return begunAt(grown, settled, { line, at: skipLines(grown.text, grown.at, line - grown.line) }, null);
}

/**
 * Return the part of a block that is settled, or null if no more of it is than before.
 * @param {Block} block
 * @param {Grown} grown
 * @returns {Open | null}
 */
const opened = (block, grown) => openedList(block, grown) ?? openedTable(block, grown) ?? openedParagraph(block, grown);

/**
 * Return the blocks of the end of a text as blocks of the whole; null if the first of them does not
 * go on with the open one.
 * @param {Open | null} open
 * @param {readonly Block[]} blocks
 */
function withOpen(open, blocks) {
  if (!open) return blocks;
  if (open.kind === "list") return withList(open, blocks);
  return open.kind === "table" ? withTable(open, blocks) : withParagraph(open, blocks);
}

/**
 * @param {Grown} grown
 * @param {number} settled
 * @param {{line: number, at: number}} place
 * @param {Grown["open"]} open
 * @returns {Grown}
 */
function begunAt(grown, settled, { line, at }, open) {
  if (at <= grown.at) return grown;
  const passed = (grown.open?.lead ?? "") + grown.text.slice(grown.at, at);
  const defined = DEFINITION.test(passed) ? parsed(passed, grown.defined).references : grown.defined;
  return { ...grown, line, at, settled, open, defined };
}

/**
 * Return a block, as it is where the text begins so many lines earlier.
 * @param {Block} block
 * @param {number} by
 * @returns {Block}
 */
function moved(block, by) {
  if (!by) return block;
  const inner = block.blocks && { blocks: block.blocks.map((/** @type {Block} */ one) => moved(one, by)) };
  const items = block.items && {
    items: block.items.map((/** @type {any} */ item) => ({
      ...item,
      line: item.line + by,
      blocks: item.blocks.map((/** @type {Block} */ one) => moved(one, by)),
    })),
  };
  return { ...block, ...inner, ...items, key: block.key + by, lines: [block.lines[0] + by, block.lines[1] + by] };
}

/**
 * Return the text with the line ends that the parser knows.
 * @param {string} text
 */
function plain(text) {
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}
