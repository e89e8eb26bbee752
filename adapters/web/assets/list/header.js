/** The bar above a conversation. */

import {run} from "../commands.js";
import {icon} from "../shared/icons.js";
import {html} from "../ui.js";

/** @param {{conversation: any}} props */
export function ChatHeader({conversation}) {
  const chat = conversation?.state.value.chat;
  return html`<header class="top">
    <button class="ic only-s" aria-label="Back to the list" onClick=${() => run("region.back")}>
      ${icon("back")}
    </button>
    <h1>${chat?.title || ""}</h1>
    <span class="sp"></span>
    <button class="ic" aria-label="Side panel" onClick=${() => run("region.panel")}>
      ${icon("side")}
    </button>
  </header>`;
}
