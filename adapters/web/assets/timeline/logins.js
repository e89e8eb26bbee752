// Whether a command asks its user to log in, and where. Pure.

import { hostOf } from "./addresses.js";

const READ_MAX = 4000; // characters at the end of an output
const NEAR_LINES = 2; // above the address, in which it is said what the address is for
const ADDRESS = /https:\/\/\w[^\s<>"'`\x00-\x1f]+/g;
const IS_FOR_LOGIN = /device|log-?in|sign-?in|oauth|authori[sz]e|\bauth\b|\bsso\b/i;
const ASKS = /\b(log(ging)? ?in|sign(ing)? ?in|authenticat\w*|authori[sz]\w*|one-time code|device code|enter (the|this) code|open (the|this) (url|link|page)|browser)\b/i;
const CODE = /\b(?:[A-Z0-9]{4}-[A-Z0-9]{4}|(?:user|device|one-time)?[ -]?code(?: is)?:? +([A-Z0-9]{6,10}))\b/;

/**
 * Return where a command wants its user to log in: the last such address of its output; null if there is none.
 * @param {string} output
 * @returns {{url: string, host: string, code: string} | null} `code`: what is to be typed there, ""
 */
export function loginOf(output) {
  const lines = output.slice(-READ_MAX).replace(/\x1b\[[0-9;]*m/g, "").split("\n");
  for (let at = lines.length - 1; at >= 0; at--) {
    const url = lines[at].match(ADDRESS)?.findLast((each) => IS_FOR_LOGIN.test(each))?.replace(/[.,;:)\]]+$/, "");
    if (!url || !hostOf(url)) continue;
    const near = lines.slice(Math.max(0, at - NEAR_LINES), at + NEAR_LINES + 1).join("\n");
    if (!ASKS.test(near.replace(ADDRESS, ""))) continue;
    const code = CODE.exec(near.replace(ADDRESS, ""));
    return { url, host: new URL(url).host, code: code ? (code[1] ?? code[0]) : "" };
  }
  return null;
}
