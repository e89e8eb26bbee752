// A long paragraph at the end of a text that grows: its beginning is settled piece by piece. Pure.
//
// A piece ends between two words. It is settled if nothing in it may still be taken up by what
// follows: no sign of emphasis, code or a link that has found no end. What follows is parsed with a
// word before it, as the rest of a paragraph, so that it begins no list, heading or definition.

import { parsed } from "./blocks.js";
import { skipLines } from "./shared.js";

/**
 * @typedef {import("./blocks.js").Block} Block
 * @typedef {import("./inline.js").Inline} Inline
 *
 * `children` are settled; `line`, `at`: where the rest begins; `lead` is parsed before it.
 * @typedef {{kind: "paragraph", key: number, first: number, children: readonly Inline[], line: number,
 *   at: number, lead: string, leadLines: number}} OpenParagraph
 */

const PIECE_MIN = 1_500; // characters; a shorter piece is parsed as a whole
const LEFT_MIN = 500; // characters that stay unsettled: the last lines may become a table or a heading
const WORD = "x";
// Signs of emphasis beside a letter, of code, and of the address of a link.
const OPENS = /(?<!\s)\*|\*(?!\s)|`|~~|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|\]\0*\(/u;
const CUT = /(?<=[^\s\\])[ \n](?=\S)/g;

/**
 * Return the part of a paragraph that is settled, or null if no more of it is than before.
 * @param {Block} block
 * @param {{text: string, line: number, at: number, open: any, references: any}} grown
 * @returns {OpenParagraph | null}
 */
export function openedParagraph(block, { text, line, at, open, references }) {
  if (block.type !== "paragraph") return null;
  const before = open?.kind === "paragraph" && open.key === block.key ? open : null;
  const first = block.lines[0];
  if (!before && first < line) return null; // it begins before what is parsed anew
  const begin = before ? before.at : skipLines(text, at, first - line);
  const beginLine = before ? before.line : first;
  const end = skipLines(text, begin, block.lines[1] - beginLine) || text.length;
  if (end - begin < PIECE_MIN + LEFT_MIN || (!before && /^\s*\[/.test(text.slice(begin, begin + 10)))) return null;
  for (const cut of cutsOf(text, begin, end - LEFT_MIN)) {
    const children = settledIn(text.slice(begin, cut), before?.lead ?? "", references);
    if (!children) continue;
    const passed = text.slice(begin, cut + 1);
    const lead = WORD + text[cut];
    return {
      kind: "paragraph", key: block.key, first, lead, at: cut + 1,
      children: [...(before?.children ?? []), ...children],
      line: beginLine + (passed.split("\n").length - 1),
      leadLines: text[cut] === "\n" ? 1 : 0,
    };
  }
  return null;
}

/**
 * Return the blocks of the end of a text, whose first one goes on with the open paragraph; null if
 * it does not.
 * @param {OpenParagraph} open
 * @param {readonly Block[]} blocks
 * @returns {readonly Block[] | null}
 */
export function withParagraph(open, blocks) {
  const [first, ...rest] = blocks;
  if (first?.type !== "paragraph") return null;
  const children = [...open.children, ...withoutWord(first.children)];
  const lines = /** @type {[number, number]} */ ([open.first, first.lines[1]]);
  return [{ ...first, key: open.key, children, lines }, ...rest];
}

/**
 * Return places between words at which a piece may end: the last one, and one halfway.
 * @param {string} text @param {number} begin @param {number} end
 */
function cutsOf(text, begin, end) {
  const cuts = [...text.slice(begin, end).matchAll(CUT)].map((found) => begin + found.index);
  return cuts.length ? [...new Set([cuts[cuts.length - 1], cuts[cuts.length >> 1]])] : [];
}

/**
 * Return the contents of a piece, or null if they may still change.
 * @param {string} piece @param {string} lead @param {any} references
 * @returns {readonly Inline[] | null}
 */
function settledIn(piece, lead, references) {
  const { blocks } = parsed(lead + piece, references);
  if (blocks.length !== 1 || blocks[0].type !== "paragraph") return null;
  const children = lead ? withoutWord(blocks[0].children) : blocks[0].children;
  return isClosed(children) ? children : null;
}

/** Take away the word that stands before. @param {readonly Inline[]} children @returns {readonly Inline[]} */
function withoutWord(children) {
  const [first, ...rest] = children;
  const words = /** @type {string} */ (first).slice(WORD.length);
  return words ? [words, ...rest] : rest;
}

/** Whether no sign is left that may begin something. @param {readonly Inline[]} children */
function isClosed(children) {
  const words = wordsIn(children).join("\0");
  let open = 0;
  for (const [sign] of words.matchAll(/[[\]]/g)) open = sign === "[" ? open + 1 : Math.max(0, open - 1);
  return open === 0 && !OPENS.test(words);
}

/** The words themselves, without code. @param {readonly Inline[]} children @returns {string[]} */
const wordsIn = (children) => children.flatMap((one) => (typeof one === "string" ? one : wordsIn(one.children ?? [])));
