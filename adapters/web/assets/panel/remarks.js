// Remarks on lines of a diff. They are kept as drafts are, until they are sent as one message.

import { effect, html, signal, useSignal } from "../ui.js";
import { icon } from "../shared/icons.js";
import { drafts } from "../wire/drafts.js";

/**
 * @typedef {{
 *   key: string, call: string, path: string, name: string, from: number, to: number,
 *   first: number, last: number, side: "old" | "new", lines: string, text: string,
 * }} Remark `from`, `to`: rows of the diff; `first`, `last`: lines of the file
 * @typedef {{all: import("../vendor/preact.js").Signal<Remark[]>, key: string}} Remarks
 */

/** @type {WeakMap<object, Remarks>} */
const known = new WeakMap();

/** @param {any} conversation @returns {Remarks} */
export function remarksOf(conversation) {
  const before = known.get(conversation);
  if (before) return before;
  const remarks = { all: signal(/** @type {Remark[]} */ ([])), key: `${conversation.id} remarks` };
  known.set(conversation, remarks);
  void drafts.get(remarks.key).catch(() => null).then((draft) => {
    let stored = draft?.remarks ?? [];
    const made = remarks.all.peek(); // before the stored ones were read
    remarks.all.value = made.length ? [...stored, ...made] : stored;
    effect(() => {
      const all = remarks.all.value;
      if (all === stored) return;
      stored = all;
      void (all.length ? drafts.put(remarks.key, { remarks: all, at: Date.now() }) : drafts.drop(remarks.key));
    });
  });
  return remarks;
}

/**
 * Return the lines of the file that rows of a diff stand for.
 * @param {import("../text/diff.js").Row[]} rows @param {{from: number, to: number}} chosen
 */
export function rangeOf(rows, { from, to }) {
  const some = rows.slice(from, to + 1);
  const side = /** @type {"old" | "new"} */ (some.every((row) => row.kind === "del") ? "old" : "new");
  const numbers = some.map((row) => row[side]).filter((line) => line !== null);
  const sign = { add: "+", del: "-", same: " " };
  return {
    side, first: numbers[0] ?? 0, last: numbers.at(-1) ?? 0,
    lines: some.map((row) => `${sign[row.kind]}${row.text}`).join("\n"),
  };
}

/** @param {{remarks: Remarks, make: (text: string) => any, close: () => void}} props */
export function RemarkEditor({ remarks, make, close }) {
  const text = useSignal("");
  const add = () => {
    if (!text.peek().trim()) return;
    remarks.all.value = [...remarks.all.peek(), { key: crypto.randomUUID(), ...make(text.peek().trim()) }];
    close();
  };
  return html`<${Editor} text=${text} save=${add} close=${close} label="Add to message" />`;
}

/** @param {{text: import("../vendor/preact.js").Signal<string>, save: () => void, close: () => void, label: string}} props */
function Editor({ text, save, close, label }) {
  const keys = (/** @type {KeyboardEvent} */ event) => {
    if (event.isComposing) return;
    if (event.key === "Escape") close();
    else if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) save();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return html`<div class="note edit"><textarea aria-label="Remark" placeholder="What about these lines?" rows="2" value=${text.value} onKeyDown=${keys}
      ref=${(/** @type {any} */ field) => field && !field.dataset.seen && (field.dataset.seen = "1", field.focus())}
      onInput=${(/** @type {any} */ event) => (text.value = event.currentTarget.value)}></textarea>
    <footer><button type="button" class="btn quiet" onClick=${close}>Cancel</button><button type="button" class="btn main" onClick=${save}>${label}</button></footer></div>`;
}

/** @param {{remark: Remark, remarks: Remarks}} props */
export function RemarkNote({ remark, remarks }) {
  const editing = useSignal(false);
  const text = useSignal(remark.text);
  const put = (/** @type {Remark[]} */ all) => (remarks.all.value = all);
  if (editing.value) {
    const save = () => {
      put(remarks.all.peek().map((one) => (one.key === remark.key ? { ...one, text: text.peek().trim() || one.text } : one)));
      editing.value = false;
    };
    return html`<${Editor} text=${text} save=${save} close=${() => (editing.value = false)} label="Save" />`;
  }
  return html`<div class="note">${remark.text}<span class="r">
    <button type="button" class="ic sm" aria-label="Edit the remark" onClick=${() => (editing.value = true)}>${icon("pen")}</button>
    <button type="button" class="ic sm" aria-label="Remove the remark" onClick=${() => put(remarks.all.peek().filter((one) => one.key !== remark.key))}>${icon("trash")}</button></span></div>`;
}

/** Remarks on their way. @type {Set<Remark>} */
const sending = new Set();

/**
 * Send all remarks as one message; return why not, or "".
 * @param {any} conversation @param {Remarks} remarks
 */
export async function sendRemarks(conversation, remarks) {
  const all = remarks.all.peek().filter((one) => !sending.has(one));
  if (!all.length) return "";
  all.forEach((one) => sending.add(one));
  const refs = all.map(({ path, first, last, lines }) => ({ file_name: path, start_line: first, end_line: last, content: lines }));
  const text = ["Remarks on your changes:", ...all.map((remark) => `- \`${remark.name}:${placeOf(remark)}\`: ${remark.text.replaceAll("\n", "\n  ")}`)].join("\n");
  try {
    await conversation.send({ text, refs, busy: "queue" });
    remarks.all.value = remarks.all.peek().filter((one) => !all.includes(one));
    return "";
  } catch (error) {
    return `Not sent: ${/** @type {Error} */ (error).message}`;
  } finally {
    all.forEach((one) => sending.delete(one));
  }
}

/** @param {Remark} remark */
const placeOf = ({ first, last, side }) => `${first}${last > first ? `–${last}` : ""}${side === "old" ? " (before)" : ""}`;
