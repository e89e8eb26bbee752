// Messages that wait for their turn: order, words, now, away. The daemon's order is the truth.

import { html, memo, useRef, useSignal } from "../ui.js";
import { icon } from "../shared/icons.js";
import { toast } from "../shared/toast.js";
import { queueOf } from "../conversation/queue.js";
import { sentence } from "./acts.js";
import { moved, placeAt } from "./order.js";

/** @typedef {import("./composer.js").Place} Place */
/** @typedef {{id: number, key: string, content: any[], busy_behavior?: string, model_config_id?: string}} Row */

const UNDO_SECONDS = 8;

/** @param {{place: Place}} props */
export function Queue({ place }) {
  const said = useSignal("");
  const queue = place.conversation && queueOf(place.conversation);
  const rows = /** @type {Row[]} */ (queue?.rows.value ?? []);
  const coming = comingTo(place);
  if (!rows.length && !coming.length) return null;
  const move = async (/** @type {number} */ id, /** @type {number} */ to) => {
    const ids = rows.map((row) => row.id);
    const wanted = moved(ids, id, to);
    if (wanted.every((one, at) => one === ids[at])) return;
    said.value = "";
    try {
      await queue.order(wanted);
    } catch (error) {
      const conflict = /** @type {any} */ (error).status === 409;
      said.value = conflict ? "The queue has changed meanwhile. This is the order there is." : sentence(error, "The order was not changed");
    }
  };
  return html`<div class="queue" role="list" aria-label="Queue">
    ${rows.map((row, index) => html`<${QueueRow} key=${row.key} row=${row} place=${place} index=${index} count=${rows.length} move=${move} />`)}
    ${coming.map((one) => html`<div class="q coming" role="listitem" key=${one.key}><span class="grip">${icon("clock")}</span><span class="what" title=${one.text}>${one.text || "Files"}</span>
      <span class="r dim">${one.slow ? "waits for the connection" : "being sent…"}</span></div>`)}
    ${said.value ? html`<p class="queue-said" role="status">${said.value}</p>` : null}
  </div>`;
}

/**
 * Return the messages that are on their way into the queue.
 * @param {Place} place
 * @returns {{key: string, text: string, queues: boolean, slow: boolean}[]}
 */
const comingTo = ({ conversation }) => conversation.sending.value.filter((/** @type {any} */ one) => one.queues);

const QueueRow = memo(
  /** @param {{row: Row, place: Place, index: number, count: number, move: (id: number, to: number) => void}} props */
  function QueueRow({ row, place, index, count, move }) {
    const editing = useSignal(false);
    const text = textOf(row);
    const grip = useDrag(row.id, move);
    const keys = (/** @type {KeyboardEvent} */ event) => rowKey(event, row.id, index, move);
    if (editing.value) return html`<${RowEditor} row=${row} place=${place} close=${() => (editing.value = false)} />`;
    const files = row.content.filter((part) => part.type === "file").length;
    return html`<div class="q" role="listitem" data-queued=${row.id} onKeyDown=${keys}>
      <button type="button" class="grip" aria-label=${`Move: ${index + 1} of ${count}. Alt and arrow keys move it.`} ...${grip}>${icon("grip")}</button>
      <span class="what" title=${text}>${text || "Files"}${files ? html` <small class="num">${files} ${files === 1 ? "file" : "files"}</small>` : null}</span>
      <span class="r">
        ${row.busy_behavior === "steer" ? html`<span class="tag" title="It is read at the next step of this turn">steers</span>` : null}
        <button type="button" class="ic sm" aria-label="Edit" title="Edit" onClick=${() => (editing.value = true)}>${icon("pen")}</button>
        <button type="button" class="ic sm" aria-label="Send now" title="Send now: what runs is interrupted" onClick=${() => promote(place, row)}>${icon("up")}</button>
        <button type="button" class="ic sm" aria-label="Remove" title="Remove" onClick=${(/** @type {any} */ event) => remove(place, row, event.currentTarget)}>${icon("trash")}</button>
      </span>
    </div>`;
  },
);

/** @param {Row} row */
const textOf = (row) => row.content.filter((part) => part.type === "text").map((part) => part.text).join("\n").trim();

/** @param {KeyboardEvent} event @param {number} id @param {number} index @param {(id: number, to: number) => void} move */
function rowKey(event, id, index, move) {
  const by = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
  if (!by || !event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  move(id, index + by);
}

/** Drag a row by its grip; a line shows where it would land. @param {number} id @param {(id: number, to: number) => void} move */
function useDrag(id, move) {
  const drag = useRef(/** @type {{row: HTMLElement, from: number, to: number} | null} */ (null));
  const down = (/** @type {PointerEvent} */ event) => {
    if (event.button) return;
    const grip = /** @type {HTMLElement} */ (event.currentTarget);
    const row = /** @type {HTMLElement} */ (grip.closest(".q"));
    grip.setPointerCapture(event.pointerId);
    drag.current = { row, from: event.clientY, to: -1 };
    row.classList.add("dragged");
  };
  const moving = (/** @type {PointerEvent} */ event) => {
    const now = drag.current;
    if (!now) return;
    now.row.style.translate = `0 ${event.clientY - now.from}px`;
    const others = othersOf(now.row);
    now.to = Math.abs(event.clientY - now.from) > 4 ? placeAt(others.map((other) => other.getBoundingClientRect()), event.clientY) : -1;
    showPlace(others, now.to);
  };
  const up = (/** @type {PointerEvent} */ event) => {
    const now = drag.current;
    if (!now) return;
    drag.current = null;
    now.row.classList.remove("dragged");
    now.row.style.translate = "";
    showPlace(othersOf(now.row), -1);
    if (event.type === "pointerup" && now.to >= 0) move(id, now.to);
  };
  return { onPointerDown: down, onPointerMove: moving, onPointerUp: up, onPointerCancel: up };
}

/** @param {HTMLElement} row @returns {HTMLElement[]} */
const othersOf = (row) => [.../** @type {NodeListOf<HTMLElement>} */ (row.parentElement?.querySelectorAll(".q"))].filter((other) => other !== row);

/** @param {HTMLElement[]} others @param {number} to */
function showPlace(others, to) {
  others.forEach((other, at) => {
    other.classList.toggle("before", at === to);
    other.classList.toggle("after", to === others.length && at === to - 1);
  });
}

/** @param {Place} place @param {Row} row */
async function promote({ conversation, desk }, row) {
  try {
    await queueOf(conversation).promote(row.id);
  } catch (error) {
    desk.problem.value = sentence(error, "It was not sent");
  }
}

/**
 * Take a row out at once: what is removed must not be read. For a while it can be put back.
 * @param {Place} place @param {Row} row @param {HTMLElement} button
 */
async function remove(place, row, button) {
  const { desk, conversation } = place;
  const queue = queueOf(conversation);
  const ids = queue.rows.peek().map((one) => one.id);
  const next = button.closest(".q")?.nextElementSibling ?? button.closest(".q")?.previousElementSibling;
  const focus = /** @type {HTMLElement | null} */ (next?.querySelector("[aria-label=Remove]") ?? desk.field);
  focus?.focus();
  try {
    await queue.remove(row.id);
  } catch (error) {
    const gone = [404, 409].includes(/** @type {any} */ (error).status);
    desk.problem.value = gone ? "It was no longer in the queue: its turn had come." : sentence(error, "It was not removed");
    return;
  }
  toast({ text: "Taken out of the queue.", seconds: UNDO_SECONDS, act: { label: "Undo", run: () => putBack(place, row, ids.indexOf(row.id)) } });
}

/** Queue a message again at its old place; if nothing runs any more, it goes back to the field. @param {Place} place @param {Row} row @param {number} at */
async function putBack({ desk, conversation, working }, row, at) {
  const written = { text: textOf(row), ...restOf(row) };
  if (!working.peek()) return void desk.restore({ text: written.text, refs: written.refs, files: written.files.map(uploadOf) });
  try {
    const choice = { model: row.model_config_id, busy: row.busy_behavior ?? "queue" };
    const { queued_message: queued } = await conversation.send({ ...written, ...choice });
    const queue = queueOf(conversation);
    const ids = queue.rows.peek().map((one) => one.id);
    if (queued && ids.includes(queued.id)) await queue.order(moved(ids, queued.id, at));
  } catch (error) {
    desk.problem.value = sentence(error, "It was not put back");
  }
}

/** @param {{id: string, name: string, type: string}} file @returns {import("./attachments.js").Upload} */
const uploadOf = (file) => ({ ...file, key: file.id, size: 0, state: "done", progress: 1, why: "", blob: null, pasted: "" });

/** Return what stands beside the text of a row. @param {Row} row */
function restOf({ content }) {
  return {
    files: content.filter((part) => part.type === "file" && part.file_id).map((part) => ({ id: part.file_id, name: part.name ?? "file", type: part.media_type ?? "" })),
    refs: content.filter((part) => part.type === "file-reference").map(({ file_name, start_line, end_line, content }) => ({ file_name, start_line, end_line, content })),
  };
}

/** @param {{row: Row, place: Place, close: () => void}} props */
function RowEditor({ row, place, close }) {
  const text = useSignal(textOf(row));
  const why = useSignal("");
  const save = async () => {
    if (!text.value.trim()) return void (why.value = "It has no words. Remove it instead.");
    try {
      await queueOf(place.conversation).change(row.id, { text: text.value.trim(), ...restOf(row) });
      close();
    } catch (error) {
      why.value = sentence(error, "It was not changed");
    }
  };
  const keys = (/** @type {KeyboardEvent} */ event) => {
    if (event.isComposing) return;
    if (event.key === "Escape") close();
    else if (event.key === "Enter" && !event.shiftKey) void save();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return html`<div class="q edit" role="listitem">
    <textarea aria-label="Queued message" rows=${Math.min(8, text.value.split("\n").length + 1)} value=${text.value} onKeyDown=${keys}
      ref=${(/** @type {HTMLElement | null} */ field) => field && !field.contains(document.activeElement) && why.peek() === "" && field.focus()}
      onInput=${(/** @type {any} */ event) => (text.value = event.currentTarget.value)}></textarea>
    <span class="r">${why.value ? html`<span class="err" role="alert">${why.value}</span>` : null}
      <button type="button" class="btn quiet" onClick=${close}>Cancel</button>
      <button type="button" class="btn main" onClick=${save}>Save</button></span>
  </div>`;
}
