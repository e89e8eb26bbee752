// A message of one's own that is written anew: the draft waits aside meanwhile.

import { batch, effect, untracked } from "../ui.js";
import { editing } from "../timeline/editing.js";

/** @typedef {import("./composer.js").Place} Place */
/** @typedef {import("./desk.js").Desk} Desk */

/** Follow what the timeline says is being edited. Returns what ends that. @param {Place} place */
export function followEditing({ desk, conversation }) {
  if (!conversation) return () => {};
  return effect(() => {
    const wanted = editing.value;
    const now = wanted && wanted.chat === conversation.id ? wanted.message : null;
    untracked(() => (now ? begin(desk, now) : end(desk)));
  });
}

/** @param {Desk} desk @param {any} message */
function begin(desk, message) {
  if (desk.editing.peek()?.message === message.id) return;
  const { text, files, refs } = contentOf(message);
  batch(() => {
    desk.editing.value = { message: message.id, aside: desk.editing.peek()?.aside ?? desk.written };
    desk.text.value = text;
    desk.files.value = files;
    desk.refs.value = refs;
    desk.browsing.value = null;
    desk.problem.value = "";
  });
  desk.focus();
}

/** @param {Desk} desk */
function end(desk) {
  const aside = desk.editing.peek()?.aside;
  if (!aside) return;
  batch(() => {
    desk.editing.value = null;
    desk.text.value = aside.text;
    desk.files.value = aside.files;
    desk.refs.value = aside.refs;
    desk.problem.value = "";
  });
}

/** Leave the message as it is; false if none is being edited. @param {Desk} desk */
export function leaveEditing(desk) {
  if (!desk.editing.peek()) return false;
  editing.value = null;
  return true;
}

/** @param {any} message */
function contentOf({ content }) {
  const parts = /** @type {any[]} */ (content ?? []);
  return {
    text: parts.filter((part) => part.type === "text").map((part) => part.text).join("\n\n"),
    refs: parts.filter((part) => part.type === "file-reference").map(({ file_name, start_line, end_line, content }) => ({ file_name, start_line, end_line, content })),
    files: parts.filter((part) => part.type === "file" && part.file_id).map(fileOf),
  };
}

/** @param {any} part @returns {import("./attachments.js").Upload} */
function fileOf({ file_id, name, file_name, media_type }) {
  return { key: file_id, id: file_id, name: name || file_name || "file", type: media_type, size: 0, state: "done", progress: 1, why: "", blob: null, pasted: "" };
}
