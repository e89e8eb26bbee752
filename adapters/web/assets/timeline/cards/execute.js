// Commands: execute, and the processes that it leaves running.

import { html } from "../../ui.js";
import { now } from "../../wire/clock.js";
import { duration, firstLine, size } from "../words.js";
import { SignButton } from "../controls.js";
import { loginOf } from "../logins.js";
import { BigText, clipped } from "./big_text.js";
import { said } from "./frame.js";
import { Terminal } from "./terminal.js";

/** @typedef {import("./frame.js").Card} Card @typedef {import("./frame.js").Call} Call */

/** @param {Call} call */
const isBackground = (call) => Boolean(call.result?.backgrounded);

/** Whether it goes on although the call is over. @param {Call} call */
const goesOn = (call) => Boolean(call.result?.background_process_id);

/** @param {Call} call */
export function exitProblem(call) {
  if (goesOn(call)) return "";
  if (call.failed) return call.error;
  const { result } = call;
  if (!result || typeof result !== "object" || result.success !== false) return "";
  return result.error || lastLine(result.output ?? "") || `exit ${result.exit_code}`;
}

/** @param {string} output */
const lastLine = (output) => output.trimEnd().slice(-2000).split("\n").pop()?.trim() ?? "";

/** @param {Call} call */
function exitFacts(call) {
  const { result } = call;
  if (!result || typeof result !== "object") return [];
  const cut = result.truncated ? [`${size(result.truncated.omitted_bytes)} left out`] : [];
  if (isBackground(call)) return ["in the background"];
  if (goesOn(call)) return [...cut, "goes on in the background"];
  if (result.running) return [...cut, "still running"];
  return result.success === false && Number.isInteger(result.exit_code) ? [...cut, `exit ${result.exit_code}`] : cut;
}

/** @param {Call} call */
function commandVerb(call) {
  if (call.intent) return call.intent;
  if (exitProblem(call)) return "Failed:";
  if (goesOn(call)) return "Started";
  return said(call, call.state === "asks" ? "Wants to run" : "Running", "Ran", "Failed:");
}

/** Where it wants its user to log in: while it waits for that, or if it has failed for want of it. @param {Call} call */
const wantsLogin = (call) => (call.running || goesOn(call) || exitProblem(call) ? loginOf(outputOf(call) ?? "") : null);

/** @param {Call} call */
function loginNote(call) {
  const found = wantsLogin(call);
  if (!found) return null;
  return html`<p class="in login-note" role="status">${call.running ? "It waits for your login." : "It needs a login."}
    <a class="btn" href=${found.url} target="_blank" rel="noopener noreferrer">Log in at ${found.host}</a>
    ${found.code && html`<span>with the code <code>${found.code}</code></span>`}</p>`;
}

/** @type {Card} */
export const execute = {
  names: ["execute"],
  icon: "term",
  kind: "commands",
  mono: true,
  line: (call) => [commandVerb(call), firstLine(call.args.command ?? "")],
  facts: (call) => (wantsLogin(call) ? ["login needed", ...exitFacts(call)] : exitFacts(call)),
  problem: exitProblem,
  news: (call) => (call.running && Boolean(call.resultText)) || Boolean(wantsLogin(call)),
  acts: (call, at) =>
    call.args.command &&
    html`<${SignButton} sign="copy" label="Copy the command" onClick=${() => at.do("copy", { text: call.args.command })} />`,
  body: (call) => html`${loginNote(call)}<${Terminal} command=${call.args.command ?? ""} output=${outputOf(call)} running=${call.running} />
    ${noteOf(call)}`,
  question: "May I run this?",
  ask: (call) => html`<${BigText} text=${String(call.args.command ?? "")} label="The command" />
    ${call.args.workdir && html`<p class="in quiet">in ${call.args.workdir}</p>`}`,
};

/** @param {Call} call */
function outputOf(call) {
  if (typeof call.result?.output === "string") return call.result.output;
  return call.resultText;
}

/** @param {Call} call */
function noteOf(call) {
  const { result } = call;
  if (!result || typeof result !== "object") return null;
  const notes = [];
  if (result.truncated)
    notes.push(`${size(result.truncated.omitted_bytes)} of ${size(result.truncated.original_bytes)} are left out in the middle.`);
  if (goesOn(call) && !isBackground(call)) notes.push("It took too long to wait for; it goes on in the background.");
  if (call.args.workdir) notes.push(`In ${call.args.workdir}.`);
  return notes.length ? html`<p class="in quiet">${notes.join(" ")}</p>` : null;
}

/** @type {Card} */
export const processOutput = {
  names: ["process_output"],
  icon: "term",
  kind: "commands",
  line: (call) => [call.intent || said(call, "Waiting for", "Looked at", "Could not look at"), processName(call)],
  mono: true,
  facts: exitFacts,
  problem: exitProblem,
  body: (call) => html`<${Terminal} command=${call.result?.command ?? ""} output=${outputOf(call)} running=${call.running} />
    ${noteOf(call)}`,
};

/** @param {Call} call */
const processName = (call) => firstLine(call.result?.command ?? "") || `process ${call.args.process_id ?? ""}`;

/** @type {Card} */
export const processSignal = {
  names: ["process_signal"],
  icon: "stop",
  kind: "commands",
  line: (call) => [
    call.args.signal === "kill"
      ? said(call, "Killing", "Killed", "Could not kill")
      : said(call, "Ending", "Ended", "Could not end"),
    `process ${call.args.process_id ?? ""}`,
  ],
};

/** @type {Card} */
export const processList = {
  names: ["process_list"],
  icon: "term",
  kind: "commands",
  line: (call) => [said(call, "Looking at its processes", "Looked at its processes", "Could not list its processes")],
  facts: (call) => (call.result?.processes ? [`${call.result.processes.filter(runs).length} running`] : []),
  body: (call) => processTable(call.result?.processes ?? []),
};

/** @param {{running: boolean}} process */
const runs = (process) => process.running;

/** @param {any[]} processes */
function processTable(processes) {
  if (!processes.length) return html`<p class="in quiet">No process of this chat is there.</p>`;
  return html`<ul class="plainlist">
    ${processes.map(
      (each) => html`<li>
        <i class=${`cue ${each.running ? "go" : each.exit_code ? "bad" : "off"}`}></i>
        <code>${firstLine(each.command)}</code>
        <span class="r">${processState(each)}</span>
      </li>`,
    )}
  </ul>`;
}

/** @param {any} process */
function processState(process) {
  if (process.running) return `since ${duration(now() - process.started_at * 1000)}`;
  return process.exit_code === undefined ? "ended" : `exit ${clipped(process.exit_code, 8)}`;
}
