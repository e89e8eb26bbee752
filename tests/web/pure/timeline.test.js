// The timeline's rules: calls joined with their results, items that keep their identity, folds,
// arguments that have only begun, heights, and what errors say.

import assert from "node:assert/strict";
import { test } from "node:test";
import { newChat, reduce } from "../../../adapters/web/assets/state/chat.js";
import { callOf, wentWrong } from "../../../adapters/web/assets/timeline/calls.js";
import { faultOf } from "../../../adapters/web/assets/timeline/faults.js";
import { Heights } from "../../../adapters/web/assets/timeline/heights.js";
import { looseJson } from "../../../adapters/web/assets/timeline/loose_json.js";
import { NOTHING_SEEN, nowWords, seenNow } from "../../../adapters/web/assets/timeline/now_words.js";
import { itemsOf } from "../../../adapters/web/assets/timeline/turn.js";
import { ordinal, placeWords } from "../../../adapters/web/assets/timeline/now_words.js";
import { marksOf } from "../../../adapters/web/assets/timeline/rail_marks.js";
import { countdown, duration, listed } from "../../../adapters/web/assets/timeline/words.js";
import { loginOf } from "../../../adapters/web/assets/timeline/logins.js";
import { vendorLetters } from "../../../adapters/web/assets/shared/vendor_mark.js";

const TIME = "2026-01-01T00:00:00Z";
const message = (id, role, ...content) => ({ id, key: `m${id}`, role, content, created_at: TIME });
const text = (words) => ({ type: "text", text: words });
const call = (id, name, args = {}) => ({ type: "tool-call", tool_call_id: id, tool_name: name, args, created_at: TIME });
const result = (id, value, more = {}) => ({ type: "tool-result", tool_call_id: id, result: value, ...more });
const NOTHING = { id: "c", messages: [], live: null, status: "waiting", asks: [], calls: [], own: [], holes: [] };
const kinds = (state, unfolded) => itemsOf(state, unfolded).map((item) => item.kind);

const TURN = [
  message(1, "user", text("Why?")),
  message(2, "assistant", { type: "reasoning", text: "hm" }, call("a", "read_file", { path: "/x" }), call("b", "read_file", { path: "/y" }), call("c", "execute", { command: "ls" })),
  message(3, "tool", result("a", { content: "" })),
  message(4, "tool", result("b", { error: "gone" }, { is_error: true })),
  message(5, "tool", result("c", { success: false, exit_code: 2 })),
  message(6, "assistant", text("So.")),
];

test("an answer that goes with the connection is broken off until something comes", () => {
  const seen = (...steps) => steps.reduce((before, [state, since]) => seenNow(before, { status: "running", lastId: 3, live: null, ...state }, { since }), NOTHING_SEEN).isBrokenOff;
  const [live, more] = [{}, {}];
  const lost = [[{ live }, 1], [{ live }, 2], [{}, 2]];

  assert.ok(seen(...lost));
  assert.ok(seen(...lost, [{}, 3]));
  assert.ok(!seen([{}, 1], [{}, 2]), "nothing was to be seen");
  assert.ok(!seen([{ live }, 1], [{}, 1]), "another attempt begins");
  assert.ok(!seen([{ live }, 1], [{ live }, 2], [{ live: more }, 2], [{}, 2]), "it went on over the new line");
  assert.ok(!seen([{ live }, 1], [{ lastId: 4 }, 2]), "a message took its place");
  assert.ok(!seen(...lost, [{ live: more }, 2]) && !seen(...lost, [{ lastId: 4 }, 2]) && !seen(...lost, [{ status: "waiting" }, 2]));
});

test("a chat at which nothing is to be seen says why", () => {
  const words = (state, seen) => nowWords({ ...NOTHING, status: "running", lastId: 3, chat: {}, ...state }, { state: "live" }, { stopped: -1, isBrokenOff: false, ...seen })?.text;
  const silent = (takeover_seconds) => ({ chat: { takeover_seconds } });

  assert.equal(words({}), "Working…");
  assert.match(words({}, { isBrokenOff: true }), /broke off when the connection did/);
  assert.match(words(silent(18), { isBrokenOff: true }), /^The daemon stopped .* It goes on in about 18 s\.$/);
  assert.match(words(silent(0)), /It goes on in a moment\.$/);
  assert.match(words({ ...silent(7), messages: TURN.slice(0, 2) }), /about 7 s/);
  assert.match(words({ ...silent(18), status: "interrupting" }), /It is stopped in about 18 s\.$/);
  assert.equal(words({ messages: TURN.slice(0, 2) }), undefined);
  assert.equal(words({ ...silent(18), live: {} }), undefined);
  assert.match(words({ live: { isCut: true } }), /The answer goes on\. The rest of it is shown when it is complete\./);
});

test("pages that a provider has read are said of a fold", () => {
  const read = (id) => call(id, "web_fetch", { url: "https://a.test" });
  const turn = [TURN[0], message(2, "assistant", read("a"), read("b")), message(3, "tool", result("a", {}), result("b", {})), message(6, "assistant", text("So."))];
  assert.equal(itemsOf({ ...NOTHING, messages: turn })[1].what, "Read 2 pages of the web");
});

test("a notice behind an answer is shown, while it comes and when it is kept", () => {
  const notice = { type: "hook-notice", text: "The rest was withheld." };
  const kept = { ...NOTHING, messages: [TURN[0], message(2, "assistant", text("Half"), notice)] };
  const live = { node: "live1", parts: [text("Half"), notice].map((part) => ({ ...part, role: "assistant" })) };
  const coming = { ...NOTHING, messages: TURN.slice(0, 1), status: "running", live };

  for (const state of [kept, coming]) {
    assert.deepEqual(kinds(state), ["me", "text", "notice"]);
    assert.equal(itemsOf(state)[2].text, notice.text);
  }
});

test("a turn that is over folds what was done before its answer, and opens again", () => {
  const over = { ...NOTHING, messages: TURN };
  assert.deepEqual(kinds(over), ["me", "fold", "text"]);
  const fold = itemsOf(over)[1];
  assert.equal(fold.what, "Read 2 files, ran 1 command");
  assert.equal(fold.failed, 2);
  assert.deepEqual(kinds(over, new Set([fold.key])), ["me", "fold", "thought", "reads", "call", "text"]);
  assert.deepEqual(kinds({ ...over, status: "running" }), ["me", "thought", "reads", "call", "text"]);
});

test("a turn without an answer does not fold, and one of a single step neither", () => {
  assert.deepEqual(kinds({ ...NOTHING, messages: TURN.slice(0, 5) }), ["me", "thought", "reads", "call"]);
  const short = [TURN[0], message(2, "assistant", call("c", "execute")), TURN[5]];
  assert.deepEqual(kinds({ ...NOTHING, messages: short }), ["me", "call", "text"]);
});

test("items keep their identity while an answer is being streamed behind them", () => {
  const messages = [...TURN, message(7, "user", text("And?"))];
  const state = { ...NOTHING, messages, status: "running" };
  const at = (words) => itemsOf({ ...state, live: { node: "live1", parts: [{ type: "text", role: "assistant", text: words }] } });
  const before = at("On");
  const after = at("Once");
  assert.equal(before.length, after.length);
  before.slice(0, -1).forEach((item, i) => assert.equal(item, after[i]));
  assert.equal(after.at(-1).text, "Once");
  assert.equal(after.at(-1).grows, true);
});

test("what was streamed keeps its keys when it becomes a message", () => {
  const live = { node: "live1", parts: [{ type: "reasoning", role: "assistant", text: "hm" }, { type: "text", role: "assistant", text: "So." }] };
  const running = { ...NOTHING, messages: [TURN[0]], status: "running", live };
  const done = { ...running, live: null, messages: [TURN[0], { ...message(2, "assistant", { type: "reasoning", text: "hm" }, text("So.")), key: "live1" }] };
  assert.deepEqual(itemsOf(running).map((item) => item.key), itemsOf(done).map((item) => item.key));
});

test("results of tools that run join the calls of the message before", () => {
  const live = { node: "live2", parts: [{ ...result("c", { success: true, output: "x" }), role: "tool" }] };
  const items = itemsOf({ ...NOTHING, messages: TURN.slice(0, 3), status: "running", live });
  assert.equal(items.at(-1).call.state, "done");
  assert.equal(items.at(-2).calls[1].state, "running");
});

test("a fold says what its steps cost, if all of it is known", () => {
  const priced = (micros) => TURN.map((one) => (one.id === 2 ? { ...one, cost_micros: micros } : one));
  assert.equal(itemsOf({ ...NOTHING, messages: priced(310_000) })[1].cost, 310_000);
  assert.equal(itemsOf({ ...NOTHING, messages: priced(null) })[1].cost, null);
});

test("what messages cost joins them, and only those that it is news for change", () => {
  const state = { ...newChat("c"), messages: TURN };
  const costs = new Map([[2, 310_000], [99, 1]]);
  const next = reduce(state, { type: "costs", costs });
  assert.equal(next.messages[1].cost_micros, 310_000);
  assert.equal(next.messages[0], state.messages[0]);
  assert.equal(reduce(next, { type: "costs", costs }), next);
});

test("a hole stands where messages are not loaded", () => {
  const messages = [message(1, "user", text("a")), message(2, "assistant", text("b")), message(9, "user", text("c"))];
  const state = { ...NOTHING, messages, holes: [{ after: 2, before: 9, state: "more" }] };
  assert.deepEqual(kinds(state), ["me", "text", "hole", "me"]);
});

const ABOUT = { chat: "c", isOpen: false, isLive: false, asks: new Map(), waits: new Set(), after: "", latest: true };

test("the state of a call is what its result or the chat says", () => {
  const state = (said, about = {}) => callOf("k", call("a", "execute"), said, { ...ABOUT, ...about }).state;
  assert.equal(state(undefined), "interrupted");
  assert.equal(state(undefined, { isOpen: true }), "running");
  assert.equal(state(undefined, { isOpen: true, waits: new Set(["a"]) }), "waits");
  assert.equal(state(undefined, { asks: new Map([["a", {}]]) }), "asks");
  assert.equal(state(result("a", {})), "done");
  assert.equal(state(result("a", { error: "no" })), "failed");
  assert.equal(state(result("a", "interrupted by a user message", { is_error: true })), "interrupted");
  assert.equal(state(result("a", { error: "the user did not allow this call, and it was not run" }, { is_error: true })), "refused");
});

test("a command that goes on in the background has not failed", () => {
  const of = (value) => callOf("k", call("a", "execute"), result("a", value), ABOUT);
  assert.ok(wentWrong(of({ success: false, exit_code: 2 })));
  assert.ok(!wentWrong(of({ success: false, exit_code: -1, background_process_id: "p", error: "timed out" })));
});

test("every beginning of JSON gives as much as there is", () => {
  const value = { path: "/a \"b\" \\ é\n", list: [1, -2.5e3, { deep: [true, false, null] }], last: { empty: {}, none: [] } };
  const whole = JSON.stringify(value);
  for (let end = 1; end <= whole.length; end++) assert.notEqual(looseJson(whole.slice(0, end)), undefined, whole.slice(0, end));
  assert.deepEqual(looseJson(whole), value);
  assert.deepEqual(looseJson('{"a":"b\\u00'), { a: "b" });
  assert.deepEqual(looseJson('{"a":"b","c'), { a: "b" });
  assert.equal(looseJson("no json"), undefined);
});

test("rows lie by their measured heights, and by guesses where there are none", () => {
  const heights = new Heights();
  const items = [1, 2, 3].map((n) => ({ key: `k${n}`, kind: "call", message: n, turn: "t" }));
  heights.take(items);
  assert.equal(heights.top(3), 108);
  assert.ok(heights.measured("k2", 100));
  assert.ok(!heights.measured("k2", 100));
  assert.equal(heights.top(3), 172);
  assert.deepEqual([0, 35, 36, 135, 136, 9999].map((y) => heights.at(y)), [0, 0, 1, 1, 2, 2]);
  assert.equal(heights.at(-5), 0);
});

test("every kind of error has words, and something to do where there is something", () => {
  const acts = (kind) => faultOf({ kind, message: "It failed. Really.", retryable: false }).acts;
  for (const kind of ["overloaded", "timeout", "rate_limit", "auth", "missing_key", "config", "usage_limit", "content_filter", "generic", "unheard-of"]) {
    assert.ok(acts(kind).length, kind);
  }
  assert.equal(faultOf({ kind: "generic", message: "It failed. Really." }).sentence, "It failed.");
  assert.equal(faultOf({ kind: "config", message: "The conversation is too long for the model." }).acts[0], "compact");
  assert.equal(faultOf({ kind: "hook_denied", message: "m", detail: "no names" }).sentence, "no names");
});

test("a place in a line is said, as far as it is counted", () => {
  assert.deepEqual([1, 2, 3, 4, 11, 12, 13, 21, 22, 111, 999].map(ordinal), ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "111th", "999th"]);
  assert.equal(placeWords(1), "Waits for a place: it is the next.");
  assert.equal(placeWords(2), "Waits for a place: 2nd in line.");
  assert.deepEqual([undefined, 1000].map(placeWords), Array(2).fill("Waits for a place: other chats are at work."));
});

test("the rail has a mark for each message of the user's, and a bounded number of them", () => {
  const said = (words, edited) => ({ content: [{ type: "text", text: words }], edited });
  const items = [
    { key: "a", kind: "me", said: said("first\nmore") },
    { key: "b", kind: "text", text: "an answer" },
    { key: "c", kind: "me", said: said("second", true) },
    { key: "d", kind: "summary" },
  ];

  const marks = marksOf(items, (place) => place * 25, true);

  assert.deepEqual(marks.map(({ key, at, kind, words }) => [key, at, kind, words]), [
    ["a", 0, "mine", "first"], ["c", 50, "edited", "second"], ["d", 75, "summary", "Summarised here"], ["", 100, "failed", "Stopped by an error"],
  ]);
  const many = Array.from({ length: 5000 }, (_, at) => ({ key: `k${at}`, kind: "me", said: said("x") }));
  assert.ok(marksOf(many, (place) => place * 25, false).length <= 121);
});

test("times and lists in words", () => {
  assert.deepEqual([800, 48_000, 130_000, 3_900_000].map(duration), ["0.8 s", "48 s", "2 min 10 s", "1 h 5 min"]);
  assert.deepEqual([272_000, 7_000, -5].map(countdown), ["4:32", "0:07", "0:00"]);
  assert.equal(listed(["a", "b", "c", "d", "e"]), "a, b, c and 2 more");
});

test("a command that asks for a login says where, and other addresses are none", () => {
  const device = "! First copy your one-time code: AB12-CD34\nOpen this URL to continue in your web browser: https://github.com/login/device\n";
  assert.deepEqual(loginOf(device), { url: "https://github.com/login/device", host: "github.com", code: "AB12-CD34" });
  const azure = "To sign in, use a web browser to open the page \x1b[1mhttps://microsoft.com/devicelogin\x1b[0m and enter the code CXYZ23456 to authenticate.";
  assert.deepEqual(loginOf(azure), { url: "https://microsoft.com/devicelogin", host: "microsoft.com", code: "CXYZ23456" });
  assert.equal(loginOf("Go to the following link in your browser:\n\n    https://accounts.google.com/o/oauth2/auth?a=1&b=2.\n").url, "https://accounts.google.com/o/oauth2/auth?a=1&b=2");
  for (const other of ["", "see https://example.org/login.html", "Log in, please", "cloning https://example.org/auth", "log in at http://example.org/login", "sign in: javascript:alert(1)", "log in at https:///login"])
    assert.equal(loginOf(other), null, other);
  assert.equal(loginOf(device + "x".repeat(5000)), null, "only the end is read");
});

test("a vendor without a mark of its own has its first letter", () => {
  assert.deepEqual(["anthropic", "azure", "mistral", ""].map(vendorLetters), ["A", "Az", "M", "?"]);
});
