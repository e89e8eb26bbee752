// Markdown that grows says at every length what the whole says, and keeps what is complete.

import assert from "node:assert/strict";
import { test } from "node:test";
import { blocksOf } from "../../../adapters/web/assets/text/blocks.js";
import { grown } from "../../../adapters/web/assets/text/grow.js";
import { SEED, TIMES, below, randomOf } from "./cases.js";
import { growAll } from "./growing.js";
import { randomList, randomText } from "./markdown.js";

const TEXTS = 150;
const LINES_MAX = 14;

test("at every length the blocks are those of the whole", () => {
  const random = randomOf(SEED);
  for (let time = 0; time < TEXTS * TIMES; time += 1) {
    growAll(randomText(random, 1 + below(random, LINES_MAX)), () => 1);
  }
});

test("so they are in steps of any length", () => {
  const random = randomOf(SEED + 1);
  for (let time = 0; time < TEXTS * 2 * TIMES; time += 1) {
    growAll(randomText(random, 4 * LINES_MAX), () => 1 + below(random, 60));
  }
});

test("so they are within long lists", () => {
  const random = randomOf(SEED + 2);
  for (let time = 0; time < TEXTS * TIMES; time += 1) growAll(randomList(random, 8 + below(random, 12)), () => 1 + below(random, 3));
});

test("a text that becomes another one is parsed anew", () => {
  const state = grown(grown(null, "# one\n\ntwo"), "# other\n\ntwo\n");

  assert.deepEqual(state.blocks, blocksOf("# other\n\ntwo\n"));
});

test("what is complete stays the same object, and is not parsed again", () => {
  const long = Array.from({ length: 400 }, (_, at) => `Paragraph ${at} with **words**.`).join("\n\n");
  const before = grown(null, `${long}\n\nThe last`);

  const after = grown(before, `${long}\n\nThe last one`);

  for (let at = 0; at < 400; at += 1) assert.equal(after.blocks[at], before.blocks[at]);
  assert.notEqual(after.blocks[400], before.blocks[400]);
  assert.equal(after.at, after.text.indexOf("Paragraph 399"));
});

test("of a long list only what is new is another object", () => {
  const items = Array.from({ length: 50 }, (_, at) => `- item ${at}`).join("\n");
  const before = grown(null, `${items}\n- la`);

  const after = grown(before, `${items}\n- last`);

  for (let at = 0; at < 50; at += 1) assert.equal(after.blocks[0].items[at], before.blocks[0].items[at]);
  assert.equal(after.at, after.text.indexOf("- item 49"));
});

test("line ends of all kinds are the same", () => {
  growAll("a\r\nb\rc\r\n\r\n- d\r\n- e\r\n", () => 1);
});

test("a definition that comes late links what stands before it", () => {
  growAll("See [ref].\n\nMore.\n\n[ref]: /url\n\n[ref] again", () => 1);
});

test("a footnote that comes late makes marks of what stands before it", () => {
  growAll("One[^1].\n\n- a[^b]\n\nMore.\n\n[^1]: The source\n[^b]: and\nanother\n\nEnd[^1]", () => 1);
});
