// A ring that is filled to so many percent; the words beside it say the same.

import { html } from "../ui.js";

/** @param {{percent: number | null, tone?: "" | "wait" | "stop"}} props null: it is not known */
export function Ring({ percent, tone = "" }) {
  const filled = Math.max(0, Math.min(percent ?? 0, 100));
  return html`<i class=${`ring ${tone}`} style=${{ "--p": String(filled) }} aria-hidden="true"></i>`;
}
