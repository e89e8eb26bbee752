// Prints texts and what our Markdown makes of them, as HTML, for test_markdown.py to compare.
//
//   node markdown_cases.js COUNT SEED [spec.txt of CommonMark]   → a line of JSON each: [text, html]

import { readFileSync } from "node:fs";
import { blocksOf } from "../../../adapters/web/assets/text/blocks.js";
import { knowAll } from "../../../adapters/web/assets/text/characters.js";
import { below, randomOf } from "./cases.js";
import { randomList, randomText } from "./markdown.js";

const LINES_MAX = 16;
const EXAMPLE = /^`{32} example\n([\s\S]*?)^\.\n[\s\S]*?^`{32}$/gm;
const SIGNS = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const TAGS = { strong: "strong", em: "em", strike: "s" };

const escaped = (text) => text.replace(/[&<>"]/g, (sign) => SIGNS[sign]);
const htmlOf = (blocks) => blocks.map(blockHtml).join("");
const wordsOf = (inline) => inline.map(inlineHtml).join("");

function blockHtml(block) {
  switch (block.type) {
    case "paragraph":
      return `<p>${wordsOf(block.children)}</p>`;
    case "heading":
      return `<h${block.level}>${wordsOf(block.children)}</h${block.level}>`;
    case "code":
      return `<pre><code${block.language ? ` class="language-${escaped(block.language)}"` : ""}>${escaped(block.text)}</code></pre>`;
    case "quote":
      return `<blockquote>${htmlOf(block.blocks)}</blockquote>`;
    case "list":
      return listHtml(block);
    case "table":
      return tableHtml(block);
    case "footnote":
      return `<p id="${escaped(block.label)}">${wordsOf(block.children)}</p>`;
    default:
      return "<hr />";
  }
}

function listHtml({ ordered, start, tight, items }) {
  const item = (blocks) => blocks.map((one) => (tight && one.type === "paragraph" ? wordsOf(one.children) : blockHtml(one))).join("");
  const tag = ordered ? "ol" : "ul";
  const first = ordered && start !== 1 ? ` start="${start}"` : "";
  return `<${tag}${first}>${items.map((one) => `<li>${item(one.blocks)}</li>`).join("")}</${tag}>`;
}

function tableHtml({ aligns, head, rows }) {
  const style = (at) => (aligns[at] ? ` style="text-align:${aligns[at]}"` : "");
  const row = (tag, cells) => `<tr>${cells.map((cell, at) => `<${tag}${style(at)}>${wordsOf(cell)}</${tag}>`).join("")}</tr>`;
  const body = rows.length ? `<tbody>${rows.map((cells) => row("td", cells)).join("")}</tbody>` : "";
  return `<table><thead>${row("th", head)}</thead>${body}</table>`;
}

function inlineHtml(inline) {
  if (typeof inline === "string") return escaped(inline);
  if (inline.type === "code") return `<code>${escaped(inline.text)}</code>`;
  if (inline.type === "footnote_mark") return `<sup>${escaped(inline.label)}</sup>`;
  if (inline.type === "break") return "<br />";
  if (inline.type !== "link") return `<${TAGS[inline.type]}>${wordsOf(inline.children)}</${TAGS[inline.type]}>`;
  const title = inline.title ? ` title="${escaped(inline.title)}"` : "";
  return `<a href="${escaped(inline.href)}"${title}>${wordsOf(inline.children)}</a>`;
}

/** Return whether a text has what the other parser has not: tasks. */
const hasTasks = (blocks) =>
  blocks.some((block) => block.items?.some((item) => item.task !== null || hasTasks(item.blocks)) || (block.blocks && hasTasks(block.blocks)));

function* texts(count, seed, spec) {
  const random = randomOf(seed);
  for (let time = 0; time < count; time += 1) yield (time % 3 ? randomText : randomList)(random, 1 + below(random, LINES_MAX));
  if (spec) for (const [, text] of readFileSync(spec, "utf8").matchAll(EXAMPLE)) yield text.replaceAll("→", "\t");
}

await knowAll();
const [count, seed, spec] = process.argv.slice(2);
for (const text of texts(Number(count), Number(seed), spec)) {
  const blocks = blocksOf(text);
  if (!hasTasks(blocks)) process.stdout.write(`${JSON.stringify([text, htmlOf(blocks)])}\n`);
}
