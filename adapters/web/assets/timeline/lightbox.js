// A file, shown large: a picture, or a text that is fetched when it is opened.

import { html, useEffect, useState } from "../ui.js";
import { icon } from "../shared/icons.js";
import { openDialog } from "../shared/dialog.js";
import { CodeText } from "./code_view.js";
import { nameOf, PICTURE } from "./attachments.js";
import { Prose } from "./prose.js";

const SHOWN_MAX = 400_000; // characters; the rest can be downloaded

/** @param {{part: import("./calls.js").Part, href: string}} what */
export function showFile({ part, href }) {
  const name = part.type === "file-reference" ? part.file_name : nameOf(part);
  const inner = part.type === "file-reference" ? reference(part) : PICTURE.test(part.media_type) ? picture(name, href) : html`<${Text} part=${part} href=${href} />`;
  return openDialog(
    ({ close }) => html`<header>
        <b>${name}</b>
        <span class="r">
          ${href && html`<a class="ic" href=${href} download=${name} aria-label="Download" title="Download">${icon("download")}</a>`}
          <button type="button" class="ic" aria-label="Close" onClick=${() => close()}>${icon("x")}</button>
        </span>
      </header>
      <div class="shown">${inner}</div>`,
    { label: name, className: "lightbox" },
  );
}

/** @param {string} name @param {string} href */
const picture = (name, href) => html`<img src=${href} alt=${name} />`;

/** @param {import("./calls.js").Part} part */
const reference = (part) => html`<${CodeText} text=${part.content} path=${part.file_name} from=${part.start_line || 1} />`;

/** @param {{part: import("./calls.js").Part, href: string}} props */
function Text({ part, href }) {
  const [found, setFound] = useState({ text: "", fault: "", isThere: false });
  useEffect(() => {
    const given = new AbortController();
    fetch(href, { credentials: "same-origin", signal: given.signal })
      .then((answer) => (answer.ok ? answer.text() : Promise.reject(new Error(`the daemon answered ${answer.status}`))))
      .then((text) => setFound({ text, fault: "", isThere: true }))
      .catch((error) => given.signal.aborted || setFound({ text: "", fault: error.message, isThere: true }));
    return () => given.abort();
  }, [href]);
  if (!found.isThere) return html`<p class="quiet">Loading…</p>`;
  if (found.fault) return html`<p class="bad">It could not be loaded: ${found.fault}.</p>`;
  const text = found.text.slice(0, SHOWN_MAX);
  const rest = found.text.length > SHOWN_MAX && html`<p class="quiet">The rest is left out here; download the file to read it.</p>`;
  if (/markdown/.test(part.media_type)) return html`<div class="said"><${Prose} text=${text} /></div>${rest}`;
  return html`<${CodeText} text=${text} path=${part.name ?? ""} />${rest}`;
}
