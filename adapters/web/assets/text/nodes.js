// Views of Markdown. A block that is the same object as before is not looked at again.
//
//   html`<${Markdown} text=${text} grows=${bool} Code=${Code} />`
//
// `grows`: the text is being streamed; complete blocks are kept, only the last one is parsed anew.
// `Code` is the view of a block of code, {block}: {language, text, open}; without one it is plain.
// The page has one h1, so headings of a text begin at h3.

import { Fragment, h, html, memo, signal, useRef, useState } from "../ui.js";
import { blocksOf } from "./blocks.js";
import { whenMissed } from "./characters.js";
import { later } from "../shared/later.js";
import { leadsSomewhere } from "./links.js";

const Footnote = later(() => import("./footnote_views.js").then((module) => module.Footnote));
const FootnoteMark = later(() => import("./footnote_views.js").then((module) => module.FootnoteMark));

/**
 * @typedef {import("./blocks.js").Block} Block
 * @typedef {import("./blocks.js").Inline} Inline
 * @typedef {(props: {block: Block}) => any} CodeView
 */

const AT_FIRST = 200; // rows of a table, items of a list; more of them are shown when that is asked for
const MORE = 8; // times as many, with each further click

/** The parser of growing texts, which parses only their ends. Until it is loaded, all is parsed. @type {typeof import("./grow.js").grown | null} */
let grown = null;
/** @param {typeof import("./grow.js").grown} given */
export const growBy = (given) => void (grown = given);

const namesKnown = signal(0); // changes when more names of characters are known, and texts are read again
whenMissed(() => (namesKnown.value += 1));

/** @param {{text: string, grows?: boolean, Code?: CodeView}} props */
export const Markdown = memo(({ text, grows = false, Code = PlainCode }) => {
  const kept = useRef(/** @type {import("./grow.js").Grown | null} */ (null));
  const names = namesKnown.value;
  const known = useRef(names);
  const before = known.current === names ? kept.current : null;
  if (grown && (grows || kept.current)) kept.current = grown(before, text);
  known.current = names;
  const blocks = kept.current ? kept.current.blocks : blocksOf(text);
  return blocksView(blocks, Code);
});

/** @param {readonly Block[]} blocks @param {CodeView} Code */
const blocksView = (blocks, Code) =>
  h(Fragment, null, blocks.map((block) => h(BlockView, { key: block.key, block, Code })));

const BlockView = memo((/** @type {{block: Block, Code: CodeView}} */ { block, Code }) => {
  switch (block.type) {
    case "paragraph":
      return html`<p dir="auto">${block.children.map(inlineView)}</p>`;
    case "heading":
      return h(`h${Math.min(6, block.level + 2)}`, { dir: "auto" }, block.children.map(inlineView));
    case "code":
      return h(Code, { block });
    case "quote":
      return html`<blockquote>${blocksView(block.blocks, Code)}</blockquote>`;
    case "list":
      return h(ListView, { block, Code });
    case "table":
      return h(TableView, { block });
    case "footnote":
      return h(Footnote, { label: block.label }, block.children.map(inlineView));
    default:
      return html`<hr />`;
  }
});

/** @param {{block: Block}} props */
function PlainCode({ block }) {
  return html`<pre class="term" tabindex="0"><code>${block.text}</code></pre>`;
}

/**
 * Return the beginning of what may be long, and the button that shows more of it.
 * @template T
 * @param {readonly T[]} all
 * @param {string} what
 */
function useBeginning(all, what) {
  const [most, setMost] = useState(AT_FIRST);
  const next = Math.min(most * MORE, all.length);
  const count = next < all.length ? `${next} of ${all.length}` : `all ${next}`;
  const button = most < all.length && html`<button type="button" class="btn quiet more"
    onClick=${() => setMost(next)}>Show ${count} ${what}</button>`;
  return /** @type {const} */ ([all.slice(0, most), button]);
}

/** @param {{block: Block, Code: CodeView}} props */
function ListView({ block: { ordered, start, tight, items }, Code }) {
  const [shown, more] = useBeginning(items, "items");
  const tasks = items.some((/** @type {any} */ item) => item.task !== null);
  const props = {
    start: ordered && start !== 1 ? start : undefined,
    class: `${tight ? "tight" : ""}${tasks ? " tasks" : ""}`.trim() || undefined,
  };
  const list = h(ordered ? "ol" : "ul", props, shown.map((/** @type {any} */ item, at) =>
    h(ItemView, { key: at, item, tight, Code })));
  return [list, more];
}

const ItemView = memo((/** @type {{item: any, tight: boolean, Code: CodeView}} */ { item, tight, Code }) =>
  h("li", null, boxOf(item.task), itemBlocks(item.blocks, tight, Code)));

/** @param {boolean | null} task */
function boxOf(task) {
  if (task === null) return null;
  return html`<input type="checkbox" disabled checked=${task} aria-label=${task ? "done" : "not done"} /> `;
}

/** @param {Block[]} blocks @param {boolean} tight @param {CodeView} Code */
function itemBlocks(blocks, tight, Code) {
  return blocks.map((block) =>
    tight && block.type === "paragraph"
      ? h(Words, { key: block.key, block })
      : h(BlockView, { key: block.key, block, Code }));
}

/** The words of an item without space around it. */
const Words = memo((/** @type {{block: Block}} */ { block }) => h(Fragment, null, block.children.map(inlineView)));

/** @param {"th" | "td"} tag @param {Inline[][]} row @param {string[]} aligns */
const cellsOf = (tag, row, aligns) =>
  row.map((cell, at) => h(tag, { key: at, class: aligns[at] || undefined, dir: "auto" }, cell.map(inlineView)));

const RowView = memo((/** @type {{row: Inline[][], aligns: string[]}} */ { row, aligns }) => h("tr", null, cellsOf("td", row, aligns)));

/** @param {{block: Block}} props */
function TableView({ block: { aligns, head, rows } }) {
  const [shown, more] = useBeginning(rows, "rows");
  return html`<div class="wide" tabindex="0" role="region" aria-label="Table"><table>
    <thead><tr>${cellsOf("th", head, aligns)}</tr></thead>
    <tbody>${shown.map((/** @type {Inline[][]} */ row, at) => h(RowView, { key: at, row, aligns }))}</tbody>
  </table></div>${more}`;
}

/**
 * @param {Inline} inline
 * @returns {any}
 */
function inlineView(inline) {
  if (typeof inline === "string") return inline;
  switch (inline.type) {
    case "strong":
    case "em":
      return h(inline.type, null, inline.children.map(inlineView));
    case "strike":
      return h("s", null, inline.children.map(inlineView));
    case "code":
      return h("code", null, inline.text);
    case "link":
      return linkView(inline);
    case "picture":
      return html`<img src=${inline.src} alt=${inline.alt} loading="lazy" />`;
    case "footnote_mark":
      return h(FootnoteMark, { label: inline.label });
    default:
      return h("br", null);
  }
}

/** @param {{[name: string]: any}} link */
function linkView({ href, title, children }) {
  const words = children.map(inlineView);
  if (!leadsSomewhere(href)) return html`<span class="path" title=${href}>${words}</span>`;
  const isOurs = /^[/#?]/.test(href);
  const away = isOurs ? {} : { target: "_blank", rel: "noopener noreferrer" };
  return h("a", { href, title: title || undefined, ...away }, words);
}
