// What was done on a desktop, in words: an action of one vendor's tool, or a list of another's. Pure.

const WORDS_MAX = 80; // characters of a text that was typed, in one line
const BUTTONS = /** @type {Record<string, string>} */ ({ right: "Right-clicked", middle: "Middle-clicked", wheel: "Middle-clicked", back: "Went back", forward: "Went forward" });

/** @typedef {Record<string, any>} Action */

/** Actions with one point, and what is said of each. @type {Record<string, string>} */
const AT_POINT = {
  left_click: "Clicked", right_click: "Right-clicked", middle_click: "Middle-clicked",
  double_click: "Double-clicked", triple_click: "Triple-clicked",
  mouse_move: "Moved the pointer to", move: "Moved the pointer to",
  left_mouse_down: "Pressed the button", left_mouse_up: "Let go of the button",
};

/** Actions of the keyboard, and what is said of each. @type {Record<string, string>} */
const OF_KEYS = { key: "Pressed", key_down: "Pressed and held", key_up: "Let go of", hold_key: "Held", keypress: "Pressed" };

/** Return the actions of a call, in their order. @param {Action} args @returns {Action[]} */
export function actionsOf(args) {
  const listed = Array.isArray(args.actions) ? args.actions : [args];
  return listed.filter((each) => each && typeof each === "object");
}

/** Return what an action does, in a line: "Clicked at 120, 300". @param {Action} action */
export function actionWords(action) {
  const name = String(action.action ?? action.type ?? "");
  if (AT_POINT[name]) return joined([AT_POINT[name], placed(action, name), held(action)]);
  if (OF_KEYS[name]) return joined([OF_KEYS[name], keysOf(action), lasting(action)]);
  switch (name) {
    case "click":
      return joined([BUTTONS[action.button] ?? "Clicked", placed(action, name), held(action)]);
    case "left_click_drag":
    case "drag":
      return joined(["Dragged", ...dragged(action)]);
    case "scroll":
      return joined(["Scrolled", scrolled(action), placed(action, name)]);
    case "type":
      return `Typed ${quoted(action.text)}`;
    case "wait":
      return joined(["Waited", lasting(action)]);
    case "cursor_position":
      return "Looked where the pointer is";
    case "screenshot":
      return "Looked at the screen";
    default:
      return name ? `Did “${name.slice(0, WORDS_MAX)}”` : "Uses the desktop";
  }
}

/** Return a call in a line: its first action that is no look, and how many others there are. @param {Action} args */
export function callWords(args) {
  const actions = actionsOf(args);
  const first = actions.find((each) => (each.action ?? each.type) !== "screenshot") ?? actions[0] ?? {};
  const others = actions.length - 1;
  return `${actionWords(first)}${others > 0 ? `, and ${others === 1 ? "1 other action" : `${others} other actions`}` : ""}`;
}

/** @param {any} point in either form @returns {string} */
function at(point) {
  const [x, y] = Array.isArray(point) ? point : [point?.x, point?.y];
  return Number.isFinite(x) && Number.isFinite(y) ? `${x}, ${y}` : "";
}

/** @param {Action} action @param {string} name */
function placed(action, name) {
  const point = at(action.coordinate ?? action);
  return point && (/move$/.test(name) ? point : `at ${point}`);
}

/** @param {Action} action */
function dragged(action) {
  const path = Array.isArray(action.path) ? action.path : [action.start_coordinate, action.coordinate];
  const from = at(path[0]), to = at(path[path.length - 1]);
  return from && to ? [`from ${from}`, `to ${to}`] : [];
}

/** @param {Action} action */
function scrolled(action) {
  const { scroll_direction: said, scroll_x: x = 0, scroll_y: y = 0 } = action;
  if (typeof said === "string") return said.slice(0, 20);
  if (y) return y > 0 ? "down" : "up";
  return x ? (x > 0 ? "right" : "left") : "";
}

/** @param {Action} action */
const keysOf = (action) => String(Array.isArray(action.keys) ? action.keys.join("+") : (action.text ?? "")).slice(0, WORDS_MAX);

/** Keys that are down meanwhile. @param {Action} action */
function held(action) {
  const keys = keysOf(action);
  return keys && `with ${keys} held`;
}

/** @param {Action} action */
const lasting = ({ duration }) => (Number.isFinite(duration) ? `for ${duration} s` : "");

/** @param {any} text */
function quoted(text) {
  const whole = typeof text === "string" ? text : "";
  return `“${whole.length > WORDS_MAX ? `${whole.slice(0, WORDS_MAX)}…` : whole}”`;
}

/** @param {string[]} words */
const joined = (words) => words.filter(Boolean).join(" ");
