// Every card in every state: what the gallery shows, and the tests of the pages walk through.

import { callOf } from "../timeline/calls.js";
import { TOOLS } from "./tools.js";

/** @typedef {import("../timeline/calls.js").Call} Call @typedef {import("./tools.js").Sample} Sample */

const CHAT = "0b0f7c1e-0000-4000-8000-00000000000c";
const BEGAN = Date.now() - 48_000;
const ENDED = new Date(BEGAN + 48_000).toISOString();
const HOSTILE = `<img src=x onerror=alert(1)>"'\`\u202e\u0000</script><b>&amp;javascript:alert(1) ${"W".repeat(300)}`;
const HUGE = 1024 * 1024;

/** @type {Record<string, (sample: Sample) => {part?: any, result?: any, about?: any} | null>} */
const STATES = {
  writing: (sample) => ({ part: { args: undefined, argsText: cut(JSON.stringify(sample.args)) }, about: { isOpen: true, isLive: true } }),
  running: () => ({ about: { isOpen: true } }),
  asks: (sample) => ({ about: { isOpen: true, asks: new Map([["call", approval(sample)]]) } }),
  done: (sample) => ({ result: { result: sample.result } }),
  failed: (sample) => ({ result: { result: sample.failed ?? { error: "the tool failed unexpectedly" }, is_error: true } }),
  refused: () => ({ result: { result: { error: "the user did not allow this call, and it was not run. They say: not on a Friday" }, is_error: true } }),
  interrupted: () => ({ result: { result: { error: "interrupted before the tool produced a result" }, is_error: true } }),
  "may have run": () => ({ result: { result: { error: "the tool was running when the process that ran it ended; it may have done its work, or a part of it. Look at the state of things before you call it again" }, is_error: true } }),
  empty: (sample) => ({ part: { args: {} }, result: { result: Array.isArray(sample.result) ? [] : {} } }),
  huge: (sample) => ({ part: { args: filled(sample.args, "x ".repeat(HUGE / 2)) }, result: { result: filled(sample.result, `${"line of a long result\n".repeat(HUGE / 22)}`) } }),
  hostile: (sample) => ({ part: { args: filled(sample.args, HOSTILE), hook_rewritten: true }, result: { result: filled(sample.result, HOSTILE) } }),
  odd: () => ({ part: { args: [1, 2] }, result: { result: 41 } }),
  "client's": (sample) => (sample.name === "deploy_preview" ? { about: { isOpen: true, waits: new Set(["call"]) } } : null),
};

/** @param {string} text */
const cut = (text) => text.slice(0, Math.max(2, Math.floor(text.length * 0.7)));

/** @param {any} value @param {string} text @returns {any} */
function filled(value, text) {
  if (typeof value === "string") return text;
  if (Array.isArray(value)) return value.map((each) => filled(each, text));
  if (value && typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, filled(each, text)]));
  return value;
}

/** @param {Sample} sample */
const approval = (sample) => ({
  chat_id: CHAT,
  chat_title: "Queue loses a message",
  tool_call_id: "call",
  tool_name: sample.name,
  args: JSON.stringify(sample.args),
  requested_at: new Date(BEGAN).toISOString(),
  expires_at: new Date(Date.now() + 272_000).toISOString(),
});

/**
 * Return all samples, each with its calls by state.
 * @returns {{title: string, name: string, calls: {state: string, call: Call}[]}[]}
 */
export function fixtures() {
  return TOOLS.map((sample, i) => ({
    title: sample.more?.title ?? sample.name,
    name: sample.name,
    calls: Object.entries(STATES).flatMap(([state, make]) => {
      const made = make(sample);
      return made ? [{ state, call: callIn(sample, `g${i}.${state}`, made) }] : [];
    }),
  }));
}

/** @param {Sample} sample @param {string} key @param {{part?: any, result?: any, about?: any}} made */
function callIn(sample, key, { part, result, about }) {
  const { title, ...more } = sample.more ?? {};
  const call = { type: "tool-call", tool_call_id: "call", tool_name: sample.name, args: sample.args, created_at: new Date(BEGAN).toISOString(), ...more, ...part };
  const answer = result && { type: "tool-result", tool_call_id: "call", created_at: ENDED, ...result };
  const around = { chat: CHAT, isOpen: false, isLive: false, asks: new Map(), waits: new Set(), after: "", latest: true, ...about };
  return callOf(key, call, answer, around);
}
