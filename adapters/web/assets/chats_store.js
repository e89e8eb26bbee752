// The list of chats that the page shows, and what can be done to a chat from it.
//
//   chats.list            signal of the ChatList of state/chats.js, for the filter that is shown
//   chats.needing         signal of the ChatList of those that need this user, wherever they stand
//   chats.needs           signal: how many chats need this user
//   chats.begin()         once: reads the first page, and hears news from then on
//   chats.show(filter)    {q, labels}: reads the first page of it; what was read before shows at once
//   chats.more()          the next page
//   chats.again()         the first page anew
//   chats.find(id)        a root or child of any list read so far, or one that was opened; or undefined
//   chats.listed(id)      likewise, of lists only
//   chats.know(chat)      a chat was read that may be in no list
//   chats.pin(id), .unpin(id), .move(id, position)       position among the pinned, from 1
//   chats.rename(id, title), .propose(id) → a title, .label(id, labels)
//   chats.archive(ids), .unarchive(ids), .markRead(ids), .markUnread(ids)
//
// What is asked for shows at once, and is put back if the daemon refuses; the promise then throws
// the ApiError. News comes by wire/watch.js.

import { batch, computed, signal } from "./ui.js";
import { chatIn, newList, withChange, withNews, withPage, without } from "./state/chats.js";
import { needsPerson } from "./state/lights.js";
import { me } from "./session.js";
import { api } from "./wire/api.js";
import { hearWatch } from "./wire/watch.js";

/** @typedef {import("./state/chats.js").ChatList} ChatList */

const PAGE = 50; // chats
const LISTS_MAX = 12; // of other filters that are kept; the oldest is forgotten
const AGAIN_MS = 1500; // a list of which news cannot be placed is read anew, at most so often
const SHARED_MS = 600_000; // the list is read again so often, because news of shared chats may be lost
const KNOWN_MAX = 50; // chats that were opened and are in no list; the oldest is forgotten

/** @type {Map<string, import("./vendor/preact.js").Signal<ChatList>>} */
const lists = new Map();
const plain = listOf({ q: "source:created_by_me,shared_with_me", labels: [] });
const needing = listOf({ q: "source:created_by_me needs_me:true", labels: [] });
const shown = signal(plain);
/**
 * Chats that were opened, by id: they may be archived, or far down.
 * @type {Map<string, import("./state/chats.js").Chat>}
 */
const known = new Map();
/** Lists that are being read. @type {Map<typeof plain, Promise<void>>} */
const readings = new Map();
/** For each page that is on its way, the news since it was asked for. @type {Set<any[]>} */
const arriving = new Set();
/** Moves of pinned chats go out one after the other, as each counts the places after the one before. */
let moving = Promise.resolve();
let begun = false;

/** @param {import("./state/chats.js").Filter} filter */
function listOf(filter) {
  const name = JSON.stringify([filter.q.trim(), filter.labels]);
  const found = lists.get(name) ?? signal(newList(filter));
  lists.delete(name);
  lists.set(name, found);
  if (lists.size > LISTS_MAX) forgetOldest();
  return found;
}

function forgetOldest() {
  const oldest = [...lists].find(([, list]) => list !== plain && list !== needing && list !== shown.peek());
  if (oldest) lists.delete(oldest[0]);
}

/** @param {(list: ChatList) => ChatList} change */
function changeAll(change) {
  batch(() => {
    for (const list of lists.values()) list.value = change(list.peek());
  });
}

/** Read the first page of a list; two who want it at once share one request. @param {typeof plain} list */
function readFirst(list) {
  const reading = readings.get(list) ?? readPage(list).finally(() => readings.delete(list));
  readings.set(list, reading);
  return reading;
}

/** Read what is there from now on: a page that is on its way may be older. @param {typeof plain} list */
const readAgain = (list) => readings.get(list)?.then(() => readFirst(list)) ?? readFirst(list);

/**
 * Read a page of a list. News that comes meanwhile is applied again, because the page may be older.
 * @param {typeof plain} list
 * @param {Record<string, any>} query
 * @param {{next?: boolean}} how
 */
async function take(list, query, how) {
  /** @type {any[]} */
  const news = [];
  arriving.add(news);
  try {
    const page = await api.get("chats", { ...query, limit: PAGE });
    list.value = news.reduce((now, event) => withNews(now, event), withPage(list.peek(), page, { ...how, limit: PAGE }));
  } finally {
    arriving.delete(news);
  }
}

/** @param {typeof plain} list */
async function readPage(list) {
  const { filter } = list.peek();
  try {
    await take(list, { q: filter.q.trim() || null, label: filter.labels }, {});
  } catch (error) {
    const before = list.peek();
    list.value = { ...before, state: before.roots.length ? before.state : "failed", error };
  }
}

/** @type {any} */
let againTimer;

function readStale() {
  clearTimeout(againTimer);
  againTimer = setTimeout(() => {
    const list = shown.peek();
    if (list.peek().stale) readFirst(list);
  }, AGAIN_MS);
}

/** @param {any} event */
function hear(event) {
  if (event.kind === "again") {
    for (const list of new Set([plain, needing, shown.peek()])) readAgain(list);
    return;
  }
  for (const news of arriving) news.push(event);
  const opened = known.get(event.chat.id);
  if (opened) known.set(opened.id, { ...opened, ...event.chat, children: opened.children });
  changeAll((list) => withNews(list, event));
  if (shown.peek().peek().stale) readStale();
}

/** See whether chats were shared with the user since, while somebody looks. */
function readShared() {
  if (!document.hidden && shown.peek().peek().state === "ready") readFirst(shown.peek());
}

/**
 * Show a change at once, ask the daemon for it, and put it back if it refuses.
 * @param {string} id
 * @param {Partial<import("./state/chats.js").Chat>} changes
 * @param {Record<string, unknown>} [asked] where it is called otherwise than in the chat
 */
async function patch(id, changes, asked = changes) {
  const before = chats.find(id);
  change(id, changes);
  try {
    await api.patch(`chats/${id}`, asked);
  } catch (error) {
    if (before) change(id, Object.fromEntries(Object.keys(changes).map((name) => [name, Reflect.get(before, name)])));
    throw error;
  }
}

/** Change a chat wherever it is shown. @param {string} id @param {Partial<import("./state/chats.js").Chat>} changes */
function change(id, changes) {
  const opened = known.get(id);
  if (opened) known.set(id, { ...opened, ...changes });
  changeAll((list) => withChange(list, id, changes));
}

/** @param {string} id @param {boolean} isRead */
async function markOne(id, isRead) {
  const had = chats.find(id)?.has_unread ?? false;
  changeAll((list) => withChange(list, id, { has_unread: !isRead }));
  try {
    // The request goes on if the tab is closed now.
    await api.put(`chats/${id}/read-status`, { is_read: isRead }, { keepalive: true });
  } catch (error) {
    changeAll((list) => withChange(list, id, { has_unread: had }));
    throw error;
  }
}

/** @param {readonly string[]} ids @param {boolean} archived */
async function patchArchived(ids, archived) {
  const before = new Map([...lists.values()].map((list) => [list, list.peek()]));
  changeAll((list) => (/archived/.test(list.filter.q) === archived ? list : without(list, ids)));
  const answers = await Promise.allSettled(ids.map((id) => api.patch(`chats/${id}`, { archived })));
  const refused = answers.find((answer) => answer.status === "rejected");
  if (refused) for (const [list, was] of before) list.value = was;
  ids.forEach((id, at) => answers[at].status === "fulfilled" && know({ ...known.get(id), archived }));
  await Promise.all([...new Set([plain, ...(refused ? [needing] : []), shown.peek()])].map(readAgain));
  if (refused) throw refused.reason;
}

export const chats = {
  list: computed(() => shown.value.value),
  needing: computed(() => needing.value),
  needs: computed(() => {
    const user = me.value?.id;
    const needy = new Set();
    for (const { value } of [plain, needing])
      for (const root of value.roots) if (root.owner_id === user && needsPerson(root)) needy.add(root.id);
    return needy.size;
  }),

  /** Read the first page, and hear news from then on; its first word is that all is to be read anew. */
  begin() {
    if (begun) return;
    begun = true;
    readFirst(plain);
    hearWatch(hear);
    setInterval(readShared, SHARED_MS);
  },

  /** @param {import("./state/chats.js").Filter} filter */
  async show(filter) {
    const list = listOf(filter);
    shown.value = list;
    if (list !== plain || list.peek().state === "failed") await readFirst(list);
  },

  async more() {
    const list = shown.peek();
    const { filter, roots, more } = list.peek();
    const last = roots[roots.length - 1];
    if (!last || more === "no" || more === "loading") return;
    list.value = { ...list.peek(), more: "loading" };
    try {
      await take(list, { q: filter.q.trim() || null, label: filter.labels, after_id: last.id }, { next: true });
    } catch (error) {
      list.value = { ...list.peek(), more: "failed", error };
    }
  },

  again: () => readFirst(shown.peek()),

  /** @param {string} id */
  listed(id) {
    for (const list of lists.values()) {
      const found = chatIn(list.peek(), id);
      if (found) return found;
    }
    return undefined;
  },

  /** @param {string} id */
  find: (id) => chats.listed(id) ?? known.get(id),

  /** @param {import("./state/chats.js").Chat} chat */
  know,

  /** @param {string} id */
  pin: (id) => patch(id, { pin_order: plain.peek().roots.filter((chat) => chat.pin_order > 0).length + 1 }),
  /** @param {string} id */
  unpin: (id) => patch(id, { pin_order: 0 }),

  /** @param {string} id @param {number} position among the pinned, from 1 */
  async move(id, position) {
    const ids = plain.peek().roots.filter((chat) => chat.pin_order && chat.id !== id).map((chat) => chat.id);
    ids.splice(position - 1, 0, id);
    const before = ids.map((one) => chats.find(one)?.pin_order);
    const order = (/** @type {(at: number) => number | undefined} */ place) =>
      batch(() => ids.forEach((one, at) => change(one, { pin_order: place(at) })));
    order((at) => at + 1);
    moving = moving.catch(() => {}).then(() => api.patch(`chats/${id}`, { pin_order: position }));
    try {
      await moving;
    } catch (error) {
      order((at) => before[at]);
      throw error;
    }
  },

  /** @param {string} id @param {string} title */
  rename: (id, title) => patch(id, { title }),
  /** @param {string} id @param {Record<string, string>} labels */
  label: (id, labels) => patch(id, { labels }),
  /** @param {string} id @returns {Promise<string>} */
  propose: async (id) => (await api.post(`chats/${id}/title/propose`)).title,
  /** @param {readonly string[]} ids */
  archive: (ids) => patchArchived(ids, true),
  /** @param {readonly string[]} ids */
  unarchive: (ids) => patchArchived(ids, false),

  /** @param {readonly string[]} ids */
  markRead: (ids) => Promise.all(ids.map((id) => markOne(id, true))),
  /** @param {readonly string[]} ids */
  markUnread: (ids) => Promise.all(ids.map((id) => markOne(id, false))),

  /** A chat has just been made here. @param {import("./state/chats.js").Chat} chat */
  made: (chat) => changeAll((list) => withNews(list, { kind: "created", chat })),
  /** A chat is looked at here: it is read. @param {string} id */
  seen: (id) => changeAll((list) => withChange(list, id, { has_unread: false })),
};

/** Remember a chat that was read by itself. @param {Partial<import("./state/chats.js").Chat>} chat */
function know(chat) {
  if (!chat.id) return;
  known.delete(chat.id);
  known.set(chat.id, /** @type {any} */ (chat));
  const [oldest] = known.keys();
  if (known.size > KNOWN_MAX) known.delete(oldest);
}
