// Unified diffs as rows, and the words in which two lines differ. Pure.

import { diffWordsWithSpace } from "../vendor/diff.js";

/**
 * @typedef {{kind: "same" | "add" | "del", old: number | null, new: number | null, text: string, marks?: [number, number][]}} Row
 *   `marks`: where the words stand that differ from the line that it replaces, as [from, to)
 * @typedef {{head: string, old: number, new: number, rows: Row[]}} Hunk
 * @typedef {{path: string, hunks: Hunk[]}} FileDiff
 */

const HEAD = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/;
const WORDS_MAX = 500; // characters of a line; in longer ones no words are marked
const PAIRS_MAX = 50; // lines of one change; in larger ones none are paired

/**
 * Return the files of a unified diff. What is no diff gives none.
 * @param {string} unified
 * @returns {FileDiff[]}
 */
export function parse(unified) {
  /** @type {FileDiff[]} */
  const files = [];
  let hunk = /** @type {Hunk | null} */ (null);
  let old = 0, now = 0;
  const lines = unified.split("\n");
  for (const [index, line] of lines.entries()) {
    const head = HEAD.exec(line);
    if (line.startsWith("--- ") && lines[index + 1]?.startsWith("+++ ")) {
      files.push({ path: pathOf(lines[index + 1]) || pathOf(line), hunks: [] });
      hunk = null;
    } else if (head) {
      [old, now] = [Number(head[1]), Number(head[2])];
      hunk = { head: head[3], old, new: now, rows: [] };
      if (!files.length) files.push({ path: "", hunks: [] });
      files[files.length - 1].hunks.push(hunk);
    } else if (hunk && "+- ".includes(line[0] ?? "\n")) {
      hunk.rows.push(rowOf(line, line[0] === "+" ? null : old++, line[0] === "-" ? null : now++));
    }
  }
  for (const file of files) for (const one of file.hunks) mark(one.rows);
  return files;
}

/** @param {string} line @param {number | null} old @param {number | null} now @returns {Row} */
function rowOf(line, old, now) {
  const kind = line[0] === "+" ? "add" : line[0] === "-" ? "del" : "same";
  return { kind, old, new: now, text: line.slice(1).replace(/\r$/, "") };
}

/** @param {string} line */
function pathOf(line) {
  const path = line.slice(4).split("\t")[0];
  return path === "/dev/null" ? "" : path.replace(/^[ab]\//, "");
}

/**
 * Return a whole file as one hunk of lines that are added.
 * @param {string} path @param {string} content
 * @returns {FileDiff}
 */
export function whole(path, content) {
  const lines = content ? content.replace(/\n$/, "").split("\n") : [];
  const rows = lines.map((text, index) => ({ kind: /** @type {const} */ ("add"), old: null, new: index + 1, text: text.replace(/\r$/, "") }));
  return { path, hunks: rows.length ? [{ head: "", old: 0, new: 1, rows }] : [] };
}

/** @param {FileDiff[]} files */
export function counts(files) {
  const rows = files.flatMap((file) => file.hunks).flatMap((hunk) => hunk.rows);
  const count = (/** @type {string} */ kind) => rows.filter((row) => row.kind === kind).length;
  return { added: count("add"), removed: count("del") };
}

/**
 * Return a text as a diff leaves it, or null where it does not fit.
 * @param {string} text @param {Hunk[]} hunks
 */
export function applied(text, hunks) {
  const lines = text.split("\n");
  const done = [];
  let at = 0;
  for (const { old, rows } of hunks) {
    const from = Math.max(0, old - 1);
    if (from < at) return null;
    done.push(...lines.slice(at, from));
    at = from;
    for (const row of rows) {
      if (row.kind !== "add" && lines[at++]?.replace(/\r$/, "") !== row.text) return null;
      if (row.kind !== "del") done.push(row.text);
    }
  }
  return [...done, ...lines.slice(at)].join("\n");
}

/** Mark the words that differ in lines that stand for each other. @param {Row[]} rows */
function mark(rows) {
  for (let at = 0; at < rows.length; ) {
    let dels = 0, adds = 0;
    while (rows[at + dels]?.kind === "del") dels++;
    while (rows[at + dels + adds]?.kind === "add") adds++;
    const pairs = Math.min(dels, adds) <= PAIRS_MAX ? Math.min(dels, adds) : 0;
    for (let pair = 0; pair < pairs; pair++) markPair(rows[at + pair], rows[at + dels + pair], dels === adds ? 1 / 3 : 1 / 2);
    at += Math.max(1, dels + adds);
  }
}

/** @param {Row} del @param {Row} add @param {number} share of the shorter line that both have to have */
function markPair(del, add, share) {
  if (del.text.length > WORDS_MAX || add.text.length > WORDS_MAX) return;
  const gone = /** @type {[number, number][]} */ ([]);
  const come = /** @type {[number, number][]} */ ([]);
  let from = 0, to = 0, same = 0;
  for (const piece of diffWordsWithSpace(del.text, add.text)) {
    const { length } = piece.value;
    if (piece.removed) gone.push([from, from += length]);
    else if (piece.added) come.push([to, to += length]);
    else [from, to, same] = [from + length, to + length, same + piece.value.trim().length];
  }
  if (same < share * Math.min(del.text.trim().length, add.text.trim().length)) return; // other lines, not other words
  del.marks = gone;
  add.marks = come;
}

/**
 * Cut a line into pieces at its marks.
 * @param {string} text @param {[number, number][]} [marks]
 * @returns {{text: string, marked: boolean}[]}
 */
export function pieces(text, marks = []) {
  const cut = [];
  let at = 0;
  for (const [from, to] of marks) {
    if (from > at) cut.push({ text: text.slice(at, from), marked: false });
    cut.push({ text: text.slice(from, to), marked: true });
    at = to;
  }
  if (at < text.length || !cut.length) cut.push({ text: text.slice(at), marked: false });
  return cut;
}

/**
 * Cut coloured pieces at the marks of their line.
 * @param {{text: string, cls: string}[]} coloured @param {[number, number][]} marks
 * @returns {{text: string, cls: string, marked: boolean}[]}
 */
export function markedPieces(coloured, marks) {
  const cut = [];
  let at = 0;
  for (const { text, cls } of coloured) {
    const inside = marks.map(([from, to]) => [from - at, to - at]).filter(([from, to]) => to > 0 && from < text.length);
    const own = inside.map(([from, to]) => /** @type {[number, number]} */ ([Math.max(0, from), Math.min(to, text.length)]));
    for (const piece of pieces(text, own)) cut.push({ ...piece, cls });
    at += text.length;
  }
  return cut;
}

/**
 * @typedef {{old: Row | null, new: Row | null}} Pair one line of the two columns
 * @param {Row[]} rows
 * @returns {Pair[]}
 */
export function sideBySide(rows) {
  /** @type {Pair[]} */
  const pairs = [];
  for (let at = 0; at < rows.length; ) {
    if (rows[at].kind === "same") {
      pairs.push({ old: rows[at], new: rows[at] });
      at++;
      continue;
    }
    const dels = [], adds = [];
    while (rows[at]?.kind === "del") dels.push(rows[at++]);
    while (rows[at]?.kind === "add") adds.push(rows[at++]);
    for (let line = 0; line < Math.max(dels.length, adds.length); line++) pairs.push({ old: dels[line] ?? null, new: adds[line] ?? null });
  }
  return pairs;
}
