/**
 * The rows of the list: sections, roots, and the agents below them. Pure.
 *
 * @typedef {import("../wire/types.js").Chat} Chat
 * @typedef {import("./filters.js").Filters} Filters
 * @typedef {{kind: "head", key: string, title: string, count: number, folded: boolean, section: string}} HeadRow
 * @typedef {{kind: "root", key: string, chat: Chat, section: string, unfolded: boolean | null}} RootRow  unfolded null: it has no agents
 * @typedef {{kind: "kid", key: string, chat: Chat, root: Chat, section: string, last: boolean}} KidRow
 * @typedef {HeadRow | RootRow | KidRow} Row
 * @typedef {object} Look how the list is looked at
 * @property {Filters["group"]} group
 * @property {number} today midnight of this day
 * @property {string | null} open the chat that is open
 * @property {Record<string, boolean>} unfolded roots that a person has unfolded (true) or folded (false)
 * @property {ReadonlySet<string>} folded sections that are folded
 */

import { period } from "./ages.js";
import { askerOf, asks, familyLight, familyWorks, lightOf, needsPerson } from "./lights.js";

const PINNED = { key: "pinned", title: "Pinned", counted: false };
const NEEDS = { key: "needs", title: "Needs you", counted: true };
const WORKING = { key: "working", title: "Working", counted: true };

/**
 * Return all rows of the list, one below the other.
 *
 * @param {readonly Chat[]} roots in the order of the daemon: pinned first, then touched last
 * @param {Look} look
 * @returns {Row[]}
 */
export function rowsOf(roots, look) {
  /** @type {Row[]} */
  const rows = [];
  for (const section of sectionsOf(roots, look)) {
    const folded = look.folded.has(section.key);
    rows.push({
      kind: "head",
      key: `head:${section.key}`,
      title: section.title,
      count: section.counted || folded ? section.roots.length : 0,
      folded,
      section: section.key,
    });
    if (!folded) for (const root of section.roots) addFamily(rows, root, section.key, look);
  }
  return rows;
}

/**
 * Put the roots into sections; each stands in one only.
 *
 * @param {readonly Chat[]} roots
 * @param {Look} look
 */
export function sectionsOf(roots, look) {
  /** @type {Map<string, {key: string, title: string, counted: boolean, roots: Chat[]}>} */
  const found = new Map();
  for (const first of [PINNED, NEEDS, WORKING]) found.set(first.key, { ...first, roots: [] });
  let section; // that of the root before: neighbours mostly share one
  for (const root of roots) {
    const of = sectionOf(root, look);
    if (section?.key !== of.key) section = found.get(of.key);
    if (!section) found.set(of.key, (section = { counted: false, ...of, roots: [] }));
    section.roots.push(root);
  }
  found.get("pinned")?.roots.sort((one, other) => one.pin_order - other.pin_order);
  found.get("needs")?.roots.sort((one, other) => patience(one) - patience(other));
  const sections = [...found.values()].filter((section) => section.roots.length);
  return look.group === "label" ? sections.sort(byLabel) : sections;
}

/**
 * Sections of chats, as they were found last: a list of ten thousand is laid out anew with each event.
 * @type {WeakMap<Chat, {group: string, today: number, section: {key: string, title: string, counted?: boolean}}>}
 */
const FOUND = new WeakMap();

/** What asks may have a deadline, so it stands before what has failed. @param {Chat} root */
const patience = (root) => (askerOf(root) ? 0 : 1);

/** @param {Chat} root @param {Look} look */
function sectionOf(root, look) {
  const known = FOUND.get(root);
  if (known && known.group === look.group && known.today === look.today) return known.section;
  const section = findSection(root, look);
  FOUND.set(root, { group: look.group, today: look.today, section });
  return section;
}

/** @param {Chat} root @param {Look} look @returns {{key: string, title: string, counted?: boolean}} */
function findSection(root, look) {
  if (root.pin_order > 0) return PINNED;
  if (look.group === "label") return labelSection(root);
  if (needsPerson(root)) return NEEDS;
  if (familyWorks(root)) return WORKING;
  if (look.group === "status")
    return familyLight(root) === "new"
      ? { key: "unread", title: "Unread", counted: true }
      : { key: "rests", title: "Read" };
  return period(Date.parse(root.updated_at), look.today);
}

/** A chat with several labels stands below the first of them, by the alphabet. @param {Chat} root */
function labelSection(root) {
  const [key] = Object.keys(root.labels).sort();
  return key === undefined
    ? { key: "label:", title: "No label" }
    : { key: `label:${key}:${root.labels[key]}`, title: `${key}: ${root.labels[key]}` };
}

/** @param {{key: string, title: string}} one @param {{key: string, title: string}} other */
function byLabel(one, other) {
  const place = (/** @type {{key: string}} */ section) =>
    section.key === "pinned" ? 0 : section.key === "label:" ? 2 : 1;
  return place(one) - place(other) || one.title.localeCompare(other.title);
}

/** @param {Row[]} rows @param {Chat} root @param {string} section @param {Look} look */
function addFamily(rows, root, section, look) {
  const kids = root.children ?? [];
  const unfolded = kids.length ? (look.unfolded[root.id] ?? unfoldsItself(root, look.open)) : null;
  rows.push({ kind: "root", key: root.id, chat: root, section, unfolded });
  if (!unfolded) return;
  kids.forEach((chat, place) =>
    rows.push({ kind: "kid", key: chat.id, chat, root, section, last: place === kids.length - 1 }),
  );
}

/**
 * Agents show themselves while one of them is open, works or asks.
 * @param {Chat} root
 * @param {string | null} open
 */
export const unfoldsItself = (root, open) =>
  (root.children ?? []).some((child) => child.id === open || asks(child) || lightOf(child) === "go");

/** Count the chats that need a person, and the unread ones. @param {readonly Chat[]} roots */
export function counts(roots) {
  let needs = 0;
  let unread = 0;
  for (const root of roots) {
    if (needsPerson(root)) needs += 1;
    if (root.has_unread) unread += 1;
  }
  return { needs, unread };
}

/** Return the labels of these chats, the most frequent first, as key:value. @param {readonly Chat[]} roots */
export function labelsOf(roots) {
  /** @type {Map<string, number>} */
  const found = new Map();
  for (const root of roots)
    for (const key in root.labels) {
      const label = `${key}:${root.labels[key]}`;
      found.set(label, (found.get(label) ?? 0) + 1);
    }
  return [...found]
    .sort((one, other) => other[1] - one[1] || one[0].localeCompare(other[0]))
    .map(([label]) => label);
}
