// What is written in one chat, and remarks: kept in the drafts of the browser, whatever comes first.

import assert from "node:assert/strict";
import { test } from "node:test";
import { settle } from "./browser.js";

globalThis.indexedDB = {
  open: () => {
    const request = {};
    queueMicrotask(() => request.onerror());
    return request; // a browser that keeps nothing: drafts live as long as the page
  },
};
const held = new Map();
globalThis.localStorage = {
  getItem: (key) => held.get(key) ?? null,
  setItem: (key, value) => held.set(key, value),
  removeItem: (key) => held.delete(key),
};
const { drafts } = await import("../../../adapters/web/assets/wire/drafts.js");
const { Desk, deskOf } = await import("../../../adapters/web/assets/composer/desk.js");
const { remarksOf } = await import("../../../adapters/web/assets/panel/remarks.js");
const draft = (text, more = {}) => ({ text, refs: [], files: [], model: null, effort: null, flight: [], at: Date.now(), ...more });

test("what is typed before the draft was read stands behind it, and both are kept", async () => {
  await drafts.put("early", draft("Before."));
  const desk = deskOf("early");
  desk.text.value = "Now.";
  await desk.ready;

  assert.equal(desk.text.value, "Before.\n\nNow.");
  desk.write();
  await settle();
  assert.equal((await drafts.get("early")).text, "Before.\n\nNow.");
});

test("a draft is written at once when the page is left", async () => {
  const desk = deskOf("left");
  await desk.ready;
  desk.text.value = "half a thought";
  desk.write();
  await settle();

  assert.equal((await drafts.get("left")).text, "half a thought");
  desk.text.value = "";
  desk.write();
  await settle();
  assert.equal(await drafts.get("left"), null);
});

/** A desk of a page that ends before its draft could be read. */
function deskOfAShortPage(key, text) {
  const { get } = drafts;
  drafts.get = () => new Promise(() => {});
  const desk = new Desk(key);
  drafts.get = get;
  desk.text.value = text;
  desk.write(); // it is hidden
  desk.write(); // and ends
}

test("what was typed in pages that ended before the draft was read stands behind the draft", async () => {
  await drafts.put("short", draft("Before."));
  deskOfAShortPage("short", "One.");
  deskOfAShortPage("short", "Two.");
  deskOfAShortPage("short", "");
  const desk = new Desk("short");
  desk.text.value = "Now.";
  await desk.ready;

  assert.equal(desk.text.value, "Before.\n\nOne.\n\nTwo.\n\nNow.");
  desk.write();
  await settle();
  assert.equal((await drafts.get("short")).text, desk.text.value);
  assert.equal(held.size, 0);
});

test("what was typed in such a page is there without a draft, too, and not twice where the page goes on", async () => {
  deskOfAShortPage("gone", "Alone.");
  const desk = new Desk("gone");
  await desk.ready;
  assert.equal(desk.text.value, "Alone.");

  const other = new Desk("hidden");
  other.text.value = "Once.";
  other.write(); // hidden, and looked at again
  await other.ready;
  assert.equal(other.text.value, "Once.");
  assert.equal(held.size, 0);
});

test("a remark that is made before the stored ones were read is kept with them", async () => {
  await drafts.put("c remarks", { remarks: [{ key: "a" }], at: 1 });
  const remarks = remarksOf({ id: "c" });
  remarks.all.value = [{ key: "b" }];
  await settle();

  assert.deepEqual(remarks.all.value.map((one) => one.key), ["a", "b"]);
  assert.deepEqual((await drafts.get("c remarks")).remarks.map((one) => one.key), ["a", "b"]);
});
