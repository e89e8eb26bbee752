// The rail at the right edge of a long chat: a mark for each turn, which leads there. It is for pointers
// and hidden from screen readers, because the keys j, k, g g and G do the same.

import { html, memo, useComputed } from "../ui.js";
import { flash } from "./keep_place.js";
import { marksOf } from "./rail_marks.js";

const MARGIN = 16; // pixels above a row that is gone to

/** @param {{conversation: import("./timeline.js").Conversation, items: any, range: any, place: import("./anchor.js").Place}} props */
export const Rail = memo((/** @type {any} */ { conversation, items, range, place }) => {
  const shape = useComputed(() => `${items.value.length} ${items.value.at(-1)?.key}`);
  const isFailed = useComputed(() => Boolean(conversation.state.value.error));
  void [shape.value, range.value]; // heights are known anew when others are built
  const all = items.peek();
  const marks = marksOf(all, (at) => place.top(at), isFailed.value);
  if (marks.length < 2) return null;
  const go = (/** @type {string} */ key) => {
    if (!key) return place.toEnd();
    place.toRow(key, MARGIN);
    requestAnimationFrame(() => flash(key));
  };
  return html`<div class="rail" aria-hidden="true">
    ${marks.map(({ key, at, kind, words }) =>
      html`<i key=${key} class=${kind} style=${{ top: `${at}%` }} title=${words} onClick=${() => go(key)}></i>`)}
  </div>`;
});
