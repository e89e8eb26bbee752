// A long table at the end of a text that grows: all its rows but the last two are settled. Pure.
//
// Each row is a line that does not depend on others. So the rows after the settled ones are parsed as
// a table of their own, with the head before them.

import { same } from "../state/same.js";
import { skipLines } from "./shared.js";

/**
 * @typedef {import("./blocks.js").Block} Block
 *
 * `rows` are settled; `line`, `at`: where the next one begins; `lead` is parsed before what
 * follows, and has so many `leadLines`.
 * @typedef {{kind: "table", key: number, table: Block, rows: readonly any[], line: number, at: number,
 *   lead: string, leadLines: number}} OpenTable
 */

const ROWS_MIN = 8; // shorter tables are parsed as a whole
const HEAD_LINES = 2;

/**
 * Return the part of a table that is settled, or null if no more of it is than before.
 * @param {Block} table
 * @param {{text: string, line: number, at: number, open: any}} grown
 * @returns {OpenTable | null}
 */
export function openedTable(table, { text, line, at, open }) {
  if (table.type !== "table" || table.rows.length < ROWS_MIN) return null;
  const before = open?.kind === "table" && open.key === table.key ? open : null;
  const first = table.lines[0];
  if (!before && first < line) return null; // it begins before what is parsed anew
  const rows = table.rows.slice(0, -2);
  if (before && rows.length <= before.rows.length) return null;
  const next = first + HEAD_LINES + rows.length;
  const begin = before ? before.at : skipLines(text, at, first - line);
  const lead = before?.lead ?? text.slice(begin, skipLines(text, begin, HEAD_LINES));
  const place = skipLines(text, begin, next - (before ? before.line : first));
  return { kind: "table", key: table.key, table, rows, line: next, at: place, lead, leadLines: HEAD_LINES };
}

/**
 * Return the blocks of the end of a text, whose first one goes on with the open table; null if it
 * does not.
 * @param {OpenTable} open
 * @param {readonly Block[]} blocks
 * @returns {readonly Block[] | null}
 */
export function withTable(open, blocks) {
  const [first, ...rest] = blocks;
  if (first?.type !== "table" || !same(first.head, open.table.head) || !same(first.aligns, open.table.aligns)) return null;
  const lines = /** @type {[number, number]} */ ([open.table.lines[0], first.lines[1]]);
  return [{ ...first, key: open.key, rows: [...open.rows, ...first.rows], lines }, ...rest];
}
