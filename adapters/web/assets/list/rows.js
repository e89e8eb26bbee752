/** The rows of the list in their window: built near the view, remembered as gaps elsewhere. */

import { chats } from "../chats_store.js";
import { route } from "../routes.js";
import { icon } from "../shared/icons.js";
import { piecesOf, placesOf } from "../state/slice.js";
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../ui.js";
import { chosen, focused, foldSection, rows, unfold } from "./look.js";
import { openChatMenu } from "./menu.js";
import { moved } from "./moving.js";
import { pointing } from "./pointing.js";
import { ChatRow, Head } from "./row.js";
import { onRowKey } from "./row_keys.js";

/** @typedef {import("../state/rows.js").Row} Row */

const WHOLE_MAX = 200; // rows that are simply all built
const MARGIN = 600; // pixels above and below the view that are built, too
const GUESSED = { head: 30, root: 46, kid: 26 };

export function Rows() {
  const scroller = useRef(/** @type {HTMLDivElement | null} */ (null));
  const all = rows.value;
  const [heights, measure] = useHeights(scroller);
  const [view, look] = useView(scroller);
  const places = useMemo(
    () =>
      placesOf(
        all.map((row) => row.kind),
        heights,
      ),
    [all, heights],
  );
  const pieces =
    all.length <= WHOLE_MAX
      ? all.map((_, index) => ({ index }))
      : piecesOf(places, view.top - MARGIN, view.bottom + MARGIN, keptRows(all, places, view.top));
  useEffect(measure); // after the frame: to ask before it would make the browser lay out twice
  useKeptFocus(scroller, all);
  useMore(places.total - view.bottom);
  useShown(scroller, all, places);
  useEffect(() => pointing(/** @type {HTMLDivElement} */ (scroller.current)), []);
  const tab = tabRow(all);
  return html`<div class="list" ref=${scroller} onScroll=${look} onKeyDown=${onRowKey} onFocusIn=${onFocus}>
    ${pieces.map((piece) => ("gap" in piece ? html`<div key=${`gap:${piece.before}`} class="gap"
      style=${{ height: `${piece.gap}px` }}></div>` : one(all[piece.index], tab)))}
    <${Foot} />
  </div>`;
}

/** @param {Row} row @param {string | null} tab the row that takes the tab key */
function one(row, tab) {
  if (row.kind === "head")
    return html`<${Head} key=${row.key} title=${row.title} count=${row.count} folded=${row.folded}
      section=${row.section} onFold=${foldSection} />`;
  const kid = row.kind === "kid";
  return html`<${ChatRow} key=${row.key} chat=${row.chat} kid=${kid} last=${kid && row.last}
    unfolded=${kid ? null : row.unfolded}
    open=${route.value.chats.includes(row.key)} isChosen=${chosen.value.has(row.key)}
      isChoosing=${chosen.value.size > 0} tab=${row.key === tab} onFold=${unfold} onMenu=${openChatMenu} />`;
}

/**
 * Return the row that the tab key comes to: the one that had the focus, the open chat, the first.
 * @param {Row[]} all
 */
function tabRow(all) {
  const there = (/** @type {string | null | undefined} */ key) =>
    key && all.some((row) => row.key === key) ? key : null;
  return (
    there(focused.value) ?? there(route.value.chat) ?? all.find((row) => row.kind !== "head")?.key ?? null
  );
}

/**
 * Return rows that stay built out of view: the focused one, and the heading that sticks.
 * @param {Row[]} all
 * @param {import("../state/slice.js").Places} places
 * @param {number} top
 */
function keptRows(all, places, top) {
  const kept = [all.findIndex((row) => row.key === focused.value)];
  let index = all.length ? Math.min(all.length - 1, firstAt(places, top)) : -1;
  while (index > 0 && all[index].kind !== "head") index -= 1;
  return [...kept, index];
}

/** @param {import("../state/slice.js").Places} places @param {number} top */
function firstAt(places, top) {
  const found = places.at.findIndex((y) => y > top);
  return found < 0 ? places.at.length - 2 : Math.max(0, found - 1);
}

/** @param {any} event */
function onFocus(event) {
  const key = event.target.closest("[data-chat]")?.dataset.chat;
  if (key) focused.value = key;
}

/** What stands between top and bottom of the list now. @param {{current: HTMLDivElement | null}} scroller */
function useView(scroller) {
  const [view, set] = useState({ top: 0, bottom: 1000 });
  const look = useMemo(() => {
    let asked = 0;
    return () => {
      asked ||= requestAnimationFrame(() => {
        asked = 0;
        const at = scroller.current;
        if (at) set((old) => stepped(old, at.scrollTop, at.clientHeight));
      });
    };
  }, []);
  useEffect(() => {
    const watcher = new ResizeObserver(look);
    watcher.observe(/** @type {HTMLDivElement} */ (scroller.current));
    return () => watcher.disconnect();
  }, []);
  return /** @type {[typeof view, typeof look]} */ ([view, look]);
}

/**
 * Keep a view until it has moved by a good part of the margin: most scrolling builds nothing.
 * @param {{top: number, bottom: number}} old
 * @param {number} top
 * @param {number} height
 */
function stepped(old, top, height) {
  const near = Math.abs(top - old.top) < MARGIN / 3 && Math.abs(top + height - old.bottom) < MARGIN / 3;
  return near ? old : { top, bottom: top + height };
}

/** Heights of the kinds of rows, as they really are. @param {{current: HTMLDivElement | null}} scroller */
function useHeights(scroller) {
  const [heights, set] = useState(/** @type {Record<string, number>} */ (GUESSED));
  const measure = () => {
    const of = (/** @type {string} */ selector) =>
      scroller.current?.querySelector(selector)?.getBoundingClientRect().height;
    const found = { head: of("h2"), root: of(".row:not(.below)"), kid: of(".row.below") };
    const next = Object.fromEntries(
      Object.entries(heights).map(([kind, old]) => [
        kind,
        found[/** @type {keyof typeof found} */ (kind)] || old,
      ]),
    );
    if (Object.keys(next).some((kind) => Math.abs(next[kind] - heights[kind]) > 0.01)) set(next);
  };
  return /** @type {[typeof heights, () => void]} */ ([heights, measure]);
}

/** Read the next page two screens before it is seen. @param {number} left pixels below the view */
function useMore(left) {
  const { more } = chats.list.value;
  useEffect(() => {
    if (more === "yes" && left < 2 * window.innerHeight) void chats.more();
  }, [more, left < 2 * window.innerHeight, chats.list.value.roots.length]);
}

/**
 * Bring a row into view when the keyboard has moved to it, and give it the focus.
 * @param {{current: HTMLDivElement | null}} scroller
 * @param {Row[]} all
 * @param {import("../state/slice.js").Places} places
 */
function useShown(scroller, all, places) {
  const wish = moved.value;
  useLayoutEffect(() => {
    const at = scroller.current;
    const index = wish ? all.findIndex((row) => row.key === wish.key) : -1;
    if (!wish || !at || index < 0) return;
    const [top, bottom] = [places.at[index] - headHeight(at), places.at[index + 1]];
    if (top < at.scrollTop) at.scrollTop = top;
    else if (bottom > at.scrollTop + at.clientHeight) at.scrollTop = bottom - at.clientHeight;
    if (wish.focus)
      /** @type {HTMLElement | null} */ (at.querySelector(`[data-chat="${CSS.escape(wish.key)}"] a`))?.focus({
        preventScroll: true,
      });
  }, [wish]);
}

/**
 * Keep the focus when its row moves, and give it to the next row when it goes.
 * @param {{current: HTMLDivElement | null}} scroller
 * @param {Row[]} all
 */
function useKeptFocus(scroller, all) {
  const place = useRef(0);
  const key = rowWithFocus(scroller.current);
  const at = all.findIndex((row) => row.key === key);
  if (at >= 0) place.current = at;
  useLayoutEffect(() => {
    if (!key || document.activeElement !== document.body) return;
    const there = all.some((row) => row.key === key);
    const next = there ? key : (all.slice(place.current).find((row) => row.kind !== "head")?.key ?? all.at(-1)?.key);
    if (next) linkOf(scroller.current, next)?.focus({ preventScroll: true });
  });
}

/** @param {Element | null} list */
function rowWithFocus(list) {
  const row = list?.contains(document.activeElement) && document.activeElement?.closest("[data-chat]");
  return row instanceof HTMLElement ? row.dataset.chat : undefined;
}

/** @param {Element | null} list @param {string} key @returns {HTMLElement | null | undefined} */
const linkOf = (list, key) => list?.querySelector(`[data-chat="${CSS.escape(key)}"] a`);

/** @param {Element} at */
const headHeight = (at) => at.querySelector("h2")?.clientHeight ?? 0;

/** What stands below the last row: more that comes, or what went wrong. */
function Foot() {
  const { more } = chats.list.value;
  if (more === "loading") return html`<p class="end" aria-live="polite">Reading more…</p>`;
  if (more === "failed")
    return html`<p class="end err">More could not be read. <button class="btn"
      onClick=${() => chats.more()}>${icon("retry")}Try again</button></p>`;
  return null;
}
