/** Fields that hold several things: words, pairs, and values as JSON. */
import {html, useEffect, useRef, useState} from "../ui.js";
import {icon} from "../shared/icons.js";
import {Field, fieldOf} from "./fields.js";
import {isSame} from "./values.js";

/** @typedef {import("./fields.js").FieldProps} FieldProps */

/** A list of words; several at once may be pasted. @param {FieldProps & {placeholder?: string, isJson?: boolean}} props */
export function List(props) {
  const { form, name, label, help, placeholder } = props;
  const { id, faults, attributes } = fieldOf(props);
  const [typed, setTyped] = useState("");
  const items = /** @type {string[]} */ (form.get(name) ?? []);
  const put = (/** @type {string[]} */ next) => form.set(name, next.length || form.saved.value[name] ? next : undefined);
  const add = (/** @type {string} */ text) => {
    const more = text.split(/[\s,]+/).filter((each) => each && !items.includes(each));
    if (more.length) put([...items, ...more]);
    setTyped("");
  };
  const keys = (/** @type {KeyboardEvent} */ event) => {
    if ((event.key === "Enter" || event.key === ",") && typed.trim()) { event.preventDefault(); add(typed); }
    if (event.key === "Backspace" && !typed && items.length) put(items.slice(0, -1));
  };
  return html`<${Field} id=${id} faults=${faults} label=${label} help=${help}>
    <div class="in in-list">
      ${items.map((each) => html`<span class="tag" key=${each}>${each}
        <button type="button" aria-label="Remove ${each}" onClick=${() => put(items.filter((other) => other !== each))}>${icon("x")}</button></span>`)}
      <input ...${attributes} value=${typed} placeholder=${items.length ? "" : placeholder} autocomplete="off" spellcheck="false"
        onInput=${(/** @type {any} */ event) => setTyped(event.currentTarget.value)} onKeyDown=${keys}
        onPaste=${(/** @type {ClipboardEvent} */ event) => pasteMany(event, add)} onBlur=${() => typed.trim() && add(typed)} />
    </div>
  <//>`;
}

/** @param {ClipboardEvent} event @param {(text: string) => void} add */
function pasteMany(event, add) {
  const text = event.clipboardData?.getData("text") ?? "";
  if (!/[\n,]/.test(text)) return;
  event.preventDefault();
  add(text);
}

/** Names with values, as headers are. @param {FieldProps & {secret?: boolean}} props */
export function Pairs(props) {
  const { form, name, label, help, secret } = props;
  const { id, faults } = fieldOf(props);
  const rows = /** @type {[string, string][]} */ (form.get(name) ?? []);
  const put = (/** @type {number} */ at, /** @type {[string, string]} */ row) => form.set(name, rows.map((old, index) => (index === at ? row : old)));
  return html`<fieldset class="field pairs">
    <legend>${label}</legend>
    ${rows.map(([key, value], at) => html`<div class="pair" key=${at}>
      <input class="in mono" aria-label="Name ${at + 1}" placeholder="Name" value=${key} spellcheck="false" autocomplete="off" onInput=${(/** @type {any} */ event) => put(at, [event.currentTarget.value, value])} />
      <input class="in mono" aria-label="Value ${at + 1}" placeholder="Value" type=${secret ? "password" : "text"} autocomplete="off" value=${value} onInput=${(/** @type {any} */ event) => put(at, [key, event.currentTarget.value])} />
      <button type="button" class="ic" aria-label="Remove ${key || "this row"}" onClick=${() => form.set(name, rows.filter((_, index) => index !== at))}>${icon("x")}</button>
    </div>`)}
    <button type="button" class="btn" onClick=${() => form.set(name, [...rows, ["", ""]])}>${icon("plus")} Add</button>
    ${faults.length > 0 && html`<p class="field-fault" id="${id}-fault">${icon("x")} ${faults.join("; ")}</p>`}
    ${help && html`<p class="field-help">${help}</p>`}
  </fieldset>`;
}

/**
 * A value as JSON, beside the fields that show the same: either follows the other. What is not
 * JSON stays in the field, and the value as it was.
 * @param {FieldProps & {rows?: number}} props
 */
export function Json(props) {
  const { form, name, label, help, rows = 16 } = props;
  const { id, faults, attributes } = fieldOf(props);
  const value = form.get(name);
  const [text, setText] = useState(() => written(value));
  const latest = useRef(value);
  useEffect(() => {
    if (!isSame(latest.current, value)) { setText(written(value)); form.note(name, ""); }
    latest.current = value;
  }, [value]);
  const change = (/** @type {any} */ event) => {
    setText(event.currentTarget.value);
    const [found, why] = parsed(event.currentTarget.value);
    form.note(name, why);
    if (!why) { latest.current = found; form.set(name, found); }
  };
  return html`<${Field} id=${id} faults=${faults} label=${label} help=${help}>
    <textarea ...${attributes} class="in mono" rows=${rows} spellcheck="false" value=${text} onInput=${change}></textarea>
  <//>`;
}

/** @param {any} value */
const written = (value) => (value === undefined ? "" : JSON.stringify(value, null, 2));

/** @param {string} text @returns {[any, string]} */
function parsed(text) {
  if (!text.trim()) return [undefined, ""];
  try {
    const found = JSON.parse(text);
    const isObject = found && typeof found === "object" && !Array.isArray(found);
    return isObject ? [found, ""] : [undefined, "must be an object: { … }; the fields show what was last right"];
  } catch (error) {
    return [undefined, `is no JSON yet: ${/** @type {Error} */ (error).message}`];
  }
}
