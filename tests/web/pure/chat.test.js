// The state of a chat: replays of what a real daemon told, and what happens to them on the way.

import assert from "node:assert/strict";
import { test } from "node:test";
import { cursorOf, newChat, reduce, reduceAll } from "../../../adapters/web/assets/state/chat.js";
import { SEED, TIMES, below, randomOf, recording, recordings } from "./cases.js";
import { beginning, storedAfter } from "./daemon.js";

const CONNECT = { type: "connect", whole: true };
const FAULTS_PER_RECORDING = 60;

const eventsOf = (connection) => connection.frames.flat();
const replayed = (events) => reduceAll(newChat("c"), [CONNECT, ...events]);

/** Return what a person sees of a state, without the keys of nodes and what it remembers of the way, such as which message it saw being edited. */
function seen(state) {
  const plain = ({ key, edited, ...rest }) => rest;
  const { messages, live, status, queue, retry, error, asks, calls } = state;
  const parts = live?.parts ?? null;
  return { messages: messages.map(plain), parts, status, queue: queue.map(plain), retry, error, asks, calls };
}

/** Return messages as the state keeps them: their content is never absent. */
const withContent = (messages) => messages.map((message) => ({ ...message, content: message.content ?? [] }));

for (const name of recordings()) {
  const { connections, history, status } = recording(name);
  const events = eventsOf(connections[0]);

  test(`${name}: at the end the state is what the API tells`, () => {
    const state = replayed(events);

    assert.deepEqual(seen(state).messages, withContent(history));
    assert.equal(state.status, status);
    assert.equal(state.live, null);
    assert.deepEqual(state.unknown, []);
    assert.equal(state.gap, false);
  });

  test(`${name}: it does not matter how events are cut into frames`, () => {
    const oneByOne = [CONNECT, ...events].reduce(reduce, newChat("c"));

    assert.deepEqual(oneByOne, replayed(events));
  });

  for (const [number, connection] of connections.entries()) {
    if (!number) continue;
    test(`${name}: connection ${number} goes on where it says`, () => {
      const query = Object.fromEntries(Object.entries(connection.query).map(([key, value]) => [key, String(value)]));
      const before = atCursor(events, query);
      const state = reduceAll(before, [{ type: "connect", whole: !connection.query.after_id }, ...eventsOf(connection)]);

      assert.deepEqual(seen(state).messages, withContent(history));
      assert.equal(state.status, status);
      assert.equal(state.live, null);
    });
  }

  test(`${name}: whatever is lost, doubled or swapped on the way, the end is the same`, () => {
    const random = randomOf(SEED + name.length);
    const wanted = seen(replayed(events));
    for (let time = 0; time < FAULTS_PER_RECORDING * TIMES; time += 1) {
      const state = withFaults(events, random);
      assert.deepEqual(seen(state), wanted, `time ${time}, PURE_SEED=${SEED}`);
    }
  });
}

/** Return the state of a watcher that has just come to a cursor. */
function atCursor(events, { after_part: part, after_id: id }) {
  const placeOf = ({ history_version, generation_attempt, seq }) => `${history_version}.${generation_attempt}.${seq}`;
  const piece = events.findIndex((event) => event.message_part && placeOf(event.message_part) === part);
  const message = events.findIndex((event) => String(event.message?.id) === id);
  return replayed(events.slice(0, Math.max(piece, message) + 1));
}

/** Replay a recording to a page whose line breaks, stutters and confuses pieces; return its state. */
function withFaults(events, random) {
  let state = reduceAll(newChat("c"), [CONNECT]);
  const again = (count) => {
    const query = cursorOf(state);
    const begun = beginning(storedAfter(events, count), query);
    const broken = random() < 0.2 ? begun.slice(0, below(random, begun.length)) : begun;
    state = reduceAll(state, [{ type: "connect", whole: !Object.keys(query).length }, ...broken]);
    if (broken !== begun) again(count);
  };
  for (let at = 0; at < events.length; at += 1) {
    const chance = random();
    const isPiece = events[at].type === "message_part";
    if (chance < 0.05) again(at);
    if (isPiece && chance > 0.98) continue; // lost
    if (isPiece && chance < 0.08 && events[at + 1]) state = reduce(state, events[at + 1]); // swapped
    state = reduce(state, events[at]);
    if (isPiece && chance > 0.95) state = reduce(state, events[at]);
    if (isPiece && chance > 0.93 && at > 0) state = reduce(state, events[at - 1]);
    if (state.gap) again(at + 1);
  }
  again(events.length);
  return state;
}

const piece = (seq, part, attempt = 1, role = "assistant") => ({
  type: "message_part",
  message_part: { role, part, history_version: 3, generation_attempt: attempt, seq },
});
const text = (words) => ({ type: "text", text: words });
const RUNNING = { type: "status", status: { status: "running" } };
const message = (id, role, words) => ({ type: "message", message: { id, role, content: [text(words)] } });

test("what an event does not touch stays the same object", () => {
  const before = replayed([message(1, "user", "hi"), message(2, "assistant", "ho"), RUNNING]);

  const after = reduce(before, piece(1, text("He")));

  assert.equal(after.messages, before.messages);
  assert.equal(after.queue, before.queue);
  assert.equal(reduce(after, piece(1, text("He"))), after);
});

test("a message that comes again as it was is the same object", () => {
  const before = reduceAll(newChat("c"), [message(1, "user", "hi"), message(2, "assistant", "ho")]);

  const after = reduceAll(before, [{ type: "history_reset" }, message(1, "user", "hi"), message(3, "user", "new"), RUNNING]);

  assert.equal(after.messages[0], before.messages[0]);
  assert.deepEqual(after.messages.map((one) => one.id), [1, 3]);
  assert.equal(after.older, "end");
});

test("what took the place of another message is marked, and stays so", () => {
  const before = reduceAll(newChat("c"), [message(1, "user", "hi"), message(2, "assistant", "ho")]);
  const anew = [{ type: "history_reset" }, message(3, "user", "hi!"), message(4, "assistant", "ho!"), message(5, "user", "more"), RUNNING];
  const marks = (state) => state.messages.map((one) => one.edited);

  const told = reduceAll(before, anew);
  const done = reduceAll(before, [{ type: "edited", id: 1, messages: [message(3, "user", "hi!").message] }, ...anew]);

  assert.deepEqual(marks(told), [true, undefined, undefined]);
  assert.deepEqual(marks(reduceAll(told, anew)), marks(told));
  assert.deepEqual(marks(done), marks(told));
  assert.deepEqual(marks(reduceAll(newChat("c"), anew)), [undefined, undefined, undefined]);
});

test("a chat that says something waits for no place any more", () => {
  const waits = reduceAll(newChat("c"), [RUNNING, { type: "chat", chat: { id: "c", queued_for_capacity: true, place_in_line: 2 } }]);

  assert.equal(waits.chat.place_in_line, 2);
  assert.equal(reduce(waits, piece(1, text("He"))).chat.queued_for_capacity, undefined);
});

test("an attempt that fails before the retry is answered keeps its error", () => {
  const failed = { type: "error", error: { kind: "auth", message: "The key was refused." } };
  const before = reduceAll(newChat("c"), [RUNNING, { type: "status", status: { status: "error" } }, failed]);
  const answered = { type: "retried", error: before.error, retry: before.retry };

  assert.equal(reduce(before, answered).error, null);
  const again = { ...failed, error: { ...failed.error } };
  for (const told of [[RUNNING, again], [again]])
    assert.deepEqual(reduceAll(before, [...told, answered]).error, failed.error);
});

test("a pause that begins before the retry is answered stays", () => {
  const pause = { type: "retry", retry: { attempt: 1, error: "busy", delay_ms: 1000, retrying_at: "2026-01-01T00:00:01Z" } };
  const before = reduceAll(newChat("c"), [RUNNING, pause]);
  const answered = { type: "retried", error: before.error, retry: before.retry };

  assert.equal(reduce(before, answered).retry, null);
  assert.equal(reduceAll(before, [{ ...pause, retry: { ...pause.retry, attempt: 2 } }, answered]).retry.attempt, 2);
});

test("an answer about the chat that is older than the news fills only what the news left out", () => {
  const chat = { id: "c", title: "New", status: "error", updated_at: "2026-01-01T00:00:02Z" };
  const old = { id: "c", title: "Old", status: "running", files: [1], updated_at: "2026-01-01T00:00:01Z" };

  const state = reduceAll(newChat("c"), [{ type: "chat", chat }, { type: "chat", chat: old }]);

  assert.deepEqual(state.chat, { ...old, ...chat });
});

test("the nodes of a streamed answer stay those of the message that it becomes", () => {
  const streaming = replayed([message(1, "user", "hi"), RUNNING, piece(1, text("He")), piece(2, text("llo"))]);

  const after = reduceAll(streaming, [message(2, "assistant", "Hello")]);

  assert.equal(streaming.live.parts[0].text, "Hello");
  assert.equal(after.messages[1].key, streaming.live.node);
  assert.equal(after.live, null);
});

test("a lost preview_reset shows nothing twice", () => {
  const streaming = replayed([RUNNING, piece(1, text("Hel"))]);

  const after = reduceAll(streaming, [message(2, "assistant", "Hello"), piece(1, text("next"), 2)]);

  assert.equal(after.messages.length, 1);
  assert.deepEqual(after.live.parts.map((part) => part.text), ["next"]);
});

test("a chat that rests streams nothing, whatever was lost", () => {
  const after = replayed([RUNNING, piece(1, text("Hel")), { type: "status", status: { status: "waiting" } }, piece(2, text("lo"))]);

  assert.deepEqual([after.live, after.gap], [null, false]);
  assert.deepEqual(cursorOf(after), {}, "without a message nothing says what is known");
});

test("a piece that is missing asks for a new connection, with the place behind the last good one", () => {
  const after = replayed([message(1, "user", "hi"), RUNNING, piece(1, text("a")), piece(3, text("c"))]);

  assert.equal(after.gap, true);
  assert.deepEqual(cursorOf(after), { after_part: "3.1.1", after_id: "1" });
  assert.equal(reduce(after, CONNECT).gap, false);
});

test("behind the piece that says that no more is shown, what was shown stays, and the message takes its place", () => {
  const cut = piece(2, text(""));
  cut.message_part.truncated = true;
  const told = replayed([RUNNING, piece(1, text("Hel")), cut]);

  assert.deepEqual([told.live.parts.map((part) => part.text), told.live.isCut], [["Hel"], true]);
  const over = reduceAll(told, [{ type: "preview_reset" }, message(2, "assistant", "Hello"), piece(1, text("next"), 2)]);
  assert.deepEqual([over.messages.length, over.live.isCut], [1, undefined]);
});

test("arguments and results grow, and are replaced by the whole", () => {
  const call = (more) => ({ type: "tool-call", tool_call_id: "t", tool_name: "execute", ...more });
  const result = (more) => ({ type: "tool-result", tool_call_id: "t", tool_name: "execute", ...more });

  const growing = replayed([RUNNING, piece(1, call()), piece(2, call({ args_delta: '{"a' })), piece(3, call({ args_delta: '":1}' })),
    piece(4, result({ result_delta: "on" })), piece(5, result({ result_delta: "e" }))]);
  const whole = reduceAll(growing, [piece(6, call({ args: { a: 1 } })), piece(7, result({ result_reset: true, result_delta: "two" }))]);

  assert.deepEqual(growing.live.parts.map((part) => part.argsText ?? part.resultText), ['{"a":1}', "one"]);
  assert.deepEqual(whole.live.parts[0].args, { a: 1 });
  assert.equal(whole.live.parts[1].resultText, "two");
});

test("a message of one's own keeps its nodes, whichever comes first, the answer or the stream", () => {
  const sending = reduce(replayed([message(1, "assistant", "ho")]), { type: "own", key: "own1", text: "hi" });
  const byStream = reduce(sending, message(2, "user", "hi"));
  const byAnswer = reduce(sending, { type: "sent", key: "own1", message: message(2, "user", "hi").message });

  for (const state of [byStream, byAnswer]) {
    assert.equal(state.messages[1].key, "own1");
    assert.deepEqual(state.own, []);
  }
  assert.equal(reduce(byAnswer, message(2, "user", "hi")), byAnswer);
  assert.equal(reduce(byStream, { type: "sent", key: "own1", message: message(2, "user", "hi").message }).messages, byStream.messages);
});

test("a message of one's own that is queued becomes its row, and comes once", () => {
  const row = { id: 7, content: [text("hi")] };
  const sending = reduce(replayed([RUNNING]), { type: "own", key: "own1", text: "hi" });

  const states = [
    [{ type: "queue_update", queued_messages: [row] }, { type: "sent", key: "own1", queued: row }],
    [{ type: "sent", key: "own1", queued: row }, { type: "queue_update", queued_messages: [row] }],
    [{ type: "queue_update", queued_messages: [row] }, { type: "queue_update" }, { type: "sent", key: "own1", queued: row }],
  ].map((events) => reduceAll(sending, events));

  assert.deepEqual(states.map((state) => state.queue.map((one) => one.key)), [["own1"], ["own1"], []]);
});

test("what has gone again before sending it is answered does not come back", () => {
  const sending = reduce(replayed([message(1, "assistant", "ho"), RUNNING]), { type: "own", key: "own1", text: "hi" });

  const taken = reduceAll(sending, [message(2, "user", "hi"), { type: "sent", key: "own1", queued: { id: 7, content: [text("hi")] } }]);
  assert.deepEqual([taken.queue, taken.messages.length], [[], 2]); // its turn had come at once

  const anew = [{ type: "history_reset" }, message(1, "assistant", "ho"), message(3, "user", "other"), RUNNING];
  const edited = reduceAll(sending, [message(2, "user", "hi"), ...anew, { type: "sent", key: "own1", message: message(2, "user", "hi").message }]);
  assert.deepEqual(edited.messages.map((one) => one.id), [1, 3]);
});

test("an edit that was edited again before its answer does not come back", () => {
  const anew = (id) => [{ type: "history_reset" }, message(id, "user", "hi"), RUNNING];
  const state = reduceAll(replayed([message(1, "user", "hi")]), [...anew(2), ...anew(3), { type: "edited", id: 1, messages: [message(2, "user", "hi").message] }]);

  assert.deepEqual(state.messages.map((one) => one.id), [3]);
});

test("what no longer holds after a break is not told, and goes", () => {
  const ask = { tool_call_id: "t", chat_id: "c" };
  const before = replayed([{ type: "status", status: { status: "requires_action" } }, { type: "approvals", approvals: [ask] }]);

  const gone = reduceAll(before, [{ type: "connect" }, RUNNING, { type: "preview_reset" }]);
  const kept = reduceAll(before, [{ type: "connect" }, { type: "status", status: { status: "requires_action" } }, { type: "approvals", approvals: [{ ...ask }] }]);

  assert.deepEqual(gone.asks, []);
  assert.equal(kept.asks, before.asks);
});

test("older pages go before, and a page whose place has gone changes nothing", () => {
  const shell = { messages: [5, 6].map((id) => message(id, "user", "x").message), has_more: true };
  const before = newChat("c", shell);
  const page = { type: "page", before: 5, has_more: false, messages: [message(3, "user", "y").message, message(4, "user", "z").message] };

  const after = reduce(reduce(before, { type: "loading", before: 5, state: "loading" }), page);
  const late = reduce(after, page);

  assert.deepEqual(after.messages.map((one) => one.id), [3, 4, 5, 6]);
  assert.equal(after.older, "end");
  assert.equal(late, after);
});

test("a place far from the end leaves a hole that is filled from both sides", () => {
  const page = (ids, more) => ({ type: "page", has_more: true, messages: ids.map((id) => message(id, "user", "x").message), ...more });
  let state = newChat("c", { messages: [90, 91].map((id) => message(id, "user", "x").message), has_more: true });

  state = reduce(state, page([10, 11, 12], { beside: true }));
  assert.deepEqual(state.holes, [{ after: 12, before: 90, state: "more" }]);
  state = reduce(state, page([88, 89], { before: 90 }));
  state = reduce(state, page([13, 14], { after: 12 }));
  assert.deepEqual(state.holes, [{ after: 14, before: 88, state: "more" }]);
  state = reduce(state, page([15, 16], { after: 14, has_more: false }));

  assert.deepEqual(state.holes, []);
  assert.deepEqual(state.messages.map((one) => one.id), [10, 11, 12, 13, 14, 15, 16, 88, 89, 90, 91]);
});

test("events of unknown types are kept, and break nothing", () => {
  const state = reduceAll(newChat("c"), [{ type: "applause" }, { type: "constructor" }, { type: "__proto__" }]);

  assert.deepEqual(state.unknown.map((event) => event.type), ["applause", "constructor", "__proto__"]);
});

test("a result that is known whole is not cut again by a page", () => {
  const result = (more) => ({ id: 3, role: "tool", content: [{ type: "tool-result", tool_call_id: "t", ...more }] });
  const cut = newChat("c", { messages: [result({ result: "a…z", result_bytes: 9000 })] });

  const whole = reduce(cut, { type: "whole", message: result({ result: "abc" }) });
  const again = reduce(whole, { type: "page", messages: [result({ result: "a…z", result_bytes: 9000 })], has_more: false });

  assert.equal(whole.messages[0].content[0].result, "abc");
  assert.equal(again.messages[0], whole.messages[0]);
});
