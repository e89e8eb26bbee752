// The place in a chat: which rows are built, and that the text under the eye stands still.
//
// At the end it stays at the end; one pixel of the user's scrolling frees it. Else the first row in
// view is the anchor: whatever changes its height above or around it, the row stays where it is.
// Only rows within some screens of the view are built; the others are two gaps, high as they were
// measured or guessed. All corrections are made between layout and painting, so nothing is seen.

import { Heights } from "./heights.js";

const NEAR = 3; // screens on each side that are built
const ENOUGH = 1; // screens that have to be built, before others are
const FAR = 6; // screens; what is farther away is taken down again
const END = 1.5; // pixels from the end that count as the end
const OPENING_MS = 1000; // while the views around take their places, WebKit moves the end of a chat a little
const OPENING_PIXELS = 200;
const FIRST = 12; // rows that are built before anything is known
const PRINTED_MAX = 2000; // rows, the newest; the others are in the page without a script

/** @typedef {import("./items.js").Item} Item */
/** @typedef {{from: number, to: number}} Range */

export class Place {
  /** @type {HTMLElement | null} */
  #box = null;
  /** @type {readonly Item[]} */
  #items = [];
  /** @type {Map<string, number>} */
  #places = new Map();
  #heights = new Heights();
  #isAtEnd = true;
  #isWhole = false; // whether everything is built, to be printed
  #expected = -1;
  #began = 0; // milliseconds: when the view was there
  /** @type {{key: string, offset: number} | null} */
  #anchor = null;
  #observer = /** @type {ResizeObserver | null} */ (null);
  /** @type {Range} */
  range = { from: 0, to: 0 };

  /** @param {{onRange: (range: Range) => void, onMove: (isAtEnd: boolean) => void}} told */
  constructor(told) {
    this.told = told;
  }

  get isAtEnd() {
    return this.#isAtEnd;
  }

  /** The row at the top of the view, and how far from the top it stands. */
  get anchor() {
    return this.#anchor;
  }

  /** The first and last place in view. */
  get view() {
    const top = (this.#box?.scrollTop ?? 0) - this.#headHeight;
    return { first: this.#heights.at(top), last: this.#heights.at(top + (this.#box?.clientHeight ?? 0)) };
  }

  /** @param {HTMLElement} box the element that scrolls */
  attach(box) {
    this.#box = box;
    this.#began = performance.now();
    this.#observer = new ResizeObserver(() => this.settle());
    this.#observer.observe(box);
    box.addEventListener("scroll", this.#onScroll, { passive: true });
    box.addEventListener("wheel", this.#onWheel, { passive: true });
  }

  detach() {
    this.#observer?.disconnect();
    this.#box?.removeEventListener("scroll", this.#onScroll);
    this.#box?.removeEventListener("wheel", this.#onWheel);
    this.#box = null;
  }

  /**
   * Take the rows there are now, and return which of them are to be built.
   * @param {readonly Item[]} items
   */
  take(items) {
    if (items !== this.#items) {
      const wasFirst = this.#items[this.range.from]?.key;
      this.#items = items;
      this.#places = new Map(items.map((item, place) => [item.key, place]));
      this.#heights.take(items);
      this.range = this.#rangeFor(wasFirst);
    }
    return this.range;
  }

  /** @param {number} place @returns {number} where a row begins, below the head */
  top(place) {
    return this.#heights.top(place);
  }

  /** @param {string} key */
  placeOf(key) {
    return this.#places.get(key) ?? -1;
  }

  /** Measure what is built, and put the view back to where it was. To be called after each drawing. */
  settle() {
    const box = this.#box;
    if (!box) return;
    for (const row of this.#rows()) {
      this.#observer?.observe(row);
      this.#heights.measured(/** @type {string} */ (row.dataset.key), row.getBoundingClientRect().height);
    }
    this.#restore(box);
    this.#extend(box);
  }

  /** Go to the end, and stay there. */
  toEnd() {
    this.#isAtEnd = true;
    this.#anchor = null;
    this.#setRange(this.#rangeAtEnd());
    if (this.#box) this.#restore(this.#box);
    this.told.onMove(true);
  }

  /**
   * Put a row at a distance from the top of the view.
   * @param {string} key
   * @param {number} offset
   */
  toRow(key, offset) {
    const place = this.placeOf(key);
    const box = this.#box;
    if (place < 0 || !box) return;
    this.#isAtEnd = false;
    this.#anchor = { key, offset };
    this.#setRange(this.#rangeAround(this.#heights.top(place) - offset));
    this.#restore(box);
    this.told.onMove(false);
  }

  /** Build everything, as for printing, or go back to the rows near the view. @param {boolean} all */
  whole(all) {
    this.#isWhole = all;
    if (all) this.#setRange(this.#wholeRange());
    else this.#setRange(this.#isAtEnd ? this.#rangeAtEnd() : this.#rangeAround(this.#scrolled));
  }

  #wholeRange() {
    const to = this.#items.length;
    return { from: Math.max(0, to - PRINTED_MAX), to };
  }

  get #scrolled() {
    return (this.#box?.scrollTop ?? 0) - this.#headHeight;
  }

  get #headHeight() {
    const head = this.#box?.querySelector(".tl-head");
    return head instanceof HTMLElement ? head.offsetTop + head.offsetHeight : 0;
  }

  /** @returns {Iterable<HTMLElement>} */
  #rows() {
    return /** @type {any} */ (this.#box?.querySelectorAll(".tl-row") ?? []);
  }

  #onScroll = () => {
    const box = this.#box;
    if (!box || Math.abs(box.scrollTop - this.#expected) < 1) return;
    if (this.#isAtEnd && this.#isOpening(box)) return this.#restore(box);
    const isUp = box.scrollTop < this.#expected;
    const left = box.scrollHeight - box.scrollTop - box.clientHeight;
    this.#expected = box.scrollTop;
    const before = this.#isAtEnd;
    this.#isAtEnd = left <= END && !(isUp && left > 0.5);
    this.#note(box);
    this.#extend(box);
    if (before !== this.#isAtEnd || !this.#isAtEnd) this.told.onMove(this.#isAtEnd);
  };

  /**
   * Say whether a move is the browser's own: no person scrolls so little so soon, but by the wheel.
   * @param {HTMLElement} box
   */
  #isOpening(box) {
    return performance.now() - this.#began < OPENING_MS && Math.abs(box.scrollTop - this.#expected) < OPENING_PIXELS;
  }

  /** @param {WheelEvent} event */
  #onWheel = (event) => {
    if (event.deltaY >= 0 || !this.#isAtEnd || !this.#box || this.#box.scrollTop <= 0) return;
    this.#isAtEnd = false;
    this.#note(this.#box);
    this.told.onMove(false);
  };

  /** Remember which row is at the top of the view; below the last one it is the last. @param {HTMLElement} box */
  #note(box) {
    const edge = box.getBoundingClientRect().top;
    for (const row of this.#rows()) {
      const key = /** @type {string} */ (row.dataset.key);
      if (!this.#places.has(key)) continue;
      const { top, bottom } = row.getBoundingClientRect();
      this.#anchor = { key, offset: top - edge };
      if (bottom > edge + 1) return;
    }
  }

  /** @param {HTMLElement} box */
  #restore(box) {
    if (this.#isAtEnd) box.scrollTop = box.scrollHeight;
    else this.#restoreAnchor(box);
    this.#expected = box.scrollTop;
  }

  /** @param {HTMLElement} box */
  #restoreAnchor(box) {
    if (!this.#anchor) return;
    const { key, offset } = this.#anchor;
    const row = box.querySelector(`.tl-row[data-key="${CSS.escape(key)}"]`);
    if (!row) return;
    const moved = row.getBoundingClientRect().top - box.getBoundingClientRect().top - offset;
    if (Math.abs(moved) >= 0.5) box.scrollTop += moved;
  }

  /** Build more rows if the view comes near to the end of those that are built. @param {HTMLElement} box */
  #extend(box) {
    if (this.#isWhole) return;
    const screen = box.clientHeight || 1;
    const top = this.#scrolled;
    const { from, to } = this.range;
    const above = top - this.#heights.top(from);
    const below = this.#heights.top(to) - top - screen;
    const lacks = (above < ENOUGH * screen && from > 0) || (below < ENOUGH * screen && to < this.#items.length);
    const isMuch = above > FAR * screen || (below > FAR * screen && !this.#isAtEnd);
    if (!lacks && !isMuch) return;
    if (!this.#isAtEnd && !this.#isBuilt()) this.#anchorAt(top);
    this.#setRange(this.#isAtEnd ? this.#rangeAtEnd() : this.#rangeAround(top));
  }

  #isBuilt() {
    const place = this.#anchor ? this.placeOf(this.#anchor.key) : -1;
    const { first, last } = this.view;
    return place >= first && place <= last && place >= this.range.from && place < this.range.to;
  }

  /** The view lies where nothing is built: take the row that lies there. @param {number} top */
  #anchorAt(top) {
    const place = this.#heights.at(top);
    const item = this.#items[place];
    if (item) this.#anchor = { key: item.key, offset: this.#heights.top(place) - top };
  }

  /** @param {string | undefined} first the key of the row that was built first */
  #rangeFor(first) {
    if (this.#isWhole) return this.#wholeRange();
    if (this.#isAtEnd) return this.#rangeAtEnd();
    const place = this.#anchor ? this.placeOf(this.#anchor.key) : -1;
    if (place < 0) this.#anchor = this.#nearest(first);
    const at = this.#anchor ? this.placeOf(this.#anchor.key) : 0;
    return this.#rangeAround(this.#heights.top(at) - (this.#anchor?.offset ?? 0));
  }

  /** The row is gone: stay with the nearest there is. @param {string | undefined} first */
  #nearest(first) {
    const place = first === undefined ? -1 : this.placeOf(first);
    const item = this.#items[place < 0 ? this.#items.length - 1 : place];
    return item ? { key: item.key, offset: 0 } : null;
  }

  #rangeAtEnd() {
    const height = this.#box?.clientHeight || 900;
    const to = this.#items.length;
    const from = this.#heights.at(this.#heights.top(to) - (NEAR + 1) * height);
    return { from: Math.max(0, Math.min(from, to - FIRST)), to };
  }

  /** @param {number} top */
  #rangeAround(top) {
    const screen = this.#box?.clientHeight || 900;
    const from = this.#heights.at(top - NEAR * screen);
    const to = Math.min(this.#items.length, this.#heights.at(top + (NEAR + 1) * screen) + 1);
    return { from, to };
  }

  /** @param {Range} range */
  #setRange(range) {
    if (range.from === this.range.from && range.to === this.range.to) return;
    this.range = range;
    this.told.onRange(range);
  }
}
