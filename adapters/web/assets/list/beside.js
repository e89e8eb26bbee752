/** Something of one's own in a popover beside what was clicked. */

import { Popover } from "../shared/popover.js";
import { html, render } from "../ui.js";

let closeLast = () => {};

/**
 * Open a popover; the one that was open before is closed.
 *
 * @param {import("../shared/popover.js").Anchor} at
 * @param {{label: string, className?: string, view: (close: () => void) => any}} what
 */
export function openBeside(at, { label, className = "", view }) {
  closeLast();
  const place = document.body.appendChild(document.createElement("div"));
  const close = () => {
    closeLast = () => {};
    render(null, place);
    place.remove();
  };
  closeLast = close;
  render(
    html`<${Popover} anchor=${at} label=${label} className=${className}
      onClose=${close}>${view(close)}</${Popover}>`,
    place,
  );
}
