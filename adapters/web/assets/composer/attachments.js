// Files on their way to the daemon: looked at, shrunk if they are images, sent, tried again, removed.

import { api } from "../wire/api.js";
import { IMAGE_BYTES_MAX, fileName, isImage, smallerSize, typeOf, whyNot } from "./limits.js";

/**
 * @typedef {{
 *   key: string, id: string | null, name: string, type: string, size: number,
 *   state: "sending" | "done" | "failed", progress: number, why: string, blob: Blob | null,
 *   pasted: string, refused?: boolean, abort?: AbortController,
 * }} Upload `pasted`: the text that it was made of; `refused`: it would be refused again
 */
/** @typedef {import("./desk.js").Desk} Desk */

let last = 0;

/** Change a file, also in a draft that waits aside. @param {Desk} desk @param {string} key @param {Partial<Upload>} change */
function change(desk, key, change) {
  const changed = (/** @type {Upload[]} */ files) => files.map((file) => (file.key === key ? { ...file, ...change } : file));
  desk.files.value = changed(desk.files.peek());
  const editing = desk.editing.peek();
  if (editing?.aside.files.some((file) => file.key === key))
    desk.editing.value = { ...editing, aside: { ...editing.aside, files: changed(editing.aside.files) } };
}

/**
 * Attach files: those that are not taken stay in the row with the reason.
 * @param {Desk} desk @param {Iterable<File>} files @param {string} [pasted]
 */
export function attach(desk, files, pasted = "") {
  for (const file of files) {
    const why = whyNot(file, desk.files.peek().length);
    const name = fileName(file.name || "file");
    /** @type {Upload} */
    const upload = {
      key: `f${++last}`, id: null, name, type: typeOf(file) ?? file.type, size: file.size, pasted,
      state: why ? "failed" : "sending", progress: 0, why, refused: Boolean(why), blob: file,
    };
    desk.files.value = [...desk.files.peek(), upload];
    if (!why) void send(desk, upload);
  }
}

/** Send a file again that failed. @param {Desk} desk @param {Upload} upload */
export function again(desk, upload) {
  change(desk, upload.key, { state: "sending", why: "", progress: 0 });
  void send(desk, upload);
}

/** @param {Desk} desk @param {string} key */
export function remove(desk, key) {
  desk.files.peek().find((file) => file.key === key)?.abort?.abort();
  desk.files.value = desk.files.peek().filter((file) => file.key !== key);
}

/** Put the text of a paste into the field after all. @param {Desk} desk @param {Upload} upload */
export function pasteHere(desk, upload) {
  remove(desk, upload.key);
  desk.insert(upload.pasted);
}

/** @param {Desk} desk @param {Upload} upload */
async function send(desk, upload) {
  const abort = new AbortController();
  change(desk, upload.key, { abort });
  try {
    const blob = await fitting(/** @type {Blob} */ (upload.blob), upload.type);
    const name = blob.type === "image/jpeg" ? upload.name.replace(/\.\w+$/, ".jpg") : upload.name;
    if (blob !== upload.blob) change(desk, upload.key, { blob, name, type: blob.type, size: blob.size });
    const { id } = await api.upload(new File([blob], name, { type: blob.type || upload.type }), {
      signal: abort.signal,
      progress: (/** @type {number} */ progress) => change(desk, upload.key, { progress }),
    });
    change(desk, upload.key, { id, state: "done", progress: 1, blob: isImage(upload.type) ? blob : null });
  } catch (error) {
    if (abort.signal.aborted) return;
    const { message, status } = /** @type {{message: string, status?: number}} */ (error);
    change(desk, upload.key, { state: "failed", why: message, refused: status === 400 || status === 413 });
  }
}

/**
 * Return an image no larger than providers take. Decoding, scaling and encoding go on beside the
 * page: a worker would need a policy for the addresses of scripts, and ours admits none.
 * @param {Blob} blob @param {string} type
 */
async function fitting(blob, type) {
  if (!isImage(type) || type === "image/gif" || typeof OffscreenCanvas === "undefined") return blob;
  const whole = await createImageBitmap(blob).catch(() => null);
  if (!whole) return blob; // the daemon says what is wrong with it
  const size = smallerSize(whole.width, whole.height, blob.size);
  whole.close();
  if (!size) return blob;
  const image = await createImageBitmap(blob, { resizeWidth: size.width, resizeHeight: size.height, resizeQuality: "high" });
  const canvas = new OffscreenCanvas(size.width, size.height);
  canvas.getContext("2d")?.drawImage(image, 0, 0);
  image.close();
  const same = await canvas.convertToBlob({ type, quality: 0.9 });
  if (same.size <= IMAGE_BYTES_MAX) return same;
  return canvas.convertToBlob({ type: "image/jpeg", quality: 0.85 });
}
