/** What a search finds: chats by their titles, then by what was said in them, page by page. */

import { quoted, wanted } from "../state/filters.js";
import { api } from "../wire/api.js";
import { useEffect, useRef, useState } from "../ui.js";
import { reasonOf } from "./acts.js";

/** @typedef {import("../state/filters.js").Filters} Filters */
/** @typedef {import("../wire/types.js").Chat & {excerpt?: {message_id?: number, text: string}}} Chat */
/**
 * @typedef {{hits: Chat[], last: string, state: "loading"|"ready"|"failed", more: "no"|"yes", why: string}} Found
 */

const PAGE = 50;
const BY_TITLE_MAX = 10;
/** @type {Found} */
const NOTHING = { hits: [], last: "", state: "loading", more: "no", why: "" };

/**
 * Look for chats whenever the filters are others. What was found before stands until then.
 * @param {Filters} filters
 */
export function useHits(filters) {
  const [found, setFound] = useState(NOTHING);
  const [tries, again] = useState(0);
  const key = JSON.stringify(wanted(filters));
  const current = useRef(key);
  useEffect(() => {
    const gone = new AbortController();
    current.current = key;
    setFound((before) => ({ ...before, state: "loading" }));
    firstPage(filters, gone.signal).then(
      setFound,
      (error) => gone.signal.aborted || setFound({ ...NOTHING, state: "failed", why: reasonOf(error) }),
    );
    return () => gone.abort();
  }, [key, tries]);
  const readMore = async () => {
    try {
      const page = await read(wanted(filters), { after_id: found.last, limit: PAGE });
      if (current.current === key) setFound((before) => joined(before.hits, page));
    } catch (error) {
      if (current.current === key)
        setFound((before) => ({ ...before, state: "failed", why: reasonOf(error) }));
    }
  };
  return { ...found, readMore, again: () => again((count) => count + 1) };
}

/** @param {Filters} filters @param {AbortSignal} signal @returns {Promise<Found>} */
async function firstPage(filters, signal) {
  const { q, labels } = wanted(filters);
  const words = filters.words.trim();
  const named = wanted({ ...filters, words: "" }).q;
  const [byTitle, byText] = await Promise.all([
    words
      ? read({ q: `${named} title:${quoted(titlePattern(words))}`, labels }, { limit: BY_TITLE_MAX }, signal)
      : [],
    read({ q, labels }, { limit: PAGE }, signal),
  ]);
  return joined(byTitle, byText);
}

/** The signs that match anything in a title are looked for as themselves. @param {string} words */
const titlePattern = (words) => words.replace(/[\\%_]/g, "\\$&").replaceAll('"', "");

/**
 * @param {{q: string, labels: string[]}} what
 * @param {Record<string, string | number>} page
 * @param {AbortSignal} [signal]
 * @returns {Promise<Chat[]>}
 */
const read = ({ q, labels }, page, signal) => {
  const excerpts = / search:/.test(q) ? true : null;
  return api.get("/api/experimental/chats", { q, label: labels, excerpts, ...page }, { signal });
};

/**
 * Put a page behind what was found before, each chat once.
 * @param {Chat[]} before
 * @param {Chat[]} page
 * @returns {Found}
 */
function joined(before, page) {
  const there = new Map(before.map((chat) => [chat.id, chat]));
  for (const chat of page) there.set(chat.id, { ...chat, ...there.get(chat.id) });
  return {
    hits: [...there.values()],
    last: page.at(-1)?.id ?? "",
    state: "ready",
    more: page.length === PAGE ? "yes" : "no",
    why: "",
  };
}
