// What the chat has changed: file by file, with remarks on lines that become a message.

import { html, signal, useEffect, useMemo, useRef, useSignal } from "../ui.js";
import { keyWords } from "../keys.js";
import { icon } from "../shared/icons.js";
import { isMine } from "../list/acts.js";
import { usePart } from "../shared/part.js";
import { toast } from "../shared/toast.js";
import { counts, parse, whole } from "../text/diff.js";
import { changesOf } from "./changes_of.js";
import { DiffRows } from "./diff_view.js";
import { filesOf, patchOf } from "./files_of.js";
import { PastNote } from "./past_note.js";
import { Loaded } from "./panel.js";
import { RemarkEditor, RemarkNote, rangeOf, remarksOf, sendRemarks } from "./remarks.js";
import { isTree } from "./tabs.js";

/** @typedef {import("./files_of.js").ChangedFile} ChangedFile */

const SPLIT = "panel.split";
const TOUCH = matchMedia("(pointer: coarse)").matches;
const loadTree = () => import("./working_tree.js").then((module) => module.WorkingTree);

/** The changes of the calls, or the working tree: what git says, which its owner alone may see. @param {import("./panel.js").About} props */
export function Changes(props) {
  const chat = usePart(props.conversation, (state) => state.chat);
  if (!chat?.workspace_id || !isMine(chat)) return html`<${CallChanges} ...${props} />`;
  const way = (/** @type {boolean} */ tree, /** @type {string} */ name) => html`<button type="button" class="way" aria-pressed=${isTree.value === tree} onClick=${() => (isTree.value = tree)}>${name}</button>`;
  return html`<div class="ways" role="group" aria-label="Which changes">${way(false, "By its calls")}${way(true, "Working tree")}</div>
    ${isTree.value ? html`<${Loaded} load=${loadTree} name="The working tree" props=${{ conversation: props.conversation }} />` : html`<${CallChanges} ...${props} />`}`;
}

/** @param {import("./panel.js").About} props */
function CallChanges({ conversation, past, file: asked }) {
  const shown = useSignal("");
  const changes = useMemo(() => changesOf(past.messages.value), [past.messages.value]);
  const files = useMemo(() => filesOf(changes), [changes]);
  const body = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => void past.read(), [past]);
  useEffect(() => void past.complete((message) => message.content.some((/** @type {any} */ part) => part.tool_name === "edit_files")), [past.messages.value]);
  useEffect(() => {
    const found = files.find((one) => one.path === asked.value.path);
    if (found) [shown.value, asked.value] = [found.path, { path: "" }];
  }, [files, asked.value]);
  const now = files.find((one) => one.path === shown.value) ?? files[0];
  const show = (/** @type {ChangedFile} */ one) => (shown.value = one.path);
  if (!now) return html`<div class="pbody"><p class="none">No file has been changed by its tools for files.</p><${PastNote} past=${past} /></div>`;
  return html`<${FileList} files=${files} now=${now} show=${show} />
    <div class="pbody" ref=${body} onKeyDown=${(/** @type {KeyboardEvent} */ event) => jump(event, files, now, show)}>
      <${FileView} key=${now.path} file=${now} conversation=${conversation} />
      <${PastNote} past=${past} />
    </div>
    <${Foot} conversation=${conversation} patch=${() => patchOf(changes)} />`;
}

/** `n` and `p` go to the next and the previous file. @template T @param {KeyboardEvent} event @param {T[]} files @param {T} now @param {(file: T) => void} show */
export function jump(event, files, now, show) {
  const by = { n: 1, p: -1 }[event.key];
  if (!by || event.metaKey || event.ctrlKey || event.altKey || /** @type {Element} */ (event.target).closest("textarea,input")) return;
  event.preventDefault();
  event.stopPropagation();
  const next = files[files.indexOf(now) + by];
  if (!next) return;
  show(next);
  requestAnimationFrame(() => /** @type {HTMLElement | null} */ (document.querySelector(".panel .diff"))?.focus());
}

/** @param {{files: ChangedFile[], now: ChangedFile, show: (file: ChangedFile) => void}} props */
const FileList = (props) => html`<div class="changed"><${FileRows} ...${props} label="Changed files" /></div>`;

/** @param {{files: {path: string, name: string, added: number, removed: number}[], now: any, show: (file: any) => void, label: string}} props */
export function FileRows({ files, now, show, label }) {
  return html`<div role="list" aria-label=${label}>${files.map((file) => html`<div role="listitem" key=${file.path}><button type="button" class="fi"
    aria-current=${file === now ? "true" : undefined} title=${file.path} onClick=${() => show(file)}>${icon("file")}<span class="what">${file.name}</span><${Counts} ...${file} /></button></div>`)}</div>`;
}

/** @param {{added: number, removed: number}} props */
export const Counts = ({ added, removed }) => html`<span class="pm">${added ? html`<span class="p">+${added}</span>` : null}${added && removed ? " " : ""}${removed ? html`<span class="m">−${removed}</span>` : null}</span>`;

/** Return the diffs of a file, one for each change; a file that was written whole comes first. @param {ChangedFile} file */
function diffsOf(file) {
  return file.changes.map((change) => ({
    change,
    hunks: change.kind === "write" ? whole(file.path, change.content).hunks : parse(change.diff).flatMap((one) => one.hunks),
  }));
}

/** @param {{file: ChangedFile, conversation: any}} props */
function FileView({ file, conversation }) {
  const split = splitSignal();
  const diffs = useMemo(() => diffsOf(file), [file]);
  const at = file.name.lastIndexOf("/") + 1;
  return html`<div class="fh"><span class="fpath" title=${file.path}>${file.name.slice(0, at)}<b>${file.name.slice(at)}</b></span>
      <${Split} split=${split} /></div>
    ${[...diffs.entries()].reverse().map(([index, { change, hunks }]) => html`<${OneChange} key=${`${change.call} ${index}`} file=${file} change=${change} hunks=${hunks} split=${split.value}
      title=${diffs.length > 1 || change.kind === "write" ? titleOf(change, index, diffs.length) : ""} conversation=${conversation} />`)}`;
}

const isSplit = signal(localStorage.getItem(SPLIT) === "split");

/** Whether diffs have two columns; the same for all of them. */
export const splitSignal = () => isSplit;

/** @param {{split: import("../vendor/preact.js").Signal<boolean>}} props */
export function Split({ split }) {
  const flip = () => {
    split.value = !split.value;
    localStorage.setItem(SPLIT, split.value ? "split" : "unified");
  };
  return html`<button type="button" class="link quiet" aria-pressed=${split.value} title="One column or two" onClick=${flip}>${split.value ? "split" : "unified"}</button>`;
}

/** @param {import("./changes_of.js").Change} change @param {number} index @param {number} count */
function titleOf(change, index, count) {
  const place = count > 1 ? `${index + 1} of ${count}: ` : "";
  return `${place}${change.kind === "write" ? "written whole" : "edited"}`;
}

/** @param {{file: {path: string, name: string}, change: {call: string, cut: boolean}, hunks: import("../text/diff.js").Hunk[], split: boolean, title: string, conversation: any}} props */
export function OneChange({ file, change, hunks, split, title, conversation }) {
  const writing = useSignal(/** @type {import("./diff_view.js").Chosen | null} */ (null));
  const remarks = remarksOf(conversation);
  const mayWrite = useMayWrite(conversation);
  const rows = useMemo(() => hunks.flatMap((hunk) => hunk.rows), [hunks]);
  const mine = remarks.all.value.filter((remark) => remark.call === change.call && remark.path === file.path);
  const open = writing.value;
  const note = useMemo(() => (/** @type {number} */ row) => [
    ...mine.filter((remark) => remark.to === row).map((remark) => html`<${RemarkNote} key=${remark.key} remark=${remark} remarks=${remarks} />`),
    open?.to === row ? html`<${RemarkEditor} key="new" remarks=${remarks} close=${() => (writing.value = null)}
      make=${(/** @type {string} */ text) => ({ text, call: change.call, path: file.path, name: file.name, ...open, ...rangeOf(rows, open) })} />` : null,
  ], [mine.map((remark) => remark.key + remark.text).join(), open, rows]);
  const { added, removed } = useMemo(() => counts([{ path: "", hunks }]), [hunks]);
  return html`${title ? html`<p class="change-title">${title} <${Counts} added=${added} removed=${removed} /></p>` : null}
    ${change.cut ? html`<p class="none" role="status">Reading the whole change…</p>` : null}
    <${DiffRows} hunks=${hunks} name=${file.name} split=${split} note=${note} onRemark=${mayWrite ? (/** @type {any} */ chosen) => (writing.value = chosen) : undefined} />`;
}

/** Only the owner of a chat writes to it. @param {any} conversation */
function useMayWrite(conversation) {
  const chat = usePart(conversation, (state) => state.chat);
  return Boolean(chat && isMine(chat) && !chat.archived);
}

/** @param {{conversation: any, patch: () => string}} props */
export function Foot({ conversation, patch }) {
  const remarks = remarksOf(conversation);
  const count = remarks.all.value.length;
  const said = useSignal("");
  const mayWrite = useMayWrite(conversation);
  const copy = async () => {
    const done = await navigator.clipboard.writeText(patch()).then(() => true, () => false);
    toast(done ? "The patch is in the clipboard." : "The browser does not let this page write into the clipboard.");
  };
  const send = async () => (said.value = await sendRemarks(conversation, remarks));
  return html`<div class="pfoot"><span class=${said.value ? "err" : ""} role="status">${said.value || (count ? `${count} ${count === 1 ? "remark" : "remarks"} not sent` : !mayWrite ? "" : TOUCH ? "Touch the number of a line to write a remark" : `${keyWords("Enter").join("")} on a line writes a remark`)}</span>
    <span class="sp"></span><button type="button" class="btn" onClick=${copy}>Copy patch</button>
    ${count ? html`<button type="button" class="btn main" onClick=${send}>Send remarks</button>` : null}</div>`;
}
