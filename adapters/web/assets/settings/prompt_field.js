/** A long text for models: how much of it there may be, and what in it nobody sees. */
import {html} from "../ui.js";
import {Text} from "./fields.js";
import {bytesOf, counted} from "./words.js";

const BYTES_MAX = 131_072;
const INVISIBLE = /[\u200B-\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF\u{E0000}-\u{E007F}]/gu;

/** @param {import("./fields.js").FieldProps & {rows: number, placeholder?: string}} props */
export function PromptField(props) {
  const text = props.form.get(props.name) ?? "";
  const bytes = bytesOf(text), hidden = text.match(INVISIBLE)?.length ?? 0;
  const count = html`<span class="field-count ${bytes > BYTES_MAX ? "is-wrong" : ""}">${bytes.toLocaleString("en")} of ${counted(BYTES_MAX, "byte")}</span>`;
  return html`<${Text} ...${props} help=${html`${count}${props.help}`} />
    ${hidden > 0 && html`<p class="field-fault">${counted(hidden, "invisible character is", "invisible characters are")} in it; they are left out when it is saved.</p>`}`;
}
