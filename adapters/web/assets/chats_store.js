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
import { chatIn, newList, withBack, withChange, withNews, withPage, without } from "./state/chats.js";
import { changeKnown, know, knownChat } from "./known_chats.js";
import { needsPerson } from "./state/lights.js";
import { same } from "./state/same.js";
import { me } from "./session.js";
import { api } from "./wire/api.js";
import { hearWatch } from "./wire/watch.js";

/** @typedef {import("./state/chats.js").ChatList} ChatList */
/** @typedef {import("./state/chats.js").Chat} Chat */
/** @typedef {(list: ChatList) => ChatList} Change */

const PAGE = 50; // chats
const LISTS_MAX = 12; // of other filters that are kept; the oldest is forgotten
const AGAIN_MS = 1500; // a list of which news cannot be placed is read anew, at most so often
const SHARED_MS = 600_000; // the list is read again so often, because news of shared chats may be lost

/** @type {Map<string, import("./vendor/preact.js").Signal<ChatList>>} */
const lists = new Map();
const plain = listOf({ q: "source:created_by_me,shared_with_me", labels: [] });
const needing = listOf({ q: "source:created_by_me needs_me:true", labels: [] });
const shown = signal(plain);
/** Lists that are being read. @type {Map<typeof plain, Promise<void>>} */
const readings = new Map();
/** For each page that is on its way, what has changed since it was asked for. @type {Set<Change[]>} */
const arriving = new Set();
/** What a person has changed, and the daemon has not answered: a page may be read before it. @type {Set<Change>} */
const asked = new Set();
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

/** @param {Change} change */
function changeAll(change) {
  for (const changes of arriving) changes.push(change);
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

/** Read anew what is shown. */
const readAll = () => Promise.all([...new Set([plain, needing, shown.peek()])].map(readAgain));

/** Read what is there from now on: a page that is on its way may be older. @param {typeof plain} list */
const readAgain = (list) => readings.get(list)?.then(() => readFirst(list)) ?? readFirst(list);

/**
 * Read a page of a list. What changes meanwhile is applied again, because the page may be older.
 * @param {typeof plain} list
 * @param {Record<string, any>} query
 * @param {{next?: boolean}} how
 */
async function take(list, query, how) {
  const changes = [...asked];
  arriving.add(changes);
  try {
    const page = await api.get("chats", { ...query, limit: PAGE });
    list.value = changes.reduce((now, change) => change(now), withPage(list.peek(), page, { ...how, limit: PAGE }));
  } finally {
    arriving.delete(changes);
  }
}

/** @param {typeof plain} list */
async function readPage(list) {
  const { filter } = list.peek();
  try {
    await take(list, { q: filter.q.trim() || null, label: filter.labels }, {});
    if (list === shown.peek() && list.peek().stale) readStale(); // by news that came meanwhile
  } catch (error) {
    const before = list.peek();
    list.value = { ...before, state: before.roots.length ? before.state : "failed", error };
  }
}

/** @type {any} */
let againTimer;

function readStale() {
  againTimer ??= setTimeout(() => {
    againTimer = undefined;
    const list = shown.peek();
    if (list.peek().stale) void readAgain(list);
  }, AGAIN_MS);
}

/** @param {any} event */
function hear(event) {
  if (event.kind === "again") {
    void readAll();
    return;
  }
  const { children, ...news } = event.chat;
  changeKnown(news.id, news);
  changeAll((list) => withNews(list, event));
  if (shown.peek().peek().stale) readStale();
}

/** See whether chats were shared with the user since, while somebody looks. */
function readShared() {
  if (!document.hidden && shown.peek().peek().state === "ready") readFirst(shown.peek());
}

/**
 * Show changes of chats at once, and ask the daemon for them. What it refuses is put back where nothing
 * newer has come, and the lists are read anew.
 * @param {ReadonlyMap<string, Partial<Chat>>} wanted by the ids of chats
 * @param {() => Promise<unknown>} ask
 */
async function change(wanted, ask) {
  const before = new Map([...wanted.keys()].map((id) => [id, chats.find(id)]));
  const shows = (/** @type {ChatList} */ list) => [...wanted].reduce((now, [id, changes]) => withChange(now, id, changes), list);
  wanted.forEach((changes, id) => changeKnown(id, changes));
  changeAll(shows);
  asked.add(shows);
  try {
    await ask();
  } catch (error) {
    asked.delete(shows);
    wanted.forEach((changes, id) => putBack(id, changes, before.get(id)));
    if (/** @type {any} */ (error).status) void readAll();
    throw error;
  } finally {
    asked.delete(shows);
  }
}

/**
 * Put back what a chat was before a change, as far as it still is what it was changed to.
 * @param {string} id @param {Partial<Chat>} changes @param {Chat | undefined} before
 */
function putBack(id, changes, before) {
  const now = chats.find(id);
  if (!before || !now) return;
  const names = Object.keys(changes).filter((name) => same(Reflect.get(now, name), Reflect.get(changes, name)));
  const back = Object.fromEntries(names.map((name) => [name, Reflect.get(before, name)]));
  changeKnown(id, back);
  changeAll((list) => withChange(list, id, back));
}

/** @param {string} id @param {Partial<Chat>} changes */
const patch = (id, changes) => change(new Map([[id, changes]]), () => api.patch(`chats/${id}`, changes));

/** @param {string} id @param {boolean} isRead */
const markOne = (id, isRead) =>
  // The request goes on if the tab is closed now.
  change(new Map([[id, { has_unread: !isRead }]]), () => api.put(`chats/${id}/read-status`, { is_read: isRead }, { keepalive: true }));

/** @param {readonly string[]} ids @param {boolean} archived */
async function patchArchived(ids, archived) {
  const before = new Map([...lists.values()].map((list) => [list, list.peek()]));
  const goes = (/** @type {ChatList} */ list) => (/archived/.test(list.filter.q) === archived ? list : without(list, ids));
  changeAll(goes);
  asked.add(goes);
  const answers = await Promise.allSettled(ids.map((id) => api.patch(`chats/${id}`, { archived })));
  asked.delete(goes);
  const kept = ids.filter((_, at) => answers[at].status === "rejected");
  for (const [list, was] of before) list.value = withBack(list.peek(), was, kept);
  for (const id of ids) if (!kept.includes(id)) know({ ...knownChat(id), archived });
  await (kept.length ? readAll() : Promise.all([...new Set([plain, shown.peek()])].map(readAgain)));
  const refused = answers.find((answer) => answer.status === "rejected");
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
    if (list !== plain || list.peek().state === "failed" || list.peek().stale) await readFirst(list);
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
  find: (id) => chats.listed(id) ?? knownChat(id),

  /** @param {Chat} chat */
  know,

  /** @param {string} id */
  pin: (id) => patch(id, { pin_order: plain.peek().roots.filter((chat) => chat.pin_order > 0).length + 1 }),
  /** @param {string} id */
  unpin: (id) => patch(id, { pin_order: 0 }),

  /** @param {string} id @param {number} position among the pinned, from 1 */
  async move(id, position) {
    const ids = plain.peek().roots.filter((chat) => chat.pin_order && chat.id !== id).map((chat) => chat.id);
    ids.splice(position - 1, 0, id);
    const turn = moving.catch(() => {});
    moving = change(new Map(ids.map((one, at) => [one, { pin_order: at + 1 }])), () => turn.then(() => api.patch(`chats/${id}`, { pin_order: position })));
    await moving;
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

  /** A chat has just been made here. @param {Chat} chat */
  made: (chat) => changeAll((list) => withNews(list, { kind: "created", chat })),
  /** A chat is looked at here: it is read. @param {string} id */
  seen: (id) => changeAll((list) => withChange(list, id, { has_unread: false })),
};
