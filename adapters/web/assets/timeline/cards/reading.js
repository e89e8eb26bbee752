// Reading: files, skills, and files that are given to the user.

import { html, memo } from "../../ui.js";
import { icon } from "../../shared/icons.js";
import { basename, counted, grouped, listed, size } from "../words.js";
import { SignButton, useToggle } from "../controls.js";
import { BigText, clipped } from "./big_text.js";
import { said } from "./frame.js";
import { CodeText } from "../code_view.js";

/** @typedef {import("./frame.js").Card} Card @typedef {import("./frame.js").Call} Call */
/** @typedef {import("./frame.js").At} At */

/** @param {Call} call */
const linesRead = (call) => Number(call.result?.lines_read) || 0;

/** @param {Call} call */
function rangeOf(call) {
  const { offset = 1, limit } = call.args;
  const read = linesRead(call);
  if (offset <= 1 && (!read || read >= (call.result?.total_lines ?? 0)) && !limit) return "";
  const last = read ? offset + read - 1 : limit ? offset + limit - 1 : "";
  return `:${offset}–${last}`;
}

/** @param {Call} call */
export const pathOf = (call) => clipped(call.args.path);

/** @type {Card} */
export const readFile = {
  names: ["read_file"],
  icon: "file",
  kind: "tools",
  line: (call) => [said(call, "Reading", "Read", "Could not read"), basename(pathOf(call)) + rangeOf(call)],
  facts: (call) => (linesRead(call) ? [counted(linesRead(call), "line")] : []),
  body: (call, at) => readBody(call, at),
  question: "May I read this file?",
  ask: (call) => html`<${BigText} text=${pathOf(call)} />`,
};

/** @param {Call} call @param {At} at */
function readBody(call, at) {
  const content = call.result?.content;
  return html`<p class="in path"><code>${pathOf(call)}</code>
      <${SignButton} sign="copy" label="Copy the path" onClick=${() => at.do("copy", { text: pathOf(call) })} />
    </p>
    ${typeof content === "string" &&
    (content
      ? html`<${CodeText} text=${unnumbered(content)} from=${call.args.offset || 1} path=${pathOf(call)} />`
      : html`<p class="in quiet">The file is empty.</p>`)}`;
}

/** @param {string} content lines with their numbers and a tab before each */
const unnumbered = (content) => content.replace(/^\d+\t/gm, "");

/** Reads that follow each other, in one line. @param {{calls: readonly Call[], at: At}} props */
export const Reads = memo((/** @type {{calls: readonly Call[], at: At}} */ { calls, at }) => {
  const key = `${calls[0].key}.reads`;
  const isOpen = at.opened(key) ?? false;
  const onToggle = useToggle(key, isOpen, at);
  if (calls.length === 1) return oneRead(calls[0], at, isOpen, onToggle);
  const running = calls.some((call) => call.running);
  const failed = calls.filter((call) => call.failed).length;
  const lines = calls.reduce((sum, call) => sum + linesRead(call), 0);
  const names = [...new Set(calls.map((call) => basename(pathOf(call))))].filter(Boolean);
  return html`<details class="work" open=${isOpen} onToggle=${onToggle} data-call=${calls[0].key}>
    <summary>
      ${icon("files")}<span class="what"><b>${running ? "Reading" : "Read"}</b> ${listed(names)}</span>
      <span class="r"
        >${failed > 0 && html`<span class="bad">${failed} failed</span>`}${
          running ? html`<i class="cue go"></i>` : html`<span>${counted(lines, "line")}</span>`
        }</span
      >${icon("chev")}
    </summary>
    ${isOpen && html`<div class="inside nested">${calls.map((call) => html`<${OneRead} key=${call.key} call=${call} at=${at} />`)}</div>`}
  </details>`;
});

/** @param {{call: Call, at: At}} props */
function OneRead({ call, at }) {
  const isOpen = at.opened(call.key) ?? false;
  return oneRead(call, at, isOpen, useToggle(call.key, isOpen, at));
}

/** @param {Call} call @param {At} at @param {boolean} isOpen @param {(event: Event) => void} onToggle */
function oneRead(call, at, isOpen, onToggle) {
  const [verb, what] = readFile.line(call, at);
  const lines = linesRead(call);
  return html`<details class=${`work ${call.failed ? "bad" : ""}`} open=${isOpen} onToggle=${onToggle} data-call=${call.key}>
    <summary>
      ${icon(call.failed ? "x" : "file")}<span class="what"
        ><b>${verb}</b> ${what}${call.failed && html` <span class="why">${call.error}</span>`}</span
      ><span class="r">${
        call.running ? html`<i class="cue go"></i>` : lines > 0 && html`<span>${counted(lines, "line")}</span>`
      }</span>${icon("chev")}
    </summary>
    ${isOpen && html`<div class="inside">${readBody(call, at)}</div>`}
  </details>`;
}

/** @type {Card} */
export const readSkill = {
  names: ["read_skill"],
  icon: "book",
  kind: "tools",
  line: (call) => [said(call, "Reading the skill", "Read the skill", "Could not read the skill"), String(call.args.name ?? "")],
  body: (call) =>
    call.result?.body === undefined
      ? null
      : html`<${CodeText} text=${call.result.body} path="SKILL.md" />
          ${call.result.files?.length > 0 && html`<p class="in quiet">Its files: ${clipped(call.result.files.join(", "))}</p>`}`,
};

/** @type {Card} */
export const readSkillFile = {
  names: ["read_skill_file"],
  icon: "book",
  kind: "tools",
  line: (call) => [said(call, "Reading", "Read", "Could not read"), `${call.args.path ?? ""} of the skill ${call.args.name ?? ""}`],
  body: (call) =>
    call.result?.content === undefined ? null : html`<${CodeText} text=${call.result.content} path=${pathOf(call)} />`,
};

/** @type {Card} */
export const attachFile = {
  names: ["attach_file"],
  icon: "clip",
  kind: "tools",
  line: (call) => [
    said(call, "Attaching", "Attached", "Could not attach"),
    clipped(call.result?.name ?? (call.args.name || basename(pathOf(call))), 200),
  ],
  facts: (call) => (call.result?.size ? [size(call.result.size)] : []),
  acts: (call, at) =>
    call.result?.file_id &&
    html`<a class="ic sm" href=${at.href(call.result.file_id)} download=${call.result.name} aria-label=${`Download ${call.result.name}`}>${icon("download")}</a>`,
};

/** @type {Card} */
export const findTools = {
  names: ["find_tools"],
  icon: "search",
  kind: "tools",
  line: (call) => [
    said(call, "Looking for tools", "Looked for tools", "Could not look for tools"),
    [...(call.args.queries ?? []), ...(call.args.names ?? [])].join(", "),
  ],
  facts: (call) => (call.result?.matches ? [`${grouped(call.result.matches.length)} found`] : []),
  body: (call) =>
    html`<ul class="plainlist">
      ${(call.result?.matches ?? []).map(
        (/** @type {any} */ match) => html`<li><code>${clipped(match.name, 100)}</code> <span class="quiet">${clipped(match.description, 300)}</span></li>`,
      )}
    </ul>`,
};
