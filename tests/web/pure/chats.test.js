// Lists of chats: pages, news, and what a person has just changed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { chatIn, newList, withChange, withNews, withPage, without } from "../../../adapters/web/assets/state/chats.js";
import { between } from "../../../adapters/web/assets/state/same.js";
import { SEED, below, pick, randomOf } from "./cases.js";

const at = (minute) => `2026-01-01T00:${String(minute).padStart(2, "0")}:00Z`;
const chat = (id, minute, more = {}) => ({
  id, root_chat_id: id, title: id, status: "waiting", created_at: at(0), updated_at: at(minute), archived: false, pin_order: 0,
  labels: {}, has_unread: false, children: [], ...more,
});
const child = (id, parent, minute) => chat(id, minute, { parent_chat_id: parent, root_chat_id: parent, created_at: at(minute) });
const LIMIT = 3;
const paged = (chats, list = newList()) => withPage(list, chats, { limit: LIMIT });
const ids = (list) => list.roots.map((root) => root.id).join("");

test("a first page that is read anew keeps what lies behind it, and drops what should be in it", () => {
  const first = paged([chat("c", 9), chat("b", 8), chat("a", 7)]);
  const whole = withPage(first, [chat("z", 6), chat("y", 5)], { limit: LIMIT, next: true });

  const anew = paged([chat("d", 10), chat("c", 9), chat("a", 7)], whole);

  assert.equal(ids(whole), "cbazy");
  assert.equal(ids(anew), "dcazy");
  assert.equal(anew.roots[1], whole.roots[0]);
});

test("a page that is not full is the end of the list", () => {
  assert.deepEqual([paged([chat("a", 1)]).more, paged([chat("c", 3), chat("b", 2), chat("a", 1)]).more], ["no", "yes"]);
});

test("news moves a chat to where the order has it", () => {
  const list = paged([chat("p", 1, { pin_order: 1 }), chat("b", 3)]);

  assert.equal(ids(withNews(list, { kind: "created", chat: chat("n", 5) })), "pnb");
  assert.equal(ids(withNews(list, { kind: "status_change", chat: chat("b", 4, { pin_order: 2 }) })), "pb");
  assert.equal(ids(withNews(list, { kind: "deleted", chat: chat("p", 1) })), "b");
});

test("news carries neither children nor what is read, so these stay", () => {
  const list = paged([chat("a", 1, { has_unread: true, children: [child("k", "a", 1)] })]);

  const after = withNews(list, { kind: "title_change", chat: chat("a", 1, { title: "new" }) });

  assert.deepEqual([after.roots[0].title, after.roots[0].has_unread, after.roots[0].children], ["new", true, list.roots[0].children]);
});

test("whoever was at work and rests now has said something", () => {
  const list = paged([chat("a", 1, { status: "running" })]);

  assert.equal(withNews(list, { kind: "status_change", chat: chat("a", 2) }).roots[0].has_unread, true);
});

test("a chat that is shared from now on comes at once, and goes when it is shared no more", () => {
  const news = (kind, more) => ({ kind, chat: chat("s", 5, { shared: true, ...more }) });
  const both = paged([chat("b", 3)], newList({ q: "source:created_by_me,shared_with_me", labels: [] }));
  const others = paged([], newList({ q: "source:shared_with_me", labels: [] }));
  const mine = paged([chat("b", 3)], newList({ q: "source:created_by_me", labels: [] }));

  const after = withNews(both, news("shared"));

  assert.deepEqual([ids(after), after.stale], ["sb", true]); // its agents are still to be read
  assert.equal(ids(withNews(after, { kind: "unshared", chat: { id: "s" } })), "b");
  assert.equal(ids(withNews(others, news("shared"))), "s");
  assert.deepEqual([ids(withNews(mine, news("shared"))), ids(withNews(mine, news("title_change")))], ["b", "b"]);
  assert.equal(withNews(mine, { kind: "unshared", chat: { id: "b" } }).roots.length, 0);
  assert.equal(ids(withNews(both, news("shared", { archived: true }))), "b");
});

test("an agent stands below its root, the newest first", () => {
  const list = paged([chat("a", 1, { children: [child("k", "a", 1)] })]);

  const after = withNews(list, { kind: "created", chat: child("l", "a", 2) });

  assert.deepEqual(after.roots[0].children.map((one) => one.id), ["l", "k"]);
  assert.equal(chatIn(after, "l").title, "l");
  assert.deepEqual(without(after, ["l"]).roots[0].children.map((one) => one.id), ["k"]);
});

test("news that is older than what is known changes nothing", () => {
  const list = paged([chat("a", 5)]);

  assert.equal(withNews(list, { kind: "status_change", chat: chat("a", 4, { status: "running" }) }), list);
});

test("what news does to a list with a filter only the daemon can say", () => {
  const list = paged([chat("a", 1)], newList({ q: "has_unread:true", labels: [] }));

  const after = withNews(list, { kind: "created", chat: chat("b", 2) });

  assert.deepEqual([ids(after), after.stale], ["a", true]);
  assert.equal(withPage(after, [chat("b", 2)], { limit: LIMIT }).stale, false);
});

test("a change shows at once, and can be put back", () => {
  const list = paged([chat("b", 2), chat("a", 1)]);

  const pinned = withChange(list, "a", { pin_order: 1 });

  assert.equal(ids(pinned), "ab");
  assert.equal(ids(withChange(pinned, "a", { pin_order: 0 })), "ba");
});

test("whatever comes, in whatever order, a list is ordered and names nothing twice", () => {
  const random = randomOf(SEED);
  let list = paged([]);
  for (let time = 0; time < 2000; time += 1) {
    const id = pick(random, [..."abcdefgh"]);
    const one = chat(id, below(random, 60), { pin_order: random() < 0.2 ? 1 + below(random, 3) : 0 });
    list = withNews(list, { kind: pick(random, ["created", "status_change", "title_change", "deleted"]), chat: one });
    const order = list.roots.map((root) => [root.pin_order || 99, -Date.parse(root.updated_at)]);
    assert.deepEqual(order, [...order].sort((a, b) => a[0] - b[0] || a[1] - b[1]));
    assert.equal(new Set(list.roots.map((root) => root.id)).size, list.roots.length);
  }
});

test("of two lists only what stands between the same beginning and the same end has to be looked at", () => {
  const cases = [
    ["", "", ""],
    ["", "abc", "abc"],
    ["abc", "", ""],
    ["abc", "abc", ""],
    ["abcde", "abXde", "X"],
    ["abcde", "adbce", "dbc"],
    ["aa", "aaa", "a"],
    ["aaa", "aa", ""],
    ["abc", "abcd", "d"],
  ];

  for (const [old, next, come] of cases) assert.equal(between([...old], [...next]).join(""), come, `${old} ${next}`);
});
