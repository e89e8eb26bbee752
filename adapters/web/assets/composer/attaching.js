// Taking files and long pastes; what is done with them is loaded when the first one comes.

import { isLongPaste } from "./pasting.js";

const AGAIN_MS = 2000; // after the module could not be loaded
const AWAY = "The daemon cannot be reached. The files are taken as soon as it answers.";

/** @typedef {import("./desk.js").Desk} Desk */

/**
 * Attach files: those that are not taken stay in the row with the reason.
 * @param {Desk} desk @param {Iterable<File>} files @param {string} [pasted] the text that they were made of
 */
export function attach(desk, files, pasted = "") {
  const all = [...files]; // a list of the browser's is emptied when its event is over
  if (all.length) void attachLoaded(desk, all, pasted);
}

/** Attach files as soon as the module for that is loaded. @param {Desk} desk @param {File[]} files @param {string} pasted */
async function attachLoaded(desk, files, pasted) {
  const module = await import("./attachments.js").catch(() => null);
  if (!module) {
    desk.problem.value = AWAY;
    setTimeout(attachLoaded, AGAIN_MS, desk, files, pasted);
    return;
  }
  if (desk.problem.peek() === AWAY) desk.problem.value = "";
  module.attach(desk, files, pasted);
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
