/** Going through the list by keys. */

import { go, route } from "../routes.js";
import { addressOf } from "../state/filters.js";
import { signal } from "../ui.js";
import { choose, filters, focused, rows } from "./look.js";

/** A row that is to be brought into view; with `focus`, the keyboard goes there, too. */
export const moved = signal(/** @type {{key: string, focus: boolean} | null} */ (null));

/** Return the rows that are chats. */
const stops = () => rows.peek().filter((row) => row.kind !== "head");

/** Give a row the focus. @param {string} key */
export function focusRow(key) {
  focused.value = key;
  moved.value = { key, focus: true };
}

/**
 * Move the focus by so many rows; with `choosing` both rows are chosen.
 * @param {number} by
 * @param {boolean} [choosing]
 */
export function moveFocus(by, choosing = false) {
  const all = stops();
  const here = all.findIndex((row) => row.key === (focused.peek() ?? route.peek().chat));
  const next = all[Math.min(all.length - 1, Math.max(0, here < 0 ? 0 : here + by))];
  if (!next) return;
  if (choosing) for (const row of [all[here], next]) if (row?.kind === "root") choose(row.key, true);
  focusRow(next.key);
}

/** Open the chat before or behind the one that is open. @param {1 | -1} by */
export function openNext(by) {
  const all = stops();
  const here = all.findIndex((row) => row.key === route.peek().chat);
  const next = all[here < 0 ? (by > 0 ? 0 : all.length - 1) : here + by];
  if (!next) return;
  moved.value = { key: next.key, focus: false };
  go(`/c/${next.key}${addressOf(filters.peek())}`);
}

/** Open the next chat that needs a person, behind the open one; behind the last comes the first. */
export function openNeedy() {
  const needy = rows.peek().filter((row) => row.kind === "root" && row.section === "needs");
  const here = needy.findIndex((row) => row.key === route.peek().chat);
  const next = needy[(here + 1) % needy.length];
  if (!next) return false;
  moved.value = { key: next.key, focus: false };
  go(`/c/${next.key}${addressOf(filters.peek())}`);
  return true;
}

/**
 * Return the root behind one that leaves the list, or before it.
 * @param {string} id
 * @param {readonly string[]} leaving
 */
export function neighbourOf(id, leaving) {
  const roots = rows.peek().filter((row) => row.kind === "root");
  const here = roots.findIndex(
    (row) => row.key === id || (row.chat.children ?? []).some((child) => child.id === id),
  );
  const stays = (/** @type {{key: string}} */ row) => !leaving.includes(row.key);
  return (roots.slice(here + 1).find(stays) ?? roots.slice(0, Math.max(0, here)).reverse().find(stays))?.key;
}
