// The store of lists before a daemon: what shows of an act that the daemon refuses.

import assert from "node:assert/strict";
import { test } from "node:test";
import { answers, settle, sockets } from "./browser.js";

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

/** A chat of a list, as pages tell it. */
const listed = (id, more = {}) => ({ ...CHAT, id, pin_order: 0, owner_id: "me", labels: {}, updated_at: "2030-01-01T00:00:00Z", ...more });

/** An answer that comes when it is given. */
function anAnswer() {
  let give;
  const given = new Promise((resolve) => (give = resolve));
  return { given, give };
}

/** The socket of the watch, open; `tell` has the store hear news. */
async function theWatch() {
  answers.by = () => [200, []];
  chats.begin();
  await settle();
  const socket = sockets.find((one) => one.url.pathname.endsWith("/watch"));
  if (!socket.readyState) socket.open();
  await settle();
  return { tell: (event) => socket.onmessage({ data: JSON.stringify(event) }) };
}

const titles = () => chats.list.value.roots.map((chat) => chat.title);

test("a page that was read before a change does not undo it", async () => {
  const page = anAnswer(), patched = anAnswer();
  answers.by = ({ method }) => (method === "PATCH" ? patched.given : page.given);
  chats.know(listed("a"));
  const asked = chats.rename("a", "Mine");

  const reading = chats.show({ q: "source:created_by_me page", labels: [] }); // before the daemon has changed it
  chats.seen("a");
  page.give([200, [listed("a", { has_unread: true })]]);
  await reading;

  const [shown] = chats.list.value.roots;
  assert.deepEqual([shown.title, shown.has_unread], ["Mine", false]);
  patched.give([200, {}]);
  await asked;
});

test("a list is read once more for news that came while it was being read", async (t) => {
  const { tell } = await theWatch();
  answers.by = () => [200, [listed("f", { title: "First" })]];
  await chats.show({ q: "source:created_by_me has_unread:true stale", labels: [] });
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const page = anAnswer();
  answers.by = () => page.given;
  const reading = chats.again();

  tell({ kind: "status_change", chat: listed("g") }); // only the daemon can say whether it belongs there
  t.mock.timers.tick(2000);
  page.give([200, [listed("f", { title: "First" })]]);
  answers.by = () => [200, [listed("f", { title: "Second" })]];
  await reading;
  t.mock.timers.reset();
  for (let time = 0; time < 100 && !titles().includes("Second"); time += 1) await settle();

  assert.deepEqual(titles(), ["Second"]);
});

test("of a change that is refused nothing is put back that has become another meanwhile", async () => {
  const { tell } = await theWatch();
  answers.by = () => [200, [listed("b", { title: "Old" })]];
  await chats.show({ q: "source:created_by_me refused", labels: [] });
  const patched = anAnswer();
  answers.by = ({ method }) => (method === "PATCH" ? patched.given : [503, { message: "It restarts." }]);

  const asked = chats.rename("b", "Mine");
  tell({ kind: "title_change", chat: listed("b", { title: "Theirs" }) });
  patched.give([409, { message: "It is archived." }]);

  await assert.rejects(asked, { status: 409 });
  assert.deepEqual(titles(), ["Theirs"]);
});

test("what a refusal put back is read anew", async () => {
  const page = [listed("c", { title: "Old" })];
  answers.by = () => [200, page];
  await chats.show({ q: "source:created_by_me anew", labels: [] });
  answers.by = ({ method }) => {
    if (method !== "PATCH") return [200, page];
    page[0] = listed("c", { title: "Theirs" }); // of which no news has come
    return [409, { message: "It is archived." }];
  };

  await assert.rejects(chats.rename("c", "Mine"), { status: 409 });
  await settle();

  assert.deepEqual(titles(), ["Theirs"]);
});

test("news that comes before archiving is refused stays", async () => {
  const { tell } = await theWatch();
  answers.by = () => [200, [listed("d"), listed("e")]];
  await chats.show({ q: "source:created_by_me", labels: [] });
  const patched = anAnswer();
  answers.by = ({ method }) => (method === "PATCH" ? patched.given : [503, { message: "It restarts." }]);

  const asked = chats.archive(["d"]);
  tell({ kind: "title_change", chat: listed("e", { title: "Told" }) });
  patched.give([409, { message: "It works." }]);

  await assert.rejects(asked, { status: 409 });
  assert.deepEqual(titles().sort(), ["A chat", "Told"]);
});
