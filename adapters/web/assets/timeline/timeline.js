/** The messages of a chat. */

import {html} from "../ui.js";

/** @param {{message: any}} props */
function Message({message}) {
  const text = (message.content || []).map((/** @type {any} */ part) => part.text || "").join("");
  if (message.role === "user") return html`<div class="me"><div class="bub">${text}</div></div>`;
  return text ? html`<div class="said"><p>${text}</p></div>` : null;
}

/** @param {{conversation: any}} props */
export function Timeline({conversation}) {
  const {messages} = conversation.state.value;
  return html`<div class="tl" role="log" aria-label="Conversation" tabindex="0">
    ${messages.map((/** @type {any} */ each) => html`<${Message} key=${each.id} message=${each} />`)}
  </div>`;
}
