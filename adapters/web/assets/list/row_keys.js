/** Keys on a row of the list. */

import { shift } from "./acts.js";
import { chosen, chooseNone, focused, rows, unfold } from "./look.js";
import { focusRow, moveFocus } from "./moving.js";

/** @type {Record<string, (event: KeyboardEvent) => void>} */
const KEYS = {
  ArrowDown: (event) => moveFocus(1, event.shiftKey),
  ArrowUp: (event) => moveFocus(-1, event.shiftKey),
  PageDown: () => moveFocus(10),
  PageUp: () => moveFocus(-10),
  Home: () => moveFocus(-rows.peek().length),
  End: () => moveFocus(rows.peek().length),
  ArrowRight: () => foldFocused(true),
  ArrowLeft: () => foldFocused(false),
};

/** Handle a key on a row of the list. @param {KeyboardEvent} event */
export function onRowKey(event) {
  if (event.ctrlKey || event.metaKey) return;
  if (event.altKey) return movePinned(event);
  if (event.key === "Escape" && chosen.peek().size) chooseNone();
  else if (KEYS[event.key]) KEYS[event.key](event);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** Move the focused row among the pinned ones. @param {KeyboardEvent} event */
function movePinned(event) {
  const by = { ArrowUp: /** @type {const} */ (-1), ArrowDown: /** @type {const} */ (1) }[event.key];
  const row = rows.peek().find((one) => one.key === focused.peek());
  if (!by || row?.kind !== "root" || !row.chat.pin_order) return;
  event.preventDefault();
  event.stopPropagation();
  void shift(row.chat, by);
}

/**
 * Unfold or fold the agents of the focused root; from an agent, folding goes to its root.
 * @param {boolean} open
 */
function foldFocused(open) {
  const row = rows.peek().find((one) => one.key === focused.peek());
  if (row?.kind === "root" && row.unfolded !== null) unfold(row.key, open);
  if (row?.kind === "kid" && !open) focusRow(row.root.id);
}
