/**
 * What a chat asks of a person, in a few words: "run git push?". Pure.
 *
 * @typedef {import("../wire/types.js").Chat} Chat
 * @typedef {import("../wire/types.js").ChatApproval} ChatApproval
 */

import { askerOf, asksInWords } from "./lights.js";

const TEXT_MAX = 160;

/** Argument that says what a call is about, by tool; other tools are named themselves. */
const SUBJECTS = /** @type {Record<string, [string, string]>} */ ({
  execute: ["run", "command"],
  write_file: ["write", "path"],
  edit_files: ["edit", "files"],
  spawn_agent: ["start an agent", "title"],
  create_workspace: ["make a workspace", "name"],
  start_workspace: ["start the workspace", "name"],
  stop_workspace: ["stop the workspace", "name"],
  process_signal: ["signal a process", "signal"],
});

/** Return what the family asks, without a verb in front, or "". @param {Chat} root */
export function askWords(root) {
  const asker = askerOf(root);
  if (!asker) return "";
  const who = asker === root ? "asks: " : `${asker.title} asks: `;
  const [first, ...others] = asker.approvals ?? [];
  if (first) return `${who}${callWords(first)}?${others.length ? ` and ${others.length} more` : ""}`;
  if (asksInWords(asker))
    return asker.attention === "plan" ? `${who}carry out its plan?` : `${who.slice(0, -2)} a question`;
  return asker === root ? "waits for the result of a call" : `${asker.title} waits for the result of a call`;
}

/** Return what the call would do. @param {ChatApproval} approval */
export function callWords(approval) {
  const name = approval.tool_name;
  if (name.startsWith("start:")) return `start the server ${name.slice(6).replace(/:[0-9a-f]{8,}$/, "")}`;
  const known = SUBJECTS[name];
  if (!known)
    return `use ${name
      .replace(/^(workspace|mcp):/, "")
      .replaceAll("_", " ")
      .trim()}`;
  const subject = subjectOf(approval.args, known[1]);
  return subject ? `${known[0]} ${subject}` : known[0];
}

/** @param {string} args @param {string} key */
function subjectOf(args, key) {
  const value = parsed(args)?.[key];
  if (Array.isArray(value))
    return clip(
      value
        .map((one) => one?.path ?? one)
        .filter((one) => typeof one === "string")
        .join(", "),
    );
  return typeof value === "string" ? clip(value) : "";
}

/** @param {string} text @returns {Record<string, any> | null} */
function parsed(text) {
  try {
    const value = JSON.parse(text);
    return value && typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

/** Return the text on one line, shortened. @param {string} text */
export function clip(text) {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > TEXT_MAX ? `${line.slice(0, TEXT_MAX - 1)}…` : line;
}
