// Moving through a chat by keys: messages of one's own, its ends, and what needs somebody.

import { flash } from "./keep_place.js";

/** @typedef {import("./acts.js").Desk} Desk */

const OLDEST = 1; // an id that no message is older than
const MARGIN = 16; // pixels above a row that is jumped to
const NEEDS = "[data-approval], [data-question=open], .ending.bad";

/** @param {Desk} desk @returns {import("../commands.js").Command[]} */
export function navigationOf(desk) {
  const group = "Conversation";
  const shown = { group, hidden: false };
  return [
    { id: "message.next", title: "Next message of mine", ...shown, run: (from) => step(desk, 1, from?.message) },
    { id: "message.previous", title: "Previous message of mine", ...shown, run: (from) => step(desk, -1, from?.message) },
    { id: "message.first", title: "Start of the chat", ...shown, run: () => first(desk) },
    { id: "message.last", title: "End of the chat", ...shown, run: () => desk.place.toEnd() },
    { id: "next.needsMe", title: "Next thing that needs me", ...shown, run: () => needs(desk, 1) },
    { id: "previous.needsMe", title: "Previous thing that needs me", ...shown, run: () => needs(desk, -1) },
    { id: "card.toggle", title: "Open or close the card in view", ...shown, run: () => toggle(desk) },
  ];
}

/** @param {Desk} desk @param {1 | -1} by @param {number} [message] the one that is gone on from; else the place in view */
async function step(desk, by, message) {
  const found = neighbour(desk, by, message);
  if (found) return jump(desk, found);
  if (by > 0) return desk.place.toEnd();
  const { state } = desk.conversation;
  if (state.peek().older === "end") return jump(desk, desk.items.peek()[0]);
  await desk.conversation.loadOlder().catch(() => {});
  const older = neighbour(desk, by, message);
  return older && jump(desk, older);
}

/** The next message of the user's before or behind a message, or the place in view. @param {Desk} desk @param {1 | -1} by @param {number} [message] */
function neighbour({ place, items }, by, message) {
  const all = items.peek();
  const from = message ? all.findIndex((/** @type {any} */ item) => isMine(item) && item.said.id === message) : -1;
  if (from >= 0) return by > 0 ? all.slice(from + 1).find(isMine) : all.slice(0, from).findLast(isMine);
  const { anchor } = place;
  const at = anchor && !place.isAtEnd ? place.placeOf(anchor.key) : place.view.first;
  const isThere = anchor && !place.isAtEnd && Math.abs(anchor.offset - MARGIN) < 4;
  for (let i = at + (by > 0 || isThere ? by : 0); i >= 0 && i < all.length; i += by) {
    if (isMine(all[i])) return all[i];
  }
  return undefined;
}

/** @param {any} item */
const isMine = (item) => item.kind === "me";

/** @param {Desk} desk @param {any} item */
function jump({ place, items }, item) {
  if (!item) return;
  place.take(items.peek());
  place.toRow(item.key, MARGIN);
  requestAnimationFrame(() => flash(item.key));
}

/** The oldest messages are read at once, without all that lie between. @param {Desk} desk */
async function first(desk) {
  const { conversation } = desk;
  if (conversation.state.peek().older !== "end") await conversation.openAt(OLDEST).catch(() => {});
  jump(desk, desk.items.peek()[0]);
}

/** @param {Desk} desk @param {1 | -1} by */
function needs({ box, place }, by) {
  const all = /** @type {HTMLElement[]} */ ([...box.querySelectorAll(NEEDS)]);
  if (!all.length) return;
  const at = all.findIndex((each) => each.contains(document.activeElement));
  const isAlready = at >= 0 && by > 0 && all.length === 1;
  const next = all[(at + by + all.length) % all.length];
  if (isAlready) return void (/** @type {HTMLElement | null} */ (next.querySelector(".deny"))?.click());
  next.scrollIntoView({ block: "nearest" });
  next.focus({ preventScroll: true });
  void place;
}

/** Open or close the card with the focus, or else the last one in view. @param {Desk} desk */
function toggle({ box }) {
  const active = document.activeElement?.closest?.("details, .fold");
  const found = active && box.contains(active) ? active : lastInView(box);
  const knob = found?.matches("details") ? found.querySelector("summary") : found;
  if (knob instanceof HTMLElement) {
    knob.focus({ preventScroll: true });
    knob.click();
  }
}

/** @param {HTMLElement} box */
function lastInView(box) {
  const { top, bottom } = box.getBoundingClientRect();
  return [...box.querySelectorAll(".tl-row > details, .tl-row > .fold")].findLast((each) => {
    const place = each.getBoundingClientRect();
    return place.top >= top && place.top < bottom - 20;
  });
}
