/** The first button of a bar: on a phone it leads to the list, in a frame to a tab of its own. */

import { run } from "../commands.js";
import { isEmbedded } from "../embed.js";
import { icon } from "../shared/icons.js";
import { html } from "../ui.js";

/** @param {{chat?: string}} props */
export function Back({ chat = "" }) {
  if (isEmbedded)
    return html`<a class="ic" href=${chat ? `/c/${chat}` : "/"} target="_blank" aria-label="Open in a tab of its own">${icon("out")}</a>`;
  return html`<button class="ic only-s" aria-label="Back to the list" onClick=${() => run("region.back")}>${icon("back")}</button>`;
}
