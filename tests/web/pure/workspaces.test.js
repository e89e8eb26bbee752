// The messages of terminals, and the paths of files.

import assert from "node:assert/strict";
import { test } from "node:test";

import { crumbsOf, isShown, parentOf } from "../../../adapters/web/assets/panel/file_paths.js";
import { byteMessages, newOutput, readMessage, sizeMessage, typedMessages } from "../../../adapters/web/assets/state/terminal_wire.js";

const bytes = (...parts) => Uint8Array.from(parts.flatMap((part) => (typeof part === "string" ? [...new TextEncoder().encode(part)] : part)));
const text = (message) => new TextDecoder().decode(message);

test("what a terminal says is read", () => {
  const said = readMessage(bytes("o", [0, 0, 0, 0, 0, 1, 0, 2], "hi").buffer);
  assert.deepEqual([said.kind, said.position, text(said.bytes)], ["output", 65538, "hi"]);
  assert.deepEqual(readMessage(bytes('s{"rows":3,"columns":9}').buffer), { kind: "size", rows: 3, columns: 9 });
  assert.deepEqual(readMessage(bytes('e{"exit_code":1,"why":"x"}').buffer), { kind: "end", exit: 1, why: "x" });
  for (const message of [bytes(), bytes("z")]) assert.equal(readMessage(message.buffer).kind, "unknown");
});

test("what is typed is said in messages that are not too long", () => {
  assert.deepEqual(typedMessages("é\r").map(text), ["ié\r"]);
  assert.deepEqual([...byteMessages("\x1b[M\xff")[0]], [0x69, 0x1b, 0x5b, 0x4d, 0xff]);
  const long = typedMessages("x".repeat(70_000));
  assert.deepEqual(long.map((each) => each.length), [32769, 32769, 4465]);
  assert.equal(text(sizeMessage(24, 80)), 'r{"rows":24,"columns":80}');
  assert.deepEqual(typedMessages(""), []);
});

test("output is new once, and what is missing is said", () => {
  const output = (position, words) => ({ position, bytes: bytes(words) });
  const seen = (has, said) => {
    const found = newOutput(has, said);
    return [text(found.bytes), found.lost, found.has];
  };
  assert.deepEqual(seen(0, output(0, "abc")), ["abc", false, 3]);
  assert.deepEqual(seen(2, output(0, "abc")), ["c", false, 3]);
  assert.deepEqual(seen(9, output(0, "abc")), ["", false, 9]);
  assert.deepEqual(seen(3, output(5, "xy")), ["xy", true, 7]);
});

test("a path has the folders on its way", () => {
  assert.deepEqual(crumbsOf("src/deep").map((each) => [each.name, each.path]), [["Workspace", ""], ["src", "src"], ["deep", "src/deep"]]);
  assert.deepEqual(["a/b", "a", ""].map(parentOf), ["a", "", ""]);
});

test("what no address can say is not opened", () => {
  assert.equal(isShown({ kind: "file", path: "a" }), true);
  assert.equal(isShown({ kind: "file" }), false);
  assert.equal(isShown({ kind: "other", path: "pipe" }), false);
});
