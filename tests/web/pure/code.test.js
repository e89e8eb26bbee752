// Code in colours: in slices as in one go, and of code that grows only what is new.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Colours, colourText, linesOf } from "../../../adapters/web/assets/text/code.js";
import { common, createLowlight } from "../../../adapters/web/assets/vendor/lowlight.js";

const SLICE = 4_000;
const BLOCK = 'def light(name):\n    """Return a light.\n\n    It is # no comment.\n    """\n    return f"{name}" or 1  # a comment\n\n\n';

const SCRIPT = "/* what\n   it is */\nexport function light(name) {\n  return `a ${name}\nb`; // a comment\n}\n\n";
const SHEET = "/* lights */\n.light{color:red;width:3px}\n@media print{\n  .light{display:none}\n}\n";
const TEXTS = { python: BLOCK.repeat(200), javascript: SCRIPT.repeat(150), css: SHEET.repeat(150) };

for (const [language, text] of Object.entries(TEXTS)) {
  test(`${language} has the same colours in slices as in one go`, async () => {
    let pauses = 0;

    const lines = await colourText(text, language, async () => void (pauses += 1));

    assert.ok(pauses >= text.length / (2 * SLICE), String(pauses));
    assert.deepEqual(lines, linesOf(createLowlight(common).highlight(language, text)));
  });
}

test("of code that grows what is settled is the same, and only the rest is coloured anew", async () => {
  const text = BLOCK.repeat(200);
  const colours = new Colours("python");
  const before = await colours.of(text);
  let slices = 0;

  const after = await colours.of(`${text}${BLOCK}`, undefined, () => (slices += 1));

  assert.ok(slices <= 2, String(slices));
  const same = after.filter((line, at) => line === before[at]).length;
  assert.ok((before.length - same) * (text.length / before.length) <= 2 * SLICE, `${same} of ${before.length}`);
  assert.deepEqual(after, await colourText(`${text}${BLOCK}`, "python"));
});

test("code that becomes another one is coloured from its beginning", async () => {
  const colours = new Colours("a.py");
  await colours.of(BLOCK.repeat(200));

  assert.deepEqual(await colours.of("x = 1\n"), await colourText("x = 1\n", "python"));
});

test("what comes so far is shown meanwhile", async () => {
  const text = BLOCK.repeat(100);
  const seen = [];

  const lines = await new Colours("python").of(text, undefined, (come) => seen.push(come));

  assert.ok(seen.length >= 2);
  for (const come of seen) assert.deepEqual(come, lines.slice(0, come.length));
});

test("a language is known by its other names, and an unknown one has no colours", async () => {
  assert.deepEqual(await colourText("package main", "golang"), await colourText("package main", "go"));
  assert.equal(await colourText("x", "klingon"), null);
  assert.equal(await colourText("x", ""), null);
  assert.equal(await colourText("x".repeat(64 * 1024 + 1), "python"), null);
});
