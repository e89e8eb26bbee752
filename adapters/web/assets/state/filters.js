/**
 * The filters of the list and of the search: in the address, and as the daemon is asked. Pure.
 *
 * @typedef {object} Filters
 * @property {string} words what is looked for, full text
 * @property {""|"mine"|"shared"} source "": both
 * @property {boolean} archived
 * @property {boolean} unread
 * @property {boolean} needs only those that wait for a person
 * @property {string[]} labels key:value, all together
 * @property {string[]} prs states of pull requests, any of them
 * @property {"time"|"status"|"label"} group
 */

const SOURCES = { "": "created_by_me,shared_with_me", mine: "created_by_me", shared: "shared_with_me" };

/** The states of a pull request, as they are said and filtered by. */
export const PR_STATES = ["draft", "open", "merged", "closed"];

/** @type {Readonly<Filters>} */
export const NO_FILTERS = Object.freeze({
  words: "",
  source: "",
  archived: false,
  unread: false,
  needs: false,
  labels: [],
  prs: [],
  group: "time",
});

/**
 * Read filters from the query of an address; what makes no sense is left out.
 * @param {URLSearchParams} query
 * @returns {Filters}
 */
export function filtersOf(query) {
  const source = query.get("source") ?? "";
  const group = query.get("group") ?? "";
  return {
    words: query.get("q") ?? "",
    source: source === "mine" || source === "shared" ? source : "",
    archived: query.get("archived") === "1",
    unread: query.get("unread") === "1",
    needs: query.get("needs") === "1",
    labels: query.getAll("label").filter((label) => /^[^:]+:./.test(label)),
    prs: PR_STATES.filter((state) => query.getAll("pr").includes(state)),
    group: group === "status" || group === "label" ? group : "time",
  };
}

/** Return the filters as the query of an address: "" or "?…". @param {Filters} filters */
export function addressOf(filters) {
  const query = new URLSearchParams();
  if (filters.words) query.set("q", filters.words);
  if (filters.source) query.set("source", filters.source);
  for (const name of /** @type {const} */ (["needs", "unread", "archived"]))
    if (filters[name]) query.set(name, "1");
  for (const label of filters.labels) query.append("label", label);
  for (const state of filters.prs) query.append("pr", state);
  if (filters.group !== "time") query.set("group", filters.group);
  const text = query.toString();
  return text ? `?${text}` : "";
}

/**
 * Return what is sent to the daemon for these filters.
 * @param {Filters} filters
 * @returns {{q: string, labels: string[]}}
 */
export function wanted(filters) {
  const terms = [`source:${SOURCES[filters.source]}`];
  if (filters.archived) terms.push("archived:true");
  if (filters.unread) terms.push("has_unread:true");
  if (filters.needs) terms.push("needs_me:true");
  if (filters.prs.length) terms.push(`pr_status:${filters.prs.join(",")}`);
  if (filters.words.trim()) terms.push(`search:${quoted(filters.words.trim())}`);
  return { q: terms.join(" "), labels: filters.labels };
}

/** Put a value into double quotes, as the search of the daemon reads it. @param {string} text */
export const quoted = (text) => `"${text.replaceAll('"', '\\"')}"`;

/** Say whether results are left out by the filters, beside the words. @param {Filters} filters */
export const isNarrowed = (filters) =>
  Boolean(filters.source || filters.archived || filters.unread || filters.needs || filters.labels.length || filters.prs.length);

/**
 * Say whether a chat belongs to the list of these filters, as far as can be told without the daemon.
 * Words are found by the daemon only.
 *
 * @param {import("../wire/types.js").Chat} chat
 * @param {Filters} filters
 * @param {string} me
 */
export function fits(chat, filters, me) {
  if (chat.archived !== filters.archived) return false;
  if (filters.source && (filters.source === "mine") !== (chat.owner_id === me)) return false;
  if (filters.prs.length && !filters.prs.includes(prState(chat.diff_status))) return false;
  return filters.labels.every((label) => {
    const colon = label.indexOf(":");
    return chat.labels[label.slice(0, colon)] === label.slice(colon + 1);
  });
}

/** @param {import("../wire/types.js").ChatDiffStatus | undefined} status */
const prState = (status) => (status?.pull_request_state === "open" && status.pull_request_draft ? "draft" : (status?.pull_request_state ?? ""));
