// Filters that are typed among the words of a search. Pure.

import { PR_STATES } from "./filters.js";

/** @typedef {import("./filters.js").Filters} Filters */

/**
 * Take `key:value` terms out of typed words: "red wine unread:true" filters by unread.
 *
 * @param {Filters} filters
 * @returns {Filters}
 */
export function withTypedTerms(filters) {
  const found = { ...filters, labels: [...filters.labels], prs: [...filters.prs] };
  const rest = filters.words.split(/(\s+)/).filter((piece) => !take(found, piece));
  const words = rest.join("").replace(/\s+/g, " ").trimStart();
  return found.words === words ? filters : { ...found, words };
}

/** @param {Filters} filters @param {string} piece */
function take(filters, piece) {
  const [, key, value] = /^(archived|unread|needs|source|label|pr_status):(\S+)$/.exec(piece) ?? [];
  if (!key) return false;
  if (key === "label") return /^[^:]+:./.test(value) && Boolean(filters.labels.push(value));
  if (key === "pr_status") return takeStates(filters, value.split(","));
  if (key === "source") return (value === "mine" || value === "shared") && Boolean((filters.source = value));
  if (!/^(true|false|1|0|yes|no)$/.test(value)) return false;
  filters[/** @type {"archived"|"unread"|"needs"} */ (key)] = /^(true|1|yes)$/.test(value);
  return true;
}

/** @param {Filters} filters @param {string[]} states */
function takeStates(filters, states) {
  if (!states.every((state) => PR_STATES.includes(state))) return false;
  filters.prs = PR_STATES.filter((state) => states.includes(state) || filters.prs.includes(state));
  return true;
}
