// What somebody is writing in one chat: text, files, references, model, and how it will go in.
// It outlives the view: one for each conversation, kept in the drafts of this browser.

import { batch, computed, effect, signal } from "../ui.js";
import { drafts } from "../wire/drafts.js";
import { onLeave } from "../wire/wake.js";

/** @typedef {import("./attachments.js").Upload} Upload */
/** @typedef {{file_name: string, start_line: number, end_line: number, content: string}} Reference */
/** @typedef {"queue" | "steer" | "interrupt"} Busy */

const PAUSE_MS = 300; // between the last change and the writing of the draft; none if the page is left

export class Desk {
  #stored = ""; // the draft as it was read or written last
  #isRead = signal(false); // whether the stored draft was read: nothing is written over it before that
  #timer = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);
  #due = /** @type {(() => void) | null} */ (null); // writes what has changed since
  #unread = /** @type {string | null} */ (null); // what other pages have left, when this one left its own

  text = signal("");
  files = signal(/** @type {Upload[]} */ ([]));
  refs = signal(/** @type {Reference[]} */ ([]));
  model = signal(/** @type {string | null} */ (null)); // null: the chat's own
  effort = signal(/** @type {string | null} */ (null));
  busy = signal(/** @type {Busy} */ ("queue"));
  problem = signal(""); // why the last attempt to send came to nothing
  sending = signal(false);
  flight = signal(/** @type {Written[]} */ ([])); // on its way to the daemon
  browsing = signal(/** @type {import("./history.js").Browsing | null} */ (null));
  editing = signal(/** @type {{message: number, aside: Written} | null} */ (null)); // the message that is written anew, and the draft meanwhile
  fresh = signal({ plan: "", policy: "", workspace: "", servers: /** @type {string[] | null} */ (null) });
  #asked = { body: "", key: "" }; // the chat that was asked for last, and with which key
  begun = false; // whether its chat was begun here a moment ago, so that its field takes the focus
  field = /** @type {HTMLTextAreaElement | null} */ (null);

  /** @param {string} key the chat's id, or "new" */
  constructor(key) {
    this.key = key;
    this.uploading = computed(() => this.files.value.some((file) => file.state === "sending"));
    this.empty = computed(() => !this.text.value.trim() && !this.files.value.length && !this.refs.value.length);
    this.#stored = JSON.stringify(this.#draft());
    this.forget = drafts.heard(key, () => void this.#load(false));
    this.ready = this.#load();
    this.#keep();
  }

  /** Put the caret into the field, at the end or where it is said. @param {number} [at] */
  focus(at) {
    const field = this.field;
    if (!field) return;
    field.focus();
    requestAnimationFrame(() => {
      const place = at ?? field.value.length; // as it is when the text is drawn
      field.setSelectionRange(place, place);
    });
  }

  /** Put text in at the caret. @param {string} text */
  insert(text) {
    const { selectionStart: from, selectionEnd: to } = this.field ?? { selectionStart: Infinity, selectionEnd: Infinity };
    const now = this.text.peek();
    this.text.value = now.slice(0, from) + text + now.slice(to);
    this.focus(Math.min(from, now.length) + text.length);
  }

  /** @param {Reference} reference */
  refer(reference) {
    this.refs.value = [...this.refs.peek(), reference];
    this.focus();
  }

  /** @typedef {{text: string, files: Upload[], refs: Reference[]}} Written @returns {Written} */
  get written() {
    return { text: this.text.peek(), files: this.files.peek(), refs: this.refs.peek() };
  }

  /** Empty the field, for it is being sent; the draft keeps it until that is done. @returns {Written} */
  take() {
    const { written } = this;
    batch(() => {
      this.flight.value = [...this.flight.peek(), written];
      this.text.value = "";
      this.files.value = [];
      this.refs.value = [];
      this.browsing.value = null;
      this.problem.value = "";
    });
    return written;
  }

  /** It has been taken by the daemon. @param {Written} written */
  landed(written) {
    this.flight.value = this.flight.peek().filter((one) => one !== written);
  }

  /**
   * Return the key with which a chat is asked for: the same one for the same chat, until it is begun or
   * refused. null: the next one is another. @param {unknown} body
   */
  keyFor(body) {
    const text = body ? JSON.stringify(body) : "";
    if (text !== this.#asked.body || !text) this.#asked = { body: text, key: crypto.randomUUID() };
    return this.#asked.key;
  }

  /** Put back what could not be sent, before what has been written since. @param {Written} written */
  restore(written) {
    this.landed(written);
    const more = this.text.peek().trim();
    this.text.value = more ? `${written.text}\n\n${more}` : written.text;
    this.files.value = [...written.files, ...this.files.peek()];
    this.refs.value = [...written.refs, ...this.refs.peek()];
  }

  /**
   * Read the draft. Messages that were on their way when the page ended come back as well. Text that has
   * been written meanwhile is put behind them.
   */
  async #load(first = true) {
    const draft = await drafts.get(this.key).catch(() => null);
    const left = first ? this.#left() : null;
    if (first) this.#isRead.value = true;
    const typing = this.editing.peek() || (this.field && this.field === document.activeElement && !this.empty.peek());
    if (first ? !draft && !left : typing) return;
    if (left || (first && !this.empty.peek())) {
      for (const before of [left, draft, ...(draft?.flight ?? [])]) if (before) this.restore({ text: before.text, refs: before.refs, files: before.files.map(stored) });
      this.model.value ??= draft?.model ?? null;
      return;
    }
    batch(() => {
      this.text.value = draft?.text ?? "";
      this.refs.value = draft?.refs ?? [];
      this.files.value = (draft?.files ?? []).map(stored);
      this.model.value = draft?.model ?? null;
      this.effort.value = draft?.effort ?? null;
      this.#stored = JSON.stringify(this.#draft());
      for (const lost of first ? draft?.flight ?? [] : []) this.restore({ ...lost, files: lost.files.map(stored) });
    });
  }

  #draft() {
    const { text, refs, files, model, effort, flight } = this;
    return {
      text: text.value, refs: refs.value, files: files.value.filter(isKept).map(brief), model: model.value, effort: effort.value,
      flight: flight.value.map((written) => ({ ...written, files: written.files.filter(isKept).map(brief) })),
    };
  }

  /** Write the draft whenever it has rested for a moment. */
  #keep() {
    effect(() => {
      const draft = this.#draft();
      const text = JSON.stringify(draft);
      if (this.browsing.value || this.editing.value || !this.#isRead.value) return;
      // Also if the text is as it was stored: a message that was sent at once must not be written later.
      clearTimeout(this.#timer);
      this.#due = null;
      if (text === this.#stored) return;
      this.#due = () => {
        this.#stored = text;
        const empty = !draft.text && !draft.refs.length && !draft.files.length && !draft.flight.length && !draft.model;
        void (empty ? drafts.drop(this.key) : drafts.put(this.key, { ...draft, at: Date.now() }));
      };
      this.#timer = setTimeout(() => this.write(), PAUSE_MS);
    });
  }

  /** Return what was written in pages that ended before they had read their draft. */
  #left() {
    const text = this.#unread ?? drafts.left(this.key);
    drafts.leave(this.key, "");
    return text ? { text, refs: [], files: [] } : null;
  }

  /** Write the draft now, if it has changed; only its text, as long as the stored one has not been read. */
  write() {
    clearTimeout(this.#timer);
    if (!this.#isRead.peek() && !this.editing.peek() && this.text.peek().trim()) {
      this.#unread ??= drafts.left(this.key);
      drafts.leave(this.key, [this.#unread, this.text.peek()].filter(Boolean).join("\n\n"));
    }
    const due = this.#due;
    this.#due = null;
    due?.();
  }
}

/** Files that are refused are no part of a draft; of those on their way the name is. @param {Upload} file */
const isKept = (file) => !file.refused;

/** @param {Upload} file */
const brief = ({ id, name, type, size }) => ({ id: id ?? "", name, type, size });

/** @param {{id: string, name: string, type: string, size: number}} file @returns {Upload} */
function stored(file) {
  const base = { ...file, progress: 1, blob: null, pasted: "" };
  if (file.id) return { ...base, key: file.id, state: "done", why: "" };
  const why = "It was still on its way when the page was closed. Attach it again.";
  return { ...base, key: `lost ${file.name}`, id: null, state: "failed", why, refused: true };
}

/** @type {Map<string, Desk>} */
const desks = new Map();
onLeave(() => desks.forEach((desk) => desk.write()));
const DESKS_MAX = 50; // the one used longest ago is made anew from its draft when it is wanted again

/**
 * Return the desk of a chat, or of the chat that is to be begun.
 * @param {string | null} chat
 */
export function deskOf(chat) {
  const key = chat ?? "new";
  const desk = desks.get(key) ?? new Desk(key);
  desks.delete(key);
  desks.set(key, desk);
  for (const [old, other] of desks) {
    if (desks.size <= DESKS_MAX) break;
    if (other.field || other.flight.peek().length) continue;
    other.forget();
    desks.delete(old);
  }
  return desk;
}
