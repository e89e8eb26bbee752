/** Labels as they are typed, and the daemon's bounds for them. Pure. */

const LABELS_MAX = 50;
const KEY_MAX = 64;
const VALUE_MAX = 256;
const KEY = /^[a-zA-Z0-9][a-zA-Z0-9._/-]*$/;

export const KEY_FAULT = "Write a label as name: value, for example area: web";

/** Read "key: value" or "key=value". @param {string} text @returns {{key: string, value: string} | null} */
export function readLabel(text) {
  const [, key, value] = /^\s*([^:=\s]+)\s*[:=]\s*(.*?)\s*$/.exec(text) ?? [];
  return key && value ? { key, value } : null;
}

/**
 * Say why a label cannot be added, or "".
 * @param {{key: string, value: string}} label
 * @param {Record<string, string>} others
 */
export function labelFault({ key, value }, others) {
  if (!KEY.test(key)) return "A name has letters, digits and . _ / - and begins with a letter or digit";
  if (key.length > KEY_MAX) return `A name has at most ${KEY_MAX} characters`;
  if (value.length > VALUE_MAX) return `A value has at most ${VALUE_MAX} characters`;
  if (!(key in others) && Object.keys(others).length >= LABELS_MAX)
    return `A chat has at most ${LABELS_MAX} labels`;
  return "";
}
