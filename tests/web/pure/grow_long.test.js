// Long blocks that grow: the same at every length, and at the end no dearer than at the beginning.

import assert from "node:assert/strict";
import { test } from "node:test";
import { grown } from "../../../adapters/web/assets/text/grow.js";
import MarkdownIt from "../../../adapters/web/assets/vendor/markdown-it.js";
import { SEED, TIMES, below, randomOf } from "./cases.js";
import { growAll } from "./growing.js";
import { randomParagraph, randomTable } from "./markdown.js";

const TEXTS = 50;

/** Return how many characters are parsed while a text grows by so many at a time, by each of ten parts of it. */
function parsedWhile(text, step) {
  const parse = MarkdownIt.prototype.parse;
  const counts = Array(10).fill(0);
  let state = null;
  for (let at = step; at <= text.length; at += step) {
    MarkdownIt.prototype.parse = function (part, env) {
      counts[Math.min(9, Math.floor((10 * at) / text.length))] += part.length;
      return parse.call(this, part, env);
    };
    state = grown(state, text.slice(0, at));
  }
  MarkdownIt.prototype.parse = parse;
  return counts;
}

test("so they are within long tables", () => {
  const random = randomOf(SEED + 3);
  for (let time = 0; time < TEXTS * TIMES; time += 1) growAll(randomTable(random, 8 + below(random, 20)), () => 1 + below(random, 9));
});

test("so they are within long paragraphs", () => {
  const random = randomOf(SEED + 4);
  for (let time = 0; time < (TEXTS / 3) * TIMES; time += 1) {
    growAll(randomParagraph(random, 400 + below(random, 600), [0, 0.004, 0.02][time % 3]), () => 20 + below(random, 200));
  }
});

const SENTENCE = "The page shows **what** was said, `as it is`, and [nothing](/x) more; it waits. ";
const GIANTS = {
  "a list": "- an item with *words*\n".repeat(250),
  "a table": `| a | b |\n|---|---|\n${"| a cell | **another** one |\n".repeat(250)}`,
  "a paragraph of one line": SENTENCE.repeat(120),
  "a paragraph of many lines": SENTENCE.trim().concat("\n").repeat(120),
  "many paragraphs": SENTENCE.concat("\n\n").repeat(120),
};
for (const [name, text] of Object.entries(GIANTS)) {
  test(`of ${name} a piece costs at the end what it costs at the beginning`, () => {
    const counts = parsedWhile(text, 20);

    assert.ok(counts.at(-1) <= 1.5 * counts[1], JSON.stringify(counts));
  });
}
