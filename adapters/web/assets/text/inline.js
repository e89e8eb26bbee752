// What stands within a block of Markdown: words, emphasis, code, links. Pure.
//
//   Inline  a text, as it is; "\n" is a soft break
//           {type: "strong" | "em" | "strike", children: Inline[]}
//           {type: "code", text}
//           {type: "link", href, title, children: Inline[]}
//           {type: "picture", src, alt}      only of stored files; others become links
//           {type: "break"}
//           {type: "footnote_mark", label}     leads to the footnote with this label

import { isStoredFile } from "./links.js";

/**
 * @typedef {string | {type: string, [name: string]: any}} Inline
 * @typedef {{type: string, content: string, children: any[] | null,
 *   attrGet: (name: string) => string | null}} Token
 */

/** @type {Record<string, string>} */
const AROUND = { strong_open: "strong", em_open: "em", s_open: "strike", link_open: "link" };

/**
 * @param {Token[]} tokens
 * @returns {Inline[]}
 */
export function inlineOf(tokens) {
  /** @type {Inline[][]} */
  const lists = [[]];
  for (const token of tokens) {
    const list = lists[lists.length - 1];
    if (token.type in AROUND) {
      const node = openedBy(token);
      list.push(node);
      lists.push(node.children);
    } else if (token.type.endsWith("_close")) lists.pop();
    else add(list, leafOf(token));
  }
  return lists[0];
}

/**
 * @param {Token} token
 * @returns {{type: string, children: Inline[], href?: string, title?: string}}
 */
function openedBy(token) {
  const type = AROUND[token.type];
  if (type !== "link") return { type, children: [] };
  return { type, href: token.attrGet("href") ?? "", title: token.attrGet("title") ?? "", children: [] };
}

/** @param {Token} token @returns {Inline} */
function leafOf(token) {
  switch (token.type) {
    case "softbreak":
      return "\n";
    case "hardbreak":
      return { type: "break" };
    case "code_inline":
      return { type: "code", text: token.content };
    case "image":
      return pictureOf(token);
    case "footnote_mark":
      return { type: "footnote_mark", label: token.content };
    default:
      return token.content;
  }
}

/** @param {Token} token @returns {Inline} */
function pictureOf(token) {
  const src = token.attrGet("src") ?? "";
  const alt = wordsOf(inlineOf(token.children ?? []));
  if (isStoredFile(src)) return { type: "picture", src, alt };
  return { type: "link", href: src, title: token.attrGet("title") ?? "", children: [alt || src] };
}

/**
 * Put something at the end of a list; a text joins the text before it.
 * @param {Inline[]} list
 * @param {Inline} come
 */
function add(list, come) {
  const last = list[list.length - 1];
  if (typeof come === "string" && typeof last === "string") list[list.length - 1] = last + come;
  else if (come !== "") list.push(come);
}

/**
 * Return the words alone.
 * @param {readonly Inline[]} inline
 * @returns {string}
 */
export function wordsOf(inline) {
  return inline
    .map((one) => {
      if (typeof one === "string") return one;
      return one.children ? wordsOf(one.children) : (one.text ?? one.alt ?? (one.type === "break" ? "\n" : ""));
    })
    .join("");
}
