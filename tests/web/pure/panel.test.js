// What the side panel is made of: changes, patches, commands and their output, diffs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { changesOf, commonFolder, pathsOf } from "../../../adapters/web/assets/panel/changes_of.js";
import { filesOf, patchOf } from "../../../adapters/web/assets/panel/files_of.js";
import { processesOf } from "../../../adapters/web/assets/panel/processes_of.js";
import { afterMessage, sentenceOf, treeFiles } from "../../../adapters/web/assets/panel/tree_files.js";
import { byModel, sumOf } from "../../../adapters/web/assets/panel/usage_of.js";
import { ansiLines } from "../../../adapters/web/assets/text/ansi.js";
import { applied, counts, markedPieces, parse, pieces, sideBySide, whole } from "../../../adapters/web/assets/text/diff.js";

const DIFF = `--- /w/src/queue.py
+++ /w/src/queue.py
@@ -8,5 +8,6 @@ class Queue
     return 2
 
 def f3():
-    head = await tx.one(POP_HEAD, chat)
+    head = await tx.one(LOCK_CHAT, chat)
+    seen = row.version
 
`;

let id = 0;
const step = (name, args, result, more = {}) => [
  { id: ++id, role: "assistant", created_at: "2026-01-01T00:00:00Z", content: [{ type: "tool-call", tool_call_id: `c${id}`, tool_name: name, args, created_at: "2026-01-01T00:00:01Z" }] },
  ...(result === undefined ? [] : [{ id: ++id, role: "tool", content: [{ type: "tool-result", tool_call_id: `c${id - 1}`, tool_name: name, result, created_at: "2026-01-01T00:00:05Z", ...more }] }]),
];

test("a unified diff becomes rows with both numbers, and lines that stand for each other have marked words", () => {
  const [file] = parse(DIFF);
  assert.equal(file.path, "/w/src/queue.py");
  assert.equal(file.hunks[0].head, "class Queue");
  const rows = file.hunks[0].rows;
  assert.deepEqual(rows.map((row) => [row.kind, row.old, row.new]), [
    ["same", 8, 8], ["same", 9, 9], ["same", 10, 10], ["del", 11, null], ["add", null, 11], ["add", null, 12], ["same", 12, 13],
  ]);
  assert.deepEqual(pieces(rows[4].text, rows[4].marks).filter((piece) => piece.marked).map((piece) => piece.text), ["LOCK_CHAT"]);
  assert.equal(rows[5].marks, undefined); // it stands for no line
  const [pair] = parse("--- a\n+++ a\n@@ -1 +1 @@\n-head = one(POP_HEAD, chat)\n+head = one(LOCK_CHAT, chat)\n");
  const [del, add] = pair.hunks[0].rows;
  assert.deepEqual(pieces(del.text, del.marks).filter((piece) => piece.marked).map((piece) => piece.text), ["POP_HEAD"]);
  assert.deepEqual(pieces(add.text, add.marks).filter((piece) => piece.marked).map((piece) => piece.text), ["LOCK_CHAT"]);
  assert.deepEqual(counts([file]), { added: 2, removed: 1 });
});

test("marks cut coloured pieces where they stand", () => {
  const coloured = [{ text: "head = ", cls: "" }, { text: "await", cls: "k" }, { text: " one", cls: "f" }];
  assert.deepEqual(markedPieces(coloured, [[5, 9]]).map(({ text, cls, marked }) => [text, cls, marked]), [
    ["head ", "", false], ["= ", "", true], ["aw", "k", true], ["ait", "k", false], [" one", "f", false],
  ]);
});

test("lines that begin with dashes and pluses are lines, and not heads of files", () => {
  const [file, ...more] = parse("--- a\n+++ a\n@@ -1,2 +1,2 @@\n--- old comment\n-x\n+++ new\n+y\n");
  assert.equal(more.length, 0);
  assert.deepEqual(file.hunks[0].rows.map((row) => row.text), ["-- old comment", "x", "++ new", "y"]);
});

test("two columns stand side by side, and a whole file is all added", () => {
  const pairs = sideBySide(parse(DIFF)[0].hunks[0].rows);
  assert.deepEqual(pairs.slice(3, 5).map((pair) => [pair.old?.text.trim(), pair.new?.text.trim()]), [
    ["head = await tx.one(POP_HEAD, chat)", "head = await tx.one(LOCK_CHAT, chat)"], [undefined, "seen = row.version"],
  ]);
  assert.equal(whole("a", "one\ntwo\n").hunks[0].rows.length, 2);
  assert.deepEqual(whole("a", "").hunks, []);
});

test("changes are told by results, and calls that failed changed nothing", () => {
  const messages = [
    ...step("write_file", { path: "/w/src/new.py", content: "a\nb\n" }, { ok: true }),
    ...step("edit_files", { files: [{ path: "/w/src/queue.py" }] }, { ok: true, files: [{ path: "/w/src/queue.py", diff: DIFF }] }),
    ...step("write_file", { path: "/w/src/no.py", content: "x" }, { error: "no" }, { is_error: true }),
    ...step("edit_files", { files: [{ path: "/w/docs/cut.md" }] }, { ok: true }),
  ];
  const files = filesOf(changesOf(messages));
  assert.deepEqual(files.map(({ name, added, removed }) => [name, added, removed]), [["docs/cut.md", 0, 0], ["src/queue.py", 2, 1], ["src/new.py", 2, 0]]);
  assert.equal(files[0].changes[0].cut, true);
  assert.ok(pathsOf(messages).includes("/w/src/queue.py"));
});

test("a file that is written whole forgets what was changed in it before", () => {
  const messages = [
    ...step("edit_files", {}, { files: [{ path: "/w/a.py", diff: DIFF }] }),
    ...step("write_file", { path: "/w/a.py", content: "x\n" }, { ok: true }),
  ];
  const [file] = filesOf(changesOf(messages));
  assert.deepEqual(file.changes.map((change) => change.kind), ["write"]);
  assert.equal(file.added, 1);
});

test("a file that was written here and changed then has the lines that it has at the end", () => {
  const diff = "--- a\n+++ a\n@@ -1,3 +1,4 @@\n one\n-two\n+TWO\n+2\n three\n";
  const wrote = step("write_file", { path: "/w/a.txt", content: "one\ntwo\nthree\n" }, { ok: true });
  const edited = step("edit_files", {}, { files: [{ path: "/w/a.txt", diff }] });
  const strange = step("edit_files", {}, { files: [{ path: "/w/a.txt", diff: diff.replace(" one", " uno") }] });
  assert.deepEqual(filesOf(changesOf([...wrote, ...edited])).map(({ added, removed }) => [added, removed]), [[4, 0]]);
  assert.deepEqual(filesOf(changesOf([...wrote, ...strange])).map(({ added, removed }) => [added, removed]), [[5, 1]]);
  assert.equal(applied("one\ntwo\nthree\n", parse(diff)[0].hunks), "one\nTWO\n2\nthree\n");
});

test("the patch names files below the folder that they share, in the order of the changes", () => {
  const patch = patchOf(changesOf([
    ...step("write_file", { path: "/w/src/new.py", content: "a" }, { ok: true }),
    ...step("edit_files", {}, { files: [{ path: "/w/queue.py", diff: DIFF.replaceAll("/w/src", "/w") }] }),
  ]));
  assert.match(patch, /^diff --git a\/src\/new.py b\/src\/new.py\nnew file mode 100644\n--- \/dev\/null\n\+\+\+ b\/src\/new.py\n@@ -0,0 \+1,1 @@\n\+a\n\\ No newline/);
  assert.match(patch, /diff --git a\/queue.py b\/queue.py\n--- a\/queue.py\n\+\+\+ b\/queue.py\n@@ -8,5/);
  assert.equal(commonFolder(["/a/b/c", "/a/b/d/e"]), "/a/b/");
  assert.equal(commonFolder(["/a"]), "/");
});

test("commands go on, are listed, read and ended under the id that they got", () => {
  const messages = [
    ...step("execute", { command: "make test", model_intent: "testing" }, { success: false, output: "red\n", exit_code: 2, wall_duration_ms: 900 }),
    ...step("execute", { command: "serve", run_in_background: true }, { success: true, exit_code: 0, background_process_id: "p1", backgrounded: true }),
    ...step("process_output", { process_id: "p1" }, { success: true, running: true, output: "listening\n", exit_code: 0 }),
    ...step("execute", { command: "sleep 9" }),
    ...step("execute", { command: "git push" }),
  ];
  const asks = [{ tool_call_id: messages.at(-1).content[0].tool_call_id }];
  const seen = processesOf(messages, asks).map(({ command, state, exit, output, id: known }) => [command, state, exit, output, known]);
  assert.deepEqual(seen, [
    ["make test", "failed", 2, "red\n", ""], ["serve", "running", null, "listening\n", "p1"], ["sleep 9", "running", null, "", ""], ["git push", "asks", null, "", ""],
  ]);
  const ended = processesOf([...messages, ...step("process_list", {}, { processes: [{ id: "p1", command: "serve", workdir: "/w", running: false, exit_code: 0 }] })]);
  assert.equal(ended[1].state, "done");
});

test("results that are cut say so, until the whole of them is there", () => {
  const cut = { result_bytes: 9000 };
  const messages = [
    ...step("edit_files", {}, { files: [{ path: "/w/a.py", diff: DIFF }] }, cut),
    ...step("execute", { command: "make" }, { success: true, output: "a…b", exit_code: 0 }, cut),
  ];
  assert.equal(changesOf(messages)[0].cut, true);
  const [process] = processesOf(messages);
  assert.deepEqual([process.cut, process.message], [9000, messages.at(-1).id]);
});

test("tokens are summed by model, and what has no price is not free", () => {
  const messages = [
    { model_config_id: "a", usage: { input_tokens: 10, output_tokens: 2, cache_read_tokens: 4 }, cost_micros: 5 },
    { model_config_id: "b", usage: { input_tokens: 30, output_tokens: 1 }, cost_micros: null },
    { model_config_id: "a", usage: { input_tokens: 5, output_tokens: 3 } },
  ];
  const uses = byModel(messages);
  assert.deepEqual(uses.map(({ model, input, output, cached }) => [model, input, output, cached]), [["b", 30, 1, 0], ["a", 15, 5, 4]]);
  assert.equal(sumOf(uses).unpriced, 1);
});

const plain = (output) => ansiLines(output).map((line) => line.map((piece) => piece.text).join(""));

test("a terminal's output is shown as it would stand there", () => {
  assert.deepEqual(plain("one\ntwo\n"), ["one", "two"]);
  assert.deepEqual(plain("10 %\r50 %\r100 %\n"), ["100 %"]);
  assert.deepEqual(plain("a long line\r\x1b[Kshort"), ["short"]);
  assert.deepEqual(plain("\x1b]0;a title\x07text\x1b[?25l"), ["text"]);
  assert.deepEqual(plain("a\tb"), ["a       b"]);
  assert.deepEqual(plain("one\ntwo\x1b[1A\rONE\n"), ["ONE", "two"]);
  assert.deepEqual(plain("ab\b\bX"), ["Xb"]);
});

test("colours become the nearest of sixteen classes, and are put back", () => {
  assert.deepEqual(ansiLines("\x1b[1;31mred\x1b[0m plain \x1b[38;5;46mgreen\x1b[39m \x1b[48;2;0;0;250mblue"), [[
    { text: "red", cls: "fg1 bold" }, { text: " plain ", cls: "" }, { text: "green", cls: "fg10" }, { text: " ", cls: "" }, { text: "blue", cls: "bg12" },
  ]]);
  assert.deepEqual(ansiLines("\x1b[38;2m x\x1b[mtext").at(-1).at(-1), { text: "text", cls: "" });
});

test("output that goes wild ends, and never throws", () => {
  let seed = 7;
  const random = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
  const signs = ["\x1b[", "\x1b]", "9", ";", "m", "A", "B", "C", "D", "K", "J", "\r", "\n", "\b", "\t", "x", "é", "\x1b", "38;5;", "G", "99999"];
  for (let time = 0; time < 500; time++) {
    const output = Array.from({ length: 40 }, () => signs[Math.floor(random() * signs.length)]).join("");
    for (const line of ansiLines(output)) for (const piece of line) assert.equal(typeof piece.text, "string");
  }
});

const TREE = `diff --git a/src/a b.py b/src/a b.py
index 1..2 100644
--- a/src/a b.py\t
+++ b/src/a b.py\t
@@ -1,2 +1,2 @@
-diff --git a/x b/x
+--- a/no head
 same
diff --git a/old.txt b/new.txt
similarity index 100%
rename from old.txt
rename to new.txt
diff --git a/pic.png b/pic.png
new file mode 100644
index 0000000..1
Binary files /dev/null and b/pic.png differ
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/run b/run
old mode 100644
new mode 100755
`;

test("the diff of a repository becomes files, those without lines among them", () => {
  const files = treeFiles({ root: "/w/r", branch: "main", origin: "", diff: TREE });
  assert.deepEqual(files.map((file) => [file.name, file.note, file.added, file.removed]), [
    ["src/a b.py", "", 1, 1], ["new.txt", "was old.txt", 0, 0], ["pic.png", "new, not text", 0, 0], ["gone", "deleted", 0, 1], ["run", "now a program", 0, 0],
  ]);
  assert.equal(files[0].path, "/w/r/src/a b.py");
  assert.equal(files[0].hunks[0].rows[0].text, "diff --git a/x b/x");
  const large = { root: "/w/r", branch: "main", origin: "", diff: "The diff is not shown." };
  assert.deepEqual([treeFiles(large), sentenceOf(large)], [[], "The diff is not shown."]);
});

test("messages change what is known of repositories", () => {
  const told = (root, more) => ({ type: "changes", repositories: [{ repo_root: root, branch: "main", ...more }] });
  let known = afterMessage([], told("/b", { unified_diff: "x" }));
  known = afterMessage(known, told("/a"));
  assert.deepEqual(known.map((one) => [one.root, one.diff]), [["/a", ""], ["/b", "x"]]);
  assert.equal(afterMessage(known, { type: "changes", scanned_at: "now" }), known);
  assert.deepEqual(afterMessage(known, told("/b", { branch: "", removed: true })).map((one) => one.root), ["/a"]);
});
