// How full the context is: a ring, and behind it the details.

import { html, useRef, useSignal } from "../ui.js";
import { later } from "../shared/later.js";
import { Ring } from "../shared/ring.js";
import { thresholds } from "./catalogue.js";
import { chosen } from "./model.js";
import { fullness, fullnessText, usedTokens } from "./usage.js";

const ContextPopover = later(() => import("./context_details.js").then((module) => module.ContextPopover));

/** @typedef {import("./composer.js").Place} Place */

/** @param {Place} place */
function fullnessOf(place) {
  const { model } = chosen(place);
  const own = thresholds.value[model?.id ?? ""];
  return fullness(usedTokens(place.messages.value), model?.contextLimit ?? 0, own ?? model?.threshold ?? 70);
}

/** @param {{place: Place}} props */
export function ContextButton({ place }) {
  const open = useSignal(false);
  const button = useRef(/** @type {HTMLElement | null} */ (null));
  const full = fullnessOf(place);
  if (!full.limit) return null;
  const { percent, threshold } = full;
  const tone = percent !== null && percent >= Math.min(threshold, 95) ? "wait" : "";
  const words = percent === null ? "" : `${percent} %`;
  return html`<button type="button" class="sel num ctx" ref=${button} title=${fullnessText(full)} aria-haspopup="dialog" aria-expanded=${open.value}
      aria-label=${`Context ${words || "not counted yet"}`} onClick=${() => (open.value = !open.value)}>
      <${Ring} percent=${percent} tone=${tone} /><span class="only-l">${words}</span></button>
    ${open.value ? html`<${ContextPopover} place=${place} full=${full} anchor=${button.current} close=${() => (open.value = false)} />` : null}`;
}
