// The working tree: how the repositories in the workspace differ from their last commits, as they change.

import { html, useEffect, useMemo, useSignal } from "../ui.js";
import { Counts, FileRows, Foot, OneChange, Split, jump, splitSignal } from "./changes.js";
import { sentenceOf, treeFiles } from "./tree_files.js";
import { treeLine } from "./tree_line.js";

/** @typedef {import("./tree_files.js").TreeFile} TreeFile */

/** @param {{conversation: any}} props */
export function WorkingTree({ conversation }) {
  const line = useMemo(() => treeLine(conversation.id), [conversation]);
  useEffect(() => line.close, [line]);
  const repositories = line.repositories.value;
  const files = useMemo(() => repositories.flatMap(treeFiles), [repositories]);
  const shown = useSignal("");
  const now = files.find((one) => one.key === shown.value) ?? files[0];
  const show = (/** @type {TreeFile} */ one) => (shown.value = one.key);
  const patch = () => repositories.map((one) => (sentenceOf(one) ? "" : one.diff)).join("");
  return html`<div class="changed">${repositories.map((one) => html`<${OneRepository} key=${one.root} repository=${one} files=${files.filter((file) => file.root === one.root)} now=${now} show=${show} />`)}
      <${Told} line=${line} /></div>
    <div class="pbody" onKeyDown=${(/** @type {KeyboardEvent} */ event) => jump(event, files, now, show)}>
      ${now ? html`<${FileDiff} key=${now.key} file=${now} conversation=${conversation} />` : null}</div>
    <${Foot} conversation=${conversation} patch=${patch} />`;
}

/** @param {{repository: import("./tree_files.js").TreeRepository, files: TreeFile[], now: TreeFile | undefined, show: (file: TreeFile) => void}} props */
function OneRepository({ repository, files, now, show }) {
  const name = repository.root.slice(repository.root.lastIndexOf("/") + 1);
  const sentence = sentenceOf(repository);
  return html`<p class="change-title" title=${repository.root}><b>${name}</b> ${repository.branch || "no branch"}${files.length ? "" : ` · ${sentence || "nothing is changed"}`}</p>
    ${files.length ? html`<${FileRows} files=${files} now=${now} show=${show} label=${`Changed files of ${name}`} />` : null}`;
}

/** What is wrong, or that there is nothing to show. @param {{line: import("./tree_line.js").TreeLine}} props */
function Told({ line }) {
  const { state, trouble, repositories } = line;
  if (state.value === "dialling") return html`<p class="none late" role="status">Looking at the workspace…</p>`;
  const empty = repositories.value.length ? "" : "No repository has been touched in this chat.";
  const words = trouble.value || empty;
  return html`<p class="none" role="status">${words ? `${words} ` : ""}<button type="button" class="link quiet" onClick=${line.again}>Look again</button></p>`;
}

/** @param {{file: TreeFile, conversation: any}} props */
function FileDiff({ file, conversation }) {
  const split = splitSignal();
  const at = file.name.lastIndexOf("/") + 1;
  const change = useMemo(() => ({ call: `tree ${file.root}`, cut: false }), [file.root]);
  return html`<div class="fh"><span class="fpath" title=${file.path}>${file.name.slice(0, at)}<b>${file.name.slice(at)}</b></span>${file.note ? html`<span>${file.note}</span>` : null}
      <${Counts} added=${file.added} removed=${file.removed} /><${Split} split=${split} /></div>
    ${file.hunks.length ? html`<${OneChange} file=${file} change=${change} hunks=${file.hunks} split=${split.value} title="" conversation=${conversation} />`
      : html`<p class="none">There are no lines to show.</p>`}`;
}
