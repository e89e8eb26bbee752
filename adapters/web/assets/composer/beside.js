// What stands beside the text of a message: files on their way or there, and references.

import { html, memo, useEffect, useState } from "../ui.js";
import { icon } from "../shared/icons.js";
import { again, pasteHere, remove } from "./attachments.js";
import { isImage, sizeText } from "./limits.js";

/** @typedef {import("./desk.js").Desk} Desk */
/** @typedef {import("./attachments.js").Upload} Upload */

/** @param {{desk: Desk}} props */
export function Beside({ desk }) {
  const files = desk.files.value, refs = desk.refs.value;
  if (!files.length && !refs.length) return null;
  const drop = (/** @type {number} */ index) => {
    desk.refs.value = desk.refs.peek().filter((_, at) => at !== index);
    desk.focus();
  };
  return html`<ul class="goes" aria-label="What goes along">
    ${refs.map((reference, index) => html`<li class="ref" key=${`${reference.file_name}:${reference.start_line}`} title=${reference.content.slice(0, 500)}>
      <span class="what">${nameOf(reference)}</span>
      <button type="button" class="ic sm" aria-label=${`Remove ${nameOf(reference)}`} onClick=${() => drop(index)}>${icon("x")}</button></li>`)}
    ${files.map((file) => html`<${FileChip} key=${file.key} file=${file} desk=${desk} />`)}
  </ul>`;
}

/** @param {import("./desk.js").Reference} reference */
export function nameOf({ file_name: name, start_line: from, end_line: to }) {
  return from ? `${name}:${from}${to > from ? `–${to}` : ""}` : name;
}

const FileChip = memo(
  /** @param {{file: Upload, desk: Desk}} props */
  function FileChip({ file, desk }) {
    const failed = file.state === "failed";
    const note = failed ? file.why : file.state === "sending" ? `${Math.round(file.progress * 100)} %` : sizeText(file.size);
    return html`<li class=${`att${failed ? " bad" : ""}`}>
      <${Thumb} file=${file} />
      <span class="names"><span class="what" title=${file.name}>${file.name}</span>
        <small class="num" role=${failed ? "alert" : undefined}>${note}</small></span>
      ${file.state === "sending" ? html`<progress max="1" value=${file.progress} aria-label=${`Sending ${file.name}`}></progress>` : null}
      ${file.pasted ? html`<button type="button" class="link" onClick=${() => pasteHere(desk, file)}>Paste here</button>` : null}
      ${failed && !file.refused ? html`<button type="button" class="link" onClick=${() => again(desk, file)}>Try again</button>` : null}
      <button type="button" class="ic sm" aria-label=${`Remove ${file.name}`} onClick=${() => {
        remove(desk, file.key);
        desk.focus();
      }}>${icon("x")}</button>
    </li>`;
  },
);

/** @param {{file: Upload}} props */
function Thumb({ file }) {
  const [url, setUrl] = useState("");
  useEffect(() => {
    if (!file.blob || !isImage(file.type)) return;
    const made = URL.createObjectURL(file.blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [file.blob]);
  if (url) return html`<img src=${url} alt="" />`;
  return html`<i>${isImage(file.type) ? icon("image") : (file.name.split(".").pop() ?? "").slice(0, 4).toUpperCase()}</i>`;
}
