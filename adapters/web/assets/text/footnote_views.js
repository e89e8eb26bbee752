// Views of footnotes: the mark in a text, and the note, each with a way to the other.

import { html } from "../ui.js";

/** @param {{label: string}} props */
export function FootnoteMark({ label }) {
  return html`<sup><button type="button" class="note-mark" data-mark=${label} aria-label=${`Note ${label}`}
    onClick=${(/** @type {Event} */ event) => goTo(event, "data-note", label)}>${label}</button></sup>`;
}

/** @param {{label: string, children?: any}} props */
export function Footnote({ label, children }) {
  return html`<p class="footnote" dir="auto" tabindex="-1" data-note=${label}>
    <button type="button" class="note-mark" aria-label=${`Back to where note ${label} is named`}
      onClick=${(/** @type {Event} */ event) => goTo(event, "data-mark", label)}>${label}</button> ${children}
  </p>`;
}

/**
 * Show and focus the other end, in the same text: other messages have notes with the same labels.
 * @param {Event} event
 * @param {"data-note" | "data-mark"} name
 * @param {string} label
 */
function goTo(event, name, label) {
  const text = /** @type {Element} */ (event.currentTarget).closest(".text");
  const found = [...(text?.querySelectorAll(`[${name}]`) ?? [])].find((one) => one.getAttribute(name) === label);
  if (!(found instanceof HTMLElement)) return;
  found.scrollIntoView({ block: "nearest" });
  found.focus();
}
