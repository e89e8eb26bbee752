// What a call that waits for consent would do, in a few words. Pure.

import { firstLine, humanised, listed, basename } from "../words.js";

/** @param {{tool_name: string, args?: string}} ask */
export function callWords(ask) {
  const name = ask.tool_name.replace(/^workspace:/, "");
  const args = parsed(ask.args ?? "");
  if (name.startsWith("start:")) return "start a server of the workspace";
  if (name === "execute") return `run ${firstLine(String(args.command ?? ""), 120)}`;
  if (name === "read_file") return `read ${args.path ?? "a file"}`;
  if (name === "write_file") return `write ${args.path ?? "a file"}`;
  if (name === "edit_files") return `change ${listed((args.files ?? []).map((/** @type {any} */ file) => basename(String(file?.path ?? ""))))}`;
  return `use ${humanised(name.replace("__", " "))}`;
}

/** @param {string} text @returns {Record<string, any>} */
export function parsed(text) {
  try {
    const value = JSON.parse(text);
    return value && typeof value === "object" ? value : {};
  } catch {
    return {};
  }
}
