// What a person who looks elsewhere is told of their chats.

import assert from "node:assert/strict";
import { test } from "node:test";
import { noticeOf } from "../../../adapters/web/assets/state/notices.js";

const chat = (more) => ({ id: "c", title: "Tidy", status: "waiting", has_unread: true, ...more });

test("a turn that has ended is told with its label", () => {
  const told = noticeOf("go", chat({ last_turn_summary: "Tidied up" }));

  assert.deepEqual(told, { kind: "ended", chat: "c", title: "Tidy", body: "Tidied up" });
});

test("what waits for a person is told, of agents too, and once", () => {
  const asks = chat({ status: "requires_action", parent_chat_id: "p" });

  assert.equal(noticeOf("go", asks).kind, "asks");
  assert.equal(noticeOf(undefined, asks).kind, "asks");
  assert.equal(noticeOf("ask", asks), null);
});

test("a failure is told with its reason", () => {
  const failed = chat({ status: "error", last_error: { message: "The key was refused." } });

  assert.equal(noticeOf("go", failed).body, "The key was refused.");
  assert.equal(noticeOf(undefined, failed), null);
  assert.equal(noticeOf("go", { ...failed, parent_chat_id: "p" }), null);
});

test("what an agent has done, and what was over before, is nobody's news", () => {
  assert.equal(noticeOf("go", chat({ parent_chat_id: "p" })), null);
  assert.equal(noticeOf("off", chat()), null);
  assert.equal(noticeOf(undefined, chat()), null);
});
