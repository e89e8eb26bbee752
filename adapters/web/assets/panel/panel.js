/** The side panel of a chat. */

import {run} from "../commands.js";
import {icon} from "../shared/icons.js";
import {html} from "../ui.js";

/** @param {{conversation: any}} props */
export function Panel({conversation}) {
  const chat = conversation.state.value.chat;
  return html`<aside class="panel" aria-label="Side panel">
    <div class="tabs">
      <button class="ic only-s" aria-label="Back to the chat" onClick=${() => run("region.panel")}>
        ${icon("back")}</button>
      <b>Summary</b>
    </div>
    <div class="pbody"><p class="pad">${chat?.summary || "There is no summary yet."}</p></div>
  </aside>`;
}
