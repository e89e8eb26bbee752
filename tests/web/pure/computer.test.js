// Actions on a desktop in words, for both vendors' forms; nothing that a model says makes them fail.

import assert from "node:assert/strict";
import { test } from "node:test";
import { actionsOf, actionWords, callWords } from "../../../adapters/web/assets/timeline/computer_words.js";

/** @type {[Record<string, any>, string][]} */
const SAID = [
  [{ action: "left_click", coordinate: [120, 300] }, "Clicked at 120, 300"],
  [{ action: "left_click", coordinate: [1, 2], text: "ctrl" }, "Clicked at 1, 2 with ctrl held"],
  [{ action: "left_click" }, "Clicked"],
  [{ action: "triple_click", coordinate: [1, 2] }, "Triple-clicked at 1, 2"],
  [{ action: "mouse_move", coordinate: [1, 2] }, "Moved the pointer to 1, 2"],
  [{ action: "left_click_drag", start_coordinate: [1, 2], coordinate: [3, 4] }, "Dragged from 1, 2 to 3, 4"],
  [{ action: "left_mouse_up", coordinate: [3, 4] }, "Let go of the button at 3, 4"],
  [{ action: "scroll", coordinate: [3, 4], scroll_direction: "up", scroll_amount: 5 }, "Scrolled up at 3, 4"],
  [{ action: "key", text: "ctrl+s" }, "Pressed ctrl+s"],
  [{ action: "hold_key", text: "a", duration: 2 }, "Held a for 2 s"],
  [{ action: "type", text: "hello" }, "Typed “hello”"],
  [{ action: "type", text: "x".repeat(100) }, `Typed “${"x".repeat(80)}…”`],
  [{ action: "wait", duration: 1.5 }, "Waited for 1.5 s"],
  [{ action: "screenshot" }, "Looked at the screen"],
  [{ action: "cursor_position" }, "Looked where the pointer is"],
  [{ type: "click", x: 0, y: 7, button: "right" }, "Right-clicked at 0, 7"],
  [{ type: "click", x: 5, y: 7, button: "back" }, "Went back at 5, 7"],
  [{ type: "double_click", x: 5, y: 7 }, "Double-clicked at 5, 7"],
  [{ type: "move", x: 5, y: 7 }, "Moved the pointer to 5, 7"],
  [{ type: "drag", path: [{ x: 1, y: 2 }, { x: 9, y: 9 }, { x: 3, y: 4 }] }, "Dragged from 1, 2 to 3, 4"],
  [{ type: "scroll", x: 5, y: 7, scroll_x: 0, scroll_y: -100 }, "Scrolled up at 5, 7"],
  [{ type: "scroll", x: 5, y: 7, scroll_x: 100 }, "Scrolled right at 5, 7"],
  [{ type: "keypress", keys: ["CTRL", "L"] }, "Pressed CTRL+L"],
  [{ type: "wait" }, "Waited"],
  [{ type: "dance" }, "Did “dance”"],
  [{}, "Uses the desktop"],
];

for (const [action, words] of SAID)
  test(`${JSON.stringify(action).slice(0, 60)} is said`, () => assert.equal(actionWords(action), words));

test("of a list the first action that is no look is said, and how many others there are", () => {
  const click = { type: "click", x: 1, y: 2 };
  const look = { type: "screenshot" };
  assert.equal(callWords({ actions: [look, click, look] }), "Clicked at 1, 2, and 2 other actions");
  assert.equal(callWords({ actions: [click, look] }), "Clicked at 1, 2, and 1 other action");
  assert.equal(callWords({ actions: [look] }), "Looked at the screen");
  assert.equal(callWords({ actions: [] }), "Uses the desktop");
});

test("nothing that a model may say makes it fail", () => {
  const odd = [null, 41, "x", [], [null], { x: {} }, [1, "2"], { length: 3 }];
  for (const name of ["left_click", "drag", "scroll", "type", "keypress", "wait", "left_click_drag"])
    for (const value of odd)
      for (const key of ["coordinate", "path", "text", "keys", "duration", "x", "scroll_direction", "start_coordinate", "button"]) {
        assert.equal(typeof actionWords({ action: name, [key]: value }), "string");
        assert.equal(typeof callWords({ actions: [value, { type: name, [key]: value }] }), "string");
      }
  assert.deepEqual(actionsOf({ actions: [null, 4] }), []);
});
