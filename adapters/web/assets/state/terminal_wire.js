// The messages of a terminal's socket: a byte that says the kind, and what it says. Pure.

const POSITION_BYTES = 8;
const INPUT_BYTES_MAX = 32 * 1024; // of one message; the daemon takes twice as much

/**
 * @typedef {{kind: "output", position: number, bytes: Uint8Array} | {kind: "size", rows: number, columns: number}
 *   | {kind: "end", exit: number, why: string} | {kind: "unknown"}} Said
 */

/** Read what the terminal says. @param {ArrayBuffer} message @returns {Said} */
export function readMessage(message) {
  const bytes = new Uint8Array(message);
  const kind = String.fromCharCode(bytes[0] ?? 0);
  if (kind === "o") return readOutput(bytes);
  if (kind !== "s" && kind !== "e") return { kind: "unknown" };
  const told = JSON.parse(new TextDecoder().decode(bytes.subarray(1)));
  if (kind === "s") return { kind: "size", rows: told.rows, columns: told.columns };
  return { kind: "end", exit: told.exit_code, why: told.why };
}

/** @param {Uint8Array} bytes @returns {Said} */
function readOutput(bytes) {
  const head = new DataView(bytes.buffer, bytes.byteOffset + 1, POSITION_BYTES);
  return { kind: "output", position: Number(head.getBigUint64(0)), bytes: bytes.subarray(1 + POSITION_BYTES) };
}

/** Return the messages that type a text. @param {string} text @returns {Uint8Array<ArrayBuffer>[]} */
export const typedMessages = (text) => inputMessages(new TextEncoder().encode(text));

/** Likewise bytes, as reports of the mouse have them. @param {string} text each character is a byte */
export const byteMessages = (text) => inputMessages(Uint8Array.from(text, (character) => character.charCodeAt(0)));

/** @param {Uint8Array} bytes */
function inputMessages(bytes) {
  const messages = [];
  for (let at = 0; at < bytes.length; at += INPUT_BYTES_MAX) messages.push(message("i", bytes.subarray(at, at + INPUT_BYTES_MAX)));
  return messages;
}

/** @param {number} rows @param {number} columns */
export const sizeMessage = (rows, columns) => message("r", new TextEncoder().encode(JSON.stringify({ rows, columns })));

/** @param {string} kind @param {Uint8Array} content */
function message(kind, content) {
  const whole = new Uint8Array(1 + content.length);
  whole[0] = kind.charCodeAt(0);
  whole.set(content, 1);
  return whole;
}

/**
 * Return what of some output is new to one who has all before a position. `lost`: something between was
 * forgotten by the daemon, so that what is shown has to begin anew.
 * @param {number} has @param {{position: number, bytes: Uint8Array}} output
 */
export function newOutput(has, { position, bytes }) {
  if (position > has) return { bytes, lost: true, has: position + bytes.length };
  const fresh = bytes.subarray(Math.min(bytes.length, has - position));
  return { bytes: fresh, lost: false, has: Math.max(has, position + bytes.length) };
}
