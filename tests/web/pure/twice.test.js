// What is asked for twice, answered late, or answered when something newer is known already.

import assert from "node:assert/strict";
import { test } from "node:test";
import { answers, requests, settle, sockets } from "./browser.js";

const listeners = new Map();
const pushed = [];
const stored = new Map();
const written = []; // values of the storage, as this tab has written them
globalThis.localStorage = {
  getItem: (key) => stored.get(key) ?? null,
  setItem: (key, value) => (stored.set(key, value), written.push(value)),
  removeItem: (key) => stored.delete(key),
};
const uploads = [];
globalThis.XMLHttpRequest = class {
  upload = {};
  open() {}
  setRequestHeader() {}
  abort() {}
  send() {
    uploads.push(this);
  }
};
globalThis.addEventListener = (name, heard) => listeners.set(name, heard);
globalThis.matchMedia = () => ({ matches: false, addEventListener: () => {} });
globalThis.history = { pushState: (_, __, path) => pushed.push(path), replaceState: () => {} };
globalThis.indexedDB = {
  open: () => {
    const request = {};
    queueMicrotask(() => request.onerror());
    return request;
  },
};
globalThis.HTMLElement = class {};
globalThis.CSS = { escape: (text) => text };
document.querySelector = () => null;
document.createElement = () => ({ append: () => {}, setAttribute: () => {}, style: {}, classList: { add: () => {} }, addEventListener: () => {} });
Object.defineProperty(globalThis.navigator, "locks", { value: { request: () => new Promise(() => {}) } }); // another tab leads

const ASSETS = "../../../adapters/web/assets";
const { computed, effect, signal } = await import(`${ASSETS}/ui.js`);
const { me } = await import(`${ASSETS}/session.js`);
const { route } = await import(`${ASSETS}/routes.js`);
const { deskOf } = await import(`${ASSETS}/composer/desk.js`);
const { attach } = await import(`${ASSETS}/composer/attachments.js`);
const { followStop, send, stop } = await import(`${ASSETS}/composer/acts.js`);
const { command } = await import(`${ASSETS}/commands.js`);
const { followKeys } = await import(`${ASSETS}/keys.js`);
const { notices, readInbox, readMore } = await import(`${ASSETS}/inbox/follow.js`);
const { pastOf } = await import(`${ASSETS}/panel/past.js`);
const { preferences } = await import(`${ASSETS}/preferences.js`);
const { remarksOf, sendRemarks } = await import(`${ASSETS}/panel/remarks.js`);
const { treeLine } = await import(`${ASSETS}/panel/tree_line.js`);
const { aroundOf } = await import(`${ASSETS}/timeline/around.js`);
const { changePrices } = await import(`${ASSETS}/settings/admin/spending.js`);
const { showMessage } = await import(`${ASSETS}/timeline/keep_place.js`);
const { registerActs } = await import(`${ASSETS}/timeline/acts.js`);
const { hearWatch } = await import(`${ASSETS}/wire/watch.js`);

/** Answers that come when they are given, in the order in which they were asked for. */
function aDaemon() {
  requests.length = 0;
  const waiting = [];
  answers.by = () => new Promise((resolve, reject) => waiting.push({ resolve, reject }));
  return {
    give: async (at, ...answer) => {
      waiting[at].resolve(answer);
      await settle();
    },
    lose: async (at) => {
      waiting[at].reject(new TypeError("Failed to fetch"));
      await settle();
    },
    waiting,
  };
}

/** The place where a chat is begun, with something written. */
async function aBeginning(text) {
  me.value = { id: "me", organization_ids: ["o"] };
  const desk = deskOf(null);
  await desk.ready;
  desk.text.value = text;
  return { desk, conversation: null, chat: signal(undefined), knows: () => false };
}

test("a chat that was asked for without an answer is asked for again with the same key, and one that was refused is not", async () => {
  const place = await aBeginning("Begin.");
  const daemon = aDaemon();
  const keys = () => requests.map((one) => one.headers["idempotency-key"]);

  void send(place, "usual");
  await settle();
  await daemon.lose(0);
  assert.equal(place.desk.text.value, "Begin.");
  void send(place, "usual");
  await settle();
  await daemon.give(1, 429, { message: "The limit is reached." });
  void send(place, "usual");
  await settle();

  assert.equal(keys()[0], keys()[1]);
  assert.notEqual(keys()[1], keys()[2]);
  await daemon.give(2, 201, { id: "begun" });
});

test("what is written while a chat is being begun stays, and who has gone on to something else is left there", async () => {
  const place = await aBeginning("Begin.");
  const daemon = aDaemon();
  const before = route.peek();
  void send(place, "usual");
  await settle();
  place.desk.text.value = "The next one.";
  route.value = { ...before, name: "settings" };

  pushed.length = 0;
  await daemon.give(0, 201, { id: "begun" });
  route.value = before;

  assert.deepEqual([place.desk.text.value, pushed], ["The next one.", []]);
  place.desk.text.value = "";
});

test("a stop whose effect was told while the line was lost can be asked for again", async () => {
  const status = signal("running");
  const conversation = { line: signal({ state: "live" }), interrupt: async () => ({ status: "interrupting" }) };
  const place = { conversation, status, stopping: signal(""), working: computed(() => status.value !== "waiting"), desk: {} };

  const end = effect(() => followStop(place));

  const stopped = stop(place);
  assert.equal(place.stopping.value, "asked");
  await stopped;
  conversation.line.value = { state: "live" }; // and the next turn runs
  end();

  assert.equal(place.stopping.value, "");
});

test("a key that is held allows one call", () => {
  let times = 0;
  const remove = command({ id: "approval.allow", title: "Allow", run: () => (times += 1) });
  followKeys();
  const press = (repeat) => listeners.get("keydown")({ key: "y", repeat, timeStamp: 0, target: null, preventDefault: () => {} });

  press(false);
  press(true);
  remove();

  assert.equal(times, 1);
});

/** What can be done in the timeline of a conversation. */
function actsOf(conversation) {
  const around = {};
  answers.by = () => [200, []];
  registerActs({ conversation, around, place: {}, items: signal([]), box: {} });
  return (id, args) => around.own.get(id).run(args);
}

test("a call that comes in the place of another one is not decided by the same two presses", async () => {
  const state = signal({ asks: [{ tool_call_id: "seen" }], messages: [] });
  const decided = [];
  const act = actsOf({ id: "c", state, decide: async (ask) => void decided.push(ask.tool_call_id) });

  await act("approval.allow");
  state.value = { ...state.value, asks: [{ tool_call_id: "unseen" }] };
  await act("approval.allow");

  assert.deepEqual(decided, ["seen"]);
});

test("a plan is carried out once", async () => {
  const sent = [];
  const act = actsOf({ id: "c", state: signal({ asks: [], messages: [] }), patch: settle, send: async ({ text }) => void sent.push(text) });

  await Promise.all([act("plan.carry"), act("plan.carry")]);

  assert.equal(sent.length, 1);
});

const notice = (id) => ({ id, title: id, content: "", targets: [], created_at: "", read_at: "", actions: [] });
const page = (...ids) => [200, { notifications: ids.map(notice), unread_count: 0 }];
const shown = () => notices.peek().map((one) => one.id);

test("older notices that were read stay when the newest are read anew", async () => {
  answers.by = ({ url }) => (url.includes("starting_before") ? page("2", "1") : page("4", "3"));
  await readInbox();
  await readMore();
  answers.by = () => page("5", "4", "3");
  await readInbox();

  assert.deepEqual(shown(), ["5", "4", "3", "2", "1"]);
});

test("older notices that are asked for twice stand there once, behind the newest of now", async () => {
  notices.value = ["4", "3"].map(notice);
  const daemon = aDaemon();
  const reading = [readMore(), readMore(), readInbox()];
  await settle();

  await daemon.give(2, ...page("5", "4", "3"));
  await daemon.give(0, ...page("2", "1"));
  await daemon.give(1, ...page("2", "1"));
  await Promise.all(reading);

  assert.deepEqual(shown(), ["5", "4", "3", "2", "1"]);
});

test("messages that an edit has removed are no part of the past", async () => {
  const messages = (...ids) => ids.map((id) => ({ id, content: [] }));
  const state = signal({ messages: messages(5, 6), older: "more", holes: [] });
  const past = pastOf({ id: "c", state });
  answers.by = () => [200, { messages: messages(4, 3, 2, 1), has_more: false }];
  await past.read();
  const ids = () => past.messages.value.map((one) => one.id);
  assert.deepEqual(ids(), [1, 2, 3, 4, 5, 6]);

  state.value = { messages: messages(2, 3, 7), older: "more", holes: [] }; // 4 was edited
  assert.deepEqual(ids(), [1, 2, 3, 7]);
  state.value = { messages: messages(1, 8), older: "end", holes: [] }; // 2 was edited elsewhere
  assert.deepEqual(ids(), [1, 8]);
});

test("remarks are sent once", async () => {
  const sent = [];
  const conversation = { id: "r", send: async ({ text }) => (await settle(), sent.push(text)) };
  const remarks = remarksOf(conversation);
  remarks.all.value = [{ key: "a", name: "f", path: "f", first: 1, last: 1, side: "new", lines: "+x", text: "Why?" }];

  await Promise.all([sendRemarks(conversation, remarks), sendRemarks(conversation, remarks)]);

  assert.deepEqual([sent.length, remarks.all.value], [1, []]);
});

test("why the working tree was refused is not said of a line that was dialled since", async () => {
  sockets.length = 0;
  const daemon = aDaemon();
  const line = treeLine("c");
  sockets[0].onclose({ code: 1006 });
  await settle();
  line.again();
  sockets[1].open();

  await daemon.give(0, 400, { message: "There is no workspace." });

  assert.deepEqual([line.state.value, line.trouble.value], ["dialling", ""]);
  line.close();
});

test("a tab that comes later reads anew what came with its page: the line of the other one has told news since", async (t) => {
  const leader = new BroadcastChannel("promptcorner");
  t.after(() => leader.close());
  const heard = [];
  hearWatch((event) => heard.push(event.kind));
  const say = async (topic, data) => {
    leader.postMessage({ topic, data });
    await settle();
  };

  await say("watch.line", { state: "live", since: 0 });
  await say("watch.line", { state: "live", since: 0 }); // yet another tab has asked

  assert.deepEqual(heard, ["again"]);
});

test("a file that arrives while a message is being changed has arrived in the draft that waits aside", async () => {
  const desk = deskOf("upload");
  await desk.ready;
  answers.by = () => [200, { organization_ids: ["o"] }];
  attach(desk, [new File(["x"], "a.txt", { type: "text/plain" })]);
  while (!uploads.length) await settle();

  desk.editing.value = { message: 1, aside: desk.written };
  desk.files.value = [];
  Object.assign(uploads[0], { status: 201, responseText: JSON.stringify({ id: "stored" }) }).onload();
  await settle();

  assert.deepEqual(desk.editing.value.aside.files.map((file) => [file.state, file.id]), [["done", "stored"]]);
});

test("who decided about a call is told by the answer that was asked for last", async (t) => {
  const asks = ["a", "b"].map((id) => ({ tool_call_id: id }));
  const state = signal({ chat: null, asks });
  const around = aroundOf({ id: "c", state });
  t.after(around.close);
  const daemon = aDaemon();
  const answer = (...ids) => [200, { decided: ids.map((id) => ({ tool_call_id: id })) }];
  state.value = { chat: null, asks: [asks[1]] };
  state.value = { chat: null, asks: [] };
  await settle();

  await daemon.give(1, ...answer("a", "b"));
  await daemon.give(0, ...answer("a"));

  assert.ok(around.decided("b"));
});

test("preferences of another tab are taken over whole, and none of them is undone there", () => {
  const now = { ...JSON.parse(stored.get("preferences")), density: "compact", theme: "dark" };
  stored.set("preferences", JSON.stringify(now));
  written.length = 0;

  listeners.get("storage")({ key: "preferences" });

  assert.deepEqual([preferences.density.value, preferences.theme.value], ["compact", "dark"]);
  assert.deepEqual(written.map((value) => JSON.parse(value)), [now]);
});

test("a message that was asked for first and comes last takes nobody away from the other one", async () => {
  const shown = [];
  const place = { take: () => {}, toRow: (key) => shown.push(key) };
  const items = signal([]);
  const open = new Map();
  const conversation = { openAt: (id) => new Promise((resolve) => open.set(id, resolve)) };
  const comes = (id) => {
    items.value = [...items.peek(), { key: `m${id}`, message: id }];
    open.get(id)(true);
  };

  const asked = [5, 9].map((id) => showMessage({ conversation, place, items }, id));
  comes(9);
  comes(5);
  await Promise.all(asked);

  assert.deepEqual(shown, ["m9"]);
});

test("two prices that are removed at once are both gone, and what another admin has stated stays", async () => {
  let stored = { prices: { a: {}, b: {}, c: {} }, default_price: null };
  answers.by = ({ method, body }) => [200, method === "PUT" ? (stored = body) : stored];
  const without = (name) => ({ prices: { [name]: _, ...prices }, ...rest }) => ({ ...rest, prices });

  await Promise.all([changePrices(without("a")), changePrices(without("b"))]);

  assert.deepEqual(stored, { prices: { c: {} }, default_price: null });
});
