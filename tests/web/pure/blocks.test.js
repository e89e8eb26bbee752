// Markdown as a tree: what is a link, a picture, a task, and what stays text.

import assert from "node:assert/strict";
import { test } from "node:test";
import { blocksOf } from "../../../adapters/web/assets/text/blocks.js";
import { knowAll, whenMissed } from "../../../adapters/web/assets/text/characters.js";
import { wordsOf } from "../../../adapters/web/assets/text/inline.js";
import { isAllowed, leadsSomewhere } from "../../../adapters/web/assets/text/links.js";

const paragraph = (text) => blocksOf(text)[0].children;
const FILE = "/api/experimental/chats/files/0190b3c0-0000-7000-8000-000000000001";

test("raw HTML is text", () => {
  assert.deepEqual(paragraph("<script>alert(1)</script> <b>x</b>"), ["<script>alert(1)</script> <b>x</b>"]);
});

test("links lead to the web, mail, and places without a scheme", () => {
  for (const good of ["https://a.b", "HTTP://a.b", "mailto:a@b", "/c/1", "#x", "src/a.py", "?q"]) assert.ok(isAllowed(good), good);
  for (const bad of ["javascript:alert(1)", "JaVaScRiPt:x", "java\nscript:x", " javascript:x", "\u0001javascript:x", "data:text/html,x", "vbscript:x",
    "file:///etc/passwd", "blob:x", "//evil.org/x", "/\\evil.org", "\\\\evil"]) assert.ok(!isAllowed(bad), bad);
});

test("the path of a file leads nowhere from a page", () => {
  assert.ok(!leadsSomewhere("src/a.py"));
  assert.ok(leadsSomewhere("/c/1"));
});

test("no text makes the page ask a foreign host: its pictures become links", () => {
  assert.deepEqual(paragraph("![a *cat*](https://x.y/z.png)"), [{ type: "link", href: "https://x.y/z.png", title: "", children: ["a cat"] }]);
  assert.deepEqual(paragraph(`![cat](${FILE})`), [{ type: "picture", src: FILE, alt: "cat" }]);
  assert.equal(paragraph(`![cat](${FILE}/../../../x)`)[0].type, "link");
});

test("items of lists may be tasks", () => {
  const [list] = blocksOf("- [ ] open\n- [x] done\n- [x](url)\n- plain");

  assert.deepEqual(list.items.map((item) => item.task), [false, true, null, null]);
  assert.deepEqual(list.items[0].blocks[0].children, ["open"]);
});

test("a table has its alignments, head and rows", () => {
  const [table] = blocksOf("| a | b |\n|:--|--:|\n| 1 | **2** |");

  assert.deepEqual(table.aligns, ["left", "right"]);
  assert.deepEqual(table.head, [["a"], ["b"]]);
  assert.deepEqual(table.rows, [[["1"], [{ type: "strong", children: ["2"] }]]]);
});

test("code says its language and whether its end has come", () => {
  const [open] = blocksOf("```js title\nlet a");
  const [closed] = blocksOf("> ```js\n> let a\n> ```\n")[0].blocks;

  assert.deepEqual([open.language, open.text, open.open], ["js", "let a", true]);
  assert.deepEqual([closed.text, closed.open], ["let a\n", false]);
});

test("addresses are links without a mark; names with dots are not", () => {
  const [before, link, behind] = paragraph("see https://example.org/a_b, README.md");

  assert.deepEqual([before, link.href, behind], ["see ", "https://example.org/a_b", ", README.md"]);
});

test("a footnote is known by its label, wherever it stands; what no note belongs to stays text", () => {
  const [words, note, code] = blocksOf("One[^a] and two[^b], `[^a]`.\n[^A]: The *source*\nof it.\n\n    [^b]: x");

  assert.deepEqual(words.children, ["One", { type: "footnote_mark", label: "a" }, " and two[^b], ", { type: "code", text: "[^a]" }, "."]);
  assert.deepEqual([note.type, note.label], ["footnote", "A"]);
  assert.deepEqual(note.children, ["The ", { type: "em", children: ["source"] }, "\nof it."]);
  assert.equal(code.type, "code");
});

test("the words alone", () => {
  assert.equal(wordsOf(paragraph("a **b** `c` [d](e)\nf")), "a b c d\nf");
});

test("nesting without end is no way to break the page", () => {
  blocksOf(">".repeat(5000) + " x");
  blocksOf("[".repeat(5000));
  blocksOf("*a ".repeat(5000));
});

test("a name of a character that is not known at first is told once, and read when all are known", async () => {
  let times = 0;
  whenMissed(() => (times += 1));

  assert.deepEqual(paragraph("&copy; &amp;amp; &#9731; &zwj;"), ["© &amp; ☃ \u200d"]);
  assert.equal(times, 0);
  assert.deepEqual(paragraph("&Dcaron; &none;"), ["&Dcaron; &none;"]);
  assert.deepEqual(paragraph("&Dcaron;"), ["&Dcaron;"]);
  await knowAll();

  assert.equal(times, 1);
  assert.deepEqual(paragraph("&Dcaron; &copy; &none;"), ["Ď © &none;"]);
});
