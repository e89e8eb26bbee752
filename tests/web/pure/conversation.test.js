// An open chat: what it asks the daemon for, and what it shows of what a person has just done.

import assert from "node:assert/strict";
import { test } from "node:test";
import { answers, requests, settle, sockets } from "./browser.js";

const { openConversation } = await import("../../../adapters/web/assets/conversation.js");
const { queueOf } = await import("../../../adapters/web/assets/conversation/queue.js");

const message = (id, role, words) => ({ id, role, content: [{ type: "text", text: words }] });
const status = (name) => ({ type: "status", status: { status: name } });
const PAGE = { messages: [message(2, "assistant", "ho"), message(1, "user", "hi")], has_more: false, history_version: 4 };

/** A daemon that answers what an open chat asks for; `more` answers other requests. */
async function aConversation(t, more = () => undefined) {
  requests.length = sockets.length = 0;
  answers.by = (request) => {
    const said = more(request);
    if (said) return said;
    return request.url.includes("/messages?") ? [200, PAGE] : [200, { id: "c", status: "waiting" }];
  };
  const conversation = openConversation("c");
  t.after(() => conversation.close());
  await settle();
  const socket = sockets.find((one) => one.url.pathname.endsWith("/c/stream"));
  socket.open();
  return { conversation, socket };
}

test("it opens with its newest messages, and its stream goes on behind them", async (t) => {
  const { conversation, socket } = await aConversation(t);

  assert.deepEqual(conversation.state.value.messages.map((one) => one.id), [1, 2]);
  assert.equal(conversation.opening.value, "ready");
  assert.equal(conversation.line.value.state, "live");
  assert.deepEqual(Object.fromEntries(socket.url.searchParams), { after_id: "2", after_part: "4.0.0" });
});

test("a chat that is not there says so", async (t) => {
  requests.length = sockets.length = 0;
  answers.by = () => [404, { message: "Not found." }];
  const conversation = openConversation("c");
  t.after(() => conversation.close());
  await settle();

  assert.equal(conversation.opening.value.status, 404);
});

test("what comes in one frame of the screen is shown at once", async (t) => {
  const { conversation, socket } = await aConversation(t);
  let shown = 0;
  const end = conversation.state.subscribe(() => (shown += 1));
  for (let id = 3; id < 60; id += 1) socket.tell({ type: "message", message: message(id, "user", "x") });
  await settle();
  end();

  assert.equal(conversation.state.value.messages.length, 59);
  assert.equal(shown, 2); // as it was, and as it is
});

test("pieces that are missing have another connection made, behind the last good one", async (t) => {
  const { socket } = await aConversation(t);
  const piece = (seq) => ({ type: "message_part", message_part: { role: "assistant", part: { type: "text", text: "a" }, history_version: 5, generation_attempt: 1, seq } });
  socket.tell(status("running"), piece(1), piece(3));
  await settle();

  assert.equal(sockets.at(-1).url.searchParams.get("after_part"), "5.1.1");
  assert.equal(socket.isClosed, false);
  sockets.at(-1).open();
  assert.equal(socket.isClosed, true);
});

test("a message is shown at once, sent once, and shown once", async (t) => {
  let reached = 0;
  const more = ({ method }) => {
    if (method !== "POST") return undefined;
    reached += 1;
    if (reached === 1) throw new TypeError("Failed to fetch");
    return [200, { queued: false, message: message(3, "user", "more"), messages: [message(3, "user", "more")] }];
  };
  const { conversation, socket } = await aConversation(t, more);

  const sent = conversation.send({ text: "more", busy: "queue" });
  const [sending] = conversation.sending.value;
  await settle();
  assert.equal(conversation.sending.value[0].slow, true);
  socket.tell({ type: "message", message: message(3, "user", "more") });
  await settle();
  const between = conversation.sending.value.length;
  await sent;

  const posts = requests.filter((one) => one.method === "POST");
  assert.deepEqual([between, conversation.sending.value.length], [0, 0]);
  assert.equal(new Set(posts.map((one) => one.headers["idempotency-key"])).size, 1);
  assert.deepEqual(posts[0].body, { content: [{ type: "text", text: "more" }], busy_behavior: "queue" });
  assert.deepEqual(conversation.state.value.messages.map((one) => one.key), ["m1", "m2", sending.key]);
});

test("a message that waits for the daemon goes as soon as the line is back", async (t) => {
  let isAway = true;
  const { conversation, socket } = await aConversation(t, ({ method, url }) => {
    if (isAway && (method === "POST" || url.includes("users/me"))) throw new TypeError("Failed to fetch");
    return method === "POST" ? [200, { queued: false, message: message(3, "user", "more") }] : undefined;
  });
  socket.onclose?.({ code: 1006 });
  const sent = conversation.send({ text: "more" }).then(() => "sent");
  const dialled = () => sockets.filter((one) => one !== socket && one.url.pathname.endsWith("/stream"));
  while (!dialled().length) await settle();
  await settle();
  const posts = () => requests.filter((one) => one.method === "POST").length;
  const before = posts();
  isAway = false;

  dialled().at(-1).open();

  assert.equal(await Promise.race([sent, settle().then(() => "waits")]), "sent");
  assert.equal(posts(), before + 1);
});

test("a message that is refused is said to be, and is shown no more", async (t) => {
  const { conversation } = await aConversation(t, ({ method }) => (method === "POST" ? [429, { message: "The queue is full.", detail: "20" }] : undefined));

  await assert.rejects(conversation.send({ text: "more" }), { status: 429, message: "The queue is full." });
  assert.deepEqual([conversation.sending.value, conversation.state.value.own], [[], []]);
});

test("the queue is at once in the order that is asked for, and then as the daemon says", async (t) => {
  const rows = [1, 2, 3].map((id) => ({ id, content: [{ type: "text", text: String(id) }] }));
  let decide;
  const decided = new Promise((resolve) => (decide = resolve));
  const { conversation, socket } = await aConversation(t, ({ method }) => (method === "PUT" ? decided : undefined));
  socket.tell(status("running"), { type: "queue_update", queued_messages: rows });
  await settle();
  const shown = () => queueOf(conversation).rows.value.map((row) => row.id);

  const asked = queueOf(conversation).order([3, 1, 2]);
  assert.deepEqual(shown(), [3, 1, 2]);
  decide([409, { message: "The queue is another one." }]);

  await assert.rejects(asked, { status: 409 });
  assert.deepEqual(shown(), [1, 2, 3]);
});

test("a row that goes before its order is answered does not come back", async (t) => {
  const rows = [1, 2].map((id) => ({ id, content: [{ type: "text", text: String(id) }] }));
  let decide;
  const decided = new Promise((resolve) => (decide = resolve));
  const { conversation, socket } = await aConversation(t, ({ method }) => (method === "PUT" ? decided : undefined));
  socket.tell(status("running"), { type: "queue_update", queued_messages: rows });
  await settle();

  const asked = queueOf(conversation).order([2, 1]);
  socket.tell({ type: "queue_update", queued_messages: [rows[0]] });
  await settle();
  decide([200, { queued_messages: [rows[1], rows[0]] }]);
  await asked;

  assert.deepEqual(queueOf(conversation).rows.value.map((row) => row.id), [1]);
});

test("changes of the workspace's files are taken in", async (t) => {
  const { conversation } = await aConversation(t, ({ method }) => (method === "PUT" ? [200, { id: "c", status: "waiting", updated_at: "2026-01-01T00:00:00Z", context: { dirty: false } }] : undefined));

  await conversation.takeContext();

  assert.match(requests.at(-1).url, /chats\/c\/context$/);
  assert.deepEqual(conversation.state.value.chat.context, { dirty: false });
});

test("of two orders the later one is shown until both are answered, and asked for last", async (t) => {
  const rows = [1, 2, 3].map((id) => ({ id, content: [{ type: "text", text: String(id) }] }));
  const give = [];
  const { conversation, socket } = await aConversation(t, ({ method }) => (method === "PUT" ? new Promise((resolve) => give.push(resolve)) : undefined));
  socket.tell(status("running"), { type: "queue_update", queued_messages: rows });
  await settle();
  const shown = () => queueOf(conversation).rows.value.map((row) => row.id);
  const inOrder = (...ids) => ids.map((id) => rows[id - 1]);

  const orders = [queueOf(conversation).order([2, 1, 3]), queueOf(conversation).order([2, 3, 1])];
  await settle();
  assert.deepEqual([give.length, shown()], [1, [2, 3, 1]]);
  socket.tell({ type: "queue_update", queued_messages: inOrder(2, 1, 3) });
  give[0]([200, { queued_messages: inOrder(2, 1, 3) }]);
  await settle();
  assert.deepEqual([give.length, shown()], [2, [2, 3, 1]]);
  give[1]([200, { queued_messages: inOrder(2, 3, 1) }]);
  await Promise.all(orders);

  assert.deepEqual(shown(), [2, 3, 1]);
});

test("a row that is worded anew elsewhere keeps the newer words", async (t) => {
  const row = (words) => ({ id: 1, content: [{ type: "text", text: words }] });
  let give;
  const { conversation, socket } = await aConversation(t, ({ method }) => (method === "PATCH" ? new Promise((resolve) => (give = resolve)) : undefined));
  socket.tell(status("running"), { type: "queue_update", queued_messages: [row("first")] });
  await settle();

  const changed = queueOf(conversation).change(1, { text: "mine" });
  socket.tell({ type: "queue_update", queued_messages: [row("mine")] }, { type: "queue_update", queued_messages: [row("theirs")] });
  await settle();
  give([200, row("mine")]);
  await changed;

  assert.equal(queueOf(conversation).rows.value[0].content[0].text, "theirs");
});

test("an edit drops what stood behind the message, before the stream says so", async (t) => {
  const { conversation } = await aConversation(t, ({ method }) => (method === "PATCH" ? [200, { message: message(5, "user", "hello") }] : undefined));

  await conversation.edit(1, { text: "hello" });

  assert.deepEqual(conversation.state.value.messages.map((one) => one.id), [5]);
});

test("a decision names the call as it was shown", async (t) => {
  const { conversation } = await aConversation(t);
  const approval = { chat_id: "agent", tool_call_id: "a/b", requested_at: "2026-01-01T00:00:00Z" };

  await conversation.decide(approval, "deny", "not now");

  const { url, body } = requests.at(-1);
  assert.ok(url.endsWith("/chats/c/approvals/a%2Fb"));
  assert.deepEqual(body, { decision: "deny", words: "not now", chat_id: "agent", requested_at: "2026-01-01T00:00:00Z" });
});
