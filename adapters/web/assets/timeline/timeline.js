// A chat as it is read: its rows, of which only those near the view are built.

import { html, memo, useComputed, useLayoutEffect, useMemo, useRef, useSignal } from "../ui.js";
import { Place } from "./anchor.js";
import { aroundOf } from "./around.js";
import { Endings } from "./endings.js";
import { editing } from "./editing.js";
import { Guard } from "./guard.js";
import { keepPlace } from "./keep_place.js";
import { ItemView, PlainItem } from "./rows.js";
import { Sending } from "./own_message.js";
import { itemsOf } from "./turn.js";
import { afterPaint } from "../kernel/first_paint.js";
import { later } from "../shared/later.js";

/** @typedef {ReturnType<import("../conversation.js").openConversation>} Conversation */

const Announcer = later(() => afterPaint().then((module) => module.Announcer));
const JumpButton = later(() => afterPaint().then((module) => module.JumpButton));
const Rail = later(() => import("./rail.js").then((module) => module.Rail));

const AGAIN_MS = 3000; // after a module could not be loaded
const LONG = 2000; // pixels of a chat that has a rail
const AHEAD = 2; // screens before the first message at which older ones are read

/** @param {{conversation: Conversation}} props */
export function Timeline({ conversation }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const around = useMemo(() => aroundOf(conversation), [conversation]);
  const items = useComputed(() => itemsOf(/** @type {any} */ (conversation.state.value), around.unfolded.value));
  const { place, move, range } = useMovement(conversation, items, box);
  usePlace({ box, place, conversation, around, items });
  void range.value;
  const { from, to } = place.take(items.value);
  useLayoutEffect(() => {
    place.settle();
    readAhead(conversation, place, items.peek(), box.current);
  });
  return html`<div class="tl-box">
    <div class="tl" role="log" aria-live="off" aria-label="Conversation" tabindex="0" ref=${box}>
      <${Head} conversation=${conversation} />
      <${Gap} height=${place.top(from)} />
      ${items.value.slice(from, to).map((item) => html`<${Row} key=${item.key} item=${item} at=${around} />`)}
      <${Gap} height=${place.top(items.value.length) - place.top(to)} />
      <${Tail} conversation=${conversation} at=${around} />
    </div>
    ${place.top(items.value.length) > LONG && html`<${Rail} conversation=${conversation} items=${items} range=${range} place=${place} />`}
    <${JumpButton} move=${move} items=${items} place=${place} />
    <${Announcer} conversation=${conversation} />
  </div>`;
}

/**
 * Which rows are built, whether the end is in view, and what was the last row when it was.
 * @param {Conversation} conversation
 * @param {any} items
 * @param {{current: HTMLElement | null}} box
 */
function useMovement(conversation, items, box) {
  const range = useSignal({ from: 0, to: 0 });
  const move = useSignal({ isAtEnd: true, seen: "" });
  const place = useMemo(() => {
    const moved = (/** @type {boolean} */ isAtEnd) => {
      const seen = isAtEnd ? "" : move.peek().seen || items.peek().at(-1)?.key || "";
      if (isAtEnd !== move.peek().isAtEnd) move.value = { isAtEnd, seen };
      readAhead(conversation, made, items.peek(), box.current);
    };
    const made = new Place({ onRange: (found) => (range.value = found), onMove: moved });
    return made;
  }, [conversation]);
  return { place, move, range };
}

/**
 * Read what comes into view soon: older messages, and those in a hole.
 * @param {Conversation} conversation
 * @param {Place} place
 * @param {readonly import("./items.js").Item[]} items
 * @param {HTMLElement | null} box
 */
function readAhead(conversation, place, items, box) {
  if (!box) return;
  const { older, holes } = conversation.state.peek();
  if (older === "more" && box.scrollTop < AHEAD * box.clientHeight) conversation.loadOlder().catch(() => {});
  if (!holes.length) return;
  const { from, to } = place.range;
  const at = items.findIndex((item, i) => i >= from && i < to && item.kind === "hole" && item.hole.state === "more");
  if (at >= 0) conversation.loadHole(items[at].hole, at > place.view.first).catch(() => {});
}

/** @param {any} what */
function usePlace({ box, place, conversation, around, items }) {
  useLayoutEffect(() => {
    place.attach(box.current);
    const removers = [
      withActs({ conversation, around, place, items, box: box.current }),
      keepPlace({ conversation, place, items }),
    ];
    const print = () => place.whole(true);
    const printed = () => place.whole(false);
    addEventListener("beforeprint", print);
    addEventListener("afterprint", printed);
    return () => {
      removeEventListener("beforeprint", print);
      removeEventListener("afterprint", printed);
      for (const remove of removers) remove();
      around.close();
      place.detach();
    };
  }, [conversation]);
}

/**
 * Make the commands of this chat known as soon as they are loaded.
 * @param {any} desk
 * @returns {() => void} ends it
 */
function withActs(desk) {
  let isOver = false;
  let remove = () => {};
  const begin = () =>
    afterPaint().then(
      ({ registerActs }) => void (isOver || (remove = registerActs(desk))),
      () => isOver || setTimeout(begin, AGAIN_MS),
    );
  begin();
  return () => {
    isOver = true;
    remove();
  };
}

/** A row: what is measured, and keeps its place. @param {{item: import("./items.js").Item, at: any}} props */
const Row = memo(({ item, at }) => {
  const edited = editing.value;
  const isFaded = edited && edited.chat === at.chat && (item.message > edited.message.id || (!item.message && item.turn));
  return html`<div class=${`tl-row ${item.kind}-row ${isFaded ? "faded" : ""}`} inert=${isFaded ? true : undefined} data-key=${item.key}>
    <${Guard} of=${item} fallback=${() => html`<${PlainItem} item=${item} at=${at} />`}><${ItemView} item=${item} at=${at} /></${Guard}>
  </div>`;
});

/** @param {{height: number}} props */
const Gap = memo(({ height }) => html`<div class="tl-gap" aria-hidden="true" style=${{ height: `${Math.max(0, height)}px` }}></div>`);

/** What is above the first message. @param {{conversation: Conversation}} props */
function Head({ conversation }) {
  const older = useComputed(() => conversation.state.value.older);
  const isPart = useComputed(() => conversation.state.value.older !== "end" || conversation.state.value.holes.length > 0);
  return html`<div class="tl-head">
    ${isPart.value && html`<p class="mark only-print"><span>Only the part of the chat that was read into the page is printed. All of it: <a href=${`/c/${conversation.id}/read?all=1`}>${`${location.origin}/c/${conversation.id}/read?all=1`}</a></span></p>`}
    ${older.value === "loading" && html`<p class="mark"><span>Loading older messages…</span></p>`}
    ${older.value === "failed" &&
    html`<p class="mark"><span>Older messages could not be loaded. <button type="button" class="btn quiet" onClick=${() => conversation.loadOlder().catch(() => {})}>Again</button></span></p>`}
  </div>`;
}

/** What is below the last message: what is being sent, and why it stands still. @param {{conversation: Conversation, at: any}} props */
function Tail({ conversation, at }) {
  const queues = conversation.sending.value.filter((one) => !one.queues);
  return html`<div class="tl-tail tl-row" data-key="tail">
    ${queues.map((one) => html`<${Sending} key=${one.key} text=${one.text} slow=${one.slow} />`)}
    <${Endings} conversation=${conversation} at=${at} />
  </div>`;
}

