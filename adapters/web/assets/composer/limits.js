// What may be attached, and how large: said before an upload begins, not after it has failed.

export const FILE_BYTES_MAX = 10 * 1024 * 1024; // a larger file is refused here, with its size
export const FILES_MAX = 50; // of one chat; the next one is refused here
export const EDGE_MAX = 2000; // pixels: a larger image is shrunk, for providers refuse or shrink it
export const IMAGE_BYTES_MAX = 3_500_000; // an image above that is written again, as JPEG

const NAME_BYTES_MAX = 255;

/** Types by the endings of names, where the browser knows none. @type {Record<string, string>} */
const BY_ENDING = {
  csv: "text/csv", gif: "image/gif", jpeg: "image/jpeg", jpg: "image/jpeg", json: "application/json",
  markdown: "text/markdown", md: "text/markdown", pdf: "application/pdf", png: "image/png", webp: "image/webp",
};

const SHOWN = ["image/gif", "image/jpeg", "image/png", "image/webp"];
const TAKEN = [...SHOWN, "application/json", "application/pdf", "text/csv", "text/markdown", "text/plain"];
const OTHER_BINARIES = /^(audio|video|font|model)\/|^image\/|zip|compressed|octet-stream|msword|officedocument|executable/;

/**
 * Return the media type to send a file as, or null if the daemon would refuse it.
 * @param {{name: string, type: string}} file
 */
export function typeOf(file) {
  const ending = file.name.split(".").pop()?.toLowerCase() ?? "";
  if (TAKEN.includes(file.type)) return file.type;
  if (BY_ENDING[ending]) return BY_ENDING[ending];
  return file.type && OTHER_BINARIES.test(file.type) ? null : "text/plain"; // sources of programs are text
}

/** @param {string} type */
export const isImage = (type) => SHOWN.includes(type);

/**
 * Return why a file is not taken, or "" if it is.
 * @param {{name: string, type: string, size: number}} file
 * @param {number} count how many files there are already
 */
export function whyNot(file, count) {
  const type = typeOf(file);
  if (!type) return "Files of this kind are not taken: text, images, PDF, CSV and JSON are.";
  if (!file.size) return "The file is empty.";
  if (count >= FILES_MAX) return `A chat takes ${FILES_MAX} files.`;
  if (file.size > FILE_BYTES_MAX && !isImage(type)) {
    return `The file has ${sizeText(file.size)}; at most ${sizeText(FILE_BYTES_MAX)} are taken.`;
  }
  return "";
}

/**
 * Return a name that the daemon takes, cut where it is too long and keeping its ending.
 * @param {string} name
 */
export function fileName(name) {
  const clean = name.replace(/[\p{Cc}"\\/]+/gu, "_").trim() || "file";
  const dot = clean.lastIndexOf(".");
  const ending = dot > 0 ? clean.slice(dot) : "";
  let stem = dot > 0 ? clean.slice(0, dot) : clean;
  const bytes = (/** @type {string} */ text) => new TextEncoder().encode(text).length;
  while (bytes(stem + ending) > NAME_BYTES_MAX && stem.length > 1) stem = stem.slice(0, -1);
  return stem + ending;
}

/** @param {number} bytes */
export function sizeText(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1000)} KB`;
  return `${(bytes / 1_000_000).toFixed(1).replace(/\.0$/, "")} MB`;
}

/**
 * Return the size that an image is shrunk to, or null if it may stay as it is.
 * @param {number} width @param {number} height @param {number} bytes
 */
export function smallerSize(width, height, bytes) {
  const edge = Math.max(width, height);
  if (edge <= EDGE_MAX && bytes <= IMAGE_BYTES_MAX) return null;
  const factor = Math.min(1, EDGE_MAX / edge);
  return { width: Math.max(1, Math.round(width * factor)), height: Math.max(1, Math.round(height * factor)) };
}
