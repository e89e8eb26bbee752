// Files beside messages: pictures, texts and whatever else can be downloaded.

import { html, memo, useState } from "../ui.js";
import { icon } from "../shared/icons.js";
import { basename, size } from "./words.js";

/** @typedef {import("./cards/frame.js").At} At */
/** @typedef {import("./calls.js").Part} Part */

const PICTURE = /^image\/(png|jpeg|gif|webp)$/;
const TEXT = /^(text\/|application\/json)/;

/** The extension as a sign, "LOG". @param {Part} part */
function signOf(part) {
  const found = /\.([a-z0-9]{1,4})$/i.exec(part.name ?? "");
  return (found?.[1] ?? part.media_type?.split("/")[1] ?? "file").slice(0, 4).toUpperCase();
}

/** @param {Part} part */
const nameOf = (part) => part.name || (PICTURE.test(part.media_type) ? "a picture" : "a file");

/** A file of a message. @param {{part: Part, at: At}} props */
export const FileChip = memo(({ part, at }) => {
  const [isBroken, setBroken] = useState(false);
  const href = part.file_id ? at.href(part.file_id) : "";
  if (!href || isBroken) {
    return html`<span class="att gone"><i>${signOf(part)}</i>${nameOf(part)} <span class="quiet">is no longer kept</span></span>`;
  }
  if (PICTURE.test(part.media_type)) {
    return html`<button type="button" class="pic" onClick=${() => at.do("file.show", { part, href })} aria-label=${`Show ${nameOf(part)}`}>
      <img src=${href} alt=${nameOf(part)} loading="lazy" decoding="async" onError=${() => setBroken(true)} />
    </button>`;
  }
  const chip = html`<i>${signOf(part)}</i><span class="name">${nameOf(part)}</span>`;
  return html`<span class="att f">
    ${TEXT.test(part.media_type)
      ? html`<button type="button" class="open" title="Show" onClick=${() => at.do("file.show", { part, href })}>${chip}</button>`
      : html`<span class="open">${chip}</span>`}
    <a class="ic sm" href=${href} download=${nameOf(part)} aria-label=${`Download ${nameOf(part)}`} title="Download">${icon("download")}</a>
  </span>`;
});

/** A place in a file that a message refers to. @param {{part: Part, at: At}} props */
export const FileReference = memo(({ part, at }) => {
  const { file_name: name = "", start_line: from, end_line: to } = part;
  const range = from ? (to && to !== from ? `:${from}–${to}` : `:${from}`) : "";
  const label = `${basename(name)}${range}`;
  return html`<button type="button" class="ref" title=${name} onClick=${() => at.do("file.show", { part, href: "" })}>${label}</button>`;
});

export { PICTURE, TEXT, nameOf, size };
