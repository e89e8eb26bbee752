// Markdown as a tree of blocks: paragraphs, headings, lists, code, tables. Pure.
//
//   blocksOf(text)        → [Block], each with a `key` that stays while text is added behind it
//   parsed(text, known)   → {blocks, references}: the same, with link definitions known beforehand
//
// CommonMark with tables, strike-through, task lists, footnotes and plain addresses as links; raw
// HTML is text. The tree is plain data; nodes.js makes views of it.
//
//   Block   {type: "paragraph", children: Inline[]}
//           {type: "heading", level, children: Inline[]}
//           {type: "code", language, info, text, open}      open: its end has not come yet
//           {type: "quote", blocks: Block[]}
//           {type: "list", ordered, mark, start, tight, items: [{line, task: boolean | null, blocks}]}
//           {type: "table", aligns: ("" | "left" | "center" | "right")[],
//            head: Inline[][], rows: Inline[][][]}
//           {type: "footnote", label, children: Inline[]}
//           {type: "rule"}
//   Inline  see inline.js
//
// Every block has `key` (where it begins, counted in lines) and `lines` [first, behind the last].

import MarkdownIt from "../vendor/markdown-it.js";
import { footnotes } from "./footnotes.js";
import { inlineOf } from "./inline.js";
import { isAllowed } from "./links.js";

/**
 * @typedef {import("./inline.js").Inline} Inline
 * @typedef {{type: string, key: number, lines: [number, number], [name: string]: any}} Block
 * @typedef {Record<string, {title?: string, href: string}>} References
 * @typedef {{type: string, tag: string, level: number, map: [number, number] | null, info: string,
 *   content: string, markup: string, hidden: boolean, children: any[] | null,
 *   attrGet: (name: string) => string | null}} Token
 */

const reader = new MarkdownIt({ html: false, linkify: true, breaks: false, typographer: false });
reader.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
reader.validateLink = isAllowed;
footnotes(reader);

/** @param {string} text @returns {Block[]} */
export function blocksOf(text) {
  return parsed(text).blocks;
}

/**
 * @param {string} text
 * @param {References} [known] definitions that come first
 * @returns {{blocks: Block[], references: References}}
 */
export function parsed(text, known = {}) {
  const env = { references: { ...known } };
  const tokens = reader.parse(text, env);
  const lines = text.split("\n");
  return { blocks: new Walk(tokens, lines).blocks(""), references: env.references };
}

/** A walk over the flat tokens, from an opening one to the one that closes it. */
class Walk {
  /** @param {Token[]} tokens @param {string[]} lines */
  constructor(tokens, lines) {
    this.tokens = tokens;
    this.lines = lines;
    this.at = 0;
    /** @type {[number, number]} */
    this.around = [0, 0]; // the lines of what is being walked through
  }

  /**
   * Return the blocks up to the token of this type, which is passed.
   * @param {string} end
   * @returns {Block[]}
   */
  blocks(end) {
    const found = [];
    while (this.at < this.tokens.length) {
      const token = this.tokens[this.at++];
      if (token.type === end) break;
      found.push(this.block(token));
    }
    return found;
  }

  /** @param {Token} token @returns {Block} */
  block(token) {
    const lines = token.map ?? this.around;
    const outer = this.around;
    this.around = lines;
    const made = this.made(token);
    this.around = outer;
    return { ...made, key: lines[0], lines };
  }

  /** @param {Token} token @returns {{type: string, [name: string]: any}} */
  made(token) {
    switch (token.type) {
      case "paragraph_open":
        return { type: "paragraph", children: this.inline("paragraph_close") };
      case "heading_open":
        return { type: "heading", level: Number(token.tag[1]), children: this.inline("heading_close") };
      case "fence":
        return this.fence(token);
      case "code_block":
        return { type: "code", language: "", info: "", text: token.content, open: false };
      case "blockquote_open":
        return { type: "quote", blocks: this.blocks("blockquote_close") };
      case "bullet_list_open":
      case "ordered_list_open":
        return this.list(token);
      case "table_open":
        return this.table();
      case "footnote_open":
        return { type: "footnote", label: token.info, children: this.inline("footnote_close") };
      case "hr":
        return { type: "rule" };
      default:
        return { type: "paragraph", children: [token.content] };
    }
  }

  /** @param {string} end @returns {Inline[]} */
  inline(end) {
    /** @type {Inline[]} */
    let found = [];
    for (let token = this.tokens[this.at++]; token && token.type !== end; token = this.tokens[this.at++]) {
      if (token.type === "inline") found = inlineOf(token.children ?? []);
    }
    return found;
  }

  /** @param {Token} token */
  fence(token) {
    const info = reader.utils.unescapeAll(token.info).trim();
    const [first, behind] = token.map ?? [0, 0];
    const last = (this.lines[behind - 1] ?? "").replace(/^[\s>]*/, "").trimEnd();
    const open = behind - 1 === first || !last.startsWith(token.markup) || /[^`~]/.test(last);
    return { type: "code", language: info.split(/\s+/)[0], info, text: token.content, open };
  }

  /** @param {Token} token */
  list(token) {
    const ordered = token.type === "ordered_list_open";
    const end = ordered ? "ordered_list_close" : "bullet_list_close";
    const items = [];
    let tight = true;
    for (let next = this.tokens[this.at++]; next && next.type !== end; next = this.tokens[this.at++]) {
      if (this.isLoose(next.level)) tight = false;
      items.push({ line: (next.map ?? this.around)[0], ...taskOf(this.blocks("list_item_close")) });
    }
    const start = Number(token.attrGet("start") ?? 1);
    return { type: "list", ordered, mark: token.markup, start, tight, items };
  }

  /**
   * Return whether the item that begins here has a paragraph with space around it.
   * @param {number} level of the item
   */
  isLoose(level) {
    for (let at = this.at; this.tokens[at] && this.tokens[at].level > level; at += 1) {
      const { type, hidden, level: deep } = this.tokens[at];
      if (type === "paragraph_open" && !hidden && deep === level + 1) return true;
    }
    return false;
  }

  table() {
    /** @type {string[]} */
    const aligns = [];
    /** @type {Inline[][][]} */
    const rows = [];
    for (let token = this.tokens[this.at++]; token && token.type !== "table_close"; token = this.tokens[this.at++]) {
      if (token.type === "tr_open") rows.push([]);
      if (token.type !== "th_open" && token.type !== "td_open") continue;
      if (token.type === "th_open") aligns.push(/[a-z]+$/.exec(token.attrGet("style") ?? "")?.[0] ?? "");
      rows[rows.length - 1].push(this.inline(token.type.replace("open", "close")));
    }
    return { type: "table", aligns, head: rows[0] ?? [], rows: rows.slice(1) };
  }
}

/**
 * Return an item of a list; "[ ] " or "[x] " at its beginning makes it a task.
 * @param {Block[]} blocks
 */
function taskOf(blocks) {
  const [first, ...rest] = blocks;
  const text = first?.type === "paragraph" ? first.children[0] : null;
  const mark = typeof text === "string" ? /^\[([ xX])\]\s+(?=\S)|^\[([ xX])\]\s+$/.exec(text) : null;
  if (!mark) return { task: null, blocks };
  const words = /** @type {string} */ (text).slice(mark[0].length);
  const children = [...(words ? [words] : []), ...first.children.slice(1)];
  return { task: (mark[1] ?? mark[2]) !== " ", blocks: [{ ...first, children }, ...rest] };
}
