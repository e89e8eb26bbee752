/** A chat that a search has found. */

import { icon } from "../shared/icons.js";
import { familyLight, LIGHT_NAMES } from "../state/lights.js";
import { rowLine } from "../state/row_words.js";
import { html, useEffect, useRef } from "../ui.js";
import { modelName } from "./names.js";
import { Age, Cue } from "./row.js";

/** @typedef {import("../wire/types.js").Chat & {excerpt?: {message_id?: number, text: string}}} Chat */

/** @param {{chat: Chat, words: string, isAt: boolean, me: string}} props */
export function Hit({ chat, words, isAt, me }) {
  const row = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    if (isAt) row.current?.scrollIntoView({ block: "nearest" });
  }, [isAt]);
  const light = familyLight(chat);
  const said = chat.search_match;
  return html`<a ref=${row} class=${`row found ${isAt ? "at" : ""}`} id=${`hit-${chat.id}`} role="option"
    aria-selected=${isAt} href=${hitAddress(chat)} tabindex="-1">
    <${Cue} light=${light} /><b><${Marked} text=${chat.title} words=${words} /></b><span
      class="sr">, ${LIGHT_NAMES[light]}</span><${Age} at=${chat.updated_at} />
    <small>${chat.archived ? html`${icon("archive")} ` : null}${said
      ? html`<${Marked} text=${said.text} words=${words} />`
      : rowLine(chat, { me, model: modelName }).text}</small>
  </a>`;
}

/** The chat, at the message in which it was said. @param {Chat} chat */
export const hitAddress = (chat) =>
  chat.search_match ? `/c/${chat.id}?m=${chat.search_match.message_id}` : `/c/${chat.id}`;

/** A text in which the words that were looked for stand out. @param {{text: string, words: string}} props */
function Marked({ text, words }) {
  const pieces = words.match(/[\p{L}\p{N}]+/gu)?.filter((word) => word !== "OR") ?? [];
  if (!pieces.length) return text;
  const split = text.split(new RegExp(`(${pieces.join("|")})`, "giu"));
  return split.map((piece, index) => (index % 2 ? html`<mark key=${index}>${piece}</mark>` : piece));
}
