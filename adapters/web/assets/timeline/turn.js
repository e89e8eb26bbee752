// The turns of a chat: what each message and answer has to show, and what of it folds into one line
// once its answer is there. Pure.

import { grouped, itemsOfStep, remembered } from "./items.js";
import { noteHome, tookOf, wentWrong } from "./calls.js";
import { counted } from "./words.js";

/**
 * @typedef {import("./items.js").Item} Item
 * @typedef {import("./items.js").Step} Step
 * @typedef {import("./items.js").Message} Message
 * @typedef {import("./calls.js").Part} Part
 * @typedef {{message: Message | null, key: string, steps: Step[]}} Turn
 *
 * What of the chat's state is read here.
 * @typedef {{id: string, messages: readonly Message[], live: {node: string,
 *   parts: readonly Part[]} | null, status: string | null, asks: readonly any[],
 *   calls: readonly any[], own: readonly {key: string, text: string}[],
 *   holes: readonly {after: number, before: number, state: string}[], [more: string]: any}} State
 */

const OPEN = new Set(["running", "interrupting", "requires_action"]);
const FOLDED_MIN = 2; // items; a single one stays as it is
const FOLDS = new Set(["thought", "call", "reads", "agents"]);
const STANDS = new Set(["propose_plan", "ask_user_question", "attach_file"]);

/**
 * Return all items of a chat, in the order in which they stand.
 * @param {State} state
 * @param {ReadonlySet<string>} [unfolded] the keys of folds that are open
 * @returns {readonly Item[]}
 */
export function itemsOf(state, unfolded = new Set()) {
  const turns = turnsOf(state);
  const asks = asksOf(state);
  const waits = waitsOf(state);
  const last = turns.length - 1;
  return turns.flatMap((turn, place) => {
    const isOpen = place === last && OPEN.has(state.status ?? "");
    const after = textOf(turns[place + 1]?.message);
    const about = { chat: state.id, isOpen, asks, waits, after, latest: place === last };
    return withHoles(itemsOfTurn(turn, about, unfolded), turn, state.holes);
  });
}

/** @param {State} state */
const asksOf = (state) =>
  remembered(state.asks, [state.id], () => {
    const own = state.asks.filter((ask) => ask.chat_id === state.id);
    return new Map(own.map((ask) => [ask.tool_call_id, ask]));
  });

/** @param {State} state */
const waitsOf = (state) =>
  remembered(state.calls, [], () => new Set(state.calls.map((call) => call.tool_call_id)));

/**
 * @param {State} state
 * @returns {Turn[]}
 */
function turnsOf(state) {
  /** @type {Turn[]} */
  const turns = [];
  const current = () => turns[turns.length - 1] ?? turns[turns.push(emptyTurn(null, "start")) - 1];
  for (const message of state.messages) {
    if (message.role !== "user") noteHome(message.content, message.id);
    if (message.role === "user") turns.push(emptyTurn(message, message.key));
    else if (message.role === "assistant") current().steps.push(stepOf(message));
    else addResults(current().steps.at(-1), message.content);
  }
  if (state.live) addLive(current(), state.live);
  return turns;
}

/** @param {Step | undefined} step @param {readonly Part[]} results */
function addResults(step, results) {
  if (step) step.results = [...step.results, ...results];
}

/** @param {Message | null} message @param {string} key @returns {Turn} */
const emptyTurn = (message, key) => ({ message, key, steps: [] });

/** @param {Message} message @returns {Step & {results: Part[]}} */
const stepOf = (message) => ({
  key: message.key,
  message,
  parts: message.content,
  results: [],
  isLive: false,
});

/**
 * Put what is being streamed behind what is there: results with their calls, the rest as a step.
 * @param {Turn} turn
 * @param {{node: string, parts: readonly Part[]}} live
 */
function addLive(turn, live) {
  const said = live.parts.filter((part) => part.role !== "tool");
  const results = live.parts.filter((part) => part.role === "tool");
  if (said.length) turn.steps.push({ key: live.node, message: null, parts: said, results, isLive: true });
  else addResults(turn.steps.at(-1), results);
}

/**
 * @param {Turn} turn
 * @param {any} about
 * @param {ReadonlySet<string>} unfolded
 * @returns {readonly Item[]}
 */
function itemsOfTurn(turn, about, unfolded) {
  const last = turn.steps.length - 1;
  const steps = turn.steps.flatMap((step, place) =>
    itemsOfStep(step, { ...about, isOpen: about.isOpen && place === last }, turn.key),
  );
  const items = grouped(steps);
  const shown = about.isOpen ? items : folded(withEnd(items), turn, unfolded);
  return turn.message ? [...ownItems(turn.message, turn.key), ...shown] : shown;
}

/** Mark the last text of a turn that is over: what is known of it stands below. @param {readonly Item[]} items */
function withEnd(items) {
  const last = items.findLastIndex((item) => item.kind === "text");
  const end = items[last];
  return end ? items.with(last, remembered(end, [], () => ({ ...end, ends: true }))) : items;
}

/**
 * Return the items of a message of the user's: itself, and what the deployment's rules say of it.
 * @param {Message} message
 * @param {string} turn
 * @returns {readonly Item[]}
 */
function ownItems(message, turn) {
  return remembered(message, [turn], () => {
    const notices = message.content.filter((part) => part.type === "hook-notice");
    const said = notices.length < message.content.length || !message.content.length;
    const common = { message: message.id, turn };
    const own = said ? [{ key: message.key, kind: "me", said: message, ...common }] : [];
    const told = notices.map((part, i) => ({
      key: `${message.key}.n${i}`,
      kind: "notice",
      text: part.text,
      ...common,
    }));
    return [...own, ...told];
  });
}

/**
 * Fold each stretch of work that has an answer behind it.
 * @param {readonly Item[]} items
 * @param {Turn} turn
 * @param {ReadonlySet<string>} unfolded
 */
function folded(items, turn, unfolded) {
  const lastText = items.findLastIndex((item) => item.kind === "text");
  /** @type {Item[]} */
  const shown = [];
  for (let i = 0; i < items.length; ) {
    const end = stretchEnd(items, i);
    if (end - i >= FOLDED_MIN && end <= lastText) {
      const fold = foldOf(items.slice(i, end), turn);
      shown.push(fold, ...(unfolded.has(fold.key) ? fold.items : []));
    } else shown.push(...items.slice(i, Math.max(end, i + 1)));
    i = Math.max(end, i + 1);
  }
  return shown;
}

/** @param {readonly Item[]} items @param {number} from */
function stretchEnd(items, from) {
  let end = from;
  while (end < items.length && isFoldable(items[end])) end++;
  return end;
}

/** @param {Item} item */
const isFoldable = (item) => FOLDS.has(item.kind) && !(item.call && STANDS.has(item.call.name));

/**
 * @param {readonly Item[]} items
 * @param {Turn} turn
 * @returns {Item}
 */
function foldOf(items, turn) {
  return remembered(items[0].call ?? items[0].calls?.[0] ?? items[0].part, [turn.key, "fold", ...items], () => {
    const steps = new Set(items.map((item) => item.message));
    const mine = turn.steps.filter((step) => step.message && steps.has(step.message.id));
    return {
      key: `${items[0].key}.fold`,
      kind: "fold",
      message: items[0].message,
      turn: turn.key,
      items,
      what: workOf(items),
      steps: steps.size,
      took: tookOfItems(items),
      failed: callsOf(items).filter(wentWrong).length,
      cost: costOf(mine),
    };
  });
}

/** @param {readonly Item[]} items @returns {import("./calls.js").Call[]} */
export const callsOf = (items) => items.flatMap((item) => item.calls ?? (item.call ? [item.call] : []));

/**
 * Return from when to when the work went, in ms, or null if that is not known.
 * @param {readonly Item[]} items
 */
function tookOfItems(items) {
  const calls = callsOf(items);
  const parts = items.filter((item) => item.part).map((item) => item.part);
  const began = [...calls.map((call) => call.began), ...parts.map((part) => Date.parse(part.created_at))];
  const ended = [...calls.map((call) => call.ended), ...parts.map((part) => Date.parse(part.completed_at))];
  const first = Math.min(...began.filter((time) => Number.isFinite(time)).map(Number));
  const last = Math.max(...ended.filter((time) => Number.isFinite(time)).map(Number));
  if (Number.isFinite(first) && Number.isFinite(last) && last >= first) return last - first;
  return calls.reduce((sum, call) => sum + (tookOf(call) ?? 0), 0) || null;
}

/** @param {readonly Step[]} steps */
function costOf(steps) {
  const known = steps.map((step) => step.message?.cost_micros);
  return known.length && known.every((cost) => typeof cost === "number")
    ? known.reduce((sum, cost) => sum + cost, 0)
    : null;
}

/** What a fold says of the calls of each kind. @type {[RegExp, (n: number) => string][]} */
const WORK = [
  [/^read_/, (n) => `read ${counted(n, "file")}`],
  [/^(execute)$/, (n) => `ran ${counted(n, "command")}`],
  [/^edit_files$/, (n) => `made ${counted(n, "edit")}`],
  [/^write_file$/, (n) => `wrote ${counted(n, "file")}`],
  [/^web_search$/, (n) => `searched ${n === 1 ? "once" : `${n} times`}`],
  [/^web_fetch$/, (n) => `read ${counted(n, "page")} of the web`],
  [/^spawn_agent$/, (n) => `asked ${counted(n, "agent")}`],
  [/^advisor$/, () => "asked the advisor"],
];

/**
 * Return what was done in a few words: "Read 7 files, ran 4 commands".
 * @param {readonly Item[]} items
 */
export function workOf(items) {
  const names = callsOf(items).map((call) => call.name);
  const said = WORK.flatMap(([fits, words]) => {
    const n = names.filter((name) => fits.test(name)).length;
    return n ? [words(n)] : [];
  });
  const rest = names.filter((name) => !WORK.some(([fits]) => fits.test(name)));
  if (rest.length) said.push(`used ${counted(rest.length, said.length ? "other tool" : "tool")}`);
  if (!said.length) said.push("thought");
  const text = said.join(", ");
  return text[0].toUpperCase() + text.slice(1);
}

/**
 * Put the places where messages are not loaded between the items.
 * @param {readonly Item[]} items
 * @param {Turn} turn
 * @param {State["holes"]} holes
 */
function withHoles(items, turn, holes) {
  if (!holes.length) return items;
  const first = turn.message?.id ?? turn.steps[0]?.message?.id ?? Infinity;
  const last = turn.steps.at(-1)?.message?.id ?? first;
  return holes.reduce((shown, hole) => {
    if (hole.before === first) return [holeItem(hole, turn), ...shown];
    if (hole.after >= first && hole.before <= last) {
      const at = shown.findIndex((item) => item.message >= hole.before);
      return at < 0 ? shown : [...shown.slice(0, at), holeItem(hole, turn), ...shown.slice(at)];
    }
    return shown;
  }, items);
}

/** @param {State["holes"][number]} hole @param {Turn} turn @returns {Item} */
const holeItem = (hole, turn) =>
  remembered(hole, [turn.key], () => ({
    key: `hole${hole.after}`,
    kind: "hole",
    hole,
    message: hole.after,
    turn: turn.key,
  }));

/** @param {Message | null | undefined} message */
export const textOf = (message) =>
  message ? message.content.filter((part) => part.type === "text").map((part) => part.text).join("\n\n") : "";
