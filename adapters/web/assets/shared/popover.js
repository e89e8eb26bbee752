/** What opens beside something: menus, pickers, details. On a phone it is a sheet at the foot. */

import {html, useEffect, useLayoutEffect, useRef} from "../ui.js";

const GAP = 4; // between it and what it belongs to
const EDGE = 8; // between it and the edge of the window

/** @typedef {Element | {x: number, y: number}} Anchor */

/** @param {Anchor} anchor */
function rectOf(anchor) {
  if (anchor instanceof Element) return anchor.getBoundingClientRect();
  return new DOMRect(anchor.x, anchor.y, 0, 0);
}

/** @param {HTMLElement} element @param {Anchor} anchor */
function place(element, anchor) {
  if (matchMedia("(max-width: 720px)").matches) return;
  const at = rectOf(anchor);
  const {offsetWidth: width, offsetHeight: height} = element;
  const below = innerHeight - at.bottom - GAP - EDGE;
  const above = at.top - GAP - EDGE;
  const isBelow = height <= below || below >= above;
  const room = Math.max(120, isBelow ? below : above);
  const top = isBelow ? at.bottom + GAP : Math.max(EDGE, at.top - GAP - Math.min(height, room));
  element.style.maxHeight = `${room}px`;
  element.style.top = `${top}px`;
  element.style.left = `${Math.max(EDGE, Math.min(at.left, innerWidth - width - EDGE))}px`;
}

/**
 * @param {{anchor: Anchor, label: string, onClose: () => void, className?: string, role?: string,
 *   children: any}} props
 */
export function Popover({anchor, label, onClose, className = "", role = "dialog", children}) {
  const element = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    const shown = element.current;
    if (!shown) return;
    shown.showPopover();
    place(shown, anchor);
  });
  useEffect(() => {
    const before = document.activeElement;
    const shown = element.current;
    if (shown && !shown.contains(document.activeElement)) shown.focus();
    const outside = (/** @type {Event} */ event) => {
      const target = /** @type {Node} */ (event.target);
      const isAnchor = anchor instanceof Element && anchor.contains(target); // its click decides
      if (shown && !shown.contains(target) && !isAnchor) onClose();
    };
    const moved = () => shown && place(shown, anchor);
    addEventListener("pointerdown", outside, true);
    addEventListener("resize", moved);
    return () => {
      removeEventListener("pointerdown", outside, true);
      removeEventListener("resize", moved);
      const lost = !document.activeElement || document.activeElement === document.body;
      if (lost && before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    onClose();
  };
  return html`<div ref=${element} popover="manual" class="popover ${className}" role=${role}
    aria-label=${label} tabindex="-1" onKeyDown=${pressed}>${children}</div>`;
}
