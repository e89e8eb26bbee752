// The button that leads to the end, and says how much of it is new.

import { html, useComputed } from "../ui.js";
import { icon } from "../shared/icons.js";

/** @param {{move: any, items: any, place: import("./anchor.js").Place}} props */
export function JumpButton({ move, items, place }) {
  const fresh = useComputed(() => {
    const { isAtEnd, seen } = move.value;
    if (isAtEnd) return -1;
    const all = items.value;
    const from = all.findIndex((/** @type {any} */ item) => item.key === seen);
    return from < 0 ? 0 : all.slice(from + 1).filter((/** @type {any} */ item) => item.kind !== "sources").length;
  });
  if (fresh.value < 0) return null;
  const label = fresh.value > 0 ? `${fresh.value} new` : "To the end";
  return html`<button type="button" class="btn jump" aria-label=${fresh.value > 0 ? `To the end, ${label}` : label} onClick=${() => place.toEnd()}>
    ${icon("down")}${fresh.value > 0 && label}
  </button>`;
}
