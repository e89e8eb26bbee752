// What messages and cards have in common: buttons, and what opens and closes.

import { html, useCallback } from "../ui.js";
import { icon } from "../shared/icons.js";

/**
 * Return what is to be done when a user opens or closes something.
 * @param {string} key
 * @param {boolean} isOpen
 * @param {import("./cards/frame.js").At} at
 */
export function useToggle(key, isOpen, at) {
  return useCallback(
    (/** @type {Event} */ event) => {
      const { open } = /** @type {HTMLDetailsElement} */ (event.currentTarget);
      if (open !== isOpen) at.setOpened(key, open);
    },
    [key, isOpen, at],
  );
}

/** A button with words. @param {{label: string, onClick: (event: any) => any, form?: string, keys?: string, disabled?: boolean}} props */
export const Button = ({ label, onClick, form = "", keys, disabled }) =>
  html`<button type="button" class=${`btn ${form}`} disabled=${disabled} onClick=${onClick}>
    ${label}${keys && html` <kbd>${keys}</kbd>`}
  </button>`;

/** A button with a sign. @param {{sign: string, label: string, onClick: (event: Event) => any}} props */
export const SignButton = ({ sign, label, onClick }) =>
  html`<button
    type="button"
    class="ic sm"
    aria-label=${label}
    title=${label}
    onClick=${(/** @type {Event} */ event) => {
      event.preventDefault();
      event.stopPropagation();
      onClick(event);
    }}
  >
    ${icon(sign)}
  </button>`;
