/**
 * The second line of a chat's row: the first that there is of what it asks, its error, what it does
 * now, what it did last. Pure.
 *
 * @typedef {import("../wire/types.js").Chat} Chat
 * @typedef {{kind: "ask"|"err"|"work"|"rest", text: string, added: number, removed: number}} RowLine
 */

import { age } from "./ages.js";
import { askWords } from "./ask_words.js";
import { faultWords } from "./fault_words.js";
import { agentLight, asks, asksInWords, familyLight, works, LIGHT_NAMES } from "./lights.js";

const FINISHED = "Finished latest turn"; // what the daemon says where no model was asked for more

/**
 * Return the second line.
 *
 * @param {Chat} chat
 * @param {{me?: string, model?: (id: string | null) => string}} around who reads it, and names of models
 * @returns {RowLine}
 */
export function rowLine(chat, { me = "", model = () => "" } = {}) {
  const changes = { added: chat.diff_status?.additions ?? 0, removed: chat.diff_status?.deletions ?? 0 };
  const ask = askWords(chat);
  if (ask) return { kind: "ask", text: ask, ...changes };
  if (chat.status === "error") return { kind: "err", text: faultWords(chat.last_error), ...changes };
  const work = workWords(chat, model);
  if (work) return { kind: "work", text: work, ...changes };
  const last = turnWords(chat) || model(chat.last_model_config_id);
  return { kind: "rest", text: joined([sharedBy(chat, me), last]), ...changes };
}

/** Return what the family does now, or "". @param {Chat} chat @param {(id: string | null) => string} model */
function workWords(chat, model) {
  const agents = (chat.children ?? []).filter(works).length;
  const working = agents === 1 ? "1 agent working" : agents ? `${agents} agents working` : "";
  if (chat.status === "interrupting") return "stops…";
  if (!works(chat)) return working;
  if (chat.queued_for_capacity) return joined([model(chat.last_model_config_id), "waits for a place"]);
  return joined([model(chat.last_model_config_id), working || "working"]);
}

/** Return what came of the last turn, or "": that it is finished is said by the light. @param {Chat} chat */
export const turnWords = (chat) => (chat.last_turn_summary === FINISHED ? "" : chat.last_turn_summary ?? "");

/** Return whose chat it is, if it is not the reader's own. @param {Chat} chat @param {string} me */
export const sharedBy = (chat, me) => (me && chat.owner_id !== me ? `Shared by ${ownerName(chat)}` : "");

/** @param {Chat} chat */
export const ownerName = (chat) => chat.owner_name || chat.owner_username || "someone";

/**
 * Return the state of a chat for its header: "asks you · 1 agent of 3 done".
 *
 * @param {Chat} chat
 * @param {number} now milliseconds
 */
export function stateWords(chat, now) {
  const own = ownState(chat, now);
  const isIdle = own.startsWith("idle");
  const agents = agentsState(chat, isIdle);
  return joined([agents && isIdle ? "" : own, agents]);
}

/** @param {Chat} chat @param {number} now */
function ownState(chat, now) {
  if (chat.archived) return "archived";
  if (chat.status === "error") return faultWords(chat.last_error);
  if (chat.status === "interrupting") return "stops…";
  if (asks(chat))
    return chat.approvals?.length || asksInWords(chat) ? "asks you" : "waits for the result of a call";
  if (chat.queued_for_capacity) return "waits for a place";
  if (works(chat)) return "working";
  if (familyLight(chat) === "ask") return "an agent asks you";
  const since = age(Date.parse(chat.updated_at), now);
  return since === "now" ? "idle" : `idle since ${since}`.replace(/since (\d+\w)$/, "for $1");
}

/** @param {Chat} chat @param {boolean} isIdle nothing is said of the chat itself */
function agentsState(chat, isIdle) {
  const agents = chat.children ?? [];
  const busy = agents.filter((child) => works(child) || asks(child)).length;
  if (!busy) return "";
  if (busy === agents.length) return busy === 1 ? "1 agent working" : `${busy} agents working`;
  return isIdle ? `${busy} of ${agents.length} agents at work` : `${agents.length - busy} of ${agents.length} agents done`;
}

/** Return what a row says to people who do not see its light. @param {Chat} chat @param {boolean} kid */
export const lightName = (chat, kid) => LIGHT_NAMES[kid ? agentLight(chat) : familyLight(chat)];

/** @param {string[]} texts */
const joined = (texts) => texts.filter(Boolean).join(" · ");
