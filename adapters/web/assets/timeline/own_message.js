// A message of the user's: its text, what is attached to it, and what can be done with it.

import { html, memo, useState } from "../ui.js";
import { Button, SignButton } from "./controls.js";
import { FileChip, FileReference } from "./attachments.js";
import { timeOf } from "./calls.js";
import { textOf } from "./turn.js";
import { clock, counted } from "./words.js";

/** @typedef {import("./rows.js").Around} Around */
/** @typedef {import("./items.js").Message} Message */

const LONG = 2400; // characters; a longer message is folded
const LONG_LINES = 24;

/** @param {{message: Message, at: Around}} props */
export const OwnMessage = memo((/** @type {{message: Message, at: Around}} */ { message, at }) => {
  const text = textOf(message);
  const beside = message.content.filter((part) => part.type === "file" || part.type === "file-reference");
  const time = timeOf(message.created_at);
  const who = at.person(message.created_by);
  return html`<article class="me" data-message=${message.id} data-role="user" aria-label=${`${who || "Your message"}${time === null ? "" : `, ${clock(time)}`}`}>
    ${who && html`<span class="meta who">${who}</span>`}
    ${text && html`<${Bubble} text=${text} />`}
    ${beside.length > 0 &&
    html`<div class="beside">${beside.map((part) =>
      part.type === "file" ? html`<${FileChip} part=${part} at=${at} />` : html`<${FileReference} part=${part} at=${at} />`,
    )}</div>`}
    ${message.edited && html`<span class="meta">edited</span>`}
    ${message.content.some((part) => part.hook_rewritten) && html`<span class="tag">changed by a rule</span>`}
    <footer class="meta acts">
      ${!at.readonly &&
      html`<${SignButton} sign="pen" label="Edit" onClick=${() => at.do("message.edit", { message: message.id })} />
        <${SignButton} sign="retry" label="Send again with another model…" onClick=${(/** @type {Event} */ event) => at.do("message.resend", { message: message.id, at: event.currentTarget })} />`}
      <${SignButton} sign="chev-up" label="Previous message of mine" onClick=${() => at.do("message.previous", { message: message.id })} />
      <${SignButton} sign="down" label="Next message of mine" onClick=${() => at.do("message.next", { message: message.id })} />
      <${SignButton} sign="copy" label="Copy" onClick=${() => at.do("copy", { text })} />
      <${SignButton} sign="link" label="Copy a link to this message" onClick=${() => at.do("message.link", { message: message.id })} />
      ${time !== null && html`<time datetime=${message.created_at}>${clock(time)}</time>`}
    </footer>
  </article>`;
});

/** @param {{text: string}} props */
function Bubble({ text }) {
  const [isOpen, setOpen] = useState(false);
  const lines = text.split("\n");
  const isLong = text.length > LONG || lines.length > LONG_LINES;
  const shown = !isLong || isOpen ? text : lines.slice(0, LONG_LINES).join("\n").slice(0, LONG);
  return html`<div class="bub"><span class="text">${shown}</span>${isLong && !isOpen && "…"}
    ${isLong &&
    html`<${Button} form="quiet" label=${isOpen ? "Show less" : `Show all ${counted(lines.length, "line")}`} onClick=${() => setOpen(!isOpen)} />`}
  </div>`;
}

/** A message that is being sent. @param {{text: string, slow?: boolean}} props */
export const Sending = memo(
  ({ text, slow = false }) => html`<article class="me sending" aria-label="Your message, being sent">
    <div class="bub">${text}</div>
    <footer class="meta">${slow ? "The daemon cannot be reached; it is tried again…" : "being sent…"}</footer>
  </article>`,
);
