// Files that are written and edited: what changes in each, line by line.

import { html } from "../../ui.js";
import { counted } from "../words.js";
import { Diff, statisticsOf } from "../diff_view.js";
import { SignButton } from "../controls.js";
import { clipped } from "./big_text.js";
import { said } from "./frame.js";
import { CodeText } from "../code_view.js";

/** @typedef {import("./frame.js").Card} Card @typedef {import("./frame.js").Call} Call */
/** @typedef {import("./frame.js").At} At */
/** @typedef {{path: string, patch: string}} Change */

/** @type {WeakMap<Call, readonly Change[]>} */
const made = new WeakMap();

/**
 * Return what a call changes: as the daemon says it, else as the arguments do.
 * @param {Call} call
 * @returns {readonly Change[]}
 */
export function changesOf(call) {
  let changes = made.get(call);
  if (!changes) made.set(call, (changes = call.failed ? [] : fromCall(call)));
  return changes;
}

/** @param {Call} call @returns {readonly Change[]} */
function fromCall(call) {
  if (call.name === "write_file") {
    return [{ path: String(call.args.path ?? ""), patch: added(String(call.args.content ?? "")) }];
  }
  const told = call.result?.files;
  if (Array.isArray(told)) return told.map(({ path, diff }) => ({ path: String(path), patch: String(diff ?? "") }));
  return proposed(call.args.files);
}

/** @param {any} files @returns {readonly Change[]} */
function proposed(files) {
  if (!Array.isArray(files)) return [];
  return files
    .filter((file) => file && typeof file === "object")
    .map((file) => ({
      path: String(file.path ?? ""),
      patch: (Array.isArray(file.edits) ? file.edits : []).map(hunk).join(""),
    }));
}

/** @param {any} edit */
function hunk(edit) {
  const before = String(edit?.old_text || edit?.search || "");
  const after = String(edit?.new_text || edit?.replace || "");
  return `@@ -1 +1 @@\n${prefixed("-", before)}${prefixed("+", after)}`;
}

/** @param {string} content */
const added = (content) => (content ? `@@ -0,0 +1 @@\n${prefixed("+", content)}` : "");

/** @param {string} sign @param {string} text */
function prefixed(sign, text) {
  if (!text) return "";
  const lines = text.split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  return `${lines.map((line) => sign + line).join("\n")}\n`;
}

/** @param {Call} call */
function fileNames(call) {
  if (call.name === "write_file") return [String(call.args.path ?? "")];
  const files = Array.isArray(call.args.files) ? call.args.files : [];
  return files.map((/** @type {any} */ file) => String(file?.path ?? "")).filter(Boolean);
}

/** @param {Call} call */
function what(call) {
  const names = fileNames(call);
  return names.length === 1 ? names[0] : names.length ? counted(names.length, "file") : "";
}

/** How many lines come and go. @param {Call} call */
function counts(call) {
  const { plus, minus } = statisticsOf(changesOf(call));
  if (!plus && !minus) return [];
  return [html`<span class="pm">${plus > 0 && html`<span class="p">+${plus}</span>`}${minus > 0 && html` <span class="m">−${minus}</span>`}</span>`];
}

/** @param {Call} call @param {At} at */
function buttons(call, at) {
  const changes = changesOf(call);
  return changes.length > 0 &&
    html`<${SignButton} sign="copy" label="Copy the patch" onClick=${() => at.do("copy", { text: patchOf(changes) })} />
      <${SignButton} sign="side" label="Open in the panel" onClick=${() => at.do("panel.show", { tab: "changes", file: changes[0].path })} />`;
}

/** @param {readonly Change[]} changes */
const patchOf = (changes) =>
  changes.map(({ path, patch }) => (patch.startsWith("---") ? patch : `--- ${path}\n+++ ${path}\n${patch}`)).join("\n");

/** Whether the numbers of the lines are known. @param {Call} call */
const isNumbered = (call) => call.name === "write_file" || Array.isArray(call.result?.files);

/** @param {Call} call */
function diffs(call) {
  const changes = changesOf(call);
  if (!changes.length) return null;
  return changes.map(
    (change) => html`<div class="filediff" key=${change.path}>
      ${changes.length > 1 && html`<p class="in path"><code>${clipped(change.path, 400)}</code></p>`}
      ${change.patch
        ? html`<${Diff} patch=${change.patch} path=${change.path} grows=${call.running} isNumbered=${isNumbered(call)} />`
        : html`<p class="in quiet">${call.running ? "…" : "Nothing changed in it."}</p>`}
    </div>`,
  );
}

/** @param {Call} call */
function refusedBody(call) {
  if (call.name !== "write_file" || !call.args.content) return null;
  return html`<details class="long">
    <summary>What it would have written</summary>
    <${CodeText} text=${call.args.content} path=${call.args.path} />
  </details>`;
}

/** @type {Card} */
export const editFiles = {
  names: ["edit_files"],
  icon: "pen",
  kind: "diffs",
  line: (call) => [said(call, "Editing", "Edited", "Could not edit"), what(call)],
  facts: counts,
  news: (call) => !call.failed && call.state !== "interrupted",
  acts: buttons,
  body: (call) => diffs(call),
  question: "May I change these files?",
  ask: (call) => diffs(call),
};

/** @type {Card} */
export const writeFile = {
  names: ["write_file"],
  icon: "pen",
  kind: "diffs",
  line: (call) => [said(call, "Writing", "Wrote", "Could not write"), what(call)],
  facts: counts,
  news: (call) => call.running && Boolean(call.args.content),
  acts: buttons,
  body: (call) => diffs(call) ?? refusedBody(call),
  question: "May I write this file?",
  ask: (call) => diffs(call),
};

