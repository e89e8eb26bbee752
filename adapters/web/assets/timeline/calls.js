// Calls of tools as the cards see them: the call, its result and what becomes of it, in one object.
// Pure.

import { looseJson } from "./loose_json.js";

/**
 * What a card is drawn from. A change makes a new object; what did not change keeps its identity.
 * @typedef {object} Call
 * @property {string} key stable as long as the call stands in the chat
 * @property {string} id
 * @property {string} name
 * @property {Record<string, any>} args as far as they have come
 * @property {string} argsText
 * @property {any} result undefined: there is none yet
 * @property {string} resultText what has been streamed of the result
 * @property {string} error "" if nothing failed
 * @property {State} state
 * @property {boolean} running
 * @property {boolean} failed
 * @property {number | null} began in ms since the epoch
 * @property {number | null} ended
 * @property {string} intent the model's words for what it does
 * @property {string | null} server the id of the server of tools
 * @property {boolean} media the result is a picture or a sound
 * @property {boolean} rewritten a rule of the deployment changed the arguments
 * @property {boolean} byProvider
 * @property {Approval | null} ask the consent that is waited for
 * @property {string} chat the id of its chat
 * @property {string} after the text of the user's message that came after it, "" if none did
 * @property {boolean} latest nothing was said since
 * @property {number} cutBytes of the whole result, where only a part of it is here; 0: it is whole
 * @property {number} home the message that the result stands in, 0 as long as it is being streamed
 *
 * @typedef {"writing" | "asks" | "waits" | "running" | "done" | "failed" | "refused" |
 *   "interrupted"} State
 * @typedef {{chat_id: string, chat_title: string, tool_call_id: string, tool_name: string,
 *   args: string, requested_at: string, expires_at: string | null, suggested_rules?: readonly string[]}} Approval
 * @typedef {{[key: string]: any, type: string}} Part
 *
 * What surrounds a call.
 * @typedef {{chat: string, isOpen: boolean, isLive: boolean, asks: ReadonlyMap<string, Approval>,
 *   waits: ReadonlySet<string>, after: string, latest: boolean, now?: number}} About
 */

/** In which message a part stands. @type {WeakMap<Part, number>} */
const homes = new WeakMap();

/** @param {readonly Part[]} parts @param {number} message */
export function noteHome(parts, message) {
  for (const part of parts) if (part.type === "tool-result") homes.set(part, message);
}

/**
 * @param {string} key
 * @param {Part} part the call
 * @param {Part | undefined} result
 * @param {About} about
 * @returns {Call}
 */
export function callOf(key, part, result, about) {
  const id = part.tool_call_id ?? "";
  const hasResult = result !== undefined && "result" in result && result.result !== undefined;
  const ask = hasResult ? null : (about.asks.get(id) ?? null);
  const error = hasResult ? errorOf(result) : "";
  const state = stateOf(part, { hasResult, error, ask, waits: about.waits.has(id) }, about);
  return {
    key,
    id,
    ...askedOf(part, about.isLive),
    result: hasResult ? result.result : undefined,
    resultText: result?.resultText ?? "",
    error,
    state,
    running: state === "running" || state === "writing",
    failed: state === "failed" || state === "refused",
    ended: hasResult ? timeOf(result?.created_at) : null,
    media: result?.is_media === true,
    ask,
    chat: about.chat,
    after: about.after,
    latest: about.latest,
    ...placeOf(result),
  };
}

/** What the model asked for. @param {Part} part @param {boolean} isLive */
function askedOf(part, isLive) {
  const args = argsOf(part, isLive);
  return {
    name: part.tool_name ?? "",
    args,
    argsText: part.argsText ?? "",
    intent: typeof args.model_intent === "string" ? args.model_intent.slice(0, 200) : "",
    began: timeOf(part.created_at),
    server: part.mcp_server_config_id ?? null,
    rewritten: part.hook_rewritten === true,
    byProvider: part.provider_executed === true,
  };
}

/** @param {Part | undefined} result */
const placeOf = (result) => ({
  cutBytes: result?.result_bytes ?? 0,
  home: (result && homes.get(result)) ?? 0,
});

/**
 * @param {Part} part
 * @param {{hasResult: boolean, error: string, ask: Approval | null, waits: boolean}} has
 * @param {About} about
 * @returns {State}
 */
function stateOf(part, has, about) {
  if (has.hasResult) return has.error ? failureOf(has.error) : "done";
  if (has.ask) return "asks";
  if (has.waits) return "waits";
  if (!about.isOpen) return "interrupted";
  return about.isLive && part.args === undefined ? "writing" : "running";
}

/**
 * Return which kind of end an error tells of. The words are the daemon's own.
 * @param {string} error
 * @returns {State}
 */
function failureOf(error) {
  if (/^(interrupted|cancelled) /.test(error)) return "interrupted";
  return /it was not run/.test(error) ? "refused" : "failed";
}

/**
 * Return why a call failed, or "". Some tools say so in a result that is no error.
 * @param {Part} result
 */
export function errorOf(result) {
  const value = result.result;
  const said = typeof value === "object" && value !== null ? value.error : undefined;
  if (typeof said === "string" && said) return said;
  if (!result.is_error) return "";
  if (typeof value === "string") return value || "it failed";
  if (said !== undefined) return JSON.stringify(said);
  return typeof value?.output === "string" ? value.output : "it failed";
}

/**
 * @param {Part} part
 * @param {boolean} isLive
 * @returns {Record<string, any>}
 */
function argsOf(part, isLive) {
  const args = part.args ?? (isLive && part.argsText ? looseJson(part.argsText) : undefined);
  return typeof args === "object" && args !== null && !Array.isArray(args) ? args : {};
}

/** @param {string | undefined} time */
export function timeOf(time) {
  const ms = time ? Date.parse(time) : NaN;
  return Number.isNaN(ms) ? null : ms;
}

/** Whether it did not do what it was to do: it failed, or its command did. @param {Call} call */
export const wentWrong = (call) =>
  !call.result?.background_process_id && (call.failed || call.result?.success === false);

/** @param {Call} call */
export const tookOf = (call) =>
  call.began !== null && call.ended !== null && call.ended >= call.began ? call.ended - call.began : null;

/**
 * Return the text of a result, however a tool gave it.
 * @param {any} result
 */
export function textOf(result) {
  if (result === undefined || result === null) return "";
  if (typeof result === "string") return result;
  if (typeof result === "object" && !Array.isArray(result)) {
    const names = Object.keys(result);
    if (names.length === 1 && typeof result[names[0]] === "string") return result[names[0]];
  }
  return JSON.stringify(result, null, 2);
}
