// A JSON value as a tree that folds: what it holds first, its form last.

import { html, useState } from "../../ui.js";
import { counted, shortened } from "../words.js";
import { BigText } from "./big_text.js";

const SHOWN_MAX = 100; // of one list; the rest are a click away
const OPEN_DEPTH = 1;
const LINE_MAX = 200;

/** @param {{value: unknown, depth?: number}} props */
export function Tree({ value, depth = 0 }) {
  const [shown, setShown] = useState(SHOWN_MAX);
  if (typeof value !== "object" || value === null) return leaf(value);
  const entries = Object.entries(value);
  if (!entries.length) return html`<span class="quiet">${Array.isArray(value) ? "an empty list" : "nothing"}</span>`;
  return html`<ul class="tree">
    ${entries.slice(0, shown).map(([name, each]) => html`<${Row} key=${name} name=${name} value=${each} depth=${depth} />`)}
    ${entries.length > shown &&
    html`<li>
      <button type="button" class="btn quiet" onClick=${() => setShown(shown + 10 * SHOWN_MAX)}>
        ${counted(entries.length - shown, "more", "more")}
      </button>
    </li>`}
  </ul>`;
}

/** @param {{name: string, value: unknown, depth: number}} props */
function Row({ name, value, depth }) {
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH);
  const label = html`<span class="name">${name}</span>`;
  if (typeof value !== "object" || value === null || !Object.keys(value).length) {
    return html`<li>${label} <${Tree} value=${value} depth=${depth + 1} /></li>`;
  }
  const onToggle = (/** @type {any} */ event) => setOpen(event.currentTarget.open);
  return html`<li>
    <details open=${isOpen} onToggle=${onToggle}>
      <summary>${label} <span class="quiet">${summaryOf(value)}</span></summary>
      ${isOpen && html`<${Tree} value=${value} depth=${depth + 1} />`}
    </details>
  </li>`;
}

/** @param {object} value */
function summaryOf(value) {
  const entries = Object.keys(value);
  return Array.isArray(value) ? counted(entries.length, "item") : shortened(entries.join(", "), 60);
}

/** @param {unknown} value */
function leaf(value) {
  if (typeof value !== "string") return html`<span class=${typeof value}>${String(value)}</span>`;
  if (value.length > LINE_MAX || value.includes("\n")) return html`<${BigText} text=${value} />`;
  return html`<span class="string">${value || html`<span class="quiet">empty</span>`}</span>`;
}
