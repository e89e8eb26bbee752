// The rules of the composer: what is looked up, attached, counted, ordered and browsed.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as history from "../../../adapters/web/assets/composer/history.js";
import { countInvisible, withoutInvisible } from "../../../adapters/web/assets/composer/invisible.js";
import * as limits from "../../../adapters/web/assets/composer/limits.js";
import { isLongPaste } from "../../../adapters/web/assets/composer/pasting.js";
import { moved, placeAt } from "../../../adapters/web/assets/composer/order.js";
import { fullness, fullnessText, tokensText, usedTokens } from "../../../adapters/web/assets/composer/usage.js";
import { fitting, lookupAt, replaced } from "../../../adapters/web/assets/composer/words.js";

const lookup = (text) => lookupAt(text, text.length);

test("a slash looks commands up at the beginning of a word, and not in paths and addresses", () => {
  assert.deepEqual(lookup("/com"), { sign: "/", word: "com", from: 0, to: 4 });
  assert.deepEqual(lookup("use /sk"), { sign: "/", word: "sk", from: 4, to: 7 });
  for (const text of ["https://a", "src/a", "/usr/bin", "a/", "1/2", "/a.b", "/com pact"]) assert.equal(lookup(text), null, text);
});

test("an at sign looks references up, and not in addresses of mail", () => {
  assert.deepEqual(lookup("see @que"), { sign: "@", word: "que", from: 4, to: 8 });
  assert.equal(lookup("me@example.org"), null);
  assert.equal(lookup("see @que now"), null);
});

test("what was looked up is replaced whole, wherever in it the caret stands", () => {
  const text = "see @queue now";
  const found = lookupAt(text, 6);
  assert.deepEqual(found, { sign: "@", word: "q", from: 4, to: 10 });
  assert.deepEqual(replaced(text, found, "`queue.py`"), { text: "see `queue.py` now", caret: 14 });
  assert.deepEqual(replaced("/pl", lookup("/pl"), "/plan"), { text: "/plan ", caret: 6 });
});

test("the best fit comes first, and equal ones stay in their order", () => {
  assert.deepEqual(fitting(["a/late.js", "plan.js", "template", "other"], "pla", (name) => name), ["plan.js", "template"]);
  assert.deepEqual(fitting(["b", "a"], "", (name) => name), ["b", "a"]);
});

test("a paste becomes a file at ten lines or a thousand characters", () => {
  assert.equal(isLongPaste("line\n".repeat(8) + "line"), false);
  assert.equal(isLongPaste("line\n".repeat(9) + "line"), true);
  assert.equal(isLongPaste("x".repeat(999)), false);
  assert.equal(isLongPaste("x".repeat(1000)), true);
});

test("files are refused before they are sent, with the reason", () => {
  const file = { name: "a.py", type: "text/x-python", size: 10 };
  assert.equal(limits.whyNot(file, 0), "");
  assert.equal(limits.typeOf(file), "text/plain");
  assert.match(limits.whyNot({ ...file, size: 11 * 1024 * 1024 }, 0), /11\.5 MB; at most 10\.5 MB/);
  assert.equal(limits.whyNot({ name: "a.png", type: "image/png", size: 11 * 1024 * 1024 }, 0), ""); // it is shrunk
  assert.match(limits.whyNot({ name: "a.zip", type: "application/zip", size: 10 }, 0), /not taken/);
  assert.match(limits.whyNot({ ...file, size: 0 }, 0), /empty/);
  assert.match(limits.whyNot(file, 50), /50 files/);
});

test("names of files are cut to what the daemon takes, and keep their endings", () => {
  assert.equal(limits.fileName('a"b/c\n.txt'), "a_b_c_.txt");
  const long = limits.fileName(`${"é".repeat(300)}.txt`);
  assert.ok(new TextEncoder().encode(long).length <= 255 && long.endsWith(".txt"));
  assert.equal(limits.fileName("  "), "file");
});

test("an image is shrunk in its own proportions, and only if it is too large", () => {
  assert.equal(limits.smallerSize(2000, 1000, 1000), null);
  assert.deepEqual(limits.smallerSize(4000, 1000, 1000), { width: 2000, height: 500 });
  assert.deepEqual(limits.smallerSize(1000, 1000, 9_000_000), { width: 1000, height: 1000 });
});

test("invisible characters are counted, and those of emoji and scripts are not", () => {
  assert.equal(countInvisible("plain"), 0);
  assert.equal(countInvisible("a\u200bb\u202ec\ufeff"), 3);
  assert.equal(countInvisible("\u{e0041}"), 1);
  assert.equal(countInvisible("👩‍👩‍👧 ❤️ क्‍ष"), 0);
  assert.equal(countInvisible("a \u200d b"), 1);
  assert.equal(withoutInvisible("a\u200bb"), "ab");
});

test("prompts are browsed from the newest, without repeats, and back to the draft", () => {
  let now = history.begin(["three", "three", "two", "one"], "draft");
  assert.equal(history.shown(now), "three");
  now = history.step(now, 1);
  assert.equal(history.shown(now), "two");
  now = history.step(history.step(now, 1), 1);
  assert.equal(history.shown(now), "one");
  now = history.step(history.step(now, -1), -1);
  assert.equal(history.shown(now), "three");
  assert.equal(history.step(now, -1), null);
  assert.equal(history.begin([], ""), null);
});

test("a row of the queue moves within the queue", () => {
  assert.deepEqual(moved([1, 2, 3], 1, 2), [2, 3, 1]);
  assert.deepEqual(moved([1, 2, 3], 3, -5), [3, 1, 2]);
  assert.deepEqual(moved([1, 2, 3], 3, 9), [1, 2, 3]);
  assert.deepEqual(moved([1, 2], 7, 0), [1, 2]);
  const boxes = [{ top: 0, height: 30 }, { top: 30, height: 30 }];
  assert.deepEqual([-5, 14, 20, 46].map((y) => placeAt(boxes, y)), [0, 0, 1, 2]);
});

test("the context counts the newest step, and nothing right after a summary", () => {
  const step = { role: "assistant", usage: { input_tokens: 84_000, output_tokens: 200, total_tokens: 84_200 }, content: [] };
  const summary = { role: "assistant", content: [{ type: "tool-call", tool_name: "chat_summarized" }] };
  assert.equal(usedTokens([step, { role: "user" }]), 84_200);
  assert.equal(usedTokens([step, summary]), null);
  assert.equal(usedTokens([]), null);
  assert.equal(fullness(84_200, 200_000, 70).percent, 42);
  assert.equal(fullness(null, 200_000, 70).percent, null);
  assert.equal(fullnessText(fullness(84_200, 200_000, 70)), "84 k of 200 k tokens; summarised at 70 %");
  assert.deepEqual([840, 8400, 84_000, 1_200_000].map(tokensText), ["840", "8.4 k", "84 k", "1.2 M"]);
});
