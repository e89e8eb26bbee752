// One file of the workspace: its text in colours, a picture, or why it is not shown.

import { html, useEffect, useSignal } from "../ui.js";
import { sizeText } from "../composer/limits.js";
import { icon } from "../shared/icons.js";
import { CodeText } from "../timeline/code_view.js";
import { address } from "../wire/api.js";

const SHOWN_BYTES_MAX = 256 * 1024; // of a text; the rest is to be downloaded
const PICTURE_BYTES_MAX = 10 * 1024 * 1024; // of a picture; a larger one is to be downloaded

/** @typedef {import("./file_paths.js").Entry} Entry */
/** @typedef {{text?: string, picture?: string, says?: string, cut?: boolean}} Shown */

/** @param {{base: string, entry: Entry, back: () => void}} props */
export function FileView({ base, entry, back }) {
  const shown = useSignal(/** @type {Shown | null} */ (null));
  const url = address(`${base}/content`, { path: entry.path });
  useEffect(() => {
    const given = new AbortController();
    look(url, entry, given.signal).then((found) => (shown.value = found), (error) => {
      if (error.name !== "AbortError") shown.value = { says: `The file could not be read: ${error.message}` };
    });
    return () => {
      given.abort();
      if (shown.peek()?.picture) URL.revokeObjectURL(/** @type {string} */ (shown.peek()?.picture));
    };
  }, [url]);
  return html`<div class="fh"><button type="button" class="ic sm" aria-label="Back to the folder" onClick=${back}>${icon("back")}</button>
      <span class="fpath" title=${entry.path}>${entry.name}</span><span class="dim num">${entry.kind === "file" ? sizeText(entry.size_bytes) : ""}</span>
      <a class="ic sm" href=${address(`${base}/content`, { path: entry.path, download: true })} download aria-label=${`Download ${entry.name}`} title="Download">${icon("download")}</a></div>
    <${Content} shown=${shown.value} entry=${entry} />`;
}

/** @param {{shown: Shown | null, entry: Entry}} props */
function Content({ shown, entry }) {
  if (!shown) return html`<p class="none late" role="status">Reading the file…</p>`;
  if (shown.says) return html`<p class="none">${shown.says}</p>`;
  if (shown.picture) return html`<p class="none"><img class="shown" src=${shown.picture} alt=${entry.name} /></p>`;
  return html`${shown.cut ? html`<p class="none">The first ${sizeText(SHOWN_BYTES_MAX)} are shown; download the file for the rest.</p>` : null}
    <${CodeText} text=${shown.text ?? ""} path=${entry.name} />`;
}

/** @param {string} url @param {Entry} entry @param {AbortSignal} signal @returns {Promise<Shown>} */
async function look(url, entry, signal) {
  const range = `bytes=0-${Math.max(PICTURE_BYTES_MAX, SHOWN_BYTES_MAX) - 1}`;
  const answer = await fetch(url, { signal, headers: entry.size_bytes > PICTURE_BYTES_MAX ? { range } : {} });
  const type = answer.headers.get("content-type") ?? "";
  if (!answer.ok) return { says: answer.status === 404 ? "The file is not there any more." : await refusal(answer) };
  if (type.startsWith("image/") && answer.status === 200) return { picture: URL.createObjectURL(await answer.blob()) };
  if (!type.startsWith("text/plain")) {
    void answer.body?.cancel();
    return { says: "This file is no text. Download it to look at it." };
  }
  return firstText(answer);
}

/** @param {Response} answer */
async function refusal(answer) {
  const said = await answer.json().catch(() => ({}));
  return said.validations?.[0]?.detail || said.detail || said.message || `The daemon answered ${answer.status}.`;
}

/** Read the beginning of a text, and leave the rest. @param {Response} answer @returns {Promise<Shown>} */
async function firstText(answer) {
  const reader = /** @type {ReadableStream<Uint8Array>} */ (answer.body).getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let count = 0; count < SHOWN_BYTES_MAX; ) {
    const { value, done } = await reader.read();
    if (done) return { text: text + decoder.decode() };
    const taken = value.subarray(0, SHOWN_BYTES_MAX - count);
    count += taken.length;
    text += decoder.decode(taken, { stream: true });
    if (taken.length < value.length) break;
  }
  const { done } = await reader.read();
  void reader.cancel();
  return { text, cut: !done };
}
