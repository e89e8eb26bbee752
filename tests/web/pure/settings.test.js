// The values of forms: by paths, compared, and what the server says of them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { effortOptions, modelOptions } from "../../../adapters/web/assets/settings/catalogue.js";
import { changes, faultsOf, isSame, valueAt, withValue } from "../../../adapters/web/assets/settings/values.js";
import { zipOf } from "../../../adapters/web/assets/settings/zip.js";
import { counted, lengthOf, when } from "../../../adapters/web/assets/settings/words.js";

test("a value is set at a path, and what was there stays", () => {
  const before = { model: "m", call: { a: 1, deep: { b: 2 } } };

  const after = withValue(before, "call.deep.c", 3);

  assert.deepEqual(after, { model: "m", call: { a: 1, deep: { b: 2, c: 3 } } });
  assert.equal(valueAt(after, "call.deep.c"), 3);
  assert.equal(valueAt(after, "nothing.there"), undefined);
  assert.deepEqual(before.call.deep, { b: 2 });
});

test("a length of time is said in the largest unit that it is a whole number of", () => {
  assert.deepEqual([1, 90, 60, 300, 3600, 5400].map(lengthOf), ["1 second", "90 seconds", "1 minute", "5 minutes", "1 hour", "90 minutes"]);
});

test("a value that is taken out takes the empty objects around it along", () => {
  assert.deepEqual(withValue({ a: { b: { c: 1 } }, d: 2 }, "a.b.c", undefined), { d: 2 });
  assert.deepEqual(withValue({ a: { b: { c: 1 }, e: 0 } }, "a.b.c", undefined), { a: { e: 0 } });
  assert.deepEqual(withValue({}, "a.b", undefined), {});
});

test("a form that is put back is the same, whatever the order of its fields", () => {
  const saved = { a: { x: 1, y: 2 }, list: [1, 2] };
  const back = withValue(withValue(saved, "a.x", undefined), "a.x", 1);

  assert.ok(isSame(saved, back));
  assert.ok(!isSame(saved, { ...saved, list: [2, 1] }));
  assert.deepEqual(changes(saved, { ...back, list: [1] }), { list: [1] });
});

test("what the server says is shown at the field, or at one around it", () => {
  const faults = [{ field: "call.effort.max", detail: "is wrong" }, { field: "keys[2]", detail: "is empty" }];

  assert.deepEqual(faultsOf(faults, ["call.effort"]), ["is wrong"]);
  assert.deepEqual(faultsOf(faults, ["keys"]), ["is empty"]);
  assert.deepEqual(faultsOf(faults, ["call.eff"]), []);
});

test("models are grouped where there are several providers", () => {
  const models = [
    { id: "1", ai_provider_id: "p", model: "m1", enabled: true, is_default: true },
    { id: "2", ai_provider_id: "q", model: "m2", display_name: "Two", enabled: false },
  ];

  assert.deepEqual(modelOptions(models), [["1", "m1 (default)", ""], ["2", "Two", "switched off"]]);
  const groups = modelOptions(models, new Map([["p", "P"], ["q", "Q"]]));
  assert.deepEqual(groups.map((group) => group.label), ["P", "Q"]);
  assert.deepEqual(effortOptions([{ id: "1", reasoning_efforts: ["low"] }], "1"), [["low", "low"]]);
  assert.deepEqual(effortOptions(models, "2"), []);
});

test("times are said as people say them", () => {
  const now = Date.parse("2026-11-19T12:00:00Z");

  assert.equal(when("2026-11-19T11:59:30Z", now), "just now");
  assert.equal(when("2026-11-19T10:59:00Z", now), "1 hour ago");
  assert.equal(when("2026-11-19T12:05:00Z", now), "in 5 minutes");
  assert.equal(when("2026-11-10T12:00:00Z", now), "9 days ago");
  assert.equal(when("0001-01-01T00:00:00Z", now), "never");
  assert.equal(when("9999-12-31T00:00:00Z", now), "no end");
  assert.equal(counted(1, "model"), "1 model");
  assert.equal(counted(1200, "token"), "1,200 tokens");
});

test("an archive has every file, where its index says", () => {
  const bytes = zipOf([["a/SKILL.md", "hä"], ["b/SKILL.md", "two"]]);
  const view = new DataView(bytes.buffer);
  const end = bytes.length - 22;

  assert.equal(view.getUint32(end, true), 0x06054b50);
  assert.equal(view.getUint16(end + 10, true), 2);
  let at = view.getUint32(end + 16, true);
  const found = [0, 1].map(() => {
    const size = view.getUint32(at + 20, true), name = view.getUint16(at + 28, true), head = view.getUint32(at + 42, true);
    const [path, begin] = [bytes.slice(at + 46, at + 46 + name), head + 30 + name];
    at += 46 + name;
    return [path, bytes.slice(begin, begin + size)].map((each) => new TextDecoder().decode(each));
  });
  assert.deepEqual(found, [["a/SKILL.md", "hä"], ["b/SKILL.md", "two"]]);
});
