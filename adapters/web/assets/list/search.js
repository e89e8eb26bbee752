/** The page of a search: full text and titles, filters as chips, hits by keys. */

import { chats } from "../chats_store.js";
import { entered } from "../current.js";
import { go, route } from "../routes.js";
import { me } from "../session.js";
import { icon } from "../shared/icons.js";
import { openMenu } from "../shared/menu.js";
import { addressOf, filtersOf, isNarrowed, PR_STATES } from "../state/filters.js";
import { withTypedTerms } from "../state/typed_terms.js";
import { html, useEffect, useRef, useState } from "../ui.js";
import { Back } from "./back.js";
import { Removable } from "./chips.js";
import { Hit, hitAddress } from "./hit.js";
import { known } from "./look.js";
import { useHits } from "./searching.js";

/** @typedef {import("../state/filters.js").Filters} Filters */
/** @typedef {import("../wire/types.js").Chat} Chat */

const PAUSE = 180; // milliseconds without a key, then it is looked for
const RECENT_MAX = 12;

/** Put another search into the address; typing leaves no steps to go back through. @param {Filters} filters */
const seek = (filters) => void go(`/search${addressOf(filters)}`, { replace: true });

export function SearchPage() {
  const filters = filtersOf(route.value.query);
  const found = useHits(filters);
  const idle = !filters.words.trim() && !isNarrowed(filters);
  const hits = idle ? recent() : found.hits;
  const [at, move] = useState(0);
  useEffect(() => move(0), [addressOf(filters)]);
  return html`<header class="top">
      <${Back} />
      <h1>Search</h1><span class="sp"></span>
    </header>
    <div class="search-page">
      <${Field} filters=${filters} hits=${hits} at=${at} move=${move} />
      <${SearchChips} filters=${filters} />
      <h2 class="found-words" aria-live="polite">${idle ? "Lately" : wordsOf(found, filters)}</h2>
      <div class="hits" id="hits" role="listbox" aria-label="Chats">${hits.map((hit, index) => html`<${Hit}
        key=${hit.id} chat=${hit} words=${filters.words} isAt=${index === at}
          me=${me.value?.id ?? ""} />`)}</div>
      ${!idle && found.more === "yes" ? html`<button class="btn more-hits"
        onClick=${found.readMore}>Show more</button>` : null}
      ${!idle && found.state === "failed" ? html`<button class="btn"
        onClick=${found.again}>${icon("retry")}Try again</button>` : null}
    </div>`;
}

const recent = () =>
  [...chats.list.value.roots]
    .sort((one, other) => Date.parse(other.updated_at) - Date.parse(one.updated_at))
    .slice(0, RECENT_MAX);

/** @param {ReturnType<typeof useHits>} found @param {Filters} filters */
function wordsOf(found, filters) {
  if (found.state === "failed") return `The search did not work: ${found.why}`;
  if (found.state === "loading" && !found.hits.length) return "Searching…";
  const count = found.hits.length;
  if (count) return `${count}${found.more === "yes" ? " or more" : ""} ${count === 1 ? "chat" : "chats"}`;
  if (filters.words && !/[\p{L}\p{N}]/u.test(filters.words))
    return "Signs alone cannot be found: write a word";
  return filters.archived ? "Nothing is found in the archive" : "Nothing is found";
}

/** @param {{filters: Filters, hits: Chat[], at: number, move: (at: number) => void}} props */
function Field({ filters, hits, at, move }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [text, type] = useTyped(filters);
  useEffect(() => field.current?.focus(), []);
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) move(Math.min(hits.length - 1, Math.max(0, at + step)));
    else if (event.key === "Enter" && hits[at]) open(hits[at]);
    else if (event.key === "Backspace" && !text) dropLast(filters);
    else return;
    event.preventDefault();
  };
  return html`<div class="search-field">${icon("search")}
    <input ref=${field} type="search" role="combobox" aria-expanded="true" aria-controls="hits"
      aria-label="Search all chats" aria-activedescendant=${hits[at] ? `hit-${hits[at].id}` : null}
      placeholder="Words in titles and messages" value=${text} autocomplete="off" spellcheck=${false}
        onInput=${(/** @type {any} */ event) => type(event.target.value)} onKeyDown=${onKey} />
  </div>
  <p class="dim search-hint">Whole words; “a phrase” in quotes, −without, or OR between them. ↑↓ and ⏎ open a chat.</p>`;
}

/** Show a hit. A found message takes the focus itself; without one the chat's field gets it. @param {Chat} hit */
function open(hit) {
  if (!hit.search_match) entered.value = hit.id;
  void go(hitAddress(hit));
}

/**
 * What is typed shows at once, and is looked for when typing pauses.
 * @param {Filters} filters
 * @returns {[string, (text: string) => void]}
 */
function useTyped(filters) {
  const [text, setText] = useState(filters.words);
  const timer = useRef(0);
  useEffect(
    () => setText((now) => (now.trim() === filters.words.trim() ? now : filters.words)),
    [filters.words],
  );
  const type = (/** @type {string} */ words) => {
    setText(words);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => {
      if (route.peek().name === "search") seek(withTypedTerms({ ...filtersOf(route.peek().query), words }));
    }, PAUSE);
  };
  return [text, type];
}

/** Take the last filter away. @param {Filters} filters */
function dropLast(filters) {
  if (filters.labels.length) seek({ ...filters, labels: filters.labels.slice(0, -1) });
  else if (filters.prs.length) seek({ ...filters, prs: filters.prs.slice(0, -1) });
  else if (filters.needs) seek({ ...filters, needs: false });
  else if (filters.unread) seek({ ...filters, unread: false });
  else if (filters.archived) seek({ ...filters, archived: false });
  else if (filters.source) seek({ ...filters, source: "" });
}

/** @param {{filters: Filters}} props */
function SearchChips({ filters }) {
  const chips = [
    filters.source && {
      name: filters.source === "mine" ? "Mine" : "Shared with me",
      next: { ...filters, source: /** @type {""} */ ("") },
    },
    filters.archived && { name: "Archived", next: { ...filters, archived: false } },
    filters.unread && { name: "Unread", next: { ...filters, unread: false } },
    filters.needs && { name: "Needs me", next: { ...filters, needs: false } },
    ...filters.prs.map((state) => ({
      name: `Pull request: ${state}`,
      next: { ...filters, prs: filters.prs.filter((one) => one !== state) },
    })),
    ...filters.labels.map((label) => ({
      name: label.replace(":", ": "),
      next: { ...filters, labels: filters.labels.filter((one) => one !== label) },
    })),
  ].filter((chip) => typeof chip === "object");
  return html`<div class="chips" role="toolbar" aria-label="Filters">
    ${chips.map((chip) => html`<${Removable} key=${chip.name} name=${chip.name}
      onRemove=${() => seek(chip.next)} />`)}
    <button class="chip" aria-haspopup="menu"
      onClick=${(/** @type {any} */ event) => openFilters(event.currentTarget, filters)}>${icon("plus")}Filter</button>
  </div>`;
}

/** @param {Element} at @param {Filters} filters */
function openFilters(at, filters) {
  const labels = known.peek().labels.filter((label) => !filters.labels.includes(label)).slice(0, 12);
  const source = (/** @type {"mine" | "shared"} */ wished) => ({
    checked: filters.source === wished,
    run: () => seek({ ...filters, source: filters.source === wished ? "" : wished }),
  });
  const flag = (/** @type {"unread" | "needs" | "archived"} */ name) => ({
    checked: filters[name],
    run: () => seek({ ...filters, [name]: !filters[name] }),
  });
  const withLabel = (/** @type {string} */ label) => () => seek({ ...filters, labels: [...filters.labels, label] });
  /** @type {(import("../shared/menu.js").Item | "-")[]} */
  const items = [
    { label: "Mine", ...source("mine") },
    { label: "Shared with me", ...source("shared") },
    { label: "Unread", ...flag("unread") },
    { label: "Needs me", ...flag("needs") },
    { label: "Archived", ...flag("archived") },
  ];
  for (const state of PR_STATES)
    if (!filters.prs.includes(state)) items.push({ label: `Pull request: ${state}`, run: () => seek({ ...filters, prs: [...filters.prs, state] }) });
  if (labels.length) items.push("-");
  for (const label of labels) items.push({ label: label.replace(":", ": "), icon: "tag", run: withLabel(label) });
  openMenu({ at, label: "Add a filter", items });
}
