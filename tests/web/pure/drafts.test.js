// Drafts in the database of a browser, which its tabs share.

import assert from "node:assert/strict";
import { test } from "node:test";
import { settle } from "./browser.js";

const rows = new Map(); // the database
globalThis.indexedDB = { open: () => answered({ transaction: aTransaction }) };
const { drafts } = await import("../../../adapters/web/assets/wire/drafts.js");

/** A request to the database, which answers in a moment. */
function answered(result) {
  const request = { result };
  queueMicrotask(() => request.onsuccess?.());
  return request;
}

function aTransaction() {
  const transaction = {
    commit: () => {},
    objectStore: () => ({
      get: (key) => answered(rows.get(key)),
      put: (draft, key) => (rows.set(key, draft), answered(key)),
      delete: (key) => (rows.delete(key), answered(undefined)),
      openCursor: () => answered(null),
    }),
  };
  queueMicrotask(() => transaction.oncomplete?.());
  return transaction;
}

test("a draft that another tab has sent is there no more", async (t) => {
  const other = new BroadcastChannel("promptcorner-drafts");
  t.after(() => other.close());
  let heard = 0;
  drafts.heard("c", () => (heard += 1));
  await drafts.put("c", { at: Date.now(), text: "mine" });
  assert.equal((await drafts.get("c")).text, "mine");

  rows.delete("c");
  other.postMessage("c");
  while (!heard) await settle();

  assert.equal(await drafts.get("c"), null);
});

test("a draft that is being written is read as it is written", async () => {
  await drafts.put("c", { at: Date.now(), text: "first" });
  const writing = drafts.put("c", { at: Date.now(), text: "second" });

  assert.equal((await drafts.get("c")).text, "second");
  await writing;
  assert.equal((await drafts.get("c")).text, "second");
});
