// The store of lists before a daemon: what shows of an act that the daemon refuses.

import assert from "node:assert/strict";
import { test } from "node:test";
import { answers } from "./browser.js";

const { chats } = await import("../../../adapters/web/assets/chats_store.js");

const CHAT = { id: "1", title: "A chat", status: "waiting", archived: false, children: [] };

test("of several chats only those that the daemon has archived are known as archived", async () => {
  const busy = { ...CHAT, id: "2" };
  chats.know(CHAT);
  chats.know(busy);
  answers.by = ({ method, url }) => {
    if (method !== "PATCH") return [200, []];
    return url.endsWith("/2") ? [409, { message: "It works." }] : [200, CHAT];
  };

  await assert.rejects(chats.archive(["1", "2"]), { status: 409 });

  assert.deepEqual(["1", "2"].map((id) => chats.find(id).archived), [true, false]);
});

test("what a chat has become meanwhile stays when a change of it is refused", async () => {
  chats.know({ ...CHAT, labels: {} });
  answers.by = () => {
    chats.know({ ...chats.find("1"), title: "Another title" });
    return [400, { message: "Invalid request." }];
  };

  await assert.rejects(chats.label("1", { area: "web" }), { status: 400 });

  const { title, labels } = chats.find("1");
  assert.deepEqual({ title, labels }, { title: "Another title", labels: {} });
});

test("every list has its order again when the move of a pinned chat is refused", async () => {
  const pinned = [1, 2].map((order) => ({ ...CHAT, id: `pinned-${order}`, pin_order: order, owner_id: "me", labels: {}, updated_at: "2030-01-01T00:00:00Z" }));
  answers.by = ({ method }) => (method === "PATCH" ? [409, { message: "Others are pinned by now." }] : [200, pinned]);
  const orders = () => chats.list.value.roots.map((chat) => [chat.id, chat.pin_order]);
  await chats.show({ q: "source:created_by_me has_unread:true", labels: [] });

  await assert.rejects(chats.move("pinned-2", 1), { status: 409 });

  assert.deepEqual(orders(), [["pinned-1", 1], ["pinned-2", 2]]);
});
