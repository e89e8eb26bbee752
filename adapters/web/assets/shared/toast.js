/** Short words at the foot of the page, with one thing to do at most. Nothing needed later. */

import {html, signal} from "../ui.js";
import {icon} from "./icons.js";

const SECONDS = 5;

/** @typedef {{id: number, text: string, act?: {label: string, run: () => void}}} Toast */

/** @type {import("../vendor/preact.js").Signal<Toast[]>} */
const shown = signal([]);
let number = 0;

/**
 * @param {string | {text: string, act?: {label: string, run: () => void}, seconds?: number}} what
 * @returns {() => void} takes it away
 */
export function toast(what) {
  const {text, act, seconds = SECONDS} = typeof what === "string" ? {text: what} : what;
  const id = ++number;
  const away = () => {
    shown.value = shown.value.filter((each) => each.id !== id);
  };
  shown.value = [...shown.value.slice(-2), {id, text, act}];
  setTimeout(away, seconds * 1000);
  return away;
}

/** @param {{toast: Toast}} props */
function One({toast: {id, text, act}}) {
  const away = () => (shown.value = shown.value.filter((each) => each.id !== id));
  const done = () => {
    away();
    act?.run();
  };
  return html`<div class="toast">
    <span>${text}</span>
    ${act && html`<button class="btn quiet" onClick=${done}>${act.label}</button>`}
    <button class="ic sm" aria-label="Close" onClick=${away}>${icon("x")}</button>
  </div>`;
}

/** All of them. */
export function Toasts() {
  return html`<div class="toasts" role="status">
    ${shown.value.map((each) => html`<${One} key=${each.id} toast=${each} />`)}
  </div>`;
}
