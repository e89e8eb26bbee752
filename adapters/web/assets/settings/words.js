/** Times and sizes as people say them. Pure. */

import { now as daemonTime } from "../wire/clock.js";

/** Coder's clients read the year 1 as no time at all, and 9999 as for ever. @param {string} time */
export function when(time, now = daemonTime()) {
  const at = new Date(time), seconds = (now - at.getTime()) / 1000;
  if (!time || at.getFullYear() < 1970) return "never";
  if (at.getFullYear() > 9000) return "no end";
  if (Math.abs(seconds) < 60) return "just now";
  const [number, unit] = inUnits(Math.abs(seconds));
  if (unit === "day" && number > 60) return at.toLocaleDateString(undefined, { year: "numeric", month: "short", day: "numeric" });
  const words = `${number} ${unit}${number === 1 ? "" : "s"}`;
  return seconds > 0 ? `${words} ago` : `in ${words}`;
}

/** @param {number} seconds @returns {[number, string]} */
function inUnits(seconds) {
  if (seconds < 3600) return [Math.round(seconds / 60), "minute"];
  if (seconds < 2 * 86400) return [Math.round(seconds / 3600), "hour"];
  return [Math.round(seconds / 86400), "day"];
}

/** Return a length of time in words: "90 seconds", "5 minutes". @param {number} seconds */
export function lengthOf(seconds) {
  if (seconds % 3600 === 0) return counted(seconds / 3600, "hour");
  return seconds % 60 === 0 ? counted(seconds / 60, "minute") : counted(seconds, "second");
}

/** @param {number} count @param {string} one @param {string} [many] */
export function counted(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/** Return the bytes of a text. @param {string} text */
export function bytesOf(text) {
  return new TextEncoder().encode(text).length;
}
