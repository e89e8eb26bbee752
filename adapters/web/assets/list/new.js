/** A chat that does not exist yet. */

import {Composer} from "../composer/composer.js";
import {route} from "../routes.js";
import {html} from "../ui.js";

export function NewChat() {
  return html`<div class="new-chat">
    <h1>What is to be done?</h1>
    <${Composer} conversation=${null} query=${route.value.query} />
  </div>`;
}
