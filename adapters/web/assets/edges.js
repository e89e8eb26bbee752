/** The borders between the regions: dragged by pointer, or moved by keys. */

import {isEmbedded} from "./embed.js";
import {LIST, PANEL, listFolded, listWidth, panelFull, panelOpen, panelWidth, showPanel, wide} from "./frame.js";
import {html} from "./ui.js";

const STEP = 16; // pixels of an arrow key
const FOLD = 80; // pixels below the minimum at which a region folds

/**
 * @param {{name: string, label: string, width: import("./vendor/preact.js").Signal<number>,
 *   bounds: {first: number, min: number, max: number}, sign: number, fold: () => void}} props
 */
function Edge({name, label, width, bounds, sign, fold}) {
  const set = (/** @type {number} */ value) => {
    width.value = Math.round(Math.min(bounds.max, Math.max(bounds.min, value)));
  };
  const dragged = (/** @type {PointerEvent} */ event) => {
    const handle = /** @type {HTMLElement} */ (event.currentTarget);
    const {clientX: from} = event;
    const before = width.value;
    handle.setPointerCapture(event.pointerId);
    handle.onpointermove = ({clientX}) => {
      const wanted = before + sign * (clientX - from);
      if (wanted < bounds.min - FOLD) fold();
      else set(wanted);
    };
    handle.onpointerup = handle.onpointercancel = () => (handle.onpointermove = null);
  };
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    const step = {ArrowLeft: -STEP, ArrowRight: STEP}[event.key];
    if (step) set(width.value + sign * step);
    else if (event.key === "Home") set(bounds.min);
    else if (event.key === "End") set(bounds.max);
    else if (event.key === "Enter") fold();
    else return;
    event.preventDefault();
  };
  return html`<div class="edge ${name}" role="separator" aria-orientation="vertical" tabindex="0"
    aria-label=${label} aria-valuenow=${width.value} aria-valuemin=${bounds.min}
    aria-valuemax=${bounds.max} onPointerDown=${dragged} onKeyDown=${pressed}
    onDblClick=${() => set(bounds.first)}></div>`;
}

/** Both borders, where both regions stand beside the conversation. */
export function Edges() {
  const foldList = () => (listFolded.value = true);
  const foldPanel = () => showPanel(false);
  return html`
    ${!listFolded.value && !isEmbedded && html`<${Edge} name="of-list" label="Width of the list" width=${listWidth}
      bounds=${LIST} sign=${1} fold=${foldList} />`}
    ${wide.value && panelOpen.value && !panelFull.value && html`<${Edge} name="of-panel" label="Width of the side panel"
      width=${panelWidth} bounds=${PANEL} sign=${-1} fold=${foldPanel} />`}`;
}
