/** How the list is looked at: filters of the address, what is folded, chosen and focused, and the rows. */

import { chats } from "../chats_store.js";
import { route } from "../routes.js";
import { me } from "../session.js";
import { midnight } from "../state/ages.js";
import { filtersOf, fits, NO_FILTERS } from "../state/filters.js";
import { needsPerson } from "../state/lights.js";
import { counts, labelsOf, rowsOf } from "../state/rows.js";
import { computed, effect, signal } from "../ui.js";
import { minute } from "./clock.js";

/** @typedef {import("../state/filters.js").Filters} Filters */
/** @typedef {import("../wire/types.js").Chat} Chat */

const FOLDED = "list.folded";
const UNFOLDED = "list.unfolded";
const UNFOLDED_MAX = 200; // roots whose folding is remembered

/** @type {Filters} */
let last = { ...NO_FILTERS };

/** Filters of the list. Pages without a list in their address leave it as it was. */
export const filters = computed(() => {
  const { name, query } = route.value;
  if (name === "chat" || name === "home" || name === "new") last = { ...filtersOf(query), words: "" };
  return last;
});

/** Roots that the user has unfolded (true) or folded (false); others fold by themselves. */
export const unfolded = signal(/** @type {Record<string, boolean>} */ (kept(UNFOLDED, {})));

/** Sections that are folded. */
export const folded = signal(new Set(/** @type {string[]} */ (kept(FOLDED, []))));

/** Chats that are chosen for one act together. */
export const chosen = signal(/** @type {ReadonlySet<string>} */ (new Set()));

/** The row that has, or last had, the keyboard's focus. */
export const focused = signal(/** @type {string | null} */ (null));

const today = computed(() => midnight(minute.value));

/** Chats of the list that the filters let through; those that need the user stand there from the first page on. */
export const roots = computed(() => {
  const mine = me.value?.id ?? "";
  const now = filters.value; // a signal is not read once for each of ten thousand
  const { roots: listed } = chats.list.value;
  const besides = isPlain(now) ? needingBesides(listed) : [];
  const all = besides.length ? [...listed, ...besides] : listed;
  return all.filter((root) => fits(root, now, mine)).map((root) => (root.owner_id === mine ? root : quiet(root)));
});

/** @type {WeakMap<Chat, Chat>} */
const QUIET = new WeakMap();

/** What is unread in a chat of another is that other's matter. @param {Chat} chat */
function quiet(chat) {
  const known = chat.has_unread ? (QUIET.get(chat) ?? { ...chat, has_unread: false }) : chat;
  QUIET.set(chat, known);
  return known;
}

/** @param {Filters} now */
const isPlain = (now) => !now.unread && !now.archived && !now.labels.length && !now.prs.length && now.source !== "shared";

/** Few need the user, and thousands may be listed. @param {readonly Chat[]} listed */
function needingBesides(listed) {
  const found = new Map(chats.needing.value.roots.filter(needsPerson).map((root) => [root.id, root]));
  if (found.size) for (const root of listed) found.delete(root.id);
  return [...found.values()];
}

export const rows = computed(() =>
  rowsOf(roots.value, {
    group: filters.value.group,
    today: today.value,
    open: route.value.chat ?? null,
    unfolded: unfolded.value,
    folded: folded.value,
  }),
);

export const known = computed(() => ({ ...counts(roots.value), labels: labelsOf(roots.value) }));

/** Fold or unfold the agents of a root. @param {string} root @param {boolean} open */
export function unfold(root, open) {
  const entries = Object.entries({ ...unfolded.value, [root]: open });
  unfolded.value = Object.fromEntries(entries.slice(-UNFOLDED_MAX));
  keep(UNFOLDED, unfolded.value);
}

/** Fold or unfold a section. @param {string} section */
export function foldSection(section) {
  const next = new Set(folded.value);
  if (!next.delete(section)) next.add(section);
  folded.value = next;
  keep(FOLDED, [...next]);
}

/** Choose a chat, or no longer. @param {string} id @param {boolean} [wanted] */
export function choose(id, wanted = !chosen.value.has(id)) {
  const next = new Set(chosen.value);
  if (wanted) next.add(id);
  else next.delete(id);
  chosen.value = next;
}

export const chooseNone = () => {
  chosen.value = new Set();
};

effect(() => {
  if (!chosen.value.size) return;
  const there = new Set(roots.value.map((root) => root.id));
  const still = [...chosen.peek()].filter((id) => there.has(id));
  if (still.length !== chosen.peek().size) chosen.value = new Set(still);
});

/** @template T @param {string} key @param {T} otherwise @returns {T} */
function kept(key, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null") ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** @param {string} key @param {unknown} value */
function keep(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // A browser that stores nothing forgets it with the page.
  }
}
