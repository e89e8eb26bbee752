// Pages of a history that were asked for, and the holes between what is loaded. Pure.
//
// `next` is a state that is being made: these functions set its fields, and change nothing that
// was there before.

import { merged } from "./messages.js";

/**
 * @typedef {import("./chat.js").ChatState} ChatState
 * @typedef {import("./messages.js").Hole} Hole
 *
 * `before` or `after`: the id that the page was asked for with; neither: the newest messages.
 * `beside`: it is the first page of a place that lies away from what is loaded.
 * @typedef {{messages: {id: number}[] & any[], has_more: boolean, before?: number, after?: number,
 *   beside?: boolean, history_version?: number}} Page
 */

/**
 * Take in a page. One that no longer fits (its place is not there any more) changes nothing.
 * @param {ChatState} next
 * @param {Page} page
 */
export function takePage(next, page) {
  const hole = holeAt(next, page);
  const first = next.messages[0];
  if (page.beside) takeBeside(next, page);
  else if (hole) fillHole(next, hole, page);
  else if (page.after !== undefined) return;
  else if (page.before === undefined) takeNewest(next, page);
  else if (!first || page.before === first.id) {
    next.messages = merged(next.messages, page.messages);
    next.older = page.has_more ? "more" : "end";
  }
}

/**
 * Say of a page what becomes of it: it is loading, or could not be had.
 * @param {ChatState} next
 * @param {{before?: number, after?: number, state: "loading" | "failed" | "more"}} place
 */
export function markPlace(next, place) {
  const hole = holeAt(next, place);
  if (!hole) next.older = next.older === "end" ? "end" : place.state;
  else next.holes = next.holes.map((one) => (one === hole ? { ...one, state: place.state } : one));
}

/**
 * Return the hole at whose edge a page lies.
 * @param {ChatState} state
 * @param {{before?: number, after?: number}} page
 */
function holeAt(state, { after, before }) {
  if (after !== undefined) return state.holes.find((hole) => hole.after === after);
  return state.holes.find((hole) => hole.before === before);
}

/** @param {ChatState} next @param {Page} page */
function takeNewest(next, page) {
  if (!next.messages.length) {
    next.older = page.has_more ? "more" : "end";
    next.history = Math.max(next.history, page.history_version ?? 0);
  }
  next.messages = merged(next.messages, page.messages);
  next.lastId = Math.max(next.lastId, next.messages.at(-1)?.id ?? 0);
}

/** @param {ChatState} next @param {Hole} hole @param {Page} page */
function fillHole(next, hole, page) {
  const ids = page.messages.map((message) => message.id);
  const left = page.has_more ? narrowed(hole, page, ids) : [];
  next.messages = merged(next.messages, page.messages);
  next.holes = next.holes.flatMap((one) => (one === hole ? left : [one]));
}

/**
 * Return what is left of a hole after a page of it.
 * @param {Hole} hole
 * @param {Page} page
 * @param {number[]} ids
 * @returns {Hole[]}
 */
function narrowed(hole, page, ids) {
  const inside = ids.filter((id) => id > hole.after && id < hole.before);
  if (inside.length < ids.length || !inside.length) return [];
  if (page.after === undefined) return [{ ...hole, before: Math.min(...inside), state: "more" }];
  return [{ ...hole, after: Math.max(...inside), state: "more" }];
}

/**
 * Take in messages from before what is loaded, which do not reach up to it: a hole is between.
 * `has_more` says whether there are older ones still.
 * @param {ChatState} next
 * @param {Page} page
 */
function takeBeside(next, page) {
  const first = next.messages[0];
  const newest = page.messages.reduce((most, message) => Math.max(most, message.id), 0);
  if (!newest) return;
  if (first && newest < first.id) {
    next.holes = [{ after: newest, before: first.id, state: "more" }, ...next.holes];
  }
  next.messages = merged(next.messages, page.messages);
  next.older = page.has_more ? "more" : "end";
}
