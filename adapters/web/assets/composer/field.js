// The field that one writes in: a plain textarea that grows, so that every keyboard and every
// input method works. It intercepts only what has a meaning here, and nothing while text is composed.

import { entered } from "../current.js";
import { html, useLayoutEffect, useRef } from "../ui.js";
import { preferences } from "../preferences.js";
import { attach, attachPaste } from "./attaching.js";

/** @typedef {import("./desk.js").Desk} Desk */
/**
 * @typedef {{
 *   suggest: (event: KeyboardEvent) => boolean, older: (event: KeyboardEvent) => boolean,
 *   escape: () => boolean, send: (how: "usual" | "steer" | "interrupt") => void, moved: () => void,
 * }} FieldActs
 */

const LINES_MIN = 2, LINES_MAX = 14;
const TOUCH = matchMedia("(pointer: coarse)");

/**
 * Return what ⏎ does with these keys held, or null if it is a new line.
 * @param {KeyboardEvent} event
 * @returns {"usual" | "steer" | "interrupt" | null}
 */
export function enterMeans(event) {
  const held = event.metaKey || event.ctrlKey;
  if (event.altKey) return "interrupt";
  if (preferences.sendKey.peek() === "mod-enter") return held ? (event.shiftKey ? "steer" : "usual") : null;
  if (held) return "steer";
  return event.shiftKey || TOUCH.matches ? null : "usual";
}

/** @param {{desk: Desk, acts: FieldActs, label: string, id?: string, hint: string, suggestions: import("./suggestions.js").Suggestions}} props */
export function Field({ desk, acts, label, id, hint, suggestions }) {
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const plain = useRef(false); // ⌘⇧V: a paste stays text, however long it is
  const text = desk.text.value;
  useLayoutEffect(() => grow(field.current), [text]);
  useLayoutEffect(() => {
    desk.field = field.current;
    const isEntered = entered.peek() === desk.key;
    if ((desk.key === "new" || desk.begun || isEntered) && !TOUCH.matches) desk.focus();
    if (isEntered) entered.value = "";
    desk.begun = false;
    return () => void (desk.field = null);
  }, [desk]);
  const keys = (/** @type {KeyboardEvent} */ event) => {
    plain.current = event.key.toLowerCase() === "v" && event.shiftKey && (event.metaKey || event.ctrlKey);
    onKey(event, acts);
  };
  const open = suggestions.open.value;
  return html`<textarea ref=${field} class="txt" rows=${LINES_MIN} aria-label=${label} placeholder=${hint} value=${text}
    id=${id} enterkeyhint=${TOUCH.matches ? "enter" : "send"} autocapitalize="sentences"
    aria-autocomplete="list" aria-controls=${open ? suggestions.listId : undefined}
    aria-activedescendant=${open ? suggestions.activeId.value : undefined}
    onKeyDown=${keys} onPaste=${(/** @type {ClipboardEvent} */ event) => onPaste(event, desk, plain.current)}
    onInput=${(/** @type {any} */ event) => written(desk, event.currentTarget.value, acts)}
    onKeyUp=${acts.moved} onClick=${acts.moved} onBlur=${acts.moved}></textarea>`;
}

/** @param {Desk} desk @param {string} text @param {FieldActs} acts */
function written(desk, text, acts) {
  desk.browsing.value = null; // what was taken from before is now a draft
  desk.problem.value = "";
  desk.text.value = text;
  acts.moved();
}

/** @param {KeyboardEvent} event @param {FieldActs} acts */
function onKey(event, acts) {
  if (event.isComposing || event.keyCode === 229) return;
  if (acts.suggest(event)) return;
  if (event.key === "Escape") {
    if (acts.escape()) stop(event);
    return;
  }
  if (event.key === "ArrowUp" || event.key === "ArrowDown") {
    if (acts.older(event)) stop(event);
    return;
  }
  const how = event.key === "Enter" ? enterMeans(event) : null;
  if (!how) return;
  stop(event);
  if (!event.repeat) acts.send(how);
}

/** @param {Event} event */
function stop(event) {
  event.preventDefault();
  event.stopPropagation();
}

/** @param {ClipboardEvent} event @param {Desk} desk @param {boolean} plain */
function onPaste(event, desk, plain) {
  const files = [...(event.clipboardData?.files ?? [])];
  const text = event.clipboardData?.getData("text/plain") ?? "";
  if (files.length && !text) {
    event.preventDefault();
    attach(desk, files);
  } else if (!plain && attachPaste(desk, text)) {
    event.preventDefault();
  }
}

/** @param {HTMLTextAreaElement | null} field */
function grow(field) {
  if (!field || CSS.supports("field-sizing", "content")) return;
  const { lineHeight, paddingTop, paddingBottom } = getComputedStyle(field);
  const line = parseFloat(lineHeight), padding = parseFloat(paddingTop) + parseFloat(paddingBottom);
  field.style.height = "auto";
  const most = line * LINES_MAX + padding;
  field.style.height = `${Math.min(Math.max(field.scrollHeight, line * LINES_MIN + padding), most)}px`;
}
