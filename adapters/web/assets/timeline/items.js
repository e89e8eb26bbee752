// What a chat has to show, one item after the other: made from its messages and the answer that is
// being streamed. Pure. An item that did not change keeps its identity, so its view is not made anew.

import { callOf } from "./calls.js";

/**
 * @typedef {import("./calls.js").Call} Call
 * @typedef {import("./calls.js").Part} Part
 * @typedef {import("./calls.js").About} About
 * @typedef {{id: number, key: string, role: string, content: Part[], created_at: string,
 *   created_by?: string, model_config_id?: string, usage?: Record<string, number>,
 *   [more: string]: any}} Message
 *
 * `message` is the id of the message that an item belongs to, 0 as long as it is being streamed.
 * @typedef {{key: string, kind: string, message: number, turn: string, [more: string]: any}} Item
 *
 * One answer of the model, with the results of what it called.
 * @typedef {{key: string, message: Message | null, parts: readonly Part[],
 *   results: readonly Part[], isLive: boolean}} Step
 */

/** Tools whose calls stand together in one card as long as nothing else comes between. */
const GROUPS = new Map([
  ["read_file", "reads"],
  ["spawn_agent", "agents"],
  ["wait_agent", "agents"],
]);
const SUMMARY = "chat_summarized";

/** @type {WeakMap<object, {deps: readonly unknown[], value: any}>} */
const made = new WeakMap();

/**
 * Return what `make` made for this object the last time, if nothing else that it reads has changed.
 * @template T
 * @param {object} of
 * @param {readonly unknown[]} deps
 * @param {() => T} make
 * @returns {T}
 */
export function remembered(of, deps, make) {
  const last = made.get(of);
  if (last && last.deps.length === deps.length && deps.every((dep, i) => Object.is(dep, last.deps[i])))
    return last.value;
  const value = make();
  made.set(of, { deps, value });
  return value;
}

/**
 * Return the items of a step.
 * @param {Step} step
 * @param {Omit<About, "isLive">} about
 * @param {string} turn the key of the turn
 * @returns {readonly Item[]}
 */
export function itemsOfStep(step, about, turn) {
  const { isOpen, asks, waits, after, latest, chat } = about;
  const make = () => made_(step, { ...about, isLive: step.isLive }, turn);
  if (!step.message) return make();
  const deps = [step.key, isOpen, latest, after, chat, turn, isOpen ? asks : 0, isOpen ? waits : 0];
  return remembered(step.message, [...deps, ...step.results], make);
}

/** @param {Step} step @param {About} about @param {string} turn @returns {readonly Item[]} */
function made_(step, about, turn) {
  const results = resultsById(step);
  const common = { message: step.message?.id ?? 0, turn };
  /** @type {Item[]} */
  const items = [];
  step.parts.forEach((part, place) => {
    const item = itemOf(part, `${step.key}.${place}`, results, about);
    if (item) items.push(/** @type {Item} */ ({ ...item, ...common }));
  });
  const sources = sourcesOf(step, common);
  if (sources) items.splice(items.findLastIndex((item) => item.kind === "text") + 1 || items.length, 0, sources);
  const last = items.findLastIndex((item) => item.kind === "text");
  if (last >= 0) items[last] = { ...items[last], facts: step.message, grows: step.isLive && last === items.length - 1 };
  return items.map((item) => settled(item, step.parts));
}

/**
 * Return the item that was made of the same part before, if it is the same.
 * @param {Item} item
 * @param {readonly Part[]} parts
 */
function settled(item, parts) {
  const part = parts[item.place ?? -1];
  return part ? remembered(part, Object.values(item), () => item) : item;
}

/** @param {Step} step */
function resultsById(step) {
  const own = step.parts.filter((part) => part.type === "tool-result");
  return new Map([...own, ...step.results].map((part) => [part.tool_call_id ?? "", part]));
}

/**
 * @param {Part} part
 * @param {string} key
 * @param {ReadonlyMap<string, Part>} results
 * @param {About} about
 */
function itemOf(part, key, results, about) {
  const place = Number(key.slice(key.lastIndexOf(".") + 1));
  switch (part.type) {
    case "text":
      return part.text?.trim() ? { key, place, kind: "text", text: part.text } : null;
    case "reasoning":
      return { key, place, kind: "thought", part, grows: about.isLive && !part.completed_at };
    case "tool-call":
      return callItem(part, key, place, results, about);
    case "file":
      return { key, place, kind: "file", part };
    case "hook-notice":
      return { key, place, kind: "notice", text: part.text };
    case "tool-result":
    case "source":
    case "context-file":
    case "skill":
    case "file-reference":
      return null;
    default:
      return { key, place, kind: "strange", part };
  }
}

/**
 * @param {Part} part
 * @param {string} key
 * @param {number} place
 * @param {ReadonlyMap<string, Part>} results
 * @param {About} about
 */
function callItem(part, key, place, results, about) {
  const id = part.tool_call_id ?? "";
  const result = results.get(id);
  const { isOpen, isLive, after, latest, chat, asks, waits } = about;
  const deps = [key, result, isOpen, isLive, after, latest, chat, asks.get(id), waits.has(id)];
  const call = remembered(partOfCall(part), deps, () => callOf(key, part, result, about));
  const kind = part.tool_name === SUMMARY ? "summary" : "call";
  return { key, place, kind, call };
}

/** A part is remembered twice: as an item, and as a call. @type {WeakMap<object, object>} */
const standIns = new WeakMap();

/** @param {Part} part */
function partOfCall(part) {
  let standIn = standIns.get(part);
  if (!standIn) standIns.set(part, (standIn = {}));
  return standIn;
}

/**
 * @param {Step} step
 * @param {{message: number, turn: string}} common
 * @returns {Item | null}
 */
function sourcesOf(step, common) {
  const found = step.parts.filter((part) => part.type === "source" && part.url);
  if (!found.length) return null;
  const sources = [...new Map(found.map((part) => [part.url, part])).values()];
  return { key: `${step.key}.sources`, kind: "sources", sources, ...common };
}

/**
 * Put calls that belong together into one item each.
 * @param {readonly Item[]} items
 * @returns {readonly Item[]}
 */
export function grouped(items) {
  /** @type {Item[]} */
  const found = [];
  for (const item of items) {
    const group = groupOf(item);
    const last = found[found.length - 1];
    if (group && last?.kind === group) last.calls.push(item.call);
    else found.push(group ? { ...item, kind: group, calls: [item.call] } : item);
  }
  return found.map(keptGroup);
}

/** @param {Item} item */
function groupOf(item) {
  if (item.kind !== "call" || item.call.ask) return undefined;
  return GROUPS.get(item.call.name);
}

/**
 * Return the group as it was before if it has the same calls.
 * @param {Item} item
 */
const keptGroup = (item) =>
  item.calls ? remembered(item.calls[0], [item.key, item.message, ...item.calls], () => item) : item;
