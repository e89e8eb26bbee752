// What the commands of a chat say: made of the calls and results of its messages. Pure.

/**
 * @typedef {{
 *   key: string, id: string, command: string, intent: string, workdir: string, output: string,
 *   state: "running" | "done" | "failed" | "asks", exit: number | null, ms: number, background: boolean,
 *   began: string, heard: string, note: string, message: number, cut: number,
 * }} Process `id`: by which the daemon knows it; "" if it ended within its call; `heard`: when its
 *   newest result came, "" while its call itself runs; `cut`: how large its result is, if it is cut here
 */

const KINDS = ["execute", "process_output", "process_list", "process_signal"];

/**
 * Return the commands that a chat has run, the latest last.
 * @param {readonly any[]} messages by id
 * @param {readonly {tool_call_id: string}[]} [asks] calls that wait for consent
 * @returns {Process[]}
 */
export function processesOf(messages, asks = []) {
  /** @type {Map<string, any>} */
  const calls = new Map();
  /** @type {Map<string, Process>} */
  const found = new Map();
  for (const message of messages) {
    for (const part of message.content ?? []) {
      if (!KINDS.includes(part.tool_name)) continue;
      if (part.type === "tool-call") {
        calls.set(part.tool_call_id, part);
        if (part.tool_name === "execute") found.set(part.tool_call_id, begun(part, message));
      } else if (part.type === "tool-result") taken(found, part, calls.get(part.tool_call_id), message.id);
    }
  }
  for (const ask of asks) if (found.get(ask.tool_call_id)?.state === "running") put(found, ask.tool_call_id, { state: "asks" });
  return [...found.values()];
}

/** @param {any} call @param {any} message @returns {Process} */
function begun(call, message) {
  const args = call.args ?? {};
  return {
    key: call.tool_call_id, id: "", command: String(args.command ?? ""), intent: args.model_intent ?? "",
    workdir: args.workdir ?? "", output: "", state: "running", exit: null, ms: 0,
    background: Boolean(args.run_in_background), began: call.created_at ?? message.created_at, heard: "", note: "",
    message: message.id, cut: 0,
  };
}

/** @param {Map<string, Process>} found @param {any} part @param {any} call @param {number} message */
function taken(found, part, call, message) {
  const result = part.result && typeof part.result === "object" ? part.result : { error: String(part.result ?? "") };
  if (part.tool_name === "execute") return put(found, part.tool_call_id, executed(result, part, message));
  if (part.tool_name === "process_list") return listed(found, result.processes ?? [], part.created_at ?? "");
  const key = keyOf(found, call?.args?.process_id);
  if (!key) return;
  if (part.tool_name === "process_signal") return put(found, key, { note: result.error ?? `asked to end (${call.args.signal})` });
  put(found, key, executed({ background_process_id: result.running ? call.args.process_id : "", ...result }, part, message));
}

/** @param {any} result @param {any} part @param {number} [message] @returns {Partial<Process>} */
function executed(result, part, message = 0) {
  const goesOn = Boolean(result.background_process_id || result.running);
  const failed = part.is_error || result.success === false;
  return {
    output: outputOf(result),
    heard: part.created_at ?? "",
    ...(message ? { message } : {}),
    ...(result.background_process_id ? { id: result.background_process_id } : {}),
    state: goesOn ? "running" : failed ? "failed" : "done",
    exit: goesOn || result.exit_code === undefined ? null : result.exit_code,
    ms: result.wall_duration_ms ?? 0,
    note: [result.error, result.note].filter(Boolean).join("; "),
    cut: part.result_bytes ?? 0,
  };
}

/** @param {any} result */
const outputOf = (result) => (typeof result.output === "string" ? result.output : "");

/** @param {Map<string, Process>} found @param {any[]} rows @param {string} heard */
function listed(found, rows, heard) {
  for (const row of rows) {
    const key = keyOf(found, row.id) ?? [...found.values()].findLast((process) => process.command === row.command && process.id === "")?.key;
    if (!key) continue;
    const state = row.running ? "running" : row.exit_code === 0 ? "done" : "failed";
    put(found, key, { id: row.id, heard, state, exit: row.running ? null : row.exit_code ?? null, workdir: row.workdir });
  }
}

/** @param {Map<string, Process>} found @param {string | undefined} id */
const keyOf = (found, id) => (id ? [...found.values()].findLast((process) => process.id === id)?.key : undefined);

/** @param {Map<string, Process>} found @param {string} key @param {Partial<Process>} news */
function put(found, key, news) {
  const process = found.get(key);
  if (!process) return;
  const output = news.output || process.output;
  found.set(key, { ...process, ...news, output });
}
