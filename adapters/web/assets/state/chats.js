// A list of chats: pages of it, and how news of one chat changes it. Pure.
//
//   newList(filter)                    a list of which nothing has been read
//   withPage(list, chats, how)         after a page: the first one anew, or the next
//   withNews(list, event)              after an event of the watch, {kind, chat}
//   withChange(list, id, changes)      as a person has just changed a chat
//   without(list, ids)
//   withBack(list, before, ids)        with those of them back that it had before
//   chatIn(list, id)                   a root or a child, or undefined
//
// A list holds roots in the daemon's order (what is pinned first, then what was touched last), each
// with its children inside. A chat that says the same as before is the same object as before.
// `stale`: news has come of which only the daemon can say what it does to this list.

import { same } from "./same.js";

/**
 * @typedef {import("../wire/types.js").Chat} Chat
 * @typedef {{q: string, labels: readonly string[]}} Filter
 * @typedef {{filter: Filter, roots: readonly Chat[], state: "loading" | "ready" | "failed",
 *   error: unknown, more: "no" | "yes" | "loading" | "failed", stale: boolean}} ChatList
 */

const NOT_PINNED = 2 ** 31 - 1;

/** @param {Filter} [filter] @returns {ChatList} */
export function newList(filter = { q: "", labels: [] }) {
  return { filter, roots: [], state: "loading", error: null, more: "no", stale: false };
}

/**
 * Return the list with a page of so many chats at most. `next`: it follows what is there already;
 * else it is the beginning, and of what was there stays only what lies behind it.
 * @param {ChatList} list
 * @param {readonly Chat[]} chats
 * @param {{limit: number, next?: boolean}} how
 * @returns {ChatList}
 */
export function withPage(list, chats, { limit, next = false }) {
  const known = new Map(list.roots.map((root) => [root.id, root]));
  const page = chats.map((chat) => kept(known.get(chat.id), chat));
  const ids = new Set(page.map((chat) => chat.id));
  const others = list.roots.filter((root) => !ids.has(root.id));
  const isFull = chats.length >= limit;
  const last = page[page.length - 1];
  if (next) {
    const more = isFull ? "yes" : "no";
    return { ...list, roots: [...others, ...page], state: "ready", error: null, more };
  }
  const behind = isFull ? others.filter((root) => compare(root, last) > 0) : [];
  const more = !isFull ? "no" : behind.length ? list.more : "yes";
  const roots = sameItems(list.roots, [...page, ...behind]);
  return { ...list, roots, state: "ready", error: null, more, stale: false };
}

/**
 * Return the list after an event of the watch.
 * @param {ChatList} list
 * @param {{kind: string, chat: Chat}} event
 * @returns {ChatList}
 */
export function withNews(list, { kind, chat }) {
  const old = chatIn(list, chat.id);
  if (kind === "unshared" || (kind === "deleted" && !asksForArchived(list.filter))) return without(list, [chat.id]);
  if (old && old.updated_at > chat.updated_at && kind === "status_change") return list;
  const isPlain = old ? holdsAllOfMine(list.filter) : holdsNew(list.filter, kind, chat);
  const stale = list.stale || !isPlain || kind === "shared"; // then its agents are still to be read
  if (!old && (!isPlain || chat.archived)) return stale === list.stale ? list : { ...list, stale };
  const fresh = kept(old, told(old, kind, chat));
  if (fresh === old) return list;
  return { ...placed(list, fresh), stale };
}

/**
 * Return the list after a change that a person has just made, before the daemon has said so.
 * @param {ChatList} list
 * @param {string} id
 * @param {Partial<Chat>} changes
 * @returns {ChatList}
 */
export function withChange(list, id, changes) {
  const old = chatIn(list, id);
  return old ? placed(list, { ...old, ...changes }) : list;
}

/**
 * @param {ChatList} list
 * @param {readonly string[]} ids
 * @returns {ChatList}
 */
export function without(list, ids) {
  const gone = new Set(ids);
  if (!ids.some((id) => chatIn(list, id))) return list;
  const roots = list.roots
    .filter((root) => !gone.has(root.id))
    .map((root) =>
      root.children.some((child) => gone.has(child.id))
        ? { ...root, children: root.children.filter((child) => !gone.has(child.id)) }
        : root,
    );
  return { ...list, roots };
}

/**
 * Return the list with those of the chats in their places that another state of it had.
 * @param {ChatList} list
 * @param {ChatList} before
 * @param {readonly string[]} ids
 * @returns {ChatList}
 */
export function withBack(list, before, ids) {
  return ids.reduce((now, id) => {
    const chat = chatIn(now, id) ? undefined : chatIn(before, id);
    return chat ? placed(now, chat) : now;
  }, list);
}

/**
 * @param {ChatList} list
 * @param {string} id
 * @returns {Chat | undefined}
 */
export function chatIn(list, id) {
  for (const root of list.roots) {
    if (root.id === id) return root;
    const child = root.children.find((one) => one.id === id);
    if (child) return child;
  }
  return undefined;
}

/**
 * Return what an event says of a chat, with what events do not carry as it was. Whoever was at work
 * and is no longer has said something new.
 * @param {Chat | undefined} old
 * @param {string} kind
 * @param {Chat} chat
 * @returns {Chat}
 */
function told(old, kind, chat) {
  const ended = old?.status === "running" && chat.status !== "running" && chat.status !== "interrupting";
  return {
    ...chat,
    children: old?.children ?? [],
    files: old?.files,
    has_unread: chat.has_unread || ended || (old?.has_unread ?? false),
    diff_status: kind === "diff_status_change" ? chat.diff_status : (old?.diff_status ?? chat.diff_status),
  };
}

/**
 * Return the list with a chat in its place: a child in its root, a root where the order has it.
 * @param {ChatList} list
 * @param {Chat} chat
 * @returns {ChatList}
 */
function placed(list, chat) {
  if (chat.parent_chat_id) return withChild(list, chat);
  const others = list.roots.slice();
  const before = others.findIndex((root) => root.id === chat.id);
  if (before >= 0) others.splice(before, 1);
  const at = others.findIndex((root) => compare(chat, root) < 0);
  const isBehindAll = at < 0;
  if (isBehindAll && list.more !== "no" && before < 0) return list;
  others.splice(isBehindAll ? others.length : at, 0, chat);
  return { ...list, roots: others };
}

/** @param {ChatList} list @param {Chat} child @returns {ChatList} */
function withChild(list, child) {
  const roots = list.roots.map((root) => {
    if (root.id !== (child.parent_chat_id ?? child.root_chat_id)) return root;
    const others = root.children.filter((one) => one.id !== child.id);
    const at = others.findIndex((one) => one.created_at < child.created_at);
    others.splice(at < 0 ? others.length : at, 0, child);
    return { ...root, children: others };
  });
  return { ...list, roots };
}

/**
 * Compare two roots by the order of lists.
 * @param {Chat} a
 * @param {Chat} b
 */
function compare(a, b) {
  const pinned = (a.pin_order || NOT_PINNED) - (b.pin_order || NOT_PINNED);
  if (pinned) return pinned;
  const touched = Date.parse(b.updated_at) - Date.parse(a.updated_at);
  return touched || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);
}

/** Say whether every chat of the user's own belongs to the list. @param {Filter} filter */
function holdsAllOfMine({ q, labels }) {
  return !labels.length && /^(source:created_by_me(,shared_with_me)?)?$/.test(q.trim());
}

/**
 * Say whether a chat that the list does not have belongs to it. That of another user and that which
 * is shared with others say the same, so only the daemon can tell whether it is the user's own.
 * @param {Filter} filter
 * @param {string} kind
 * @param {Chat} chat
 */
function holdsNew(filter, kind, chat) {
  if (kind === "shared" && !filter.labels.length && filter.q.trim() === "source:shared_with_me") return true;
  return holdsAllOfMine(filter) && !(chat.shared && filter.q.trim() === "source:created_by_me");
}

/** @param {Filter} filter */
function asksForArchived({ q }) {
  return /\barchived:"?(true|t|1)/.test(q);
}

/**
 * Return the chat that has come, or the known one if it says the same; so with its children.
 * @param {Chat | undefined} old
 * @param {Chat} come
 * @returns {Chat}
 */
function kept(old, come) {
  if (!old) return come;
  if (same(old, come)) return old;
  const known = new Map(old.children.map((child) => [child.id, child]));
  return { ...come, children: come.children.map((child) => kept(known.get(child.id), child)) };
}

/**
 * @template T
 * @param {readonly T[]} old
 * @param {readonly T[]} next
 */
function sameItems(old, next) {
  return old.length === next.length && next.every((one, at) => one === old[at]) ? old : next;
}
