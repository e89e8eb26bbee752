// How well a text fits what somebody typed.

import assert from "node:assert/strict";
import { test } from "node:test";

const { best, fit } = await import("../../../adapters/web/assets/state/match.js");

test("a beginning goes before a part, and both before initials", () => {
  const rows = ["Chat: New chat", "No model", "Renew the key", "New chat"];
  assert.deepEqual(best(rows, "new", (row) => row, 9), ["New chat", "Chat: New chat", "Renew the key"]);
  assert.deepEqual(best(rows, "nc", (row) => row, 9), ["New chat", "Chat: New chat"]);
});

test("every word has to fit, in any order and case", () => {
  assert.ok(fit("Theme: High contrast", "CONTRAST theme") > 0);
  assert.equal(fit("Theme: High contrast", "theme dark"), 0);
  assert.equal(fit("Administration: Advisor", "mod"), 0);
});

test("nothing typed fits everything in its order, and no more than asked for come", () => {
  assert.deepEqual(best(["b", "a", "c"], "", (row) => row, 2), ["b", "a"]);
});

test("a text that is hard to read as a pattern is only a text", () => {
  assert.equal(fit("a (b) [c", "(b) [c") > 0, true);
  assert.equal(fit("plain", ".*"), 0);
});
