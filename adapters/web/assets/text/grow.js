// Markdown that grows: what is complete is parsed once and stays the same object. Pure.
//
//   grown(null, text)      → Grown {text, blocks}
//   grown(before, text)    → the same for a longer text; parses only from its last block but one on
//
// For every text the blocks say what `blocksOf(text)` says. A block that does not change is the
// same object as before, and so is every part of one that does, so that a view may compare by `===`.
//
// What follows can change only the block that the last complete line is in, and what is behind it;
// and a link definition may change any block, so one that comes has all parsed anew.

import { same } from "../state/same.js";
import { parsed } from "./blocks.js";

/**
 * `line`, `at`: where the part begins that is parsed anew, in lines and characters; `settled` are
 * the blocks before it, `defined` the link definitions in it.
 * @typedef {{text: string, blocks: readonly import("./blocks.js").Block[], line: number, at: number,
 *   settled: number, defined: import("./blocks.js").References,
 *   references: import("./blocks.js").References}} Grown
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
  const next = from ? goneOn(from, text) : begun(text);
  const blocks = before ? shared(before.blocks, next.blocks) : next.blocks;
  return { ...next, blocks };
}

/** @param {string} text @returns {Grown} */
function begun(text) {
  const { blocks, references } = parsed(text);
  return settle({ text, blocks, line: 0, at: 0, settled: 0, defined: {}, references });
}

/** @param {Grown} before @param {string} text @returns {Grown} */
function goneOn(before, text) {
  const { line, at, settled, defined } = before;
  const tail = parsed(text.slice(at), defined);
  if (!same(tail.references, before.references)) return begun(text);
  const blocks = [...before.blocks.slice(0, settled), ...tail.blocks.map((block) => moved(block, line))];
  return settle({ text, blocks, line, at, settled, defined, references: tail.references });
}

/**
 * Move the beginning of what is parsed anew to that of the last block but one. The last line may
 * not be complete: what comes may still take it, and with it the last block, into the one before.
 * @param {Grown} grown
 * @returns {Grown}
 */
function settle(grown) {
  const { text, blocks } = grown;
  const settled = Math.max(grown.settled, blocks.length - 2);
  const line = blocks[settled]?.lines[0] ?? grown.line;
  if (line <= grown.line) return grown;
  const at = skipLines(text, grown.at, line - grown.line);
  const passed = text.slice(grown.at, at);
  const defined = DEFINITION.test(passed) ? parsed(passed, grown.defined).references : grown.defined;
  return { ...grown, line, at, settled, defined };
}

/** @param {string} text @param {number} at @param {number} lines */
function skipLines(text, at, lines) {
  for (let left = lines; left > 0; left -= 1) at = text.indexOf("\n", at) + 1;
  return at;
}

/**
 * Return a block, as it is where the text begins so many lines earlier.
 * @param {import("./blocks.js").Block} block
 * @param {number} by
 * @returns {import("./blocks.js").Block}
 */
function moved(block, by) {
  if (!by) return block;
  const inner = block.blocks && { blocks: block.blocks.map((/** @type {any} */ one) => moved(one, by)) };
  const items = block.items && {
    items: block.items.map((/** @type {any} */ item) => ({
      ...item,
      blocks: item.blocks.map((/** @type {any} */ one) => moved(one, by)),
    })),
  };
  return { ...block, ...inner, ...items, key: block.key + by, lines: [block.lines[0] + by, block.lines[1] + by] };
}

/**
 * Return `next` made of as much of `old` as says the same.
 * @template T
 * @param {T} old
 * @param {T} next
 * @returns {T}
 */
function shared(old, next) {
  if (Object.is(old, next) || typeof old !== "object" || typeof next !== "object") return next;
  if (old === null || next === null || Array.isArray(old) !== Array.isArray(next)) return next;
  const before = /** @type {any} */ (old);
  const made = /** @type {any} */ (Array.isArray(next) ? [] : {});
  let isSame = Object.keys(before).length === Object.keys(next).length;
  for (const [name, value] of Object.entries(next)) {
    made[name] = shared(before[name], value);
    if (made[name] !== before[name]) isSame = false;
  }
  return isSame ? old : made;
}

/**
 * Return the text with the line ends that the parser knows.
 * @param {string} text
 */
function plain(text) {
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}
