// The list of chats: lights, second lines, sections, filters, ages, and which rows are built.

import assert from "node:assert/strict";
import test from "node:test";

import { age, midnight, period } from "../../../adapters/web/assets/state/ages.js";
import { callWords } from "../../../adapters/web/assets/state/ask_words.js";
import { addressOf, filtersOf, fits, NO_FILTERS, wanted } from "../../../adapters/web/assets/state/filters.js";
import { withTypedTerms } from "../../../adapters/web/assets/state/typed_terms.js";
import { labelFault, readLabel } from "../../../adapters/web/assets/state/labels.js";
import { familyLight, lightOf } from "../../../adapters/web/assets/state/lights.js";
import { rowLine, stateWords } from "../../../adapters/web/assets/state/row_words.js";
import { counts, labelsOf, rowsOf } from "../../../adapters/web/assets/state/rows.js";
import { piecesOf, placesOf, rowAt } from "../../../adapters/web/assets/state/slice.js";
import { money } from "../../../adapters/web/assets/text/money.js";

const NOW = new Date(2026, 10, 19, 15, 0).getTime();
const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
const ME = "me";

let number = 0;
const chat = (given = {}) => ({
  id: `chat-${++number}`, title: "A chat", status: "waiting", owner_id: ME, pin_order: 0, archived: false, has_unread: false,
  last_turn_summary: "", last_model_config_id: null, labels: {}, children: [], updated_at: new Date(NOW - HOUR).toISOString(), ...given,
});
const approval = (tool_name, args) => ({ tool_name, args: JSON.stringify(args) });
const look = (given = {}) => ({ group: "time", today: midnight(NOW), open: null, unfolded: {}, folded: new Set(), ...given });
const shown = (roots, given) => rowsOf(roots, look(given)).map((row) => (row.kind === "head" ? row.title : row.key));

test("a light is the strongest thing that a chat does", () => {
  assert.equal(lightOf(chat({ approvals: [approval("execute", {})], status: "requires_action" })), "ask");
  assert.equal(lightOf(chat({ status: "requires_action" })), "ask");
  assert.equal(lightOf(chat({ status: "waiting", attention: "question" })), "ask");
  assert.equal(lightOf(chat({ status: "error", has_unread: true })), "bad");
  assert.equal(lightOf(chat({ status: "interrupting" })), "go");
  assert.equal(lightOf(chat({ has_unread: true })), "new");
  assert.equal(lightOf(chat()), "off");
});

test("a root bears the strongest light of its family, but not what its agents have written", () => {
  assert.equal(familyLight(chat({ children: [chat({ status: "running" }), chat({ approvals: [approval("x", {})] })] })), "ask");
  assert.equal(familyLight(chat({ has_unread: true, children: [chat({ status: "running" })] })), "go");
  assert.equal(familyLight(chat({ children: [chat({ has_unread: true })] })), "off");
});

test("the second line is the first of: what it asks, its error, what it does, what it did", () => {
  const words = (given) => rowLine(chat(given), { me: ME, model: () => "Sonnet 5" }).text;
  assert.equal(words({ approvals: [approval("execute", { command: "git  push\n" })], status: "requires_action" }), "asks: run git push?");
  assert.equal(words({ approvals: [approval("web_search", {}), approval("execute", {})] }), "asks: use web search? and 1 more");
  assert.equal(words({ children: [chat({ title: "Reader", approvals: [approval("write_file", { path: "a.py" })] })] }), "Reader asks: write a.py?");
  assert.equal(words({ attention: "question" }), "asks a question");
  assert.equal(words({ attention: "plan" }), "asks: carry out its plan?");
  assert.equal(words({ status: "requires_action" }), "waits for the result of a call");
  assert.equal(words({ status: "error", last_error: { kind: "auth", message: "x", status_code: 401 } }), "The key was refused (401)");
  assert.equal(words({ status: "error", last_error: { kind: "new_kind", message: "It broke. Really." } }), "It broke");
  assert.equal(words({ status: "running" }), "Sonnet 5 · working");
  assert.equal(words({ status: "running", children: [chat({ status: "running" })] }), "Sonnet 5 · 1 agent working");
  assert.equal(words({ status: "interrupting" }), "stops…");
  assert.equal(words({ last_turn_summary: "Green on 18" }), "Green on 18");
  assert.equal(words({}), "Sonnet 5");
  assert.equal(words({ last_turn_summary: "Finished latest turn" }), "Sonnet 5");
  assert.equal(words({ owner_id: "other", owner_name: "Ines", last_turn_summary: "12 pages" }), "Shared by Ines · 12 pages");
});

test("a call is named by what it would do, whatever its arguments are", () => {
  assert.equal(callWords(approval("edit_files", { files: [{ path: "a" }, { path: "b" }] })), "edit a, b");
  assert.equal(callWords({ tool_name: "execute", args: "{broken" }), "run");
  assert.equal(callWords({ tool_name: "execute", args: "null" }), "run");
  assert.equal(callWords({ tool_name: "execute", args: '{"command":{"a":1}}' }), "run");
  assert.equal(callWords({ tool_name: "workspace:list_issues", args: "" }), "use list issues");
  assert.equal(callWords({ tool_name: "start:tracker:0123456789abcdef", args: "" }), "start the server tracker");
  assert.ok(callWords(approval("execute", { command: "x".repeat(9999) })).length < 200);
});

test("the words of a header tell the state, then how far the agents are", () => {
  const words = (given) => stateWords(chat(given), NOW);
  const agents = [chat({ status: "running" }), chat(), chat()];
  assert.equal(words({ approvals: [approval("execute", {})], status: "requires_action", children: agents }), "asks you · 2 of 3 agents done");
  assert.equal(words({ status: "running", children: [chat({ status: "running" })] }), "working · 1 agent working");
  assert.equal(words({ children: agents }), "1 of 3 agents at work");
  assert.equal(words({}), "idle for 1h");
  assert.equal(words({ archived: true }), "archived");
});

test("a chat stands in one section only", () => {
  const pinned = [chat({ pin_order: 2, status: "error" }), chat({ pin_order: 1 })];
  const [failed, asking, busy, today, older] = [
    chat({ status: "error" }), chat({ children: [chat({ approvals: [approval("x", {})] })] }),
    chat({ children: [chat({ status: "running" })] }), chat(), chat({ updated_at: new Date(NOW - 3 * DAY).toISOString() }),
  ];
  assert.deepEqual(shown([...pinned, failed, asking, busy, today, older], { folded: new Set() }).filter((key) => !/chat-\d+/.test(key)), ["Pinned", "Needs you", "Working", "Today", "This week"]);
  const keys = shown([...pinned, failed, asking, busy, today, older]).filter((key) => key.startsWith("chat-"));
  assert.equal(new Set(keys).size, keys.length);
  assert.deepEqual(keys.slice(0, 2), [pinned[1].id, pinned[0].id]);
});

test("what asks stands before what has failed", () => {
  const [failed, asking] = [chat({ status: "error" }), chat({ status: "requires_action" })];
  assert.deepEqual(shown([failed, asking]), ["Needs you", asking.id, failed.id]);
});

test("an agent's failure is its root's matter", () => {
  assert.deepEqual(shown([chat({ id: "root", children: [chat({ status: "error" })] })])[0], "Today");
});

test("agents are folded unless one is open, works or asks, or a person says otherwise", () => {
  const root = chat({ id: "root", children: [chat({ id: "kid" })] });
  assert.ok(!shown([root]).includes("kid"));
  assert.ok(shown([root], { open: "kid" }).includes("kid"));
  assert.ok(shown([root], { unfolded: { root: true } }).includes("kid"));
  const busy = chat({ id: "busy", children: [chat({ id: "worker", status: "running" })] });
  assert.ok(shown([busy]).includes("worker"));
  assert.ok(!shown([busy], { unfolded: { busy: false } }).includes("worker"));
});

test("a folded section keeps its heading and says how many it hides", () => {
  const [head, ...rest] = rowsOf([chat(), chat()], look({ folded: new Set(["today"]) }));
  assert.deepEqual([head.title, head.count, rest.length], ["Today", 2, 0]);
});

test("groups by status and by label", () => {
  const [unread, read] = [chat({ has_unread: true, labels: { area: "web" } }), chat()];
  assert.deepEqual(shown([unread, read], { group: "status" }), ["Unread", unread.id, "Read", read.id]);
  assert.deepEqual(shown([read, unread], { group: "label" }), ["area: web", unread.id, "No label", read.id]);
});

test("a list is counted, and its labels found", () => {
  const roots = [chat({ status: "error" }), chat({ has_unread: true, labels: { area: "web", lang: "nl" } }), chat({ labels: { area: "web" } })];
  assert.deepEqual(counts(roots), { needs: 1, unread: 1 });
  assert.deepEqual(labelsOf(roots), ["area:web", "lang:nl"]);
});

test("ages are short, and a clock that is wrong says now", () => {
  const ago = (past) => age(NOW - past, NOW);
  assert.deepEqual([ago(-HOUR), ago(0), ago(48 * SECOND), ago(6 * MINUTE), ago(5 * HOUR)], ["now", "now", "48s", "6m", "5h"]);
  assert.equal(ago(2 * DAY), "Tue");
  assert.equal(ago(40 * DAY), "Oct 10");
  assert.equal(ago(400 * DAY), "Oct 2025");
  assert.equal(age(NaN, NOW), "now");
});

test("headings by time: today, yesterday, this week, months", () => {
  const title = (past) => period(NOW - past, midnight(NOW)).title;
  assert.deepEqual([0, DAY, 3 * DAY, 12 * DAY, 40 * DAY, 400 * DAY].map(title), ["Today", "Yesterday", "This week", "This month", "October", "October 2025"]);
});

test("filters stand in the address and come back from it", () => {
  const filters = { words: "two words & more", source: "mine", archived: true, unread: true, needs: true, labels: ["area:web", "a:b:c"], prs: ["draft", "merged"], group: "label" };
  assert.deepEqual(filtersOf(new URLSearchParams(addressOf(filters))), filters);
  assert.equal(addressOf(NO_FILTERS), "");
  assert.deepEqual(filtersOf(new URLSearchParams("source=all&group=x&label=nothing&unread=yes")), { ...NO_FILTERS, words: "" });
});

test("the daemon is asked by its own grammar", () => {
  assert.deepEqual(wanted(NO_FILTERS), { q: "source:created_by_me,shared_with_me", labels: [] });
  const q = wanted({ ...NO_FILTERS, words: ' say "red wine": now ', archived: true, source: "shared" }).q;
  assert.equal(q, 'source:shared_with_me archived:true search:"say \\"red wine\\": now"');
});

test("chats are filtered by the state of their pull request", () => {
  const prs = (...states) => ({ ...NO_FILTERS, prs: states });
  assert.match(wanted(prs("draft", "open")).q, /pr_status:draft,open$/);
  const chat = (diff_status) => ({ archived: false, owner_id: "me", labels: {}, diff_status });
  const draft = chat({ pull_request_state: "open", pull_request_draft: true });
  const open = chat({ pull_request_state: "open", pull_request_draft: false });
  assert.deepEqual([draft, open, chat(undefined)].map((each) => fits(each, prs("draft"), "me")), [true, false, false]);
  assert.equal(fits(open, prs("merged", "open"), "me"), true);
  assert.deepEqual(filtersOf(new URLSearchParams("pr=open&pr=lost")).prs, ["open"]);
  assert.deepEqual(withTypedTerms({ ...NO_FILTERS, words: "pr_status:merged,open wine" }), { ...NO_FILTERS, words: "wine", prs: ["open", "merged"] });
  assert.equal(withTypedTerms({ ...NO_FILTERS, words: "pr_status:lost" }).words, "pr_status:lost");
});

test("typed terms become filters", () => {
  const typed = withTypedTerms({ ...NO_FILTERS, words: "red unread:true wine label:area:web archived:maybe" });
  assert.deepEqual([typed.words, typed.unread, typed.labels], ["red wine archived:maybe", true, ["area:web"]]);
});

test("what the filters let through can be told without the daemon", () => {
  const one = chat({ labels: { area: "web" } });
  assert.ok(fits(one, NO_FILTERS, ME));
  assert.ok(!fits(one, { ...NO_FILTERS, archived: true }, ME));
  assert.ok(!fits(one, { ...NO_FILTERS, source: "shared" }, ME));
  assert.ok(fits(one, { ...NO_FILTERS, labels: ["area:web"] }, ME));
  assert.ok(!fits(one, { ...NO_FILTERS, labels: ["area:docs"] }, ME));
});

test("labels are read as people write them, within the daemon's bounds", () => {
  assert.deepEqual(readLabel(" area : web ui "), { key: "area", value: "web ui" });
  assert.deepEqual(readLabel("area=web"), { key: "area", value: "web" });
  assert.deepEqual([readLabel("area"), readLabel("area:"), readLabel("two words: x")], [null, null, null]);
  assert.equal(labelFault({ key: "area", value: "web" }, {}), "");
  assert.ok(labelFault({ key: "-area", value: "web" }, {}));
  assert.ok(labelFault({ key: "k".repeat(65), value: "web" }, {}));
  assert.ok(labelFault({ key: "k", value: "v".repeat(257) }, {}));
  assert.ok(labelFault({ key: "one-more", value: "v" }, Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`k${at}`, "v"]))));
});

test("built rows and gaps make up the whole list, wherever it is looked at", () => {
  const heights = { head: 30, root: 46.25, kid: 26 };
  const kinds = Array.from({ length: 1000 }, (_, at) => (at % 50 === 0 ? "head" : at % 7 === 0 ? "kid" : "root"));
  const places = placesOf(kinds, heights);
  for (const [top, bottom, kept] of [[0, 900, []], [20000, 20900, [3, 999]], [-500, 10, [-1, 0]], [1e9, 2e9, [500]], [-600, 46000, []]]) {
    const pieces = piecesOf(places, top, bottom, kept);
    const sum = pieces.reduce((all, piece) => all + ("gap" in piece ? piece.gap : heights[kinds[piece.index]]), 0);
    assert.ok(Math.abs(sum - places.total) < 1e-6, `${top}: ${sum} of ${places.total}`);
    const built = pieces.flatMap((piece) => ("index" in piece ? [piece.index] : []));
    assert.deepEqual(built, [...built].sort((one, other) => one - other));
    for (const index of kept) if (index >= 0) assert.ok(built.includes(index));
    for (let y = Math.max(0, top); y < Math.min(bottom, places.total); y += 40) assert.ok(built.includes(rowAt(places, y)));
  }
  assert.deepEqual(piecesOf(placesOf([], heights), 0, 900), []);
});

test("a cost that is not known is never nothing", () => {
  assert.deepEqual([money(1_210_000), money(840_000, 2), money(0, 3), money(4_000), money(0)], ["$1.21", "≥ $0.84", "unknown", "< 1 ¢", "$0.00"]);
  assert.equal(money(1_234_567_890_000), "$1,234,567.89");
});
