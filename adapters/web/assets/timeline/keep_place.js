// The place in a chat that is kept over a reload, and the one that the address names.

import { route } from "../routes.js";
import { effect } from "../ui.js";

const KEY = "promptcorner.place.";
const PAUSE_MS = 250; // after the last movement

/**
 * Open the chat where its address or the last visit says, and remember from then on.
 * @param {{conversation: any, place: import("./anchor.js").Place, items: any}} what
 */
export function keepPlace({ conversation, place, items }) {
  const key = KEY + conversation.id;
  const kept = read(key);
  let timer = 0;
  let asked = 0;
  const write = () => keep(key, place, items.peek());
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(write, PAUSE_MS);
  };
  const stop = effect(() => {
    const { chat, message } = route.value;
    if (!message || chat !== conversation.id || message === asked) return;
    asked = message;
    queueMicrotask(() => showMessage({ conversation, place, items }, message));
  });
  if (kept && !asked) showMessage({ conversation, place, items }, kept.message, kept);
  document.addEventListener("scroll", later, { capture: true, passive: true });
  addEventListener("pagehide", write);
  return () => {
    write();
    stop();
    clearTimeout(timer);
    document.removeEventListener("scroll", later, { capture: true });
    removeEventListener("pagehide", write);
  };
}

/** What each place was asked last to show: who asks for another message does not wait for the first. @type {WeakMap<object, number>} */
const wanted = new WeakMap();

/**
 * Show a message, which is loaded first if it is not there.
 * @param {{conversation: any, place: import("./anchor.js").Place, items: any}} what
 * @param {number} message
 * @param {{suffix: string, offset: number}} [exactly]
 */
export async function showMessage({ conversation, place, items }, message, exactly) {
  const there = () => items.peek().filter((/** @type {any} */ item) => item.message === message);
  wanted.set(place, message);
  if (!there().length && !(await conversation.openAt(message).catch(() => false))) return;
  if (wanted.get(place) !== message) return;
  const found = there();
  const item = exactly ? found.find((/** @type {any} */ each) => each.key.endsWith(exactly.suffix)) ?? found[0] : found[0];
  if (!item) return;
  place.take(items.peek());
  place.toRow(item.key, exactly?.offset ?? 60);
  if (!exactly) requestAnimationFrame(() => flash(item.key));
}

/** Show for a moment which row is meant, and put the focus there. @param {string} key */
export function flash(key) {
  const row = document.querySelector(`.tl-row[data-key="${CSS.escape(key)}"]`);
  const inner = row?.querySelector("article, section, details > summary, form");
  if (inner instanceof HTMLElement) {
    if (inner.tabIndex < 0) inner.tabIndex = -1;
    inner.focus({ preventScroll: true });
  }
  row?.classList.add("flash");
  setTimeout(() => row?.classList.remove("flash"), 1200);
}

/** @param {string} key @returns {{message: number, suffix: string, offset: number} | null} */
function read(key) {
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? "null");
    return kept && Number.isFinite(kept.message) ? kept : null;
  } catch {
    return null;
  }
}

/** @param {string} key @param {import("./anchor.js").Place} place @param {readonly any[]} items */
function keep(key, place, items) {
  const { anchor, isAtEnd } = place;
  const item = anchor && items[place.placeOf(anchor.key)];
  try {
    if (isAtEnd || !anchor || !item?.message) sessionStorage.removeItem(key);
    else {
      const suffix = /\.[^.]*$/.exec(item.key)?.[0] ?? "";
      sessionStorage.setItem(key, JSON.stringify({ message: item.message, suffix, offset: anchor.offset }));
    }
  } catch {
    // a browser that keeps nothing: the chat is opened at its end
  }
}
