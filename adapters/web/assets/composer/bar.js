// The row below the field: +, model, context, how it goes in, stop, send.

import { html, useEffect, useRef, useSignal } from "../ui.js";
import { icon } from "../shared/icons.js";
import { Popover } from "../shared/popover.js";
import { keyWords } from "../keys.js";
import { Badges } from "./badges.js";
import { ContextButton } from "./context.js";
import { ModelButton } from "./model.js";
import { PlusButton } from "./plus.js";
import { send, stop, whyNotNow } from "./acts.js";

/** @typedef {import("./composer.js").Place} Place */
/** @typedef {import("./desk.js").Busy} Busy */

/** @type {{id: Busy, name: string, does: string, keys: string}[]} */
export const WAYS = [
  { id: "queue", name: "Queue", does: "It waits until the turn is over", keys: "Enter" },
  { id: "steer", name: "Steer", does: "It is read at the next step of this turn", keys: "mod+Enter" },
  { id: "interrupt", name: "Interrupt", does: "The turn stops, what there is of it is kept", keys: "alt+Enter" },
];
const HOLD_MS = 450; // of the send button, until it asks how

/** @param {{place: Place}} props */
export function Bar({ place }) {
  const working = place.working.value;
  const page = useSignal(/** @type {"" | "workspace" | "servers" | "policy"} */ (""));
  return html`<div class="bar">
    <${PlusButton} place=${place} page=${page} />
    <${ModelButton} place=${place} />
    <${Badges} place=${place} show=${(/** @type {"workspace" | "servers" | "policy"} */ to) => (page.value = to)} />
    <span class="sp"></span>
    ${place.conversation ? html`<${ContextButton} place=${place} />` : null}
    ${working ? html`<${WaySwitch} desk=${place.desk} />` : null}
    ${working ? html`<${StopButton} place=${place} />` : null}
    <${SendButton} place=${place} />
  </div>`;
}

/** @param {{desk: import("./desk.js").Desk}} props */
function WaySwitch({ desk }) {
  return html`<span class="seg only-l" role="group" aria-label="While it works">${WAYS.map((way) => html`<button
    type="button" key=${way.id} aria-pressed=${desk.busy.value === way.id} title=${`${way.does} (${keyWords(way.keys).join(" ")})`}
    onClick=${() => (desk.busy.value = way.id)}>${way.name}</button>`)}</span>`;
}

/** @param {{place: Place}} props */
function StopButton({ place }) {
  const stopping = place.stopping.value;
  return html`<button type="button" class="stopb" aria-label=${stopping ? "Stopping…" : "Stop"} title=${stopping ? "Stopping…" : "Stop (Esc Esc)"}
    aria-disabled=${stopping} onClick=${() => stop(place)}><i class=${stopping ? "wait" : ""}></i></button>`;
}

/** @param {{place: Place}} props */
function SendButton({ place }) {
  const { desk } = place;
  const asking = useSignal(false);
  const button = useRef(/** @type {HTMLElement | null} */ (null));
  const pressed = useRef(false); // the finger that opened the list is lifted above it: that chooses nothing
  const hold = useHold(() => {
    pressed.current = false;
    asking.value = place.working.peek();
  });
  const first = place.queued.value && desk.empty.value && !desk.editing.value;
  const nothing = desk.empty.value && !first;
  const label = desk.editing.value ? "Send in place of the old one" : first ? "Send the first of the queue now" : place.working.value ? wayOf(desk.busy.value).name : "Send";
  const way = (/** @type {Busy} */ busy, /** @type {MouseEvent} */ event) => {
    if (!pressed.current && event.detail) return;
    asking.value = false;
    void send(place, busy);
  };
  return html`<button type="button" class="send" ref=${button} aria-label=${label} title=${whyNotNow(place) || label}
      aria-disabled=${nothing || desk.sending.value || whyNotNow(place) !== ""} ...${hold.props}
      onClick=${() => hold.isOver() && send(place, "usual")}>${icon("up")}</button>
    ${asking.value ? html`<${Popover} anchor=${button.current} label="How it goes in" onClose=${() => (asking.value = false)}>
      <div class="menu" onPointerDown=${() => (pressed.current = true)}>${WAYS.map((one) => html`<button type="button" class="item two" key=${one.id} onClick=${(/** @type {MouseEvent} */ event) => way(one.id, event)}>
        <span class="what">${one.name}</span><small>${one.does}</small></button>`)}</div>
    <//>` : null}`;
}

/** @param {Busy} id */
const wayOf = (id) => WAYS.find((way) => way.id === id) ?? WAYS[0];

/** Hear a button being held, or pressed with the other button of a mouse. @param {() => unknown} held */
function useHold(held) {
  const timer = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined));
  const was = useRef(false);
  useEffect(() => () => clearTimeout(timer.current), []);
  const end = () => clearTimeout(timer.current);
  const begin = (/** @type {PointerEvent} */ event) => {
    was.current = false;
    if (event.button) return;
    timer.current = setTimeout(() => {
      was.current = true;
      held();
    }, HOLD_MS);
  };
  const menu = (/** @type {Event} */ event) => {
    event.preventDefault();
    held();
  };
  const isOver = () => {
    const clicked = !was.current;
    was.current = false;
    return clicked;
  };
  return { isOver, props: { onPointerDown: begin, onPointerUp: end, onPointerLeave: end, onPointerCancel: end, onContextMenu: menu } };
}
