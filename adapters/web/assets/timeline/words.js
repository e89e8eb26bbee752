// Times, sizes and counts in words. Pure.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/**
 * Return a span of time: "0.8 s", "48 s", "2 min 10 s", "1 h 5 min".
 * @param {number} ms
 */
export function duration(ms) {
  if (ms < 9.95 * SECOND) return `${(Math.max(ms, 0) / SECOND).toFixed(1)} s`;
  if (ms < MINUTE) return `${Math.round(ms / SECOND)} s`;
  if (ms < HOUR) return pair(Math.floor(ms / MINUTE), "min", Math.floor((ms % MINUTE) / SECOND), "s");
  return pair(Math.floor(ms / HOUR), "h", Math.floor((ms % HOUR) / MINUTE), "min");
}

/**
 * Return a span that is still growing, in whole seconds.
 * @param {number} ms
 */
export const elapsed = (ms) =>
  ms < MINUTE ? `${Math.floor(Math.max(ms, 0) / SECOND)} s` : duration(ms);

/**
 * Return a time that runs out: "4:32", "0:07".
 * @param {number} ms
 */
export function countdown(ms) {
  const seconds = Math.max(0, Math.ceil(ms / SECOND));
  if (seconds >= 3600) return duration(seconds * SECOND);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** @param {number} a @param {string} of @param {number} b @param {string} than */
const pair = (a, of, b, than) => (b ? `${a} ${of} ${b} ${than}` : `${a} ${of}`);

/** @param {number} value */
export const grouped = (value) => value.toLocaleString("en");

/**
 * Return "1 file", "3 files".
 * @param {number} value
 * @param {string} one
 * @param {string} [many]
 */
export const counted = (value, one, many = `${one}s`) =>
  `${grouped(value)} ${value === 1 ? one : many}`;

/** @param {number} value in bytes */
export function size(value) {
  if (value < 1000) return `${value} bytes`;
  if (value < 1e6) return `${Math.round(value / 1024)} KB`;
  return `${(value / 1024 / 1024).toFixed(1)} MB`;
}

/** @param {number} tokens */
export const tokens = (tokens) =>
  tokens < 1000 ? String(tokens) : tokens < 1e6 ? `${Math.round(tokens / 1000)} k` : `${(tokens / 1e6).toFixed(1)} M`;

/** @param {string} path */
export const basename = (path) => path.replace(/\/+$/, "").split("/").pop() || path;

/**
 * Return the first line that says anything.
 * @param {string} text
 * @param {number} [max] characters
 */
export function firstLine(text, max = 200) {
  const line = text.slice(0, 4000).split("\n").find((each) => each.trim()) ?? "";
  return shortened(line.trim(), max);
}

/** @param {string} text @param {number} max characters */
export const shortened = (text, max) => (text.length > max ? `${text.slice(0, max - 1)}…` : text);

/**
 * Return "ledger.py, queue.py, transitions.py and 4 more".
 * @param {readonly string[]} names
 * @param {number} [shown]
 */
export function listed(names, shown = 3) {
  const some = names.slice(0, shown).join(", ");
  return names.length > shown ? `${some} and ${names.length - shown} more` : some;
}

/** @param {number} ms since the epoch */
export const clock = (ms) =>
  new Date(ms).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });

/** @param {string} text */
export const lineCount = (text) => (text ? text.split("\n").length - (text.endsWith("\n") ? 1 : 0) : 0);

/** @param {string} text a name such as list_issues or listIssues */
export const humanised = (text) =>
  text.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[_-]+/g, " ").trim().toLowerCase();
