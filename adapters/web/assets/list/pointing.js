/** Right click and long press on rows, and dragging of pinned rows, by mouse and by finger. */

import { moveTo } from "./acts.js";
import { openChatMenu } from "./menu.js";

const LONG_PRESS = 500; // milliseconds
const STILL = 8; // pixels that a finger may move within a long press
const DRAG_FROM = 5; // pixels that a pointer moves before it drags
const EDGE = 56; // pixels from the top or the end of the list within which a drag scrolls it
const PULL = 0.2; // of what the pointer is within that edge, in each frame

/** Listen to pointers in the list. @param {HTMLElement} list @returns {() => void} */
export function pointing(list) {
  const stop = new AbortController();
  const { signal } = stop;
  list.addEventListener("contextmenu", onContextMenu, { signal });
  list.addEventListener(
    "pointerdown",
    (event) => (event.pointerType === "mouse" ? startDrag(event) : startPress(event)),
    { signal },
  );
  return () => stop.abort();
}

/** @param {EventTarget | null} target */
const rowOf = (target) =>
  /** @type {HTMLElement | null} */ (target instanceof Element ? target.closest("[data-chat]") : null);

/** @param {MouseEvent} event */
function onContextMenu(event) {
  const row = rowOf(event.target);
  if (!row || event.shiftKey) return;
  event.preventDefault();
  openChatMenu(
    /** @type {string} */ (row.dataset.chat),
    event.clientX || event.clientY ? { x: event.clientX, y: event.clientY } : row,
  );
}

/**
 * Open the menu of a row on which a finger rests. A pinned row is lifted instead: it follows the finger, and its
 * menu opens if the finger leaves it where it was.
 * @param {PointerEvent} down
 */
function startPress(down) {
  const row = rowOf(down.target);
  if (!row) return;
  const stop = new AbortController();
  const { signal } = stop;
  const rested = () => {
    stop.abort();
    if (row.classList.contains("pinned")) return lift(row, down);
    swallowClick();
    openChatMenu(/** @type {string} */ (row.dataset.chat), row);
  };
  const timer = setTimeout(rested, LONG_PRESS);
  signal.addEventListener("abort", () => clearTimeout(timer));
  const end = () => stop.abort();
  for (const name of ["pointerup", "pointercancel", "scroll"])
    document.addEventListener(name, end, { signal, capture: true });
  // Some browsers tell of a long press themselves, by the event of a context menu.
  row.addEventListener("contextmenu", (event) => (row.classList.contains("pinned") ? halt(event, rested) : end()), { signal });
  document.addEventListener(
    "pointermove",
    (event) => Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) > STILL && end(),
    { signal },
  );
}

/** Take an event away from the browser and from all others. @param {Event} event @param {() => void} [act] */
function halt(event, act) {
  event.preventDefault();
  event.stopPropagation();
  act?.();
}

/** Let a pinned row follow the finger that rested on it. @param {HTMLElement} row @param {PointerEvent} down */
function lift(row, down) {
  const stop = new AbortController();
  const { signal } = stop;
  let place = 0;
  row.classList.add("dragged");
  row.dataset.lifted = "";
  row.addEventListener("contextmenu", halt, { signal });
  row.addEventListener("touchmove", halt, { signal, passive: false }); // the list follows no finger
  const scroll = scrolling(row, signal, (y) => (place = showPlace(row, y)));
  document.addEventListener(
    "pointermove",
    (event) => {
      if (!place && Math.abs(event.clientY - down.clientY) < DRAG_FROM) return;
      place = showPlace(row, event.clientY);
      scroll(event.clientY);
    },
    { signal },
  );
  const end = (/** @type {Event} */ event) => {
    stop.abort();
    clearPlace(row);
    swallowClick();
    if (event.type !== "pointerup") return;
    const chat = /** @type {string} */ (row.dataset.chat);
    if (place) void moveTo(chat, place);
    else openChatMenu(chat, row);
  };
  document.addEventListener("pointerup", end, { signal });
  document.addEventListener("pointercancel", end, { signal });
}

/**
 * Take away the click that ends a long press or a drag, however late it comes: it opens nothing, and the focus stays
 * in the menu that is open by then. The next press ends this.
 */
function swallowClick() {
  const stop = new AbortController();
  const swallow = (/** @type {Event} */ event) => {
    halt(event);
    stop.abort();
  };
  document.addEventListener("mousedown", halt, { capture: true, signal: stop.signal });
  document.addEventListener("click", swallow, { capture: true, signal: stop.signal });
  for (const name of ["pointerdown", "keydown"])
    document.addEventListener(name, () => stop.abort(), { capture: true, signal: stop.signal });
}

/** Drag a pinned row among the pinned ones. @param {PointerEvent} down */
function startDrag(down) {
  const row = rowOf(down.target);
  if (!row?.classList.contains("pinned") || down.button !== 0) return;
  const stop = new AbortController();
  const { signal } = stop;
  let place = 0;
  const scroll = scrolling(row, signal, (y) => (place = showPlace(row, y)));
  document.addEventListener(
    "pointermove",
    (event) => {
      if (!place && Math.abs(event.clientY - down.clientY) < DRAG_FROM) return;
      place = showPlace(row, event.clientY);
      scroll(event.clientY);
    },
    { signal },
  );
  const end = (/** @type {Event} */ event) => {
    stop.abort();
    clearPlace(row);
    if (!place) return;
    swallowClick();
    if (event.type === "pointerup") void moveTo(/** @type {string} */ (row.dataset.chat), place);
  };
  document.addEventListener("pointerup", end, { signal });
  document.addEventListener("pointercancel", end, { signal });
  document.addEventListener("keydown", (event) => event.key === "Escape" && end(event), {
    signal,
    capture: true,
  });
}

/**
 * Scroll the list as long as a dragged row is held near its top or its end.
 * @param {HTMLElement} row @param {AbortSignal} signal
 * @param {(y: number) => void} moved the list has moved below the pointer
 * @returns {(y: number) => void} is told where the pointer is
 */
function scrolling(row, signal, moved) {
  const list = /** @type {HTMLElement} */ (row.closest(".list"));
  let pointer = 0, frame = 0;
  signal.addEventListener("abort", () => cancelAnimationFrame(frame));
  const step = () => {
    frame = 0;
    const { top, bottom } = list.getBoundingClientRect();
    const before = list.scrollTop;
    list.scrollTop += PULL * (Math.max(0, pointer - (bottom - EDGE)) - Math.max(0, top + EDGE - pointer));
    if (list.scrollTop === before) return;
    moved(pointer);
    frame = requestAnimationFrame(step);
  };
  return (y) => {
    pointer = y;
    frame ||= requestAnimationFrame(step);
  };
}

/** @param {HTMLElement} row */
const pinnedRows = (row) =>
  /** @type {HTMLElement[]} */ ([...(row.parentElement?.querySelectorAll(".row.pinned") ?? [])]);

/**
 * Show where the row would go; return that place, counted from 1.
 * @param {HTMLElement} row
 * @param {number} y
 */
function showPlace(row, y) {
  const others = pinnedRows(row).filter((one) => one !== row);
  const above = others.filter((one) => middle(one) < y).length;
  clearPlace(row);
  row.classList.add("dragged");
  if (above < others.length) others[above].classList.add("drop-before");
  else others.at(-1)?.classList.add("drop-after");
  return above + 1;
}

/** @param {HTMLElement} row */
const middle = (row) => row.getBoundingClientRect().top + row.clientHeight / 2;

/** @param {HTMLElement} row */
function clearPlace(row) {
  delete row.dataset.lifted;
  for (const one of [row, ...pinnedRows(row)]) one.classList.remove("dragged", "drop-before", "drop-after");
}
