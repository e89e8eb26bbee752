// Taking files and long pastes; what is done with them is loaded when the first one comes.

import { isLongPaste } from "./pasting.js";

/** @typedef {import("./desk.js").Desk} Desk */

/**
 * Attach files: those that are not taken stay in the row with the reason.
 * @param {Desk} desk @param {Iterable<File>} files @param {string} [pasted] the text that they were made of
 */
export function attach(desk, files, pasted = "") {
  const all = [...files]; // a list of the browser's is emptied when its event is over
  if (all.length) void import("./attachments.js").then((module) => module.attach(desk, all, pasted));
}

/**
 * Take a long paste as a file; return whether it was one.
 * @param {Desk} desk @param {string} text
 */
export function attachPaste(desk, text) {
  if (!isLongPaste(text)) return false;
  const count = desk.files.peek().filter((file) => file.pasted).length + 1;
  attach(desk, [new File([text], `pasted-${count}.txt`, { type: "text/plain" })], text);
  return true;
}
