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
  const last = chat.last_turn_summary || model(chat.last_model_config_id);
  return { kind: "rest", text: joined([sharedBy(chat, me), last]), ...changes };
}

/** Return what the family does now, or "". @param {Chat} chat @param {(id: string | null) => string} model */
function workWords(chat, model) {
  const agents = (chat.children ?? []).filter(works).length;
  const working = agents === 1 ? "1 agent works" : agents ? `${agents} agents work` : "";
  if (chat.status === "interrupting") return "stops…";
  if (!works(chat)) return working;
  if (chat.queued_for_capacity) return joined([model(chat.last_model_config_id), "waits for a place"]);
  return joined([model(chat.last_model_config_id), working || "works"]);
}

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
  const rests = own.startsWith("rests");
  const agents = agentsState(chat, rests);
  return joined([agents && rests ? "" : own, agents]);
}

/** @param {Chat} chat @param {number} now */
function ownState(chat, now) {
  if (chat.archived) return "archived";
  if (chat.status === "error") return faultWords(chat.last_error);
  if (chat.status === "interrupting") return "stops…";
  if (asks(chat))
    return chat.approvals?.length || asksInWords(chat) ? "asks you" : "waits for the result of a call";
  if (chat.queued_for_capacity) return "waits for a place";
  if (works(chat)) return "works";
  if (familyLight(chat) === "ask") return "an agent asks you";
  const since = age(Date.parse(chat.updated_at), now);
  return since === "now" ? "rests" : `rests since ${since}`.replace(/since (\d+\w)$/, "for $1");
}

/** @param {Chat} chat @param {boolean} rests nothing is said of the chat itself */
function agentsState(chat, rests) {
  const agents = chat.children ?? [];
  const busy = agents.filter((child) => works(child) || asks(child)).length;
  if (!busy) return "";
  if (busy === agents.length) return busy === 1 ? "1 agent works" : `${busy} agents work`;
  return rests ? `${busy} of ${agents.length} agents at work` : `${agents.length - busy} of ${agents.length} agents done`;
}

/** Return what a row says to people who do not see its light. @param {Chat} chat @param {boolean} kid */
export const lightName = (chat, kid) => LIGHT_NAMES[kid ? agentLight(chat) : familyLight(chat)];

/** @param {string[]} texts */
const joined = (texts) => texts.filter(Boolean).join(" · ");
