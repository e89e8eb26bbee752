/** Where a message is written. */

import {go} from "../routes.js";
import {me} from "../session.js";
import {icon} from "../shared/icons.js";
import {html, useRef} from "../ui.js";
import {api} from "../wire/api.js";

/** @param {{conversation: any, query?: URLSearchParams}} props */
export function Composer({conversation}) {
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const send = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const text = field.current?.value || "";
    if (!field.current || !text.trim()) return;
    if (conversation) await conversation.send({text});
    else {
      const chat = await api.post("/api/experimental/chats", {
        organization_id: me.value.organization_ids[0], content: [{type: "text", text}],
      });
      go(`/c/${chat.id}`);
    }
    field.current.value = "";
  };
  return html`<form class="comp" onSubmit=${send}><div class="box">
    <textarea ref=${field} class="txt" id="message" aria-label="Message"
      placeholder="Say what comes next"></textarea>
    <div class="bar"><span class="sp"></span>
      <button class="send" aria-label="Send">${icon("up")}</button></div>
  </div></form>`;
}
